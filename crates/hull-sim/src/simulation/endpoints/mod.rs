//! The hosts of a run and their flows. Sizes are bytes.

mod halves;
mod last_packets;
mod limited;
mod losses;
mod sending;
mod small_queue;
mod tally;

use crate::host::HostSide;
use crate::simulation::flow_table::FlowTable;
use crate::simulation::losses::Losses;

pub use tally::Tally;

/// Hosts and flows.
#[derive(Debug)]
pub struct Endpoints {
    pub hosts: HostSide,
    pub table: FlowTable,
    pub header_bytes: u16,
    /// Largest payload of a packet, bytes.
    pub mss: u16,
    /// Whether a flow may have few bytes in its host's queue (`small_queue`).
    pub limits_queues: bool,
    /// Losses that their flows do not yet know.
    pub losses: Losses,
    /// Time after which a flow learns of a drop at a port, ps.
    pub notice_ps: u64,
    pub tally: Tally,
}
