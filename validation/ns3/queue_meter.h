// The queue of one output port over time, as hull measures it (report III-A): the bytes that wait,
// the packet being sent left out, each level weighted with the time that it lasts.
//
// ns-3 splits a port in two: a queue disc, which marks and drops, and the device's own queue,
// which is given room for one packet here. What waits is the sum of both, as bytes on the wire; the
// disc's packets lack the 2 bytes of the point-to-point header. Times are picoseconds.

#ifndef HULL_VALIDATION_QUEUE_METER_H
#define HULL_VALIDATION_QUEUE_METER_H

#include "ns3/core-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <cmath>
#include <cstdint>
#include <vector>

class QueueMeter
{
  public:
    QueueMeter(ns3::Ptr<ns3::QueueDisc> disc,
               ns3::Ptr<ns3::PointToPointNetDevice> device,
               ns3::Time from,
               ns3::Time to)
        : m_from(from.GetPicoSeconds()),
          m_to(to.GetPicoSeconds()),
          m_since(m_from)
    {
        disc->TraceConnectWithoutContext("PacketsInQueue",
                                         ns3::MakeCallback(&QueueMeter::DiscPackets, this));
        disc->TraceConnectWithoutContext("BytesInQueue",
                                         ns3::MakeCallback(&QueueMeter::DiscBytes, this));
        device->GetQueue()->TraceConnectWithoutContext(
            "BytesInQueue",
            ns3::MakeCallback(&QueueMeter::DeviceBytes, this));
    }

    // Closes the last interval, at `end` or, if that is earlier, where the measured time ends. Call
    // once, after the run.
    void Finish(ns3::Time end)
    {
        Weigh(end.GetPicoSeconds());
    }

    // Bytes.
    double Mean() const
    {
        double sum = 0;
        double total = 0;
        for (std::size_t level = 0; level < m_timeAt.size(); level++)
        {
            sum += static_cast<double>(level) * static_cast<double>(m_timeAt[level]);
            total += static_cast<double>(m_timeAt[level]);
        }
        return total > 0 ? sum / total : 0;
    }

    // Bytes: the lowest level below or at which the queue was for `share` of the time.
    std::size_t Percentile(double share) const
    {
        int64_t total = 0;
        for (int64_t time : m_timeAt)
        {
            total += time;
        }
        const auto wanted = static_cast<int64_t>(std::ceil(share * static_cast<double>(total)));
        int64_t sum = 0;
        for (std::size_t level = 0; level < m_timeAt.size(); level++)
        {
            sum += m_timeAt[level];
            if (sum >= wanted)
            {
                return level;
            }
        }
        return 0;
    }

  private:
    void DiscPackets(uint32_t, uint32_t packets)
    {
        Weigh(ns3::Simulator::Now().GetPicoSeconds());
        m_discPackets = packets;
    }

    void DiscBytes(uint32_t, uint32_t bytes)
    {
        Weigh(ns3::Simulator::Now().GetPicoSeconds());
        m_discBytes = bytes;
    }

    void DeviceBytes(uint32_t, uint32_t bytes)
    {
        Weigh(ns3::Simulator::Now().GetPicoSeconds());
        m_deviceBytes = bytes;
    }

    // The present level has lasted until `now`; only what lies between `from` and `to` counts.
    void Weigh(int64_t now)
    {
        const int64_t until = now < m_to ? now : m_to;
        if (until > m_since)
        {
            const std::size_t level = m_discBytes + 2 * m_discPackets + m_deviceBytes;
            if (level >= m_timeAt.size())
            {
                m_timeAt.resize(level + 1, 0);
            }
            m_timeAt[level] += until - m_since;
            m_since = until;
        }
    }

    int64_t m_from;
    int64_t m_to;
    int64_t m_since;
    std::size_t m_discPackets = 0;
    std::size_t m_discBytes = 0;
    std::size_t m_deviceBytes = 0;
    std::vector<int64_t> m_timeAt;
};

#endif
