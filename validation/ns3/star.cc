// The star (paper figure 7, report figure 1): all hosts at one switch. The port to host 0 is
// measured. The switch is a router, which here adds neither delay nor packets.

#include "port.h"
#include "queue_meter.h"
#include "report.h"
#include "settings.h"
#include "traffic.h"

#include "ns3/internet-module.h"
#include "ns3/point-to-point-module.h"

using namespace ns3;

int
main(int argc, char* argv[])
{
    Time::SetResolution(Time::PS);
    Settings settings;
    CommandLine cmd(__FILE__);
    settings.AddTo(cmd);
    cmd.AddValue("hosts", "number of hosts", settings.hosts);
    cmd.AddValue("delayPs", "delay of a link, ps", settings.delayPs);
    cmd.Parse(argc, argv);
    settings.SetTcpDefaults();

    NodeContainer hosts(settings.hosts);
    NodeContainer hub(1);
    InternetStackHelper stack;
    stack.Install(hosts);
    stack.Install(hub);
    PointToPointHelper link;
    link.SetChannelAttribute("Delay", TimeValue(PicoSeconds(settings.delayPs)));
    Ipv4AddressHelper network("10.0.0.0", "255.255.255.0");
    std::vector<Ptr<Node>> nodes;
    std::vector<Ipv4Address> addresses;
    std::vector<Ptr<QueueDisc>> ports;
    Ptr<PointToPointNetDevice> measured;
    for (uint32_t host = 0; host < settings.hosts; host++)
    {
        const NetDeviceContainer ends = link.Install(hosts.Get(host), hub.Get(0));
        ends.Get(0)->SetAttribute("DataRate", DataRateValue(DataRate(settings.hostRateBps)));
        ends.Get(1)->SetAttribute("DataRate", DataRateValue(DataRate(settings.switchRateBps)));
        ports.push_back(InstallPort(ends.Get(1), settings));
        addresses.push_back(network.Assign(ends).GetAddress(0));
        network.NewNetwork();
        InstallNic(ends.Get(0));
        nodes.push_back(hosts.Get(host));
        if (host == 0)
        {
            measured = DynamicCast<PointToPointNetDevice>(ends.Get(1));
        }
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    Traffic traffic(settings, nodes, addresses);
    const Time from = traffic.Zero() + Seconds(settings.warmupS);
    QueueMeter queue(ports[0], measured, from, from + Seconds(settings.durationS));
    traffic.Run(Seconds(settings.warmupS), Seconds(settings.durationS), Seconds(settings.drainS));
    // hull measures until the last flow is complete.
    queue.Finish(traffic.Completion());
    PrintReport(settings, traffic, queue, ports);
    Simulator::Destroy();
    return 0;
}
