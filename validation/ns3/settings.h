// What a run is made of, from the command line, and TCP's attributes from it. compare.py derives
// every value from hull's resolved scenario, so that both simulators get the same one.
//
// Names carry units; a packet is one of `mtu` bytes on the wire, point-to-point header included
// (2 bytes, which ns-3 adds to IP's 20 and TCP's 20).

#ifndef HULL_VALIDATION_SETTINGS_H
#define HULL_VALIDATION_SETTINGS_H

#include "ns3/core-module.h"

#include <cstdint>
#include <string>

struct Settings
{
    // Traffic and time.
    std::string flows;
    double durationS = 1;
    double warmupS = 0;
    double drainS = 10;
    // Network.
    uint32_t hosts = 2;
    uint64_t hostRateBps = 1'000'000'000;
    uint64_t switchRateBps = 1'000'000'000;
    uint64_t delayPs = 0;
    uint32_t bufferPackets = 100;
    uint32_t markFromPackets = 0;
    uint32_t markAboveBytes = 0;
    // "packets": RED, as ns-3 has it; "bytes": ThresholdQueueDisc, as hull.
    std::string markBy = "packets";
    // Transport.
    std::string congestionControl = "newreno";
    uint32_t segmentBytes = 1460;
    bool handshake = false;
    uint64_t initialRtoPs = 1'000'000'000'000;
    uint32_t initialWindow = 10;
    uint32_t windowPackets = 1000;
    uint32_t ackEvery = 1;
    uint64_t delayedAckPs = 1'000'000'000;
    uint64_t minRtoPs = 10'000'000'000;
    double dctcpG = 0.0625;
    double dctcpInitialAlpha = 1;
    bool holdAfterCut = false;
    // Whether SYNs and pure ACKs are ECN-capable, as ns-3 has it with DCTCP; never with hull's rules.
    bool ectControl = true;
    // "classic" sets the window at once, as RFC 5681 and hull; "prr" is ns-3's own default.
    std::string recovery = "classic";
    // "own": ns-3's window rules; "hull": those of window.h.
    std::string window = "own";

    void AddTo(ns3::CommandLine& cmd);
    void SetTcpDefaults() const;
};

#endif
