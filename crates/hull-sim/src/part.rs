//! One part of a run: one resolved scenario with one seed, run into a folder. A pure function of
//! (scenario, seed), so that parts can be handed to any executor.

use std::io;
use std::path::Path;
use std::time::Instant;

use serde::Serialize;

use crate::measure::{ClassSummary, Distribution, ProbeSummary};
use crate::scenario::Scenario;
use crate::simulation::{Control, Failure, PacketCount, Simulation, Throughput};

/// Which part this is.
#[derive(Clone, Debug, Serialize)]
pub struct Identity {
    /// The swept keys with their values.
    pub condition: String,
    /// The scheme's name.
    pub scheme: String,
    /// The seed.
    pub seed: u64,
}

/// `summary.json` of a part.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Version of hull.
    pub hull_version: &'static str,
    /// Name of the scenario.
    pub name: String,
    /// Which part.
    #[serde(flatten)]
    pub identity: Identity,
    /// Packets carried, counted at each link.
    pub packet_hops: u64,
    /// Events served.
    pub events: u64,
    /// Simulated time, s.
    pub simulated_seconds: f64,
    /// Processor time of the simulating thread, s.
    pub cpu_seconds: f64,
    /// Time on the clock, s.
    pub wall_seconds: f64,
    /// Largest memory of the process so far, bytes; null where the system does not tell.
    pub peak_rss_bytes: Option<u64>,
    /// Where the packets went.
    pub packets: PacketCount,
    /// Latency that the client's port added.
    pub switch_latency: SwitchLatency,
    /// Completion times by size class.
    pub fct: Vec<ClassSummary>,
    /// Use of the client's link.
    pub throughput: Throughput,
    /// Packets marked CE.
    pub marks: u64,
    /// Packets dropped.
    pub drops: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Segments sent again.
    pub retransmissions: u64,
    /// Packets that waited in a pacer's FIFO.
    pub paced: u64,
    /// ECN-Echoes that associated a flow with a pacer.
    pub associations: u64,
}

/// The papers' two measures of switch latency.
#[derive(Clone, Debug, Serialize)]
pub struct SwitchLatency {
    /// By queue occupancy over time (report III-A).
    pub occupancy: Distribution,
    /// By probes (paper 5.2), where the scenario has them.
    pub probe: Option<ProbeSummary>,
}

/// Why a part has no result.
#[derive(Debug)]
pub enum PartError {
    /// The simulation ended early.
    Simulation(Failure),
    /// A file could not be written.
    Io(io::Error),
}

/// Runs a part and writes `flows.parquet` and `latency.parquet` into `folder`, which must exist.
pub fn run(
    scenario: &Scenario,
    identity: Identity,
    folder: &Path,
    control: &Control,
) -> Result<Summary, PartError> {
    let (wall, cpu) = (Instant::now(), thread_seconds());
    let outcome = Simulation::new(scenario, identity.seed)
        .run(control)
        .map_err(PartError::Simulation)?;
    outcome
        .flows
        .write(&folder.join("flows.parquet"), 0)
        .map_err(PartError::Io)?;
    outcome
        .latency
        .write(&folder.join("latency.parquet"))
        .map_err(PartError::Io)?;
    Ok(Summary {
        hull_version: env!("CARGO_PKG_VERSION"),
        name: scenario.name.clone(),
        identity,
        packet_hops: outcome.packet_hops,
        events: outcome.events,
        simulated_seconds: outcome.simulated_ps as f64 * 1e-12,
        cpu_seconds: thread_seconds() - cpu,
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
        fct: outcome.flows.summary(),
        throughput: outcome.throughput,
        marks: outcome.marks,
        drops: outcome.packets.dropped,
        timeouts: outcome.timeouts,
        retransmissions: outcome.retransmissions,
        paced: outcome.paced,
        associations: outcome.associations,
    })
}

/// Processor time of this thread, s.
fn thread_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// The process's high-water mark of memory, from Linux's /proc.
fn peak_rss_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}
