//! Results of the flows of each transport, if a scenario has several.

use serde::Serialize;

use super::flows::ClassSummary;
use super::slowdown::SlowdownSummary;

/// Counts of one transport at its receivers and senders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransportCount {
    /// Payload bytes received; each byte counts once.
    pub received_bytes: u64,
    /// Data packets received.
    pub packets: u64,
    /// Data packets received with CE.
    pub marks: u64,
    /// Packets known to be dropped, including acknowledgments.
    pub drops: u64,
}

impl TransportCount {
    /// Adds the counts of another part of the run.
    pub(crate) fn add(&mut self, other: &TransportCount) {
        self.received_bytes += other.received_bytes;
        self.packets += other.packets;
        self.marks += other.marks;
        self.drops += other.drops;
    }
}

/// Results of one transport.
#[derive(Clone, Debug, Serialize)]
pub struct TransportSummary {
    /// Payload received by all hosts in the measured time, bit/s; each byte counts once.
    pub goodput_bps: f64,
    /// Data packets received in the whole run.
    pub packets: u64,
    /// Data packets received with CE in the whole run.
    pub marks: u64,
    /// Packets dropped in the whole run, acknowledgments included.
    pub drops: u64,
    /// Retransmission timeouts in the whole run.
    pub timeouts: u64,
    /// Segments retransmitted in the whole run.
    pub retransmissions: u64,
    /// Completion times by size class.
    pub fct: Vec<ClassSummary>,
    /// Slowdowns by size class.
    pub slowdown: Vec<SlowdownSummary>,
}
