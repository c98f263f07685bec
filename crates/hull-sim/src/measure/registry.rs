//! The registry of statistics: every number in a part's summary, in the order of `summary.json`, with
//! its unit, its meaning, the way parts are combined, and its place in reports. Summaries over seeds,
//! sweeps, reports, `hull statistics` and the documentation read it.

use super::counts::{COUNTS, PER_SEED};
use super::distribution::Slowdown;
use super::registry_of_several::{OF_ENDS, OF_GROUPS, OF_TRANSPORTS};
use super::statistic::Combined::{Max, Mean, Not, Sum};
use super::statistic::Statistic;
use super::statistic::Unit::{
    BitPerSecond, Byte, Count, Microsecond, Packet, PerSecond, Second, Share,
};

/// All statistics, in the order of `summary.json`. `<percentile>` in an entry stands for each percentile
/// of slowdowns. Transports and groups have the statistics of flows too.
pub fn statistics() -> impl Iterator<Item = Statistic> {
    let of_flows = |of: &'static str| {
        let of_flows = |s: &&Statistic| s.is_in("fct") || s.is_in("slowdown");
        let entries = BEFORE_SEVERAL.iter().filter(of_flows);
        entries.map(move |statistic| statistic.below(of))
    };
    let entries = BEFORE_SEVERAL.iter().chain(OF_TRANSPORTS).cloned();
    let entries = entries.chain(of_flows("transports.<transport>"));
    // The first entry of groups says what they are.
    let entries = entries.chain(OF_GROUPS.iter().cloned());
    let entries = entries.chain(of_flows("groups.<group>").skip(OF_GROUPS.len()));
    let after = OF_ENDS.iter().chain(AFTER_SEVERAL).chain(COUNTS).cloned();
    let all = entries.chain(after);
    all.flat_map(|statistic| statistic.of_each("<percentile>", Slowdown::PERCENTILES))
}

const BEFORE_SEVERAL: &[Statistic] = &[
    Statistic::new(
        "packet_hops",
        Packet,
        Sum,
        "packets transmitted, counted at each link",
    ),
    Statistic::new("events", Count, Sum, "events processed, without samples and timers that were not due"),
    Statistic::new("simulated_seconds", Second, Sum, "simulated time"),
    Statistic::new("threads", Count, Not, "simulating threads").of_machine(),
    Statistic::new("divided.parts", Count, Not, "parts of the network that threads simulate").of_machine(),
    Statistic::new(
        "divided.threads",
        Count,
        Not,
        "largest number of threads that simulate parts at the same time",
    )
    .of_machine(),
    Statistic::new(
        "cpu_seconds",
        Second,
        Sum,
        "processor time of the simulating threads",
    )
    .of_machine(),
    Statistic::new("wall_seconds", Second, Not, "elapsed time").of_machine(),
    Statistic::new(
        "peak_rss_bytes",
        Byte,
        Max,
        "peak memory so far of the process that ran the part; null if the system does not report it",
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
        "time-weighted queue of the port to host 0, all classes together, as its drain time",
    ),
    Statistic::new(
        "switch_latency.probe.<statistic>_us",
        Microsecond,
        Mean,
        "latency of probe packets, less the unloaded latency; without `measure.probe` \
         `switch_latency.probe` is null",
    ),
    Statistic::new("switch_latency.probe.samples", Count, Mean, "delivered probes"),
    Statistic::new(
        "switch_latency.probe.lost",
        Packet,
        Mean,
        "probes dropped at a full buffer",
    ),
    Statistic::new(
        "queues.<port>.<statistic>_us",
        Microsecond,
        Mean,
        "time-weighted queue of each port of `measure.ports` (without it, of the port to host 0), as its \
         drain time; a port with classes also has an entry per class (`switch->h0:class0`), for packets \
         that the scheduler has not selected",
    ),
    Statistic::new("fct.<class>.bytes", Byte, Mean, "total bytes of the flows of the class"),
    Statistic::new("fct.<class>.count", Count, Mean, "completed flows of the size class"),
    Statistic::new(
        "fct.<class>.unfinished",
        Count,
        Mean,
        "flows of the size class that started in the measured time and did not complete; flows without a \
         size do not count",
    ),
    Statistic::new(
        "fct.<class>.<statistic>_us",
        Microsecond,
        Mean,
        "flow completion time, until the last byte arrives",
    ),
    Statistic::new(
        "fct.<class>.lower_bound.<statistic>",
        Share,
        Mean,
        "1 if the statistic is a lower bound: it would change if the unfinished flows took for ever; else 0; \
         only with unfinished flows",
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
        "flow completion time, until the sender receives the acknowledgment of the last byte",
    ),
    Statistic::new(
        "fct.<class>.acked.lower_bound.<statistic>",
        Share,
        Mean,
        "as `lower_bound`, for the flows whose last byte was not acknowledged",
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
        "slowdown: flow completion time over that in an otherwise empty network",
    ),
    Statistic::new("slowdown.<class>.<percentile>", Share, Mean, "its <percentile>"),
    Statistic::new("slowdown.<class>.lower_bound.mean", Share, Mean, "as in `fct`"),
    Statistic::new("slowdown.<class>.lower_bound.<percentile>", Share, Mean, "as in `fct`"),
    Statistic::new(
        "waits.<class>.untraced",
        Count,
        Mean,
        "completed flows that were complete without their last packet, such as those repaired by parity; \
         the others of `waits` are without them",
    ),
    Statistic::new("waits.<class>.all.flows", Count, Mean, "completed flows of the size class"),
    Statistic::new(
        "waits.<class>.all.<place>_us",
        Microsecond,
        Mean,
        "mean time that the last packet of a flow spent at a place; the places add up to the completion \
         time: `transport` until it was sent and while an earlier packet was missing, `sender` in the \
         stack and the queue of the sending host, `pacer`, a tier of switches' links such as \
         `tor-host`, `receiver` with its application, and `moving`, the transmissions and propagation",
    ),
    Statistic::new(
        "waits.<class>.tail.flows",
        Count,
        Mean,
        "flows whose completion time is at or above the 99th percentile of the size class, within 0.8%",
    ),
    Statistic::new(
        "waits.<class>.tail.<place>_us",
        Microsecond,
        Mean,
        "as in `all`, for these flows",
    ),
    Statistic::new(
        "halves.<class>.first.flows",
        Count,
        Mean,
        "completed flows of the size class that started in the first half of the measured time",
    ),
    Statistic::new("halves.<class>.first.mean_us", Microsecond, Mean, "their mean completion time; null without any"),
    Statistic::new(
        "halves.<class>.second.flows",
        Count,
        Mean,
        "completed flows of the size class that started in the second half",
    ),
    Statistic::new("halves.<class>.second.mean_us", Microsecond, Mean, "their mean completion time; null without any"),
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
        "queries whose responses have all arrived",
    ),
    Statistic::new(
        "queries.<statistic>_us",
        Microsecond,
        Mean,
        "completion time of queries",
    ),
    Statistic::new(
        "queries.lower_bound.<statistic>",
        Share,
        Mean,
        "as in `fct`, for the queries that are not completed",
    ),
    Statistic::new(
        "queries.in_time_share",
        Share,
        Mean,
        "share of the responses within the deadline",
    ),
    Statistic::new(
        "queries.timeout_share",
        Share,
        Mean,
        "share of the queries with a timeout",
    ),
    Statistic::new(
        "fairness.flows",
        Count,
        Mean,
        "flows of `[measure.flows]` with undelivered data at both ends of the measured time; with fewer \
         than two `fairness` is null",
    ),
    Statistic::new(
        "fairness.jain",
        Share,
        Mean,
        "Jain's index of these flows' bytes in the measured time",
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
        "share of the time that the processor of host 0 spent on interrupts and packets",
    ),
    Statistic::new(
        "sending_processor.utilization",
        Share,
        Mean,
        "share of the time that the busiest host's sending processor worked, from time 0 on; absent without \
         `host.transmit`",
    ),
    Statistic::new(
        "throughput.goodput_bps",
        BitPerSecond,
        Mean,
        "payload that arrived at host 0, each byte once, in order or not; a packet at the start of the \
         measured time counts with the part inside",
    )
    .reported("Throughput", "goodput"),
    Statistic::new(
        "throughput.utilization",
        Share,
        Mean,
        "share in use of the rate of the link to host 0; a packet at an edge of the measured time counts \
         with the part inside",
    ),
    Statistic::new(
        "throughput.total_goodput_bps",
        BitPerSecond,
        Mean,
        "payload that arrived at all hosts, counted like `goodput_bps`",
    ),
];

const AFTER_SEVERAL: &[Statistic] = &[
    Statistic::new(
        "links.<tier>.links",
        Count,
        Mean,
        "links of a tier in one direction, such as `tor-host`",
    ),
    Statistic::new(
        "links.<tier>.packets",
        Packet,
        Mean,
        "packets whose transmission on them began in the measured time",
    ),
    Statistic::new(
        "links.<tier>.mean_utilization",
        Share,
        Mean,
        "mean utilization of these links",
    ),
    Statistic::new(
        "links.<tier>.max_utilization",
        Share,
        Mean,
        "largest utilization of these links",
    ),
    Statistic::new(
        "links.<tier>.mean_wait_us",
        Microsecond,
        Mean,
        "mean wait of the packets of the measured time for these links",
    ),
    Statistic::new(
        "links.<tier>.max_wait_us",
        Microsecond,
        Mean,
        "largest mean wait among these links",
    ),
    Statistic::new(
        "links.<tier>.marks",
        Packet,
        Mean,
        "packets marked CE at these links",
    ),
    Statistic::new(
        "links.<tier>.drops",
        Packet,
        Mean,
        "packets dropped at these links",
    ),
    Statistic::new(
        "links.<tier>.pacer_drops",
        Packet,
        Mean,
        "packets dropped by hosts' pacers before these links",
    ),
    Statistic::new(
        "pauses.sent",
        Count,
        Mean,
        "pause frames that switches sent, refreshed pauses among them; `pauses` is absent without `switch.pfc`",
    ),
    Statistic::new("pauses.received", Count, Mean, "pause frames that arrived"),
    Statistic::new(
        "pauses.paused_us",
        Microsecond,
        Mean,
        "sum of the times for which a class of a link was paused",
    ),
    Statistic::new(
        "pauses.max_paused_us",
        Microsecond,
        Mean,
        "longest of these times",
    ),
    Statistic::new(
        "pauses.max_headroom_use",
        Share,
        Mean,
        "largest share in use of the headroom of a link and class",
    ),
    Statistic::new(
        "pauses.drops",
        Packet,
        Mean,
        "packets of lossless classes that found no room in a switch",
    ),
    Statistic::new(
        "pauses.watchdog.storms",
        Count,
        Mean,
        "storms that the watchdog detected; `pauses.watchdog` is absent without `switch.pfc.watchdog`",
    ),
    Statistic::new(
        "pauses.watchdog.restored",
        Count,
        Mean,
        "storms that have ended",
    ),
    Statistic::new(
        "pauses.watchdog.discarded",
        Packet,
        Mean,
        "packets of lossless classes that the watchdog discarded",
    ),
    Statistic::new(
        "pauses.watchdog.deadlocks",
        Count,
        Mean,
        "deadlocks of pauses; without a watchdog a deadlock ends the run",
    ),
    Statistic::new(
        "pauses.watchdog.locked_us",
        Microsecond,
        Mean,
        "sum of the times of the deadlocks, from the last pause of each to the check that no longer found it",
    ),
    Statistic::new(
        "admission.requests",
        Count,
        Mean,
        "requests for admission, repeated ones among them; `admission` is absent without `transport.message.admission`",
    ),
    Statistic::new(
        "admission.grants",
        Count,
        Mean,
        "grants that receivers sent",
    ),
    Statistic::new(
        "admission.messages",
        Count,
        Mean,
        "messages that receivers admitted",
    ),
    Statistic::new(
        "admission.mean_wait_us",
        Microsecond,
        Mean,
        "mean time between the start of such a message and its first grant; 0 without any",
    ),
    Statistic::new(
        "admission.max_wait_us",
        Microsecond,
        Mean,
        "longest of these times",
    ),
    Statistic::new(
        "late_flows",
        Count,
        Not,
        "rows of a flow list whose start is after the measured time; absent if there are none",
    ),
    Statistic::new(
        "pin_misses",
        Count,
        Not,
        "times that a flow of a list found no shortest path through the switch of its `via`, at its start or \
         after a change of links, and took any other; absent if there are none",
    ),
    Statistic::new(
        "unknown_dscp",
        Packet,
        Mean,
        "data packets received whose `transport.dscp` is not in `switch.dscp`; absent without `switch.dscp`",
    ),
    Statistic::new(
        "flow_slots",
        Count,
        Not,
        "largest number of concurrent flow slots",
    ),
    Statistic::new("marks", Packet, Mean, "packets marked CE").reported(PER_SEED, "marks"),
    Statistic::new("drops", Packet, Mean, "packets dropped").reported(PER_SEED, "drops"),
    Statistic::new(
        "drops_by_place.<place>",
        Packet,
        Mean,
        "drops by place: `pacer`, `nic` and, with `host.receive.ring`, `receive_ring` are inside the hosts; `failed_links` and `no_route`, with \
         `topology.failures`, are packets lost on failed links and of flows without a path; the others are \
         tiers of switches' links, such as `tor-host`, and of hosts' links with random loss, and with \
         `switch.pfc.watchdog` `watchdog` for the packets that it discarded; their sum is \
         `drops`",
    ),
    Statistic::new(
        "failure_drops.<link>",
        Packet,
        Not,
        "packets lost on each link while it had failed, both directions together; absent without losses",
    ),
];
