// The JSON object on standard output.

#include "report.h"

#include <iostream>

using namespace ns3;

void
PrintReport(const Settings& settings,
            const Traffic& traffic,
            const QueueMeter& queue,
            const std::vector<Ptr<QueueDisc>>& ports)
{
    uint64_t marks = 0;
    uint64_t drops = 0;
    for (const auto& port : ports)
    {
        marks += port->GetStats().nTotalMarkedPackets;
        drops += port->GetStats().nTotalDroppedPackets;
    }
    uint64_t delivered = 0;
    uint64_t timeouts = 0;
    uint64_t retransmissions = 0;
    for (const Flow& flow : traffic.flows)
    {
        delivered += flow.receivedAtEnd - flow.receivedAtWarmup;
        timeouts += flow.timeouts;
        retransmissions += flow.retransmissions;
    }
    std::cout.precision(12);
    std::cout << "{\"goodput_bps\": " << 8.0 * static_cast<double>(delivered) / settings.durationS
              << ", \"queue_mean_bytes\": " << queue.Mean()
              << ", \"queue_p50_bytes\": " << queue.Percentile(0.5)
              << ", \"queue_p99_bytes\": " << queue.Percentile(0.99)
              << ", \"queue_max_bytes\": " << queue.Percentile(1) << ", \"marks\": " << marks
              << ", \"drops\": " << drops << ", \"timeouts\": " << timeouts
              << ", \"retransmissions\": " << retransmissions << ", \"flows\": [";
    const char* separator = "";
    for (const Flow& flow : traffic.flows)
    {
        std::cout << separator << "\n{\"start_ps\": " << flow.entry.startPs
                  << ", \"src\": " << flow.entry.src << ", \"dst\": " << flow.entry.dst
                  << ", \"bytes\": " << flow.entry.bytes << ", \"fct_ps\": " << flow.fctPs
                  << ", \"delivered_bytes\": " << flow.receivedAtEnd - flow.receivedAtWarmup
                  << "}";
        separator = ",";
    }
    std::cout << "]}" << std::endl;
}
