//! Messages of a flow that are in progress. Positions are bytes of the flow's stream, times ps.

use crate::measure::LoggedFlow;

/// Message in progress; it ends at position `end` of the flow's stream.
#[derive(Clone, Copy, Debug)]
pub struct Pending {
    pub end: u64,
    pub tag: u64,
    pub timeouts_before: u32,
    pub class: u16,
}

pub const NOTHING: Pending = Pending {
    end: u64::MAX,
    tag: 0,
    timeouts_before: 0,
    class: 0,
};

/// Message that has arrived and whose last byte is not yet acknowledged.
#[derive(Clone, Copy, Debug)]
pub struct Unacked {
    pub end: u64,
    pub tag: u64,
    pub start_ps: u64,
    /// Entry in the log; `None` outside the measured time.
    pub logged: Option<LoggedFlow>,
}
