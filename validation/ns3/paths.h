// Paths that are given, flow by flow: what both simulators are to have alike lies outside of both.
//
// ns-3 has no routing by a hash of the flow. Here a node passes a packet on to the neighbour that
// a function names for the packet's destination and flow; the flow is told from the TCP ports.

#ifndef HULL_VALIDATION_PATHS_H
#define HULL_VALIDATION_PATHS_H

#include "ns3/internet-module.h"

#include <cstdint>
#include <functional>

// The interface of a node towards a destination (its address), for a flow in one direction.
using NextInterface =
    std::function<uint32_t(ns3::Ipv4Address to, std::size_t flow, bool forward)>;

// The listening port of flow 0; flow i listens at this plus i, and no sender's port is below
// FIRST_SENDING_PORT.
constexpr uint16_t FIRST_LISTENING_PORT = 1000;
constexpr uint16_t FIRST_SENDING_PORT = 49152;

class GivenPaths : public ns3::Ipv4RoutingProtocol
{
  public:
    static ns3::TypeId GetTypeId();

    // To be set before the first packet.
    NextInterface next;

    ns3::Ptr<ns3::Ipv4Route> RouteOutput(ns3::Ptr<ns3::Packet> packet,
                                         const ns3::Ipv4Header& header,
                                         ns3::Ptr<ns3::NetDevice> device,
                                         ns3::Socket::SocketErrno& error) override;
    bool RouteInput(ns3::Ptr<const ns3::Packet> packet,
                    const ns3::Ipv4Header& header,
                    ns3::Ptr<const ns3::NetDevice> device,
                    UnicastForwardCallback forward,
                    MulticastForwardCallback,
                    LocalDeliverCallback deliver,
                    ErrorCallback) override;

    void SetIpv4(ns3::Ptr<ns3::Ipv4> ipv4) override;

    void NotifyInterfaceUp(uint32_t) override
    {
    }

    void NotifyInterfaceDown(uint32_t) override
    {
    }

    void NotifyAddAddress(uint32_t, ns3::Ipv4InterfaceAddress) override
    {
    }

    void NotifyRemoveAddress(uint32_t, ns3::Ipv4InterfaceAddress) override
    {
    }

    void PrintRoutingTable(ns3::Ptr<ns3::OutputStreamWrapper>, ns3::Time::Unit) const override
    {
    }

  private:
    ns3::Ptr<ns3::Ipv4Route> Through(uint32_t interface, ns3::Ipv4Address to) const;

    ns3::Ptr<ns3::Ipv4> m_ipv4;
};

// Gives each node a GivenPaths.
class GivenPathsHelper : public ns3::Ipv4RoutingHelper
{
  public:
    GivenPathsHelper* Copy() const override;
    ns3::Ptr<ns3::Ipv4RoutingProtocol> Create(ns3::Ptr<ns3::Node> node) const override;
};

#endif
