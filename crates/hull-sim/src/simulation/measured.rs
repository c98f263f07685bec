//! Readings of a run at the end of its warm-up or of its measured time.

use crate::measure::{Distribution, Fairness, TransportCount};
use crate::network::Reading;
use indexmap::IndexMap;

/// Readings at the end of the warm-up or of the measured time.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    pub(super) at_ps: u64,
    /// Payload by receiving host, bytes.
    pub(super) received_bytes: Vec<u64>,
    /// Counts by transport, if there are several.
    pub(super) of_transports: Vec<TransportCount>,
    /// Readings of the ports.
    pub(super) ports: Vec<Reading>,
    /// Latency by queue occupancy in the measured time at the client's port.
    pub(super) occupancy: Distribution,
    /// Latency by queue occupancy at each watched port.
    pub(super) queues: IndexMap<String, Distribution>,
    /// Fairness among long flows, of those that are followed.
    pub(super) fairness: Option<Fairness>,
}

impl Measured {
    /// Time since `before`, s.
    pub fn seconds_since(&self, before: &Measured) -> f64 {
        (self.at_ps - before.at_ps).max(1) as f64 * 1e-12
    }

    /// Adds payload that has arrived at a host.
    pub fn add_received(&mut self, host: usize, transport: usize, bytes: u64) {
        self.received_bytes[host] += bytes;
        if let Some(count) = self.of_transports.get_mut(transport) {
            count.received_bytes += bytes;
        }
    }

    /// Difference of a port's reading since `before`.
    pub fn at_port_since(&self, before: &Measured, port: usize) -> Reading {
        let early = before.ports.get(port).copied().unwrap_or_default();
        let late = self.ports[port];
        Reading {
            carried_bytes: late.carried_bytes - early.carried_bytes,
            sent_bytes: late.sent_bytes - early.sent_bytes,
            sent_packets: late.sent_packets.wrapping_sub(early.sent_packets),
            waited_ps: late.waited_ps - early.waited_ps,
            waited_packets: late.waited_packets.wrapping_sub(early.waited_packets),
        }
    }
}
