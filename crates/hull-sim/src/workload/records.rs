//! Messages, and the records of flows and queries. Times ps, sizes bytes.

/// Size of a message that lasts until it is stopped, bytes: a thousandth of the sequence space,
/// which is never used up.
pub const LASTING: u64 = u64::MAX / 1000;

/// Connection number in the [`FlowRecord`] of a flow with its own connection.
pub const NO_CONNECTION: u32 = u32::MAX;

/// Message: bytes from one host to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Identifier chosen by the workload; it may be reused once the message was delivered or
    /// stopped.
    pub tag: u64,
    /// Number of the sending host.
    pub src: u32,
    /// Number of the receiving host.
    pub dst: u32,
    /// Size, bytes; [`LASTING`] if the message ends only by being stopped.
    pub bytes: u64,
    /// Connection on which the message is sent.
    pub channel: Channel,
    /// Priority class, 0 the highest; 1 unless `workload.high_priority_below` applies.
    pub priority: u8,
    /// Number of the transport of a flow with its own connection: 0 is `[transport]`;
    /// `[transports]` follow.
    pub transport: u16,
}

/// Connection on which a message is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// A new connection with a fresh window, discarded after the message.
    New,
    /// The persistent connection with this number. Its ends are in [`super::Workload::connections`]; the
    /// messages of one direction share one byte stream in order.
    Connection(u32),
}

/// Row of `flows.parquet`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowRecord {
    /// Simulated time of the request or the flow's start, ps.
    pub start_ps: u64,
    /// Flow completion time: until the application has the last byte, ps.
    pub fct_ps: u64,
    /// Completion time in an otherwise empty network, ps; `None` if unknown.
    pub ideal_ps: Option<u64>,
    /// Size, bytes.
    pub bytes: u64,
    /// Size class, an index into [`super::Workload::classes`].
    pub class: u16,
    /// Number of the sending host.
    pub src: u32,
    /// Number of the receiving host.
    pub dst: u32,
    /// Number of the persistent connection, or [`NO_CONNECTION`].
    pub connection: u32,
    /// Retransmission timeouts of the flow and of its request.
    pub timeouts: u16,
    /// Number of the transport: 0 is `[transport]`; `[transports]` follow.
    pub transport: u16,
    /// Number of the group in [`super::Groups`]; 0 if none.
    pub group: u16,
    /// Completion time at the sender: until it has the acknowledgment of the last byte.
    pub acked: Acked,
}

impl FlowRecord {
    /// Creates the record of a flow of class 0 with its own connection, in no group, completed at
    /// `end_ps`.
    pub fn new(start_ps: u64, end_ps: u64, ends: (u32, u32), bytes: u64, timeouts: u32) -> Self {
        FlowRecord {
            start_ps,
            fct_ps: end_ps - start_ps,
            ideal_ps: None,
            bytes,
            class: 0,
            src: ends.0,
            dst: ends.1,
            connection: NO_CONNECTION,
            timeouts: few(timeouts),
            transport: 0,
            group: 0,
            acked: Acked::Pending,
        }
    }

    /// Creates the record of a flow that has not completed.
    pub(super) fn unfinished(start_ps: u64, ends: (u32, u32), bytes: u64) -> Self {
        FlowRecord::new(start_ps, start_ps, ends, bytes, 0)
    }

    /// Slowdown: completion time over that in an otherwise empty network, if known.
    pub fn slowdown(&self) -> Option<f64> {
        let ideal_ps = self.ideal_ps?;
        Some(self.fct_ps as f64 / ideal_ps as f64)
    }
}

/// Parts of a flow's completion time besides the transfer of its bytes. Variable parts count with
/// their minimum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Besides {
    /// Bytes of the preceding request; 0 if none.
    pub request_bytes: u64,
    /// Time from the arrival of the request to the sending of the response, ps.
    pub server_ps: u64,
    /// Time from the arrival of the last byte until the application has it, ps.
    pub application_ps: u64,
}

/// Completion time of a flow at its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acked {
    /// The acknowledgment has not arrived yet, or had not when the run ended.
    Pending,
    /// The sender cannot be observed.
    Unknown,
    /// Time from the flow's start, ps.
    After(u64),
}

/// Row of `queries.parquet`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryRecord {
    /// Simulated time at which the client sent the query, ps.
    pub start_ps: u64,
    /// Time from then until the application had the last response, ps; `None` if a response was
    /// missing at the end of the run.
    pub completion_ps: Option<u64>,
    /// Number of the client's host.
    pub client: u32,
    /// Number of queried servers.
    pub servers: u32,
    /// Responses within the deadline; without a deadline, all that arrived.
    pub in_time: u32,
    /// Responses with a retransmission timeout, in the response or its request.
    pub timeouts: u32,
    /// Bytes of all responses that arrived.
    pub bytes: u64,
    /// Mean time from the start of the query to a response, over those that arrived, ps; 0 if none
    /// arrived.
    pub mean_response_ps: u64,
}

impl Message {
    pub(super) fn new(tag: u64, (src, dst): (u32, u32), bytes: u64, channel: Channel) -> Self {
        Message {
            tag,
            src,
            dst,
            bytes,
            channel,
            priority: 1,
            transport: 0,
        }
    }
}

/// Number of timeouts, saturated to the width of a record.
pub(super) fn few(timeouts: u32) -> u16 {
    u16::try_from(timeouts).unwrap_or(u16::MAX)
}
