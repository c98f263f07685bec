// The traffic: a flow list, one TCP connection for each flow, and what became of it.
//
// Where hull's connections exist before their first byte, these are opened during a time of their
// own, before the run's time 0, and each flow's first byte is written at its start. With a handshake
// a flow's connection is opened at its start, and it writes when that is done. A flow's
// completion time ends when its receiver has the last byte. Nothing is closed.

#ifndef HULL_VALIDATION_TRAFFIC_H
#define HULL_VALIDATION_TRAFFIC_H

#include "settings.h"

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

struct FlowEntry
{
    int64_t startPs;
    uint32_t src;
    uint32_t dst;
    uint64_t bytes; // from 10^12 on the flow is meant to outlast the run
};

// Reads a list with the header start_ps,src,dst,bytes; ends the program where it cannot.
std::vector<FlowEntry> ReadFlows(const std::string& file);

class Flow
{
  public:
    Flow(const FlowEntry& entry,
         ns3::Ptr<ns3::Node> sender,
         ns3::Ptr<ns3::Node> receiver,
         ns3::Ipv4Address to,
         uint16_t port);

    // Opens the connection now, and writes at `start`.
    void Open(ns3::Time start);

    bool Lasts() const;
    bool Done() const;

    FlowEntry entry;
    int64_t fctPs = -1;
    uint64_t received = 0;
    uint64_t receivedAtWarmup = 0;
    uint64_t receivedAtEnd = 0;
    uint64_t timeouts = 0;
    uint64_t retransmissions = 0;

  private:
    void Connected(ns3::Ptr<ns3::Socket>);
    void Accepted(ns3::Ptr<ns3::Socket> socket, const ns3::Address&);
    void Start();
    void Write(ns3::Ptr<ns3::Socket>, uint32_t);
    void Read(ns3::Ptr<ns3::Socket> socket);
    void Sent(ns3::Ptr<const ns3::Packet> packet,
              const ns3::TcpHeader& header,
              ns3::Ptr<const ns3::TcpSocketBase>);
    void TimeoutChanged(ns3::Time from, ns3::Time to);

    ns3::Ptr<ns3::Node> m_sender;
    ns3::Ptr<ns3::Node> m_receiver;
    ns3::Ipv4Address m_to;
    uint16_t m_port;
    ns3::Ptr<ns3::Socket> m_listening;
    ns3::Ptr<ns3::Socket> m_sending;
    ns3::Time m_start;
    bool m_started = false;
    bool m_connected = false;
    uint64_t m_written = 0;
    bool m_anySent = false;
    ns3::SequenceNumber32 m_highest;
};

// All flows of a run, and the times at which they are read.
class Traffic
{
  public:
    Traffic(const Settings& settings,
            const std::vector<ns3::Ptr<ns3::Node>>& hosts,
            const std::vector<ns3::Ipv4Address>& addresses);

    // When the run's time 0 is: after all connections have been opened that are opened before it.
    ns3::Time Zero() const;

    // Runs from the opening of the first connection to the end of what is measured, and on, until
    // all flows that end have ended, for at most `drain`.
    void Run(ns3::Time warmup, ns3::Time duration, ns3::Time drain);

    // When the last flow was complete; the end of all time where one is not.
    ns3::Time Completion() const;

    std::deque<Flow> flows;

  private:
    void Watch(ns3::Time until);

    bool m_handshake;
};

#endif
