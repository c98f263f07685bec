// The three-tier tree of paper 6.3: pods of ToRs and aggregation switches, and cores, each of which
// has a link to every pod. Aggregation switch i of each pod goes to the i-th group of cores.
//
// The paths are given: a file with the header `agg,core,back_agg,back_core` has a row for each flow
// of the flow list; `agg` counts within the pod, `core` within the aggregation switch's group, and
// the last two are those of the acknowledgments. What a flow does not cross is not looked at.

#include "paths.h"
#include "port.h"
#include "queue_meter.h"
#include "report.h"
#include "settings.h"
#include "traffic.h"

#include "ns3/internet-module.h"
#include "ns3/point-to-point-module.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

using namespace ns3;

namespace
{

// The choices of a flow, in the direction of its data and back.
struct Path
{
    uint32_t agg[2];
    uint32_t core[2];
};

std::vector<Path>
ReadPaths(const std::string& file)
{
    std::ifstream in(file);
    NS_ABORT_MSG_UNLESS(in, "cannot read " << file);
    std::string line;
    std::getline(in, line);
    NS_ABORT_MSG_UNLESS(line == "agg,core,back_agg,back_core", file << ": wrong header " << line);
    std::vector<Path> paths;
    while (std::getline(in, line))
    {
        std::istringstream row(line);
        Path path{};
        char comma = 0;
        row >> path.agg[0] >> comma >> path.core[0] >> comma >> path.agg[1] >> comma >>
            path.core[1];
        NS_ABORT_MSG_UNLESS(row, file << ": bad row " << line);
        paths.push_back(path);
    }
    return paths;
}

struct Shape
{
    uint32_t pods = 8;
    uint32_t torsPerPod = 4;
    uint32_t hostsPerTor = 6;
    uint32_t aggsPerPod = 2;
    uint32_t cores = 8;
    uint64_t uplinkRateBps = 10'000'000'000;
    uint64_t uplinkDelayPs = 0;
    uint64_t coreRateBps = 10'000'000'000;
    uint64_t coreDelayPs = 0;
};

// Nodes and links.
class Tree
{
  public:
    Tree(const Shape& shape, const Settings& settings);

    // Sends each flow along its path; `paths` outlives the run.
    void Route(const std::vector<Path>& paths);

    std::vector<Ptr<Node>> hosts;
    std::vector<Ipv4Address> addresses;
    // All ports of switches, that to host 0 first.
    std::vector<Ptr<QueueDisc>> ports;
    Ptr<PointToPointNetDevice> toHost0;

  private:
    void JoinHost(uint32_t host);
    void JoinSwitches(Ptr<Node> low, Ptr<Node> high, uint64_t rateBps, uint64_t delayPs);
    NetDeviceContainer Link(Ptr<Node> low, Ptr<Node> high, uint64_t delayPs);
    void Assign(const NetDeviceContainer& ends);
    uint32_t NextInterface(Ptr<Node> at, uint32_t host, const Path& path, bool forward) const;

    Shape m_shape;
    Settings m_settings;
    std::vector<Ptr<Node>> m_tors;
    std::vector<Ptr<Node>> m_aggs;
    std::vector<Ptr<Node>> m_cores;
    Ipv4AddressHelper m_network{"10.0.0.0", "255.255.255.252"};
    std::map<Ipv4Address, uint32_t> m_hostOf;
    // The interface of a node towards a neighbour, both by ns-3's numbers.
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> m_interface;
};

std::vector<Ptr<Node>>
MakeNodes(uint32_t count)
{
    NodeContainer made(count);
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.SetRoutingHelper(GivenPathsHelper());
    stack.Install(made);
    return {made.Begin(), made.End()};
}

Tree::Tree(const Shape& shape, const Settings& settings)
    : hosts(MakeNodes(shape.pods * shape.torsPerPod * shape.hostsPerTor)),
      m_shape(shape),
      m_settings(settings),
      m_tors(MakeNodes(shape.pods * shape.torsPerPod)),
      m_aggs(MakeNodes(shape.pods * shape.aggsPerPod)),
      m_cores(MakeNodes(shape.cores))
{
    for (uint32_t host = 0; host < hosts.size(); host++)
    {
        JoinHost(host);
    }
    const uint32_t group = shape.cores / shape.aggsPerPod;
    for (uint32_t agg = 0; agg < m_aggs.size(); agg++)
    {
        const uint32_t pod = agg / shape.aggsPerPod;
        for (uint32_t i = 0; i < shape.torsPerPod; i++)
        {
            const auto& tor = m_tors[pod * shape.torsPerPod + i];
            JoinSwitches(tor, m_aggs[agg], shape.uplinkRateBps, shape.uplinkDelayPs);
        }
        for (uint32_t i = 0; i < group; i++)
        {
            const auto& core = m_cores[agg % shape.aggsPerPod * group + i];
            JoinSwitches(m_aggs[agg], core, shape.coreRateBps, shape.coreDelayPs);
        }
    }
}

void
Tree::JoinHost(uint32_t host)
{
    const auto ends =
        Link(hosts[host], m_tors[host / m_shape.hostsPerTor], m_settings.delayPs);
    ends.Get(0)->SetAttribute("DataRate", DataRateValue(DataRate(m_settings.hostRateBps)));
    ends.Get(1)->SetAttribute("DataRate", DataRateValue(DataRate(m_settings.switchRateBps)));
    ports.push_back(InstallPort(ends.Get(1), m_settings));
    Assign(ends);
    InstallNic(ends.Get(0));
    addresses.push_back(hosts[host]->GetObject<Ipv4>()->GetAddress(1, 0).GetLocal());
    m_hostOf[addresses.back()] = host;
    if (host == 0)
    {
        toHost0 = DynamicCast<PointToPointNetDevice>(ends.Get(1));
    }
}

void
Tree::JoinSwitches(Ptr<Node> low, Ptr<Node> high, uint64_t rateBps, uint64_t delayPs)
{
    const auto ends = Link(low, high, delayPs);
    for (const auto& device : {ends.Get(0), ends.Get(1)})
    {
        device->SetAttribute("DataRate", DataRateValue(DataRate(rateBps)));
        ports.push_back(InstallPort(device, m_settings));
    }
    Assign(ends);
}

NetDeviceContainer
Tree::Link(Ptr<Node> low, Ptr<Node> high, uint64_t delayPs)
{
    PointToPointHelper link;
    link.SetChannelAttribute("Delay", TimeValue(PicoSeconds(delayPs)));
    return link.Install(low, high);
}

void
Tree::Assign(const NetDeviceContainer& ends)
{
    m_network.Assign(ends);
    m_network.NewNetwork();
    for (uint32_t i = 0; i < 2; i++)
    {
        const auto node = ends.Get(i)->GetNode();
        m_interface[{node->GetId(), ends.Get(1 - i)->GetNode()->GetId()}] =
            static_cast<uint32_t>(node->GetObject<Ipv4>()->GetInterfaceForDevice(ends.Get(i)));
    }
}

// The interface of a switch towards a host.
uint32_t
Tree::NextInterface(Ptr<Node> at, uint32_t host, const Path& path, bool forward) const
{
    const uint32_t tor = host / m_shape.hostsPerTor;
    const uint32_t pod = tor / m_shape.torsPerPod;
    const uint32_t group = m_shape.cores / m_shape.aggsPerPod;
    const auto place = [&](const std::vector<Ptr<Node>>& nodes) {
        return static_cast<uint32_t>(std::find(nodes.begin(), nodes.end(), at) - nodes.begin());
    };
    const uint32_t direction = forward ? 0 : 1;
    Ptr<Node> to;
    if (const uint32_t here = place(m_tors); here < m_tors.size())
    {
        const uint32_t up = here / m_shape.torsPerPod * m_shape.aggsPerPod + path.agg[direction];
        to = here == tor ? hosts[host] : m_aggs[up];
    }
    else if (const uint32_t here = place(m_aggs); here < m_aggs.size())
    {
        const uint32_t up = here % m_shape.aggsPerPod * group + path.core[direction];
        to = here / m_shape.aggsPerPod == pod ? m_tors[tor] : m_cores[up];
    }
    else
    {
        to = m_aggs[pod * m_shape.aggsPerPod + place(m_cores) / group];
    }
    return m_interface.at({at->GetId(), to->GetId()});
}

void
Tree::Route(const std::vector<Path>& paths)
{
    for (const auto* nodes : {&m_tors, &m_aggs, &m_cores})
    {
        for (const auto& node : *nodes)
        {
            auto routing = DynamicCast<GivenPaths>(node->GetObject<Ipv4>()->GetRoutingProtocol());
            routing->next = [this, &paths, node](Ipv4Address to, std::size_t flow, bool forward) {
                return NextInterface(node, m_hostOf.at(to), paths.at(flow), forward);
            };
        }
    }
}

} // namespace

int
main(int argc, char* argv[])
{
    Time::SetResolution(Time::PS);
    Settings settings;
    Shape shape;
    std::string pathFile;
    CommandLine cmd(__FILE__);
    settings.AddTo(cmd);
    cmd.AddValue("delayPs", "delay of a host's link, ps", settings.delayPs);
    cmd.AddValue("paths", "agg,core,back_agg,back_core of each flow", pathFile);
    cmd.AddValue("pods", "number of pods", shape.pods);
    cmd.AddValue("torsPerPod", "ToRs of a pod", shape.torsPerPod);
    cmd.AddValue("hostsPerTor", "hosts of a ToR", shape.hostsPerTor);
    cmd.AddValue("aggsPerPod", "aggregation switches of a pod", shape.aggsPerPod);
    cmd.AddValue("cores", "number of cores", shape.cores);
    cmd.AddValue("uplinkRateBps", "rate from ToR to aggregation, bit/s", shape.uplinkRateBps);
    cmd.AddValue("uplinkDelayPs", "its delay, ps", shape.uplinkDelayPs);
    cmd.AddValue("coreRateBps", "rate from aggregation to core, bit/s", shape.coreRateBps);
    cmd.AddValue("coreDelayPs", "its delay, ps", shape.coreDelayPs);
    cmd.Parse(argc, argv);
    settings.SetTcpDefaults();
    const std::vector<Path> paths = ReadPaths(pathFile);

    Tree tree(shape, settings);
    tree.Route(paths);
    Traffic traffic(settings, tree.hosts, tree.addresses);
    const Time from = traffic.Zero() + Seconds(settings.warmupS);
    QueueMeter queue(tree.ports[0], tree.toHost0, from, from + Seconds(settings.durationS));
    traffic.Run(Seconds(settings.warmupS), Seconds(settings.durationS), Seconds(settings.drainS));
    queue.Finish(traffic.Completion());
    PrintReport(settings, traffic, queue, tree.ports);
    Simulator::Destroy();
    return 0;
}
