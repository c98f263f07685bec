//! What a run leaves: counts, distributions and logs.

use serde::Serialize;

use super::{CLIENT, Failure, Simulation};
use crate::measure::{Distribution, FlowLog, LatencyLog};

/// Where the packets of a run went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PacketCount {
    /// Handed to a NIC by a host.
    pub sent: u64,
    /// Arrived at a host.
    pub delivered: u64,
    /// Dropped at a port, a NIC or a pacer.
    pub dropped: u64,
    /// Queued or in flight at the end.
    pub in_flight: u64,
}

/// Use of the client's link in the measured time.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Throughput {
    /// Payload delivered to the client in order, bit/s.
    pub goodput_bps: f64,
    /// Share of the link's rate that packets took.
    pub utilization: f64,
}

/// What is read at the end of the warm-up and at the end of the measured time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Measured {
    pub(super) delivered_bytes: u64,
    pub(super) port_bytes: u64,
    /// Latency by queue occupancy in the measured time.
    pub occupancy: Distribution,
}

/// The result of a run.
#[derive(Debug)]
pub struct Outcome {
    /// Completion times.
    pub flows: FlowLog,
    /// Probes and samples.
    pub latency: LatencyLog,
    /// Latency by queue occupancy at the client's port.
    pub occupancy: Distribution,
    /// Packets.
    pub packets: PacketCount,
    /// Use of the client's link.
    pub throughput: Throughput,
    /// Packets carried, counted at each link.
    pub packet_hops: u64,
    /// Events served.
    pub events: u64,
    /// Simulated time, ps.
    pub simulated_ps: u64,
    /// Packets marked CE.
    pub marks: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Segments sent again.
    pub retransmissions: u64,
    /// Packets that waited in a pacer.
    pub paced: u64,
    /// ECN-Echoes that associated a flow with a pacer.
    pub associations: u64,
    /// Packets in flight at the end that carry selective acknowledgments.
    pub sacks_in_flight: u64,
}

impl Simulation {
    pub(super) fn counters(&self) -> Measured {
        let port = &self.star.ports[self.star.switch_port(CLIENT)];
        Measured {
            delivered_bytes: self.delivered_to_client(),
            port_bytes: port.sent_bytes - port.waiting_bytes(),
            occupancy: Distribution::default(),
        }
    }

    /// Reads the instruments at the end of the measured time.
    pub(super) fn measure(&mut self) -> Measured {
        let end_ps = self.end_ps;
        let port = self.star.switch_port(CLIENT);
        self.star.ports[port].advance(end_ps);
        let occupancy = match &mut self.star.ports[port].occupancy {
            Some(occupancy) => occupancy.distribution(end_ps),
            None => Distribution::default(),
        };
        Measured {
            occupancy,
            ..self.counters()
        }
    }

    /// Counts the packets and hands over the results.
    pub(super) fn finish(self, measured: Measured) -> Result<Outcome, Failure> {
        let on_links: usize = self.star.ports.iter().map(|port| port.in_flight()).sum();
        let in_pacers: usize = self
            .pacers
            .iter()
            .map(|pacer| pacer.nic.in_flight() + pacer.backlog())
            .sum();
        let packets = PacketCount {
            sent: self.packets_sent,
            delivered: self.packets_delivered,
            dropped: self.packets_dropped,
            in_flight: (on_links + in_pacers) as u64,
        };
        if packets.sent != packets.delivered + packets.dropped + packets.in_flight {
            return Err(Failure::NotConserved(packets));
        }
        let seconds = (self.end_ps - self.warmup_ps) as f64 * 1e-12;
        let port = &self.star.ports[self.star.switch_port(CLIENT)];
        let bits = |now: u64, before: u64| 8.0 * (now - before) as f64;
        let goodput_bps = bits(measured.delivered_bytes, self.at_warmup.delivered_bytes) / seconds;
        let wire_bps = bits(measured.port_bytes, self.at_warmup.port_bytes) / seconds;
        Ok(Outcome {
            throughput: Throughput {
                goodput_bps,
                utilization: wire_bps / port.rate_bps(),
            },
            occupancy: measured.occupancy,
            packets,
            packet_hops: self.packet_hops,
            events: self.events_served,
            simulated_ps: self.now_ps,
            marks: self.star.ports.iter().map(|port| port.marks).sum(),
            timeouts: self.senders.iter().map(|sender| sender.timeouts).sum(),
            retransmissions: self
                .senders
                .iter()
                .map(|sender| sender.retransmissions)
                .sum(),
            paced: self.pacers.iter().map(|pacer| pacer.paced).sum(),
            associations: self.pacers.iter().map(|pacer| pacer.associations).sum(),
            sacks_in_flight: self.sacks.len() as u64,
            flows: self.flows,
            latency: self.latency,
        })
    }
}
