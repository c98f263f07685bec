//! The traffic: senders, receivers, sizes and times. It is independent of packets, TCP and ports: a
//! workload requests messages on an [`Agenda`] and is notified of their arrival. Times are simulated
//! ps, sizes bytes of payload.
//!
//! A workload keeps state only for outstanding messages: five million flows fit. The one exception is
//! the replay of a file, which holds the file's rows at 24 to 28 bytes each; replays of one file share
//! them.

mod aggregation_tree;
mod all_to_all;
mod answers;
mod arrow_schema;
mod backlog;
mod bounded_lines;
mod bulk;
mod cdf_table;
mod context;
mod csv_rows;
mod ending;
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
mod open;
mod partition_aggregate;
mod permutation;
mod poisson_flows;
mod poisson_incast;
mod pools;
mod production;
mod query;
mod replay;
mod request_response;
mod shared_list;
mod size_class;
mod sizes;
#[cfg(test)]
mod test_network;
mod traffic;

pub use answers::{LevelAnswers, Quality};
pub use backlog::Backlog;
pub use cdf_table::CdfTable;
pub use ending::LastFlow;
pub use flow_list::{FlowList, ListedFlow};
pub use groups::Groups;
pub use hosts::HostNames;
pub use sizes::{ParetoSizes, SizeDistribution};
pub use traffic::{Traffic, build};

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
    /// The persistent connection with this number. Its ends are in [`Workload::connections`]; the
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
    /// Size class, an index into [`Workload::classes`].
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
    /// Number of the group in [`Groups`]; 0 if none.
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
    fn unfinished(start_ps: u64, ends: (u32, u32), bytes: u64) -> Self {
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

/// Requests of a workload during a call; the simulation carries them out afterwards, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Agenda {
    /// Messages to send now.
    pub sends: Vec<Message>,
    /// Times (ps) at which to call [`Workload::wake`], with the token to pass.
    pub wakes: Vec<(u64, u64)>,
    /// Tags of messages to stop now, complete or not.
    pub stops: Vec<u64>,
    /// Completed flows.
    pub flows: Vec<FlowRecord>,
    /// Completed queries, and at the end of the run the open ones.
    pub queries: Vec<QueryRecord>,
    /// Whether a flow or a query has ended, measured or not, since the simulation cleared it.
    pub has_ended: bool,
    /// At the end of the run, flows that have started and not completed; their `fct_ps` is 0.
    pub unfinished: Vec<FlowRecord>,
}

impl Agenda {
    /// Whether nothing is requested.
    pub fn is_empty(&self) -> bool {
        self.sends.is_empty()
            && self.wakes.is_empty()
            && self.stops.is_empty()
            && self.flows.is_empty()
            && self.queries.is_empty()
    }
}

/// Progress of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The workload lasts until the end of the measured time, and the run does not wait for it:
    /// long-lived flows.
    Lasting,
    /// The workload has something left to do.
    Busy,
    /// All requested traffic is complete, and nothing is outstanding.
    Done,
}

/// Source of traffic. It draws random numbers from its own streams, so that additional workloads do
/// not change them.
pub trait Workload {
    /// Ends of the persistent connections; may be empty.
    fn connections(&self) -> &[(u32, u32)];

    /// Number of the transport of a persistent connection, if it differs from the workload's.
    fn transport_of(&self, _connection: usize) -> Option<u16> {
        None
    }

    /// Names of the size classes in its flow records; none by default.
    fn classes(&self) -> &[String] {
        &[]
    }

    /// Quality of its results, if they may be incomplete.
    fn quality(&self) -> Option<Quality> {
        None
    }

    /// Memory of its tables, bytes, which nothing else counts.
    fn heap_bytes(&self) -> u64 {
        0
    }

    /// Parts of its flows' completion times besides the transfer of their bytes.
    fn besides(&self) -> Besides {
        Besides::default()
    }

    /// Lower bound of the largest concurrency, without idle persistent connections.
    fn backlog(&self) -> Backlog {
        Backlog::default()
    }

    /// Number of flows and queries that it makes in all, if it ends by itself.
    fn planned(&self) -> Option<u64>;

    /// Begins; called once, at time 0.
    fn begin(&mut self, agenda: &mut Agenda);

    /// Continues at a requested time.
    fn wake(&mut self, now_ps: u64, token: u64, agenda: &mut Agenda);

    /// Whether it only opens flows of their own, whose times do not depend on what happens in the
    /// network.
    fn is_open(&self) -> bool {
        false
    }

    /// Processes that the message `tag` is another part's: it counts as complete, and will not be
    /// reported. Called only if the workload [is open](Workload::is_open).
    fn leave(&mut self, _tag: u64) {}

    /// Processes the delivery of the complete message `tag`, which suffered `timeouts`.
    fn delivered(&mut self, now_ps: u64, tag: u64, timeouts: u32, agenda: &mut Agenda);

    /// Whether the workload must be told when senders have the acknowledgment of a whole flow.
    fn hears_acked(&self) -> bool {
        false
    }

    /// Processes that the sender of the message `tag` has the acknowledgment of its last byte.
    fn acked(&mut self, _now_ps: u64, _tag: u64, _agenda: &mut Agenda) {}

    /// Whether nothing is outstanding; lasting flows do not count.
    fn is_complete(&self) -> bool;

    /// Progress, which decides whether the run may end early, is waited for, or continues.
    fn progress(&self) -> Progress;

    /// Share of the requested traffic that has been started, if known beforehand.
    fn started_share(&self) -> Option<f64> {
        None
    }

    /// Number of flows that were requested for a time after the measured one, and not started.
    fn late(&self) -> u64 {
        0
    }

    /// Adds the records of open queries and of unfinished flows; called once, at the end of the
    /// run. Flows without a size do not count.
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

/// Number of timeouts, saturated to the width of a record.
fn few(timeouts: u32) -> u16 {
    u16::try_from(timeouts).unwrap_or(u16::MAX)
}
