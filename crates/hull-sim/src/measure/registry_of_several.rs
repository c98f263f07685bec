//! The statistics of each transport, of each group of flows, and of workloads that end, which not all
//! scenarios have. A transport's or a group's flows have the statistics of `fct` and `slowdown`.

use super::statistic::Combined::Mean;
use super::statistic::Statistic;
use super::statistic::Unit::{BitPerSecond, Byte, Count, Microsecond, Packet, Share};

/// Statistics of transports besides their flows' statistics.
pub const OF_TRANSPORTS: &[Statistic] = &[
    Statistic::new(
        "transports.<transport>.goodput_bps",
        BitPerSecond,
        Mean,
        "payload of this transport that arrived at all hosts; `default` is `[transport]`; `transports` is \
         absent with a single transport",
    )
    .where_several(),
    Statistic::new("transports.<transport>.packets", Packet, Mean, "data packets that arrived")
        .where_several(),
    Statistic::new("transports.<transport>.marks", Packet, Mean, "arrived data packets with CE")
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
    Statistic::new("transports.<transport>.retransmissions", Packet, Mean, "retransmitted segments")
        .where_several(),
];

/// The first statistic of groups.
pub const OF_GROUPS: &[Statistic] = &[
    Statistic::new(
        "groups.<group>.fct.<class>.bytes",
        Byte,
        Mean,
        "as in `fct`, for the flows of one group; `other` has the flows of none; `groups` is absent without \
         groups",
    )
    .where_several(),
];

/// Statistics of workloads that end, and of partition/aggregate in levels.
pub const OF_ENDS: &[Statistic] = &[
    Statistic::new("last_flow.<workload>.flows", Count, Mean, "flows or queries of this workload")
        .where_several(),
    Statistic::new(
        "last_flow.<workload>.unfinished",
        Count,
        Mean,
        "those that did not complete, or not start",
    )
    .where_several(),
    Statistic::new(
        "last_flow.<workload>.completion_us",
        Microsecond,
        Mean,
        "time from the start of a workload's first flow or query to the completion of its last one, in the \
         whole run; absent for a workload without a fixed number of them, null in a seed that leaves one \
         unfinished",
    )
    .where_several(),
    Statistic::new(
        "aggregation.quality",
        Share,
        Mean,
        "mean over the queries of the share of the workers' answers that are part of the result; \
         `aggregation` is absent without `workload.aggregation_tree`",
    )
    .where_several(),
    Statistic::new(
        "aggregation.full_share",
        Share,
        Mean,
        "share of the queries with the answers of all workers",
    )
    .where_several(),
    Statistic::new(
        "aggregation.levels.<level>.asked",
        Count,
        Mean,
        "requests to the hosts of a level; 1 is below the client",
    )
    .where_several(),
    Statistic::new("aggregation.levels.<level>.in_time", Count, Mean, "answers within the deadline")
        .where_several(),
    Statistic::new(
        "aggregation.levels.<level>.late",
        Count,
        Mean,
        "answers that arrived after the deadline and were dropped",
    )
    .where_several(),
    Statistic::new(
        "aggregation.levels.<level>.unanswered",
        Count,
        Mean,
        "requests without an answer when the run ended; a query without a result has no answer in it",
    )
    .where_several(),
    Statistic::new(
        "aggregation.levels.<level>.in_time_share",
        Share,
        Mean,
        "share of the requests that were answered in time",
    )
    .where_several(),
    Statistic::new(
        "job.ranks",
        Count,
        Mean,
        "ranks of the job; `job` is absent without `workload.job`",
    )
    .where_several(),
    Statistic::new("job.operations", Count, Mean, "operations of all ranks").where_several(),
    Statistic::new("job.ended", Count, Mean, "operations that ended").where_several(),
    Statistic::new(
        "job.step_us",
        Microsecond,
        Mean,
        "time from the job's begin until its last operation ended; null in a seed that leaves one",
    )
    .where_several(),
    Statistic::new("job.compute_us", Microsecond, Mean, "time that a rank computes, mean over the ranks")
        .where_several(),
    Statistic::new(
        "job.exposed_us",
        Microsecond,
        Mean,
        "part of the step in which a rank does not compute, mean over the ranks",
    )
    .where_several(),
    Statistic::new("job.slowest_rank", Count, Mean, "rank that ends last").where_several(),
    Statistic::new(
        "job.collectives.<collective>.count",
        Count,
        Mean,
        "collectives of this name that ended; absent for a schedule from a file",
    )
    .where_several(),
    Statistic::new(
        "job.collectives.<collective>.time_us",
        Microsecond,
        Mean,
        "time from the first rank's begin to the last rank's end",
    )
    .where_several(),
    Statistic::new(
        "job.collectives.<collective>.bus_bandwidth_bps",
        BitPerSecond,
        Mean,
        "rate that each rank's link must have carried with any algorithm (NCCL's tests)",
    )
    .where_several(),
];
