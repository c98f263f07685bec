// An output port of a switch, as hull's FIFO port: a drop-tail buffer, marking by threshold.
//
// The queue disc decides, but it does not see the packet that waits in the device's queue of one.
// Buffer and threshold of the disc are therefore one packet below those of the port. The marker is
// RED with weight 1 and both thresholds equal: it compares the instantaneous queue that the packet
// finds, the packet itself not counted, and marks where that is at or above the threshold.

#ifndef HULL_VALIDATION_PORT_H
#define HULL_VALIDATION_PORT_H

#include "settings.h"

#include "ns3/network-module.h"
#include "ns3/traffic-control-module.h"

// hull's marker as a queue disc: drop-tail, and a packet that finds more than a number of bytes
// waiting is marked where it is ECN-capable; the packet in the device's queue counts.
class ThresholdQueueDisc : public ns3::QueueDisc
{
  public:
    static ns3::TypeId GetTypeId();

    // The device's own queue, to be set before the first packet.
    ns3::Ptr<ns3::Queue<ns3::Packet>> deviceQueue;

  private:
    bool DoEnqueue(ns3::Ptr<ns3::QueueDiscItem> item) override;
    ns3::Ptr<ns3::QueueDiscItem> DoDequeue() override;
    bool CheckConfig() override;
    void InitializeParams() override;

    uint32_t m_thresholdBytes = 0;
};

// Gives the port of a switch its queue; call before addresses are assigned.
ns3::Ptr<ns3::QueueDisc> InstallPort(ns3::Ptr<ns3::NetDevice> device, const Settings& settings);

// Gives a host a NIC without limit and without a queue disc; call after addresses are assigned.
void InstallNic(ns3::Ptr<ns3::NetDevice> device);

#endif
