// A main program for htsim: the flows of a list, with htsim's DCTCP, on a three-tier tree.
//
// htsim has DCTCP and the tree but no program that runs a list of flows with them. This one uses
// htsim as a library and what is fastest there: routes are fixed at the source, a flow is made when
// it starts, nothing is logged, and the retransmission timer looks at active flows only.
//
//   htsim_dctcp TOPOLOGY FLOWS PACKET_BYTES QUEUE_PACKETS
//
// TOPOLOGY is a file of htsim's; FLOWS has a line `start_ps src dst packets` for each flow, by
// start. Prints one line of JSON: flows that ended, packet-hops, drops, simulated picoseconds. A
// packet-hop is a packet, data or ACK, on one link; one that is dropped counts for its whole route.

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <random>
#include <vector>

#include "dctcp.h"
#include "ecnqueue.h"
#include "eventlist.h"
#include "fat_tree_topology.h"

namespace {

struct Demand {
    simtime_picosec start;
    uint32_t src, dst;
    uint64_t packets;
};

/// A sender that counts what it sends and takes, and knows when its flow is done.
class Sender : public DCTCPSrc {
public:
    Sender(EventList& events, uint64_t packets)
        : DCTCPSrc(nullptr, nullptr, events), packets_(packets)
    {
        // htsim's source sends another packet while the bytes sent are at most `_flow_size`.
        _flow_size = packets * _mss - 1;
    }

    void receivePacket(Packet& packet) override
    {
        ++acks_;
        DCTCPSrc::receivePacket(packet);
    }

    bool done() const { return _last_acked > packets_ * _mss; }
    uint64_t sent() const { return _packets_sent / _mss + 1; }  // and the SYN
    uint64_t acks() const { return acks_; }

private:
    uint64_t packets_;
    uint64_t acks_ = 0;
};

struct Flow {
    Route out, back;
    uint64_t links;
    TcpSink sink;
    Sender source;

    Flow(EventList& events, uint64_t packets) : links(0), source(events, packets) {}
};

class Run : public EventSource {
public:
    Run(EventList& events, FatTreeTopology& tree, std::vector<Demand> demands)
        : EventSource(events, "run"), tree_(tree), demands_(std::move(demands))
    {
        sourceAt(demands_.front().start);
    }

    /// The next flow starts.
    void doNextEvent() override
    {
        const Demand& demand = demands_[next_++];
        flows_.push_back(std::make_unique<Flow>(eventlist(), demand.packets));
        Flow& flow = *flows_.back();
        flow.links = path(flow.out, demand.src, demand.dst);
        path(flow.back, demand.dst, demand.src);
        flow.out.push_back(&flow.sink);
        flow.back.push_back(&flow.source);
        flow.source.connect(flow.out, flow.back, flow.sink, eventlist().now());
        active_.push_back(&flow);
        if (next_ < demands_.size())
            sourceAt(demands_[next_].start);
    }

    /// Looks at the retransmission timers, and leaves out what is done.
    void scan(simtime_picosec period)
    {
        for (size_t i = 0; i < active_.size();) {
            if (active_[i]->source.done()) {
                active_[i] = active_.back();
                active_.pop_back();
            } else {
                active_[i++]->source.rtx_timer_hook(eventlist().now(), period);
            }
        }
    }

    bool done() const { return next_ == demands_.size() && active_.empty(); }
    size_t flows() const { return flows_.size() - active_.size(); }

    uint64_t packet_hops() const
    {
        uint64_t hops = 0;
        for (const auto& flow : flows_)
            hops += flow->links * (flow->source.sent() + flow->source.acks());
        return hops;
    }

private:
    void sourceAt(simtime_picosec when) { eventlist().sourceIsPending(*this, when); }

    /// Adds a link to a route.
    template <class Queues, class Pipes>
    static void add(Route& route, Queues& queues, Pipes& pipes, uint32_t from, uint32_t to)
    {
        route.push_back(queues[from][to][0]);
        route.push_back(pipes[from][to][0]);
    }

    /// One of the shortest paths, drawn; how many links it has.
    uint64_t path(Route& route, uint32_t src, uint32_t dst)
    {
        FatTreeTopology& t = tree_;
        uint32_t from = t.HOST_POD_SWITCH(src), to = t.HOST_POD_SWITCH(dst);
        uint32_t aggs = t.agg_switches_per_pod();
        add(route, t.queues_ns_nlp, t.pipes_ns_nlp, src, from);
        uint64_t links = 2;
        if (from != to) {
            uint32_t place = random_() % aggs;
            uint32_t up = t.MIN_POD_AGG_SWITCH(t.HOST_POD(src)) + place;
            uint32_t down = t.MIN_POD_AGG_SWITCH(t.HOST_POD(dst)) + place;
            add(route, t.queues_nlp_nup, t.pipes_nlp_nup, from, up);
            links = 4;
            if (up != down) {
                uint32_t core = place + aggs * (random_() % t.radix_up(AGG_TIER));
                add(route, t.queues_nup_nc, t.pipes_nup_nc, up, core);
                add(route, t.queues_nc_nup, t.pipes_nc_nup, core, down);
                links = 6;
            }
            add(route, t.queues_nup_nlp, t.pipes_nup_nlp, down, to);
        }
        add(route, t.queues_nlp_ns, t.pipes_nlp_ns, to, dst);
        return links;
    }

    FatTreeTopology& tree_;
    std::vector<Demand> demands_;
    size_t next_ = 0;
    std::vector<std::unique_ptr<Flow>> flows_;
    std::vector<Flow*> active_;
    std::mt19937 random_{1};
};

/// Calls `Run::scan` at intervals.
class Scanner : public EventSource {
public:
    Scanner(EventList& events, Run& run) : EventSource(events, "scanner"), run_(run)
    {
        events.sourceIsPendingRel(*this, period);
    }

    void doNextEvent() override
    {
        run_.scan(period);
        if (!run_.done())
            eventlist().sourceIsPendingRel(*this, period);
    }

private:
    static constexpr simtime_picosec period = 10'000'000'000;
    Run& run_;
};

template <class Queues>
uint64_t drops(const Queues& queues)
{
    uint64_t sum = 0;
    for (const auto& row : queues)
        for (const auto& bundle : row)
            for (const auto& queue : bundle)
                if (auto* one = dynamic_cast<Queue*>(queue))
                    sum += one->num_drops();
    return sum;
}

}  // namespace

int main(int count, char** arguments)
{
    if (count != 5) {
        std::cerr << "usage: htsim_dctcp TOPOLOGY FLOWS PACKET_BYTES QUEUE_PACKETS\n";
        return 2;
    }
    std::ifstream file(arguments[2]);
    std::vector<Demand> demands;
    for (Demand one; file >> one.start >> one.src >> one.dst >> one.packets;)
        demands.push_back(one);
    if (demands.empty()) {
        std::cerr << "htsim_dctcp: no flows in " << arguments[2] << "\n";
        return 2;
    }
    // htsim reports each flow on the standard output: nobody reads that here.
    std::cout.setstate(std::ios_base::failbit);
    EventList events;
    Packet::set_packet_size(std::atoi(arguments[3]));
    FatTreeTopology* tree = FatTreeTopology::load(
        arguments[1], nullptr, events, memFromPkt(std::atoi(arguments[4])), ECN, PRIORITY);
    Run run(events, *tree, std::move(demands));
    Scanner scanner(events, run);
    while (!run.done() && EventList::doNextEvent()) {
    }
    std::cout.clear();
    std::cout << "{\"flows\": " << run.flows() << ", \"packet_hops\": " << run.packet_hops()
              << ", \"drops\": "
              << drops(tree->queues_nlp_ns) + drops(tree->queues_nlp_nup)
                     + drops(tree->queues_nup_nlp) + drops(tree->queues_nup_nc)
                     + drops(tree->queues_nc_nup)
              << ", \"simulated_ps\": " << events.now() << "}" << std::endl;
    std::_Exit(0);  // nothing to write; htsim frees nothing either
}
