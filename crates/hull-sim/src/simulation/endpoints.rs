//! The hosts of a run and their flows. Sizes are bytes.

use super::flows::FlowTable;
use super::losses::Losses;
use crate::host::HostSide;

/// Hosts and flows.
#[derive(Debug)]
pub(super) struct Endpoints {
    pub(super) hosts: HostSide,
    pub(super) table: FlowTable,
    pub(super) header_bytes: u16,
    /// Largest payload of a packet, bytes.
    pub(super) mss: u16,
    /// Whether a flow may have few bytes in its host's queue (`small_queue`).
    pub(super) limits_queues: bool,
    /// Losses that their flows do not yet know.
    pub(super) losses: Losses,
}
