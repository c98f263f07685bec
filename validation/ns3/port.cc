// Queues of switch ports and NICs.

#include "port.h"

#include "ns3/point-to-point-module.h"

using namespace ns3;

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
