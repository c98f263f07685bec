//! One part of a run: one resolved scenario with one seed, run into a folder or only for its numbers.
//! It is a pure function of (scenario, seed), so any executor can run parts.

use std::io;
use std::path::Path;
use std::time::Instant;

use indexmap::IndexMap;
use serde::Serialize;

use crate::measure::{
    AdmissionSummary, ClassSummary, Counts, Distribution, Fairness, GroupSummary, HalvesSummary,
    JobSummary, PauseSummary, ProbeSummary, QuerySummary, SlowdownSummary, TierCount,
    TransportSummary, WaitSummary, by_tier, drops_by_place, failure_drops, thread_seconds,
    write_computations, write_links, write_pause_causes, write_pauses, write_queries, write_ranks,
    write_stages,
};
use crate::problem::Problem;
use crate::scenario::Resolved;
use crate::simulation::{
    self, Control, Divided, Failure, LastFlow, Outcome, PacketCount, ProcessorUse, Quality,
    SendingUse, Throughput,
};
use crate::transport::External;

/// Identity of a part within a run.
#[derive(Clone, Debug, Serialize)]
pub struct Identity {
    /// Swept keys with their values.
    pub condition: String,
    /// Name of the scheme.
    pub scheme: String,
    /// Seed.
    pub seed: u64,
}

/// `summary.json` of a part. `measure/registry.rs` states the meaning and unit of its numbers.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Version of hull.
    pub hull_version: &'static str,
    /// Name of the scenario.
    pub name: String,
    /// Identity of the part.
    #[serde(flatten)]
    pub identity: Identity,
    /// Packets transmitted, counted at each link.
    pub packet_hops: u64,
    /// Events processed, without samples.
    pub events: u64,
    /// Simulated time, s.
    pub simulated_seconds: f64,
    /// Number of simulating threads.
    pub threads: u32,
    /// How the network was divided among them.
    pub divided: Divided,
    /// Processor time of the simulating threads, s.
    pub cpu_seconds: f64,
    /// Elapsed time, s.
    pub wall_seconds: f64,
    /// Peak memory of the process so far, bytes; null if the system does not report it.
    pub peak_rss_bytes: Option<u64>,
    /// Packets by outcome.
    pub packets: PacketCount,
    /// Latency added by the client's port.
    pub switch_latency: SwitchLatency,
    /// Latency by queue occupancy at each watched port, by port name.
    pub queues: IndexMap<String, Distribution>,
    /// Completion times by size class.
    pub fct: Vec<ClassSummary>,
    /// Slowdowns by size class.
    pub slowdown: Vec<SlowdownSummary>,
    /// Where flows waited, by size class.
    pub waits: Vec<WaitSummary>,
    /// Completion times in both halves of the measured time, by size class.
    pub halves: Vec<HalvesSummary>,
    /// Query statistics, if the workload has queries.
    pub queries: Option<QuerySummary>,
    /// Fairness between the long flows that `measure.flows` follows.
    pub fairness: Option<Fairness>,
    /// Interrupts and processor use of the measured host, if `host.receive` models them.
    pub processor: Option<ProcessorUse>,
    /// Use of the busiest host's sending processor, if `host.transmit` models them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sending_processor: Option<SendingUse>,
    /// Goodput, and utilization of the client's link.
    pub throughput: Throughput,
    /// Results of the flows of each transport, if there are several.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub transports: IndexMap<String, TransportSummary>,
    /// Results of the flows of each group, if there are groups.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub groups: IndexMap<String, GroupSummary>,
    /// Completion of the last flow of each workload that ends by itself, if there are any.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub last_flow: IndexMap<&'static str, LastFlow>,
    /// Quality of the results of partition/aggregate in levels, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aggregation: Option<Quality>,
    /// What became of the job, if the workload is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<JobSummary>,
    /// Utilization of the links, by tier.
    pub links: IndexMap<String, TierCount>,
    /// Pauses of all links, with priority flow control.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pauses: Option<PauseSummary>,
    /// Admission by receivers, if they admit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub admission: Option<AdmissionSummary>,
    /// Rows of a flow list whose start is after the measured time, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late_flows: Option<u64>,
    /// Times that a flow of a list found no path through the switch that it must pass, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pin_misses: Option<u64>,
    /// Data packets received with a code point that `switch.dscp` lacks, if it knows any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unknown_dscp: Option<u64>,
    /// Largest number of flow slots in use at once.
    pub flow_slots: u64,
    /// Packets marked CE.
    pub marks: u64,
    /// Packets dropped.
    pub drops: u64,
    /// Dropped packets by place: `pacer` and `nic` are in the hosts, the others are tiers of links.
    pub drops_by_place: IndexMap<String, u64>,
    /// Packets lost on failed links, by link.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub failure_drops: IndexMap<String, u64>,
    /// Further counts.
    #[serde(flatten)]
    pub counts: Counts,
}

/// The papers' two measures of switch latency.
#[derive(Clone, Debug, Serialize)]
pub struct SwitchLatency {
    /// Latency by queue occupancy over time (report III-A).
    pub occupancy: Distribution,
    /// Latency by probes (paper 5.2), if the scenario has them.
    pub probe: Option<ProbeSummary>,
}

/// Error of a part.
#[derive(Debug)]
pub enum PartError {
    /// Invalid file named by the scenario: key and problem.
    Scenario(Problem),
    /// Failure or interruption of the simulation.
    Simulation(Failure),
    /// File that could not be written.
    Io(io::Error),
}

/// Runs a part. With a folder, which must exist, writes its tables into it: `flows.parquet`,
/// `latency.parquet`, `links.parquet` and those that the scenario requests. `external` is the
/// external congestion control, if the scenario names one.
pub fn run(
    scenario: &Resolved,
    external: Option<&dyn External>,
    identity: Identity,
    folder: Option<&Path>,
    control: &Control,
) -> Result<Summary, PartError> {
    let (wall, cpu) = (Instant::now(), thread_seconds());
    let mut simulation = simulation::build_with_external(scenario, external, identity.seed, folder)
        .map_err(PartError::Scenario)?;
    if folder.is_none() {
        simulation = simulation.without_tables();
    }
    let mut outcome = simulation.run(control).map_err(PartError::Simulation)?;
    let queries = QuerySummary::of(&outcome.queries);
    if let Some(folder) = folder {
        write_tables(&mut outcome, folder).map_err(PartError::Io)?;
    }
    Ok(Summary {
        hull_version: env!("CARGO_PKG_VERSION"),
        name: scenario.name.clone(),
        identity,
        packet_hops: outcome.packet_hops,
        events: outcome.events,
        simulated_seconds: outcome.simulated_ps as f64 * 1e-12,
        threads: 1 + outcome.other_threads_seconds.len() as u32,
        divided: outcome.divided,
        cpu_seconds: thread_seconds() - cpu + outcome.other_threads_seconds.iter().sum::<f64>(),
        wall_seconds: wall.elapsed().as_secs_f64(),
        peak_rss_bytes: peak_rss_bytes(),
        packets: outcome.packets,
        switch_latency: SwitchLatency {
            occupancy: outcome.occupancy,
            probe: scenario
                .measure
                .probe
                .as_ref()
                .map(|_| outcome.latency.summary()),
        },
        queues: outcome.queues,
        fct: outcome.flows.summary(),
        slowdown: outcome.flows.slowdowns(),
        waits: outcome.waits,
        halves: outcome.halves,
        queries,
        fairness: outcome.fairness,
        processor: outcome.processor,
        sending_processor: outcome.sending_processor,
        throughput: outcome.throughput,
        transports: outcome.transports,
        groups: outcome.flows.groups(),
        last_flow: outcome.last_flows,
        aggregation: outcome.quality,
        job: outcome.job.as_ref().map(JobSummary::of),
        drops_by_place: drops_by_place(
            &outcome.links,
            (!scenario.topology.failures.is_empty()).then_some(outcome.drops_without_route),
            outcome.ring_drops,
        ),
        failure_drops: failure_drops(&outcome.links),
        links: by_tier(&outcome.links),
        pauses: PauseSummary::of(&outcome.pauses, outcome.locks),
        admission: outcome.admission,
        late_flows: Some(outcome.late_flows).filter(|&late| late > 0),
        pin_misses: Some(outcome.pin_misses).filter(|&misses| misses > 0),
        unknown_dscp: scenario.packets_of_unknown_code(&outcome.data_packets),
        flow_slots: outcome.flow_slots,
        marks: outcome.marks,
        drops: outcome.packets.dropped,
        counts: outcome.counts,
    })
}

fn write_tables(outcome: &mut Outcome, folder: &Path) -> io::Result<()> {
    outcome.flows.close()?;
    outcome.logs.close()?;
    if !outcome.queries.is_empty() {
        write_queries(&outcome.queries, &folder.join("queries.parquet"))?;
    }
    if let Some(job) = &outcome.job {
        write_ranks(&job.ranks, &folder.join("ranks.parquet"))?;
        if !job.computations.is_empty() {
            write_computations(&job.computations, &folder.join("computations.parquet"))?;
        }
        if !job.stages.is_empty() {
            write_stages(&job.stages, &folder.join("stages.parquet"))?;
        }
    }
    if !outcome.pauses.is_empty() {
        write_pauses(&outcome.pauses, &folder.join("pauses.parquet"))?;
        write_pause_causes(&outcome.pause_causes, &folder.join("pause_causes.parquet"))?;
    }
    write_links(&outcome.links, &folder.join("links.parquet"))?;
    outcome.latency.write(&folder.join("latency.parquet"))
}

/// Peak memory of the process, bytes, from Linux's /proc.
pub fn peak_rss_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}
