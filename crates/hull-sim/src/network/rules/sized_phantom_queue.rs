//! Uno's phantom queue, in parallel with the port's own queue: it has a size, drains in packets and
//! marks with a probability between two thresholds.
//!
//! Source: T. Bonato et al., "Uno" (SC'25); the algorithm and its differences from HULL's are in
//! [`hull_core::uno_phantom_queue`]. Data counts on arrival, even if the port then drops or trims it,
//! and is marked when its transmission starts; the reference decides at the end of transmission, by a
//! counter that differs by at most a packet. Headers and ACKs are neither counted nor marked. Bytes.

use hull_core::uno_phantom_queue::{UnoPhantomQueue, UnoPhantomQueueConfig};

use super::{Arrival, Decision, Departure, Rule, Site};
use crate::network::{OptionTable, Packet, flags};
use crate::random::{Purpose, Stream};

/// Phantom queue of one port.
#[derive(Debug)]
pub struct SizedPhantomQueue {
    queue: UnoPhantomQueue,
    low_bytes: u64,
    random: Stream,
}

impl SizedPhantomQueue {
    /// Creates an empty phantom queue.
    pub fn new(config: &UnoPhantomQueueConfig, site: &Site) -> Self {
        SizedPhantomQueue {
            queue: UnoPhantomQueue::new(config),
            low_bytes: config.ramp.low_bytes,
            random: site.random(Purpose::PhantomMarking),
        }
    }
}

/// Whether a packet counts: it carries data.
fn counts(packet: &Packet) -> bool {
    packet.has(flags::DATA) && !packet.has(flags::TRIMMED)
}

impl Rule for SizedPhantomQueue {
    fn on_ingress(&mut self, arrival: &Arrival, packet: &Packet) -> Decision {
        if counts(packet) {
            let bytes = u32::from(packet.wire_bytes);
            self.queue.on_arrival(arrival.now_ps, bytes);
        }
        Decision::Pass
    }

    fn on_departure(
        &mut self,
        departure: &Departure,
        packet: &Packet,
        _options: &mut OptionTable,
    ) -> Decision {
        if !counts(packet) {
            return Decision::Pass;
        }
        // No random number is drawn below the threshold.
        let is_above = self.queue.backlog_bytes(departure.at_ps) > self.low_bytes;
        let random = if is_above { self.random.bits() } else { 0 };
        let marks = self.queue.on_departure(departure.at_ps, random);
        Decision::mark_if(is_above && marks)
    }

    fn virtual_bytes(&self, now_ps: u64) -> Option<u64> {
        Some(self.queue.backlog_bytes(now_ps))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Rate;
    use hull_core::ramp::{self, RampMarker};

    fn packet(flags: u16, wire_bytes: u16) -> Packet {
        Packet {
            wire_bytes,
            ..Packet::with_flags(flags)
        }
    }

    /// At 100 Gbps, full load, a packet comes every 332.8 ns; the counter drains one per 349.44 ns.
    #[test]
    fn grows_by_a_packet_in_21_under_full_load() {
        let site = Site {
            rate: Rate(100_000_000_000),
            mtu: 4160,
            seed: 1,
            port: 0,
        };
        let config = UnoPhantomQueueConfig {
            link_bps: site.rate.0,
            slowdown_pct: 5,
            packet_bytes: 4160,
            size_bytes: 1_000_000,
            ramp: RampMarker {
                low_bytes: 20_000,
                high_bytes: 600_000,
                max_probability: ramp::ONE,
            },
        };
        let mut queue = SizedPhantomQueue::new(&config, &site);
        let mut options = OptionTable::default();
        let data = packet(flags::DATA, 4160);
        let mut at_ps = 0;
        let mut marked_below = 0;
        for _ in 0..2100 {
            let arrival = Arrival {
                now_ps: at_ps,
                queue_bytes: 0,
                queue_packets: 0,
                framed_bytes: 4160,
                waits: false,
            };
            queue.on_ingress(&arrival, &data);
            queue.on_ingress(&arrival, &packet(0, 64));
            let departure = Departure {
                at_ps,
                sojourn_ps: 0,
                queue_bytes: 0,
                port_bytes: 0,
            };
            let below = queue.queue.backlog_bytes(at_ps) <= 20_000;
            let decision = queue.on_departure(&departure, &data, &mut options);
            marked_below += u32::from(below && decision == Decision::Mark);
            at_ps += 332_800;
        }
        assert_eq!(marked_below, 0);
        let packets = queue.virtual_bytes(at_ps).map_or(0, |bytes| bytes / 4160);
        assert!((99..=101).contains(&packets), "{packets}");
    }
}
