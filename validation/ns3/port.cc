// Queues of switch ports and NICs.

#include "port.h"

#include "ns3/internet-module.h"
#include "ns3/point-to-point-module.h"

using namespace ns3;

NS_OBJECT_ENSURE_REGISTERED(ThresholdQueueDisc);

TypeId
ThresholdQueueDisc::GetTypeId()
{
    static TypeId type =
        TypeId("ThresholdQueueDisc")
            .SetParent<QueueDisc>()
            .AddConstructor<ThresholdQueueDisc>()
            .AddAttribute("MaxSize",
                          "packets that may wait",
                          QueueSizeValue(QueueSize("100p")),
                          MakeQueueSizeAccessor(&QueueDisc::SetMaxSize, &QueueDisc::GetMaxSize),
                          MakeQueueSizeChecker())
            .AddAttribute("ThresholdBytes",
                          "mark above so many waiting bytes, as on the wire",
                          UintegerValue(0),
                          MakeUintegerAccessor(&ThresholdQueueDisc::m_thresholdBytes),
                          MakeUintegerChecker<uint32_t>());
    return type;
}

bool
ThresholdQueueDisc::DoEnqueue(Ptr<QueueDiscItem> item)
{
    if (GetCurrentSize() + item > GetMaxSize())
    {
        DropBeforeEnqueue(item, "full");
        return false;
    }
    // The device's packets have their point-to-point header of 2 bytes already.
    const uint32_t waitingBytes = GetNBytes() + 2 * GetNPackets() + deviceQueue->GetNBytes();
    // A mark counts once, not again at each queue: hull counts so.
    const auto packet = DynamicCast<Ipv4QueueDiscItem>(item);
    const bool isMarked = packet->GetHeader().GetEcn() == Ipv4Header::ECN_CE;
    if (waitingBytes > m_thresholdBytes && !isMarked)
    {
        Mark(item, "threshold");
    }
    return GetInternalQueue(0)->Enqueue(item);
}

Ptr<QueueDiscItem>
ThresholdQueueDisc::DoDequeue()
{
    return GetInternalQueue(0)->Dequeue();
}

bool
ThresholdQueueDisc::CheckConfig()
{
    if (GetNInternalQueues() == 0)
    {
        AddInternalQueue(CreateObjectWithAttributes<DropTailQueue<QueueDiscItem>>(
            "MaxSize",
            QueueSizeValue(GetMaxSize())));
    }
    return GetNInternalQueues() == 1 && GetNQueueDiscClasses() == 0;
}

void
ThresholdQueueDisc::InitializeParams()
{
}

namespace
{

void
SetDeviceQueue(Ptr<NetDevice> device, const std::string& room)
{
    auto queue = DynamicCast<PointToPointNetDevice>(device)->GetQueue();
    queue->SetAttribute("MaxSize", QueueSizeValue(QueueSize(room)));
}

std::string
Packets(uint32_t count)
{
    return std::to_string(count) + "p";
}

} // namespace

Ptr<QueueDisc>
InstallPort(Ptr<NetDevice> device, const Settings& settings)
{
    SetDeviceQueue(device, "1p");
    TrafficControlHelper helper;
    const std::string room = Packets(settings.bufferPackets - 1);
    if (settings.markFromPackets == 0)
    {
        helper.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", StringValue(room));
    }
    else if (settings.markBy == "bytes")
    {
        helper.SetRootQueueDisc("ThresholdQueueDisc",
                                "MaxSize", StringValue(room),
                                "ThresholdBytes", UintegerValue(settings.markAboveBytes));
        auto disc = DynamicCast<ThresholdQueueDisc>(helper.Install(device).Get(0));
        disc->deviceQueue = DynamicCast<PointToPointNetDevice>(device)->GetQueue();
        return disc;
    }
    else
    {
        const double threshold = settings.markFromPackets - 1;
        helper.SetRootQueueDisc("ns3::RedQueueDisc",
                                "MaxSize", StringValue(room),
                                "MinTh", DoubleValue(threshold),
                                "MaxTh", DoubleValue(threshold),
                                "QW", DoubleValue(1),
                                "Gentle", BooleanValue(false),
                                "UseEcn", BooleanValue(true),
                                "UseHardDrop", BooleanValue(false),
                                "LinkBandwidth", DataRateValue(DataRate(settings.switchRateBps)));
    }
    return helper.Install(device).Get(0);
}

void
InstallNic(Ptr<NetDevice> device)
{
    TrafficControlHelper().Uninstall(device);
    SetDeviceQueue(device, "10000000p");
}
