//! The traffic: senders, receivers, sizes and times. It is independent of packets, TCP and ports: a
//! workload requests messages on an [`Agenda`] and is notified of their arrival. Times are simulated
//! ps, sizes bytes of payload.
//!
//! A workload keeps state only for outstanding messages: five million flows fit. The one exception is
//! the replay of a file, which holds the file's rows at 24 to 28 bytes each.

mod all_to_all;
mod arrow_schema;
mod backlog;
mod bulk;
mod cdf_table;
mod context;
mod csv_rows;
mod fan_out;
mod flow_chains;
mod flow_list;
mod flow_list_csv;
mod flow_list_parquet;
mod flow_list_rows;
mod groups;
mod hosts;
mod incast;
mod long_lived;
mod partition_aggregate;
mod permutation;
mod poisson_flows;
mod pools;
mod production;
mod replay;
mod request_response;
mod size_class;
mod sizes;
#[cfg(test)]
mod test_network;
mod traffic;

pub use backlog::Backlog;
pub use cdf_table::CdfTable;
pub use flow_list::{FlowList, ListedFlow};
pub use groups::Groups;
pub use hosts::HostNames;
pub use sizes::{ParetoSizes, SizeDistribution};
pub use traffic::{Traffic, build};

/// Bytes of a message that lasts until it is stopped: a thousandth of the sequence space, never
/// used up.
pub const LASTING: u64 = u64::MAX / 1000;

/// Number of the connection in a [`FlowRecord`] of a flow that was one of its own.
pub const NO_CONNECTION: u32 = u32::MAX;

/// A message: bytes from one host to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// What the workload knows it by; free again when it has been delivered or stopped.
    pub tag: u64,
    /// Number of the sending host.
    pub src: u32,
    /// Number of the receiving host.
    pub dst: u32,
    /// Bytes; [`LASTING`] when it ends only by being stopped.
    pub bytes: u64,
    /// What it is sent on.
    pub channel: Channel,
    /// 0 is the highest; 1 unless `workload.high_priority_below` says otherwise.
    pub priority: u8,
    /// Number of the transport of a flow of its own: 0 is `[transport]`, then those of `[transports]`.
    pub transport: u16,
}

/// What a message is sent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// A flow of its own, from a fresh window, forgotten when it is done.
    New,
    /// A persistent connection by its number; its two ends are those of
    /// [`Workload::connections`], and messages of one direction share one byte stream in order.
    Connection(u32),
}

/// One row of `flows.parquet`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowRecord {
    /// When it was asked for, ps.
    pub start_ps: u64,
    /// Until its last byte was with the application, ps.
    pub fct_ps: u64,
    /// The same alone in the network, ps; none where that is not known.
    pub ideal_ps: Option<u64>,
    /// Bytes.
    pub bytes: u64,
    /// Size class, an index into [`Workload::classes`].
    pub class: u16,
    /// Number of the sending host.
    pub src: u32,
    /// Number of the receiving host.
    pub dst: u32,
    /// Number of the persistent connection, or [`NO_CONNECTION`].
    pub connection: u32,
    /// Retransmission timeouts that it (with its request, where it has one) suffered.
    pub timeouts: u16,
    /// Number of its transport: 0 is `[transport]`, then those of `[transports]`.
    pub transport: u16,
    /// Number of its group in [`Groups`]: 0 is none.
    pub group: u16,
    /// When its sender had the acknowledgment of the last byte.
    pub acked: Acked,
}

impl FlowRecord {
    /// A flow of class 0 on a connection of its own, in no group, completed at `end_ps`.
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

    /// How many times as long as alone in the network it took, where that is known.
    pub fn slowdown(&self) -> Option<f64> {
        let ideal_ps = self.ideal_ps?;
        Some(self.fct_ps as f64 / ideal_ps as f64)
    }
}

/// What the completion times of a workload's flows have besides the way of their bytes. The parts that
/// vary count with the least that they can be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Besides {
    /// Bytes of the request before it; 0 without.
    pub request_bytes: u64,
    /// From the arrival of the request to the sending of the response, ps.
    pub server_ps: u64,
    /// From the arrival of the last byte until the application has it, ps.
    pub application_ps: u64,
}

/// The other completion time of a flow: when its sender knows that all has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acked {
    /// The acknowledgment is still on its way, or the run ended before it came.
    Pending,
    /// Whoever measures does not see the sender.
    Unknown,
    /// From the flow's start, ps.
    After(u64),
}

/// One row of `queries.parquet`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryRecord {
    /// When the client asked, ps.
    pub start_ps: u64,
    /// From then until the last response was with the application, ps; none when a response was
    /// missing at the end of the run.
    pub completion_ps: Option<u64>,
    /// Number of the client's host.
    pub client: u32,
    /// Number of servers that were asked.
    pub servers: u32,
    /// Responses within the deadline; all that came if there is no deadline.
    pub in_time: u32,
    /// Responses that suffered a retransmission timeout, their requests' included.
    pub timeouts: u32,
    /// Bytes of all responses that came.
    pub bytes: u64,
    /// Mean time from the query's start to a response, over the responses that came, ps; 0 when
    /// none came.
    pub mean_response_ps: u64,
}

/// What a workload asks for while it is called; the simulation carries it out afterwards, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Agenda {
    /// Messages to send now.
    pub sends: Vec<Message>,
    /// Times, ps, at which to call [`Workload::wake`], and with which token.
    pub wakes: Vec<(u64, u64)>,
    /// Tags of messages to stop now, finished or not.
    pub stops: Vec<u64>,
    /// Flows that have completed.
    pub flows: Vec<FlowRecord>,
    /// Queries that have completed, or at the end have not.
    pub queries: Vec<QueryRecord>,
}

/// How far a workload is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It goes on to the end of the measured time, and the run does not wait for it: long-lived
    /// flows.
    Lasting,
    /// It still has something to do.
    Busy,
    /// It has done all that it was asked for, and nothing of it is outstanding.
    Done,
}

/// Something that makes traffic. It draws its random numbers from streams of its own, so that
/// another workload beside it changes none of them.
pub trait Workload {
    /// Ends of the persistent connections; may be empty.
    fn connections(&self) -> &[(u32, u32)];

    /// Number of the transport of a persistent connection, where it is not the workload's.
    fn transport_of(&self, _connection: usize) -> Option<u16> {
        None
    }

    /// Names of the size classes of its flow records.
    fn classes(&self) -> &[String];

    /// What its flows' completion times have besides the way of their bytes.
    fn besides(&self) -> Besides {
        Besides::default()
    }

    /// What will be under way at one time at least, beside the persistent connections.
    fn backlog(&self) -> Backlog {
        Backlog::default()
    }

    /// Called once, at time 0.
    fn begin(&mut self, agenda: &mut Agenda);

    /// Called at a time that it asked for.
    fn wake(&mut self, now_ps: u64, token: u64, agenda: &mut Agenda);

    /// The whole message `tag` has arrived at its receiver; it suffered `timeouts`.
    fn delivered(&mut self, now_ps: u64, tag: u64, timeouts: u32, agenda: &mut Agenda);

    /// Whether it wants to hear when senders know that all of their flows has arrived.
    fn hears_acked(&self) -> bool {
        false
    }

    /// The sender of the message `tag` has the acknowledgment of its last byte.
    fn acked(&mut self, _now_ps: u64, _tag: u64, _agenda: &mut Agenda) {}

    /// Whether nothing that was started is still outstanding; flows that last do not count.
    fn is_complete(&self) -> bool;

    /// Whether the run may end before its time, is waited for, or has to go on.
    fn progress(&self) -> Progress;

    /// The share of what it was asked for that has been started, where that is known beforehand.
    fn started_share(&self) -> Option<f64> {
        None
    }

    /// Called once, at the end of the run: records of queries that are still open.
    fn finish(&mut self, agenda: &mut Agenda);
}

impl Message {
    fn new(tag: u64, (src, dst): (u32, u32), bytes: u64, channel: Channel) -> Self {
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

/// Timeouts as a record holds them.
fn few(timeouts: u32) -> u16 {
    u16::try_from(timeouts).unwrap_or(u16::MAX)
}
