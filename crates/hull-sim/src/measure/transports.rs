//! Results of the flows of each transport, if a scenario has several.

use serde::Serialize;

use super::flows::ClassSummary;
use super::slowdown::SlowdownSummary;

/// Counts at the receivers and the senders of one transport.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransportCount {
    /// Payload that has arrived; each byte counts once.
    pub received_bytes: u64,
    /// Data packets that have arrived.
    pub packets: u64,
    /// Those of them with CE.
    pub marks: u64,
    /// Packets dropped of which the flow knows, acknowledgments included.
    pub drops: u64,
}

/// The results of one transport.
#[derive(Clone, Debug, Serialize)]
pub struct TransportSummary {
    /// Payload that arrived at all hosts in the measured time, bit/s; each byte counts once.
    pub goodput_bps: f64,
    /// Data packets that arrived, in the whole run.
    pub packets: u64,
    /// Those of them that were marked CE.
    pub marks: u64,
    /// Packets dropped in the whole run, acknowledgments included.
    pub drops: u64,
    /// Retransmission timeouts in the whole run.
    pub timeouts: u64,
    /// Segments sent again in the whole run.
    pub retransmissions: u64,
    /// Completion times by size class.
    pub fct: Vec<ClassSummary>,
    /// Slowdowns by size class.
    pub slowdown: Vec<SlowdownSummary>,
}
