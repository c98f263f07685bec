//! The counters of a run.

use crate::measure::{Counts, TransportCount};

/// Counters of a run.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) packets_sent: u64,
    pub(super) packets_delivered: u64,
    pub(super) packets_dropped: u64,
    pub(super) packet_hops: u64,
    pub(super) counts: Counts,
    /// Counts by transport, if there are several or switches know code points.
    pub(super) of_transports: Vec<TransportCount>,
    /// Largest number of flows at the same time, if slots do not tell.
    pub(super) flow_slots: Option<u64>,
}
