//! The registry of statistics: every number in a part's summary, in the order of `summary.json`, with
//! its unit, its meaning, the way parts are combined, and its place in reports. Summaries over seeds,
//! sweeps, reports, `hull statistics` and the documentation read it.

use std::ops::AddAssign;

use hull_core::packet_set::Reordering;
use serde::Serialize;

use super::statistic::Combined::{Max, Mean, Not, Sum};
use super::statistic::Statistic;
use super::statistic::Unit::{
    BitPerSecond, Byte, Count, Microsecond, Packet, PerSecond, Second, Share,
};

/// Group of rows in the tables of reports.
const PER_SEED: &str = "Packets, per seed";

/// The counts of a part, and what the registry says of each: one entry is all that a new one takes
/// here. They are the end of `summary.json`.
macro_rules! counts {
    ($($field:ident: $statistic:expr,)+) => {
        /// Counts of a whole run; what each means stands in the registry under its name.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
        pub struct Counts {
            $(
                #[doc = concat!("`", stringify!($field), "` of the summary.")]
                pub $field: u64,
            )+
        }

        impl AddAssign for Counts {
            fn add_assign(&mut self, other: Self) {
                $(self.$field += other.$field;)+
            }
        }

        const COUNTS: &[Statistic] = &[$($statistic,)+];
    };
}

counts! {
    timeouts: Statistic::new("timeouts", Count, Mean, "retransmission timeouts of all senders")
        .reported(PER_SEED, "timeouts"),
    retransmissions: Statistic::new("retransmissions", Packet, Mean, "segments that senders sent again")
        .reported(PER_SEED, "retransmissions"),
    paced: Statistic::new("paced", Packet, Mean, "packets that waited in a pacer's FIFO"),
    associations: Statistic::new(
        "associations",
        Count,
        Mean,
        "ECN-Echoes that associated a flow with a pacer",
    ),
    first_sends: Statistic::new(
        "first_sends",
        Packet,
        Mean,
        "data packets of message transports that were sent for the first time",
    ),
    acks: Statistic::new("acks", Packet, Mean, "acknowledgments that receivers of message transports sent"),
    nacks: Statistic::new(
        "nacks",
        Packet,
        Mean,
        "negative acknowledgments, for trimmed packets, that they sent",
    ),
    pulls: Statistic::new("pulls", Packet, Mean, "packets with credit that they sent"),
    trims: Statistic::new("trims", Packet, Mean, "packets that switches trimmed"),
    late: Statistic::new(
        "late",
        Packet,
        Mean,
        "data packets of message transports that came after one with a higher number",
    ),
    late_degree: Statistic::new(
        "late_degree",
        Packet,
        Mean,
        "how far the highest number was ahead of each late packet's, in sum",
    ),
    reorder_buffer: Statistic::new(
        "reorder_buffer",
        Packet,
        Mean,
        "most packets of a connection that had come while an earlier one was missing",
    ),
}

impl Counts {
    /// Adds how a connection's packets were reordered since `before`. Connections are all in one part of a network,
    /// so that their largest buffer is that of the run.
    pub fn add_reordering(&mut self, before: &Reordering, after: &Reordering) {
        self.late += after.late - before.late;
        self.late_degree += after.degree_sum - before.degree_sum;
        self.reorder_buffer = self.reorder_buffer.max(after.held_max);
    }
}

/// All statistics, in the order of `summary.json`.
pub fn statistics() -> impl Iterator<Item = &'static Statistic> {
    BEFORE_COUNTS.iter().chain(COUNTS)
}

const BEFORE_COUNTS: &[Statistic] = &[
    Statistic::new(
        "packet_hops",
        Packet,
        Sum,
        "packets carried, counted at each link",
    ),
    Statistic::new("events", Count, Sum, "events served; samples are not counted"),
    Statistic::new("simulated_seconds", Second, Sum, "simulated time"),
    Statistic::new("threads", Count, Not, "threads that simulated").of_machine(),
    Statistic::new(
        "cpu_seconds",
        Second,
        Sum,
        "processor time of the threads that simulated",
    )
    .of_machine(),
    Statistic::new("wall_seconds", Second, Not, "time on the clock").of_machine(),
    Statistic::new(
        "peak_rss_bytes",
        Byte,
        Max,
        "largest memory so far of the process that ran the part; null where the system does not tell",
    )
    .of_machine(),
    Statistic::new("packets.sent", Packet, Not, "packets that hosts handed to their NICs"),
    Statistic::new("packets.delivered", Packet, Not, "packets that arrived at hosts"),
    Statistic::new(
        "packets.dropped",
        Packet,
        Not,
        "packets dropped by switches, NICs and pacers, or lost on failed links",
    ),
    Statistic::new(
        "packets.in_flight",
        Packet,
        Not,
        "packets queued or on a link at the end: `sent` less `delivered` and `dropped`",
    ),
    Statistic::new(
        "switch_latency.occupancy.<statistic>_us",
        Microsecond,
        Mean,
        "time-weighted queue of the port to host 0, as the time that it takes to drain; with strict \
         priority the queue of the first class",
    ),
    Statistic::new(
        "switch_latency.probe.<statistic>_us",
        Microsecond,
        Mean,
        "what probe packets waited, unloaded latency subtracted; without `measure.probe` \
         `switch_latency.probe` is null",
    ),
    Statistic::new("switch_latency.probe.samples", Count, Mean, "probes that got through"),
    Statistic::new(
        "switch_latency.probe.lost",
        Packet,
        Mean,
        "probes that found the buffer full",
    ),
    Statistic::new(
        "queues.<port>.<statistic>_us",
        Microsecond,
        Mean,
        "time-weighted queue of each port of `measure.ports` (without it, of the port to host 0), as \
         the time that it takes to drain",
    ),
    Statistic::new("fct.<class>.bytes", Byte, Mean, "bytes of all flows of the class together"),
    Statistic::new("fct.<class>.count", Count, Mean, "completed flows of the size class"),
    Statistic::new(
        "fct.<class>.<statistic>_us",
        Microsecond,
        Mean,
        "flow completion time, until the last byte has arrived",
    ),
    Statistic::new(
        "fct.<class>.acked.count",
        Count,
        Mean,
        "flows whose last byte was acknowledged before the run ended",
    ),
    Statistic::new(
        "fct.<class>.acked.<statistic>_us",
        Microsecond,
        Mean,
        "flow completion time until the sender has the acknowledgment of the last byte",
    ),
    Statistic::new(
        "slowdown.<class>.count",
        Count,
        Mean,
        "completed flows of the size class whose `ideal_ps` is known",
    ),
    Statistic::new(
        "slowdown.<class>.mean",
        Share,
        Mean,
        "slowdown: flow completion time over that of the flow alone in the network",
    ),
    Statistic::new("slowdown.<class>.p50", Share, Mean, "its median"),
    Statistic::new("slowdown.<class>.p95", Share, Mean, "its 95th percentile"),
    Statistic::new("slowdown.<class>.p99", Share, Mean, "its 99th percentile"),
    Statistic::new("slowdown.<class>.p999", Share, Mean, "its 99.9th percentile"),
    Statistic::new(
        "queries.count",
        Count,
        Mean,
        "queries; without any, `queries` is null",
    ),
    Statistic::new(
        "queries.completed",
        Count,
        Mean,
        "queries whose responses have all come",
    ),
    Statistic::new(
        "queries.<statistic>_us",
        Microsecond,
        Mean,
        "completion time of queries",
    ),
    Statistic::new(
        "queries.in_time_share",
        Share,
        Mean,
        "of all responses, those within the deadline",
    ),
    Statistic::new(
        "queries.timeout_share",
        Share,
        Mean,
        "of all queries, those with a timeout",
    ),
    Statistic::new(
        "fairness.flows",
        Count,
        Mean,
        "flows of `[measure.flows]` that had data to deliver at both ends of the measured time; for \
         fewer than two `fairness` is null",
    ),
    Statistic::new(
        "fairness.jain",
        Share,
        Mean,
        "Jain's index of the bytes that these flows got in the measured time",
    ),
    Statistic::new(
        "processor.interrupts_per_second",
        PerSecond,
        Mean,
        "interrupts of host 0, from time 0 on; without `host.receive` `processor` is null",
    ),
    Statistic::new(
        "processor.utilization",
        Share,
        Mean,
        "share of the time in which the processor of host 0 worked on them and on packets",
    ),
    Statistic::new(
        "throughput.goodput_bps",
        BitPerSecond,
        Mean,
        "payload that arrived at host 0, each byte once, in order or not; of a packet at the first \
         edge of the measured time the part inside counts",
    )
    .reported("Throughput", "goodput"),
    Statistic::new(
        "throughput.utilization",
        Share,
        Mean,
        "share of the rate of the link to host 0 that packets took; of a packet at an edge of the \
         measured time the part inside counts",
    ),
    Statistic::new(
        "throughput.total_goodput_bps",
        BitPerSecond,
        Mean,
        "payload that arrived at all hosts, counted as `goodput_bps` is",
    ),
    Statistic::new(
        "transports.<transport>.goodput_bps",
        BitPerSecond,
        Mean,
        "payload of this transport that arrived at all hosts; `default` is `[transport]`, and with \
         one transport there is no `transports`",
    )
    .where_several(),
    Statistic::new("transports.<transport>.packets", Packet, Mean, "data packets that arrived")
        .where_several(),
    Statistic::new("transports.<transport>.marks", Packet, Mean, "those of them with CE")
        .where_several(),
    Statistic::new(
        "transports.<transport>.drops",
        Packet,
        Mean,
        "packets dropped, acknowledgments included",
    )
    .where_several(),
    Statistic::new("transports.<transport>.timeouts", Count, Mean, "retransmission timeouts")
        .where_several(),
    Statistic::new("transports.<transport>.retransmissions", Packet, Mean, "segments sent again")
        .where_several(),
    Statistic::new("transports.<transport>.fct.<class>.bytes", Byte, Mean, "as in `fct`")
        .where_several(),
    Statistic::new("transports.<transport>.fct.<class>.count", Count, Mean, "as in `fct`")
        .where_several(),
    Statistic::new(
        "transports.<transport>.fct.<class>.<statistic>_us",
        Microsecond,
        Mean,
        "as in `fct`",
    )
    .where_several(),
    Statistic::new(
        "transports.<transport>.fct.<class>.acked.count",
        Count,
        Mean,
        "as in `fct`",
    )
    .where_several(),
    Statistic::new(
        "transports.<transport>.fct.<class>.acked.<statistic>_us",
        Microsecond,
        Mean,
        "as in `fct`",
    )
    .where_several(),
    Statistic::new("transports.<transport>.slowdown.<class>.count", Count, Mean, "as in `slowdown`")
        .where_several(),
    Statistic::new("transports.<transport>.slowdown.<class>.mean", Share, Mean, "as in `slowdown`")
        .where_several(),
    Statistic::new("transports.<transport>.slowdown.<class>.p50", Share, Mean, "as in `slowdown`")
        .where_several(),
    Statistic::new("transports.<transport>.slowdown.<class>.p95", Share, Mean, "as in `slowdown`")
        .where_several(),
    Statistic::new("transports.<transport>.slowdown.<class>.p99", Share, Mean, "as in `slowdown`")
        .where_several(),
    Statistic::new("transports.<transport>.slowdown.<class>.p999", Share, Mean, "as in `slowdown`")
        .where_several(),
    Statistic::new(
        "groups.<group>.fct.<class>.bytes",
        Byte,
        Mean,
        "as in `fct`, of the flows of one group; `other` is those of none, and without groups there is no \
         `groups`",
    )
    .where_several(),
    Statistic::new("groups.<group>.fct.<class>.count", Count, Mean, "as in `fct`").where_several(),
    Statistic::new("groups.<group>.fct.<class>.<statistic>_us", Microsecond, Mean, "as in `fct`").where_several(),
    Statistic::new("groups.<group>.fct.<class>.acked.count", Count, Mean, "as in `fct`").where_several(),
    Statistic::new("groups.<group>.fct.<class>.acked.<statistic>_us", Microsecond, Mean, "as in `fct`").where_several(),
    Statistic::new("groups.<group>.slowdown.<class>.count", Count, Mean, "as in `slowdown`").where_several(),
    Statistic::new("groups.<group>.slowdown.<class>.mean", Share, Mean, "as in `slowdown`").where_several(),
    Statistic::new("groups.<group>.slowdown.<class>.p50", Share, Mean, "as in `slowdown`").where_several(),
    Statistic::new("groups.<group>.slowdown.<class>.p95", Share, Mean, "as in `slowdown`").where_several(),
    Statistic::new("groups.<group>.slowdown.<class>.p99", Share, Mean, "as in `slowdown`").where_several(),
    Statistic::new("groups.<group>.slowdown.<class>.p999", Share, Mean, "as in `slowdown`").where_several(),
    Statistic::new("links.<tier>.links", Count, Mean, "links of a tier, one direction, as `tor-host`"),
    Statistic::new(
        "links.<tier>.packets",
        Packet,
        Mean,
        "packets that they began to send in the measured time",
    ),
    Statistic::new(
        "links.<tier>.mean_utilization",
        Share,
        Mean,
        "mean over these links of the share of the rate that packets took",
    ),
    Statistic::new("links.<tier>.max_utilization", Share, Mean, "the largest of these shares"),
    Statistic::new(
        "links.<tier>.mean_wait_us",
        Microsecond,
        Mean,
        "mean time that packets of the measured time waited for these links",
    ),
    Statistic::new("links.<tier>.max_wait_us", Microsecond, Mean, "the largest of the links' means"),
    Statistic::new("links.<tier>.marks", Packet, Mean, "packets that they marked CE"),
    Statistic::new("links.<tier>.drops", Packet, Mean, "packets that they dropped"),
    Statistic::new(
        "links.<tier>.pacer_drops",
        Packet,
        Mean,
        "packets that hosts' pacers dropped before these links",
    ),
    Statistic::new("flow_slots", Count, Not, "most flows that were in use at once"),
    Statistic::new("marks", Packet, Mean, "packets marked CE").reported(PER_SEED, "marks"),
    Statistic::new("drops", Packet, Mean, "packets dropped").reported(PER_SEED, "drops"),
    Statistic::new(
        "drops_by_place.<place>",
        Packet,
        Mean,
        "the drops by place: `pacer` and `nic` are inside the hosts, the others are tiers of switches' \
         links, as `tor-host`, losses on failed links counted in; their sum is `drops`",
    ),
];
