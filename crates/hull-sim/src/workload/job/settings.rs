//! Settings of a job, and its placement on hosts.

use hull_jobs::{Choices, Graph, check_pairs};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use slab::Slab;

use super::collective::Repeated;
use super::placement::Placement;
use super::queue_pairs::QueuePairs;
use super::record::StageRecord;
use super::servers::{Inside, Servers};
use super::source::Source;
use super::training::Trained;
use super::{End, JobTraffic, Processor, RankRecord};
use crate::problem::{Problem, quoted, require};
use crate::units::{Size, Time};
use crate::workload::context::Context;
use crate::workload::host_list::HostList;
use crate::workload::{Settings, Workload, time, time_above_0};

/// A graph of work: ranks that compute, send and receive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Job")]
pub struct Job {
    /// Path of a schedule: GOAL's text or binary form, SimAI's layers, aicb's table, the folder of a Chakra trace, or
    /// htsim's connection matrix with triggers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,
    /// Number of ranks, for a schedule whose file does not say it (default: as few as its groups need).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranks: Option<u32>,
    /// Unit of the start times in a connection matrix: microseconds in csg-htsim and Uno, 1 ps in uet-htsim.
    #[serde(default = "microsecond")]
    pub start_unit: Time,
    /// A collective instead of a schedule's file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collective: Option<Repeated>,
    /// A generated training job instead of a schedule's file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub training: Option<Trained>,
    /// Servers of several ranks, in which messages may stay (default: each rank is a server).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub servers: Option<Servers>,
    /// Hosts of the ranks, in order (default: all hosts). Rank r with n interfaces has hosts n r to n r + n - 1 of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<HostList>,
    /// Order in which ranks take these hosts.
    #[serde(default)]
    pub placement: Placement,
    /// Time at which the job begins.
    #[serde(default)]
    pub start: Time,
    /// Time of a rank's processor for each send, before the network has it, and for each receive, after its last byte
    /// (LogGP's o).
    #[serde(default)]
    pub overhead: Time,
    /// Largest message whose send ends when the network has it (default: 65535B with `schedule`, else 0). The send of a
    /// larger one ends with the message, and not before its receive is posted (rendezvous; its data does not wait).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eager: Option<Size>,
    /// When a message ends for its receiver.
    #[serde(default)]
    pub ends: Ends,
    /// Whether computations are written to `computations.parquet`, for a timeline of the job.
    #[serde(default)]
    pub timeline: bool,
    /// Whether the run ends with the job, and other traffic with it.
    #[serde(default)]
    pub ends_run: bool,
    /// Least time between the starts of an interface's messages (default: none; the network alone decides).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<Gap>,
    /// Connections that each pair of hosts keeps, whose messages follow each other (default: each message has a connection
    /// of its own, with a new window).
    #[serde(default)]
    pub queue_pairs: u32,
    /// Transport of its messages, one of `[transports]` (default: `[transport]`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<String>,
}

/// When a message ends for its receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "JobEnds")]
pub enum Ends {
    /// With its last byte.
    #[default]
    Delivered,
    /// When the sender has the acknowledgment of its last byte, as in simulators that log at the sender.
    Acked,
}

/// Least time between the starts of an interface's messages: `packet` for each `payload` begun, and once more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "JobGap")]
pub struct Gap {
    /// Time of a packet.
    pub packet: Time,
    /// Bytes of a packet.
    pub payload: Size,
}

impl Gap {
    /// Time after the start of a message of `bytes`, ps, in whole ns.
    pub(super) fn ps(&self, bytes: u64) -> u64 {
        let packets = bytes.div_ceil(self.payload.0) + 1;
        self.packet.0.saturating_mul(packets) / 1000 * 1000
    }
}

const fn microsecond() -> Time {
    Time(1_000_000)
}

impl Settings for Job {
    fn check(&self) -> Result<(), Problem> {
        let key = "workload.job.schedule";
        let sources = [
            self.schedule.is_some(),
            self.collective.is_some(),
            self.training.is_some(),
        ];
        let found = sources.iter().filter(|&&is_set| is_set).count();
        let expected =
            "one of schedule, a path such as \"job.goal\", collective and training, tables";
        require(
            found == 1,
            key,
            format!("{found} sources of the job"),
            expected,
        )?;
        if let Some(path) = &self.schedule {
            require(
                !path.is_empty(),
                key,
                quoted(path),
                "the path of a schedule",
            )?;
        }
        let expected = "a number only beside workload.job.schedule";
        let found = self.ranks.unwrap_or_default();
        let fits = self.ranks.is_none() || self.schedule.is_some();
        require(fits, "workload.job.ranks", found, expected)?;
        time_above_0("workload.job.start_unit", self.start_unit)?;
        if let Some(collective) = &self.collective {
            collective.check()?;
        }
        if let Some(training) = &self.training {
            training.check()?;
        }
        if let Some(servers) = &self.servers {
            servers.check()?;
        }
        time("workload.job.start", self.start)?;
        time("workload.job.overhead", self.overhead)?;
        let key = "workload.job.queue_pairs";
        require(self.queue_pairs <= 1024, key, self.queue_pairs, "0 to 1024")?;
        if let Some(gap) = &self.gap {
            time("workload.job.gap.packet", gap.packet)?;
            let key = "workload.job.gap.payload";
            require(gap.payload.0 > 0, key, quoted(gap.payload), "at least 1B")?;
        }
        Ok(())
    }

    fn transport(&self) -> Option<&str> {
        self.transport.as_deref()
    }

    fn build(&self, context: &Context) -> Result<Box<dyn Workload>, Problem> {
        Ok(Box::new(JobTraffic::new(self, context)?))
    }
}

impl Job {
    /// The graph of work.
    fn source(&self, hosts: usize, seed: u64) -> Result<Source, Problem> {
        let servers = self.servers.as_ref();
        match (&self.schedule, &self.collective, &self.training) {
            (Some(path), ..) => {
                let choices = Choices {
                    ranks: self.ranks,
                    start_unit_ps: self.start_unit.0,
                    ..Choices::default()
                };
                Source::file(path, &choices)
            }
            (None, Some(collective), _) => {
                collective.source(hosts as u32, servers.map(|servers| servers.ranks))
            }
            (None, None, Some(training)) => training.source(servers, seed),
            (None, None, None) => Err(Problem::new("workload.job.schedule", "none")), // checked before
        }
    }
}

impl JobTraffic {
    /// Reads or makes the schedule of a job and places its ranks.
    fn new(settings: &Job, context: &Context) -> Result<Self, Problem> {
        let hosts = hosts(settings, context)?;
        let mut source = settings.source(hosts.len(), context.seed)?;
        let (ranks, nics) = (source.schedule.ranks(), source.schedule.nics() as usize);
        let inside = Inside::new(settings.servers.as_ref(), ranks);
        if let Some(servers) = &settings.servers {
            let key = "workload.job.servers.ranks";
            let expected = format!("a divisor of the {ranks} ranks of {}", source.name);
            require(
                ranks.is_multiple_of(servers.ranks),
                key,
                servers.ranks,
                &expected,
            )?;
        }
        let pairs = check_pairs(&mut source.schedule, |rank, other| inside.has(rank, other));
        let pairs = pairs
            .map_err(|problem| Problem::new(source.key, format!("{}: {problem}", source.name)))?;
        let mut remarks = std::mem::take(&mut source.remarks);
        if pairs.unreceived > 0 {
            remarks.push(("messages without a receive".to_owned(), pairs.unreceived));
        }
        let hosts = place(hosts, &source)?;
        let host = |rank: u32, nic: u8| hosts[rank as usize * nics + usize::from(nic)];
        let ends =
            |rank, peer, nic| (!inside.has(rank, peer)).then(|| (host(rank, nic), host(peer, nic)));
        let queue_pairs = QueuePairs::new(settings.queue_pairs, &mut source.schedule, ends);
        let queue_pairs = queue_pairs
            .map_err(|problem| Problem::new(source.key, format!("{}: {problem}", source.name)))?;
        let records = (0..ranks).map(|rank| RankRecord {
            host: hosts[rank as usize * nics],
            operations: source.schedule.len(rank),
            ..RankRecord::default()
        });
        Ok(JobTraffic {
            ranks: records.collect(),
            computations: settings.timeline.then(Vec::new),
            ended: 0,
            remarks,
            stages: source.stages.into_iter().map(StageRecord::new).collect(),
            matching: (0..ranks).map(|_| super::Receives::default()).collect(),
            hosts,
            cpus: source.schedule.cpus() as usize,
            nics,
            processors: vec![Processor::default(); (ranks * source.schedule.cpus()) as usize],
            next_departure_ps: vec![0; ranks as usize * nics],
            inside,
            queue_pairs,
            messages: Slab::new(),
            in_network: 0,
            waits: Slab::new(),
            free: std::collections::VecDeque::new(),
            classes: vec!["message".to_owned()],
            overhead_ps: settings.overhead.0,
            eager_bytes: settings.eager.map_or(source.eager_bytes, |eager| eager.0),
            start_ps: settings.start.0,
            gap: settings.gap.clone(),
            ends_run: settings.ends_run,
            end: match settings.ends {
                Ends::Delivered => End::Delivered,
                Ends::Acked => End::Acked,
            },
            planned: source.schedule.counts().sends - pairs.local,
            failed: None,
            graph: Graph::new(source.schedule),
        })
    }
}

/// Hosts that the ranks may have, in their order.
fn hosts(settings: &Job, context: &Context) -> Result<Vec<u32>, Problem> {
    let hosts = context
        .hosts
        .set("workload.job.hosts", settings.hosts.as_ref(), None)?;
    let per_server = settings.servers.as_ref().map_or(1, |servers| servers.ranks);
    settings.placement.order(hosts, per_server, context)
}

/// Host of each rank's interfaces.
fn place(mut hosts: Vec<u32>, source: &Source) -> Result<Vec<u32>, Problem> {
    let (ranks, nics) = (source.schedule.ranks(), source.schedule.nics());
    let needed = ranks as usize * nics as usize;
    if hosts.len() < needed {
        let interfaces = match nics {
            1 => String::new(),
            nics => format!(" of {nics} interfaces"),
        };
        let told = format!(
            "{} hosts for the {ranks} ranks{interfaces} of {}; expected {needed} or more",
            hosts.len(),
            source.name
        );
        return Err(Problem::new("workload.job.hosts", told));
    }
    hosts.truncate(needed);
    Ok(hosts)
}
