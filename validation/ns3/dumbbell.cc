// The dumbbell: pairs of hosts across one bottleneck, each pair with a round-trip time of its own
// that the sender's link makes. Hosts 0 to pairs - 1 send, host pairs + i receives from host i; the
// left switch's port to the bottleneck is measured.

#include "port.h"
#include "queue_meter.h"
#include "report.h"
#include "settings.h"
#include "traffic.h"

#include "ns3/internet-module.h"
#include "ns3/point-to-point-module.h"

#include <sstream>

using namespace ns3;

namespace
{

// One delay for each sender, ps, separated by commas.
std::vector<uint64_t>
ReadDelays(const std::string& text)
{
    std::vector<uint64_t> delays;
    std::istringstream list(text);
    std::string item;
    while (std::getline(list, item, ','))
    {
        delays.push_back(std::stoull(item));
    }
    return delays;
}

} // namespace

int
main(int argc, char* argv[])
{
    Time::SetResolution(Time::PS);
    Settings settings;
    std::string senderDelays;
    uint64_t bottleneckBps = 1'000'000'000;
    uint64_t bottleneckDelayPs = 0;
    CommandLine cmd(__FILE__);
    settings.AddTo(cmd);
    cmd.AddValue("senderDelaysPs", "delay of each sender's link, ps", senderDelays);
    cmd.AddValue("delayPs", "delay of a receiver's link, ps", settings.delayPs);
    cmd.AddValue("bottleneckRateBps", "rate of the bottleneck, bit/s", bottleneckBps);
    cmd.AddValue("bottleneckDelayPs", "delay of the bottleneck, ps", bottleneckDelayPs);
    cmd.Parse(argc, argv);
    settings.SetTcpDefaults();
    const auto delays = ReadDelays(senderDelays);
    const std::size_t pairs = delays.size();
    NS_ABORT_MSG_UNLESS(pairs > 0, "no pair of hosts");

    NodeContainer hosts(static_cast<uint32_t>(2 * pairs));
    NodeContainer switches(2);
    InternetStackHelper stack;
    stack.Install(hosts);
    stack.Install(switches);
    PointToPointHelper link;
    Ipv4AddressHelper network("10.0.0.0", "255.255.255.0");
    std::vector<Ptr<QueueDisc>> ports;

    link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(bottleneckBps)));
    link.SetChannelAttribute("Delay", TimeValue(PicoSeconds(bottleneckDelayPs)));
    const NetDeviceContainer middle = link.Install(switches);
    ports.push_back(InstallPort(middle.Get(0), settings));
    ports.push_back(InstallPort(middle.Get(1), settings));
    network.Assign(middle);

    std::vector<Ptr<Node>> nodes;
    std::vector<Ipv4Address> addresses;
    for (std::size_t host = 0; host < 2 * pairs; host++)
    {
        const uint64_t delayPs = host < pairs ? delays[host] : settings.delayPs;
        link.SetChannelAttribute("Delay", TimeValue(PicoSeconds(delayPs)));
        nodes.push_back(hosts.Get(static_cast<uint32_t>(host)));
        const NetDeviceContainer ends =
            link.Install(nodes.back(), switches.Get(host < pairs ? 0 : 1));
        ends.Get(0)->SetAttribute("DataRate", DataRateValue(DataRate(settings.hostRateBps)));
        ends.Get(1)->SetAttribute("DataRate", DataRateValue(DataRate(settings.switchRateBps)));
        ports.push_back(InstallPort(ends.Get(1), settings));
        network.NewNetwork();
        addresses.push_back(network.Assign(ends).GetAddress(0));
        InstallNic(ends.Get(0));
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    Traffic traffic(settings, nodes, addresses);
    const Time from = traffic.Zero() + Seconds(settings.warmupS);
    QueueMeter queue(ports[0],
                     DynamicCast<PointToPointNetDevice>(middle.Get(0)),
                     from,
                     from + Seconds(settings.durationS));
    traffic.Run(Seconds(settings.warmupS), Seconds(settings.durationS), Seconds(settings.drainS));
    // hull measures until the last flow is complete.
    queue.Finish(traffic.Completion());
    PrintReport(settings, traffic, queue, ports);
    Simulator::Destroy();
    return 0;
}
