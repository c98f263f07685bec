// Routing on given paths.

#include "paths.h"

using namespace ns3;

TypeId
GivenPaths::GetTypeId()
{
    static TypeId type =
        TypeId("GivenPaths").SetParent<Ipv4RoutingProtocol>().AddConstructor<GivenPaths>();
    return type;
}

void
GivenPaths::SetIpv4(Ptr<Ipv4> ipv4)
{
    m_ipv4 = ipv4;
}

Ptr<Ipv4Route>
GivenPaths::Through(uint32_t interface, Ipv4Address to) const
{
    auto route = Create<Ipv4Route>();
    route->SetDestination(to);
    route->SetSource(m_ipv4->GetAddress(interface, 0).GetLocal());
    route->SetGateway(Ipv4Address::GetZero());
    route->SetOutputDevice(m_ipv4->GetNetDevice(interface));
    return route;
}

// A host has one link.
Ptr<Ipv4Route>
GivenPaths::RouteOutput(Ptr<Packet>,
                        const Ipv4Header& header,
                        Ptr<NetDevice>,
                        Socket::SocketErrno& error)
{
    error = Socket::ERROR_NOTERROR;
    return Through(1, header.GetDestination());
}

bool
GivenPaths::RouteInput(Ptr<const Packet> packet,
                       const Ipv4Header& header,
                       Ptr<const NetDevice> device,
                       UnicastForwardCallback forward,
                       MulticastForwardCallback,
                       LocalDeliverCallback deliver,
                       ErrorCallback)
{
    const auto arrived = static_cast<uint32_t>(m_ipv4->GetInterfaceForDevice(device));
    if (m_ipv4->IsDestinationAddress(header.GetDestination(), arrived))
    {
        deliver(packet, header, arrived);
        return true;
    }
    TcpHeader tcp;
    packet->PeekHeader(tcp);
    const bool isForward = tcp.GetDestinationPort() < FIRST_SENDING_PORT;
    const uint16_t port = isForward ? tcp.GetDestinationPort() : tcp.GetSourcePort();
    const uint32_t interface =
        next(header.GetDestination(), port - FIRST_LISTENING_PORT, isForward);
    forward(Through(interface, header.GetDestination()), packet, header);
    return true;
}

GivenPathsHelper*
GivenPathsHelper::Copy() const
{
    return new GivenPathsHelper(*this);
}

Ptr<Ipv4RoutingProtocol>
GivenPathsHelper::Create(Ptr<Node>) const
{
    return CreateObject<GivenPaths>();
}
