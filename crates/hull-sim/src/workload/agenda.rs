//! The interface of workloads: requests of a workload, and calls to it. Times ps.

use std::fmt::Debug;

use super::{Backlog, Besides, Beyond, FlowRecord, JobRecord, Message, Pins, Quality, QueryRecord};

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
    /// Whether the workload has found, in a wake, that it has nothing left to do.
    pub is_still: bool,
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

/// Names in the rows of a flow list.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Numbers of the transports of its rows.
    pub transports: Vec<u16>,
    /// Numbers of the groups of its flows.
    pub groups: Vec<u16>,
    /// Names of the groups, from number 1.
    pub group_names: Vec<String>,
    /// Number of flows.
    pub flows: usize,
    /// Flows of its file that are not in the list.
    pub beyond: Option<Beyond>,
}

/// Source of traffic. It draws random numbers from its own streams, so that additional workloads do
/// not change them.
pub trait Workload: Debug + Send {
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

    /// What became of a job, if it is one.
    fn job(&self) -> Option<JobRecord> {
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

    /// Names in the rows of a flow list, if it replays one.
    fn listed(&self) -> Option<&Listed> {
        None
    }

    /// Switches that flows of a list must pass, if some must; the tag of a flow is its place.
    fn pins(&self) -> Option<&Pins> {
        None
    }

    /// Processes the delivery of the complete message `tag`, which suffered `timeouts`.
    fn delivered(&mut self, now_ps: u64, tag: u64, timeouts: u32, agenda: &mut Agenda);

    /// Whether the workload must be told when senders have the acknowledgment of a whole flow.
    fn needs_acked(&self) -> bool {
        false
    }

    /// Processes that the sender of the message `tag` has the acknowledgment of its last byte.
    fn acked(&mut self, _now_ps: u64, _tag: u64, _agenda: &mut Agenda) {}

    /// Whether nothing is outstanding; lasting flows do not count.
    fn is_complete(&self) -> bool;

    /// Progress, which decides whether the run may end early, is waited for, or continues.
    fn progress(&self) -> Progress;

    /// Whether the run ends now, even if others have something left to do.
    fn ends_run(&self) -> bool {
        false
    }

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
