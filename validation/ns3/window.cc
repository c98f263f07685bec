// Window rules.

#include "window.h"

#include <algorithm>

using namespace ns3;

TypeId
NewRenoFlightSize::GetTypeId()
{
    static TypeId type =
        TypeId("NewRenoFlightSize").SetParent<TcpNewReno>().AddConstructor<NewRenoFlightSize>();
    return type;
}

uint32_t
NewRenoFlightSize::GetSsThresh(Ptr<const TcpSocketState> tcb, uint32_t)
{
    // Limited transmit has sent more than a window by now; RFC 5681 leaves that out.
    const auto outstanding =
        static_cast<uint32_t>(tcb->m_highTxMark.Get() - tcb->m_lastAckedSeq);
    const uint32_t flight = std::min(outstanding, tcb->m_cWnd.Get());
    return std::max(2 * tcb->m_segmentSize, flight / 2);
}

Ptr<TcpCongestionOps>
NewRenoFlightSize::Fork()
{
    return CopyObject<NewRenoFlightSize>(this);
}

TypeId
DctcpEctControl::GetTypeId()
{
    static TypeId type =
        TypeId("DctcpEctControl")
            .SetParent<TcpDctcp>()
            .AddConstructor<DctcpEctControl>()
            .AddAttribute("EctControl",
                          "SYNs and pure ACKs are ECN-capable",
                          BooleanValue(true),
                          MakeBooleanAccessor(&DctcpEctControl::m_ectControl),
                          MakeBooleanChecker());
    return type;
}

void
DctcpEctControl::Init(Ptr<TcpSocketState> tcb)
{
    TcpDctcp::Init(tcb);
    if (!m_ectControl)
    {
        // ns-3 asks for the mode only where it decides this.
        tcb->m_ecnMode = TcpSocketState::ClassicEcn;
    }
}

Ptr<TcpCongestionOps>
DctcpEctControl::Fork()
{
    return CopyObject<DctcpEctControl>(this);
}

TypeId
DctcpByteCounting::GetTypeId()
{
    static TypeId type =
        TypeId("DctcpByteCounting")
            .SetParent<DctcpEctControl>()
            .AddConstructor<DctcpByteCounting>()
            .AddAttribute("HoldAfterCut",
                          "the window stands still until the data before a cut is acknowledged",
                          BooleanValue(false),
                          MakeBooleanAccessor(&DctcpByteCounting::m_holdAfterCut),
                          MakeBooleanChecker());
    return type;
}

void
DctcpByteCounting::IncreaseWindow(Ptr<TcpSocketState> tcb, uint32_t segmentsAcked)
{
    const uint32_t segment = tcb->m_segmentSize;
    if (tcb->m_cWnd < tcb->m_ssThresh)
    {
        tcb->m_cWnd += std::min(segmentsAcked, 1U) * segment;
        return;
    }
    m_creditBytes += segmentsAcked * segment;
    if (m_creditBytes >= tcb->m_cWnd)
    {
        m_creditBytes -= tcb->m_cWnd;
        tcb->m_cWnd += segment;
    }
}

// ns-3 asks for this where it reduces the window, and only there.
uint32_t
DctcpByteCounting::GetSsThresh(Ptr<const TcpSocketState> tcb, uint32_t pipe)
{
    m_creditBytes = 0;
    return TcpDctcp::GetSsThresh(tcb, pipe);
}

void
DctcpByteCounting::PktsAcked(Ptr<TcpSocketState> tcb, uint32_t segmentsAcked, const Time& rtt)
{
    TcpDctcp::PktsAcked(tcb, segmentsAcked, rtt);
    if (!m_holdAfterCut && tcb->m_congState == TcpSocketState::CA_CWR &&
        tcb->m_ecnState != TcpSocketState::ECN_ECE_RCVD)
    {
        IncreaseWindow(tcb, segmentsAcked);
        // The socket returns to this value when the reduction is over.
        tcb->m_ssThresh = tcb->m_cWnd.Get();
    }
}

Ptr<TcpCongestionOps>
DctcpByteCounting::Fork()
{
    return CopyObject<DctcpByteCounting>(this);
}
