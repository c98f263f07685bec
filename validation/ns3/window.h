// hull's window rules inside ns-3's TCP, to tell whether a difference comes from them.
//
// NewReno: the window after a loss is half of FlightSize as RFC 5681 (section 2) defines it, all
// that is outstanding; ns-3 halves what RFC 6675 calls the pipe, without the segments that are
// lost or were reported as received.
//
// DCTCP: one segment for each window of acknowledged bytes (RFC 3465), counted anew after a
// reduction as Linux does; ns-3 rounds the window down to whole segments and keeps the count over
// a reduction, so that its window grows sooner. And ACKs without ECN-Echo let the window grow also
// while the data sent before a reduction is still being acknowledged, when ns-3's stands still, unless
// HoldAfterCut is set (hull: transport.dctcp.hold_after_cut).

#ifndef HULL_VALIDATION_WINDOW_H
#define HULL_VALIDATION_WINDOW_H

#include "ns3/internet-module.h"

class NewRenoFlightSize : public ns3::TcpNewReno
{
  public:
    static ns3::TypeId GetTypeId();
    uint32_t GetSsThresh(ns3::Ptr<const ns3::TcpSocketState> tcb, uint32_t pipe) override;
    ns3::Ptr<ns3::TcpCongestionOps> Fork() override;
};

// ns-3's DCTCP; EctControl says whether SYNs and pure ACKs are ECN-capable, as ns-3 has it, or not
// (RFC 3168, 6.1.1 and 6.1.4; hull).
class DctcpEctControl : public ns3::TcpDctcp
{
  public:
    static ns3::TypeId GetTypeId();
    void Init(ns3::Ptr<ns3::TcpSocketState> tcb) override;
    ns3::Ptr<ns3::TcpCongestionOps> Fork() override;

  private:
    bool m_ectControl = true;
};

class DctcpByteCounting : public DctcpEctControl
{
  public:
    static ns3::TypeId GetTypeId();
    void IncreaseWindow(ns3::Ptr<ns3::TcpSocketState> tcb, uint32_t segmentsAcked) override;
    uint32_t GetSsThresh(ns3::Ptr<const ns3::TcpSocketState> tcb, uint32_t pipe) override;
    void PktsAcked(ns3::Ptr<ns3::TcpSocketState> tcb,
                   uint32_t segmentsAcked,
                   const ns3::Time& rtt) override;
    ns3::Ptr<ns3::TcpCongestionOps> Fork() override;

  private:
    uint32_t m_creditBytes = 0;
    bool m_holdAfterCut = false;
};

#endif
