// The command line of a run, and TCP's attributes from it.

#include "settings.h"

#include "window.h"

#include "ns3/internet-module.h"

using namespace ns3;

void
Settings::AddTo(CommandLine& cmd)
{
    cmd.AddValue("flows", "flow list: start_ps,src,dst,bytes", flows);
    cmd.AddValue("durationS", "measured time, s", durationS);
    cmd.AddValue("warmupS", "time before it, s", warmupS);
    cmd.AddValue("drainS", "longest time after it for flows to complete, s", drainS);
    cmd.AddValue("hostRateBps", "rate out of a host, bit/s", hostRateBps);
    cmd.AddValue("switchRateBps", "rate out of a switch, bit/s", switchRateBps);
    cmd.AddValue("bufferPackets", "packets that may wait at a switch port", bufferPackets);
    cmd.AddValue("markFromPackets", "mark from so many waiting packets on, 0: never",
                 markFromPackets);
    cmd.AddValue("markAboveBytes", "the same threshold in bytes", markAboveBytes);
    cmd.AddValue("markBy", "packets or bytes", markBy);
    cmd.AddValue("congestionControl", "newreno, dctcp or cubic", congestionControl);
    cmd.AddValue("segmentBytes", "payload of a full packet", segmentBytes);
    cmd.AddValue("handshake", "whether a flow begins with SYN and SYN-ACK", handshake);
    cmd.AddValue("initialRtoPs", "retransmission timeout of a SYN, ps", initialRtoPs);
    cmd.AddValue("initialWindow", "segments", initialWindow);
    cmd.AddValue("windowPackets", "receive window, segments", windowPackets);
    cmd.AddValue("ackEvery", "packets for one ACK", ackEvery);
    cmd.AddValue("delayedAckPs", "longest wait of an ACK, ps", delayedAckPs);
    cmd.AddValue("minRtoPs", "floor of the retransmission timeout, ps", minRtoPs);
    cmd.AddValue("dctcpG", "gain of DCTCP's estimate", dctcpG);
    cmd.AddValue("dctcpInitialAlpha", "first value of DCTCP's estimate", dctcpInitialAlpha);
    cmd.AddValue("holdAfterCut", "whether hull's DCTCP window stands still after a cut", holdAfterCut);
    cmd.AddValue("ectControl", "whether SYNs and pure ACKs are ECN-capable", ectControl);
    cmd.AddValue("recovery", "classic or prr", recovery);
    cmd.AddValue("window", "own or hull", window);
}

void
Settings::SetTcpDefaults() const
{
    const bool own = window == "own";
    const auto newReno = own ? TcpNewReno::GetTypeId() : NewRenoFlightSize::GetTypeId();
    const auto dctcp = own ? DctcpEctControl::GetTypeId() : DctcpByteCounting::GetTypeId();
    const auto type = congestionControl == "dctcp"   ? dctcp
                      : congestionControl == "cubic" ? TcpCubic::GetTypeId()
                                                     : newReno;
    const auto recoveryType =
        recovery == "prr" ? TcpPrrRecovery::GetTypeId() : TcpClassicRecovery::GetTypeId();
    const uint32_t windowBytes = windowPackets * segmentBytes;
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(type));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(recoveryType));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(segmentBytes));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(initialWindow));
    Config::SetDefault("ns3::TcpSocket::ConnTimeout", TimeValue(PicoSeconds(initialRtoPs)));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(windowBytes));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(windowBytes));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(ackEvery));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(PicoSeconds(delayedAckPs)));
    Config::SetDefault("ns3::TcpSocket::TcpNoDelay", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    // hull's packets carry no timestamp option, and its timer has no granularity.
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", TimeValue(NanoSeconds(1)));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(PicoSeconds(minRtoPs)));
    // RFC 9438 leaves HyStart out; hull has none.
    Config::SetDefault("ns3::TcpCubic::HyStart", BooleanValue(false));
    Config::SetDefault("ns3::TcpDctcp::DctcpShiftG", DoubleValue(dctcpG));
    Config::SetDefault("ns3::TcpDctcp::DctcpAlphaOnInit", DoubleValue(dctcpInitialAlpha));
    Config::SetDefault("DctcpEctControl::EctControl", BooleanValue(own && ectControl));
    if (type == DctcpByteCounting::GetTypeId())
    {
        Config::SetDefault("DctcpByteCounting::HoldAfterCut", BooleanValue(holdAfterCut));
    }
}
