//! The counters of the hosts: packets by their fate, received payload, and what transports count. Sizes
//! are bytes.

use super::Endpoints;
use crate::measure::{AdmissionCount, Counts, TransportCount};
use crate::network::{Packet, flags};

/// Counters of the hosts.
#[derive(Debug, Default)]
pub struct Tally {
    /// Packets that hosts have passed to their NIC.
    pub sent: u64,
    /// Packets that transports have received.
    pub delivered: u64,
    /// Packets dropped in hosts or in the network.
    pub dropped: u64,
    /// Payload that has arrived, by host, bytes; each byte counts once.
    pub received_bytes: Vec<u64>,
    /// Counts by transport, if there are several or switches know code points.
    pub of_transports: Vec<TransportCount>,
    pub counts: Counts,
    /// Counts of admission by receivers.
    pub admission: AdmissionCount,
}

impl Tally {
    /// Creates the counters of this number of hosts, and of transports that are counted.
    pub fn new(hosts: usize, transports: usize) -> Self {
        Tally {
            received_bytes: vec![0; hosts],
            of_transports: vec![TransportCount::default(); transports],
            ..Tally::default()
        }
    }
}

impl Endpoints {
    /// Counts a data packet that has arrived at a host with new payload.
    #[inline]
    pub fn count_received(&mut self, host: usize, packet: &Packet, new_bytes: u64) {
        self.tally.received_bytes[host] += new_bytes;
        if !self.tally.of_transports.is_empty() {
            let transport = self.table.flows[packet.flow as usize].transport;
            let count = &mut self.tally.of_transports[usize::from(transport)];
            count.received_bytes += new_bytes;
            count.packets += 1;
            count.marks += u64::from(packet.has(flags::CE));
        }
    }
}
