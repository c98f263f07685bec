// Flows and the time line of a run.

#include "traffic.h"

#include "paths.h"

#include <fstream>
#include <sstream>

using namespace ns3;

namespace
{

const uint64_t LASTS = 1'000'000'000'000;
// Connections are opened one after the other, so that no handshake waits or is dropped.
const Time BETWEEN_OPENINGS = MicroSeconds(20);
const Time AFTER_OPENINGS = MilliSeconds(100);

} // namespace

std::vector<FlowEntry>
ReadFlows(const std::string& file)
{
    std::ifstream in(file);
    NS_ABORT_MSG_UNLESS(in, "cannot read " << file);
    std::string line;
    std::getline(in, line);
    NS_ABORT_MSG_UNLESS(line == "start_ps,src,dst,bytes", file << ": wrong header " << line);
    std::vector<FlowEntry> flows;
    while (std::getline(in, line))
    {
        std::istringstream row(line);
        FlowEntry entry{};
        char comma = 0;
        row >> entry.startPs >> comma >> entry.src >> comma >> entry.dst >> comma >> entry.bytes;
        NS_ABORT_MSG_UNLESS(row, file << ": bad row " << line);
        flows.push_back(entry);
    }
    return flows;
}

Flow::Flow(const FlowEntry& flow,
           Ptr<Node> sender,
           Ptr<Node> receiver,
           Ipv4Address to,
           uint16_t port)
    : entry(flow),
      m_sender(sender),
      m_receiver(receiver),
      m_to(to),
      m_port(port)
{
}

bool
Flow::Lasts() const
{
    return entry.bytes >= LASTS;
}

bool
Flow::Done() const
{
    return Lasts() || fctPs >= 0;
}

void
Flow::Open(Time start)
{
    m_start = start;
    m_listening = Socket::CreateSocket(m_receiver, TcpSocketFactory::GetTypeId());
    m_listening->Bind(InetSocketAddress(Ipv4Address::GetAny(), m_port));
    m_listening->Listen();
    m_listening->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                   MakeCallback(&Flow::Accepted, this));
    m_sending = Socket::CreateSocket(m_sender, TcpSocketFactory::GetTypeId());
    m_sending->Bind();
    m_sending->SetSendCallback(MakeCallback(&Flow::Write, this));
    m_sending->TraceConnectWithoutContext("Tx", MakeCallback(&Flow::Sent, this));
    m_sending->TraceConnectWithoutContext("RTO", MakeCallback(&Flow::TimeoutChanged, this));
    m_sending->SetConnectCallback(MakeCallback(&Flow::Connected, this),
                                  MakeNullCallback<void, Ptr<Socket>>());
    m_sending->Connect(InetSocketAddress(m_to, m_port));
    Simulator::Schedule(start - Simulator::Now(), &Flow::Start, this);
}

void
Flow::Connected(Ptr<Socket>)
{
    m_connected = true;
    Write(m_sending, 0);
}

void
Flow::Accepted(Ptr<Socket> socket, const Address&)
{
    socket->SetRecvCallback(MakeCallback(&Flow::Read, this));
}

void
Flow::Start()
{
    m_started = true;
    Write(m_sending, 0);
}

// Keeps the socket's buffer full until everything is written.
void
Flow::Write(Ptr<Socket>, uint32_t)
{
    while (m_started && m_connected && m_written < entry.bytes)
    {
        const uint64_t room = m_sending->GetTxAvailable();
        const uint64_t bytes = std::min(room, entry.bytes - m_written);
        if (bytes == 0)
        {
            return;
        }
        const int taken = m_sending->Send(Create<Packet>(static_cast<uint32_t>(bytes)));
        if (taken <= 0)
        {
            return;
        }
        m_written += static_cast<uint64_t>(taken);
    }
}

void
Flow::Read(Ptr<Socket> socket)
{
    while (Ptr<Packet> packet = socket->Recv())
    {
        received += packet->GetSize();
    }
    if (received == entry.bytes)
    {
        fctPs = (Simulator::Now() - m_start).GetPicoSeconds();
    }
}

void
Flow::Sent(Ptr<const Packet> packet, const TcpHeader& header, Ptr<const TcpSocketBase>)
{
    if (packet->GetSize() == 0)
    {
        return;
    }
    const SequenceNumber32 end = header.GetSequenceNumber() + packet->GetSize();
    if (m_anySent && end <= m_highest)
    {
        retransmissions++;
        return;
    }
    m_anySent = true;
    m_highest = end;
}

// Only a timeout doubles the retransmission timeout; repeated ones change no other trace.
void
Flow::TimeoutChanged(Time from, Time to)
{
    if (to == from + from)
    {
        timeouts++;
    }
}

Traffic::Traffic(const Settings& settings,
                 const std::vector<Ptr<Node>>& hosts,
                 const std::vector<Ipv4Address>& addresses)
    : m_handshake(settings.handshake)
{
    const std::string& file = settings.flows;
    const auto entries = ReadFlows(file);
    uint16_t port = FIRST_LISTENING_PORT;
    NS_ABORT_MSG_UNLESS(port + entries.size() < FIRST_SENDING_PORT, "one port for each flow");
    for (const FlowEntry& entry : entries)
    {
        NS_ABORT_MSG_UNLESS(entry.src < hosts.size() && entry.dst < hosts.size(),
                            file << ": no such host");
        flows.emplace_back(entry, hosts[entry.src], hosts[entry.dst], addresses[entry.dst], port);
        port++;
    }
}

Time
Traffic::Zero() const
{
    if (m_handshake)
    {
        return Time();
    }
    return BETWEEN_OPENINGS * static_cast<int64_t>(flows.size()) + AFTER_OPENINGS;
}

void
Traffic::Run(Time warmup, Time duration, Time drain)
{
    Time opening;
    for (Flow& flow : flows)
    {
        const Time start = Zero() + PicoSeconds(flow.entry.startPs);
        Simulator::Schedule(m_handshake ? start : opening, &Flow::Open, &flow, start);
        opening += BETWEEN_OPENINGS;
    }
    Simulator::Schedule(Zero() + warmup, [this] {
        for (Flow& flow : flows)
        {
            flow.receivedAtWarmup = flow.received;
        }
    });
    const Time end = Zero() + warmup + duration;
    Simulator::Schedule(end, [this, end, drain] {
        for (Flow& flow : flows)
        {
            flow.receivedAtEnd = flow.received;
        }
        Watch(end + drain);
    });
    Simulator::Run();
}

Time
Traffic::Completion() const
{
    Time last;
    for (const Flow& flow : flows)
    {
        if (flow.fctPs < 0)
        {
            return Time::Max();
        }
        last = std::max(last, Zero() + PicoSeconds(flow.entry.startPs + flow.fctPs));
    }
    return last;
}

// Looks each millisecond whether there is anything left to wait for.
void
Traffic::Watch(Time until)
{
    bool done = Simulator::Now() >= until;
    if (!done)
    {
        done = true;
        for (const Flow& flow : flows)
        {
            done = done && flow.Done();
        }
    }
    if (done)
    {
        Simulator::Stop();
        return;
    }
    Simulator::Schedule(MilliSeconds(1), &Traffic::Watch, this, until);
}
