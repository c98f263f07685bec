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

// Gives the port of a switch its queue; call before addresses are assigned.
ns3::Ptr<ns3::QueueDisc> InstallPort(ns3::Ptr<ns3::NetDevice> device, const Settings& settings);

// Gives a host a NIC without limit and without a queue disc; call after addresses are assigned.
void InstallNic(ns3::Ptr<ns3::NetDevice> device);

#endif
