//! The results of a run: counts, distributions and logs.

use indexmap::IndexMap;
use serde::Serialize;

use super::endpoints::Endpoints;
use super::fabric::Fabric;
use super::instruments::Instruments;
use super::instruments::records::Records;
use super::measured::Measured;
use super::{Failure, Simulation};
use crate::host::HostSide;
use crate::measure::{
    AdmissionSummary, Counts, Distribution, Fairness, FlowLog, HalvesSummary, LatencyLog,
    LinkCount, Logs, PauseCause, PauseCount, TransportCount, TransportSummary, WaitSummary,
};
use crate::network::{CLASSES, Caused, Locks, Network, Port};
use crate::workload::{JobRecord, LastFlow, Quality, QueryRecord, Workload};

/// Packets of a run by their fate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PacketCount {
    /// Packets that hosts passed to their NIC.
    pub sent: u64,
    /// Packets that arrived at a host.
    pub delivered: u64,
    /// Packets dropped at a port, a NIC or a pacer.
    pub dropped: u64,
    /// Packets queued or in flight at the end.
    pub in_flight: u64,
}

/// Use of the client's link in the measured time.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Throughput {
    /// Payload that arrived at the client, bit/s; each byte counts once.
    pub goodput_bps: f64,
    /// Share of the link's rate that packets used.
    pub utilization: f64,
    /// Payload that arrived at all hosts, bit/s.
    pub total_goodput_bps: f64,
}

/// Interrupts and processor time of a host with a receive path.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ProcessorUse {
    /// Interrupts per second.
    pub interrupts_per_second: f64,
    /// Share of the time in which the processor worked on interrupts and packets.
    pub utilization: f64,
}

/// Processor time of the host whose sending processor worked most.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SendingUse {
    /// Share of the time in which the processor worked on packets.
    pub utilization: f64,
}

/// How the network of a run was divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DividedBy {
    /// One part.
    None,
    /// Each part has some of the hosts.
    Hosts,
}

/// Division of a run among threads. Its results do not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Divided {
    /// Way of the division.
    pub by: DividedBy,
    /// Number of parts.
    pub parts: u32,
    /// Number of threads that served them.
    pub threads: u32,
    /// Reason why a run that asks for several threads has one part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<&'static str>,
}

impl Divided {
    /// Division of a run into one part.
    pub fn into_one(because: Option<&'static str>) -> Divided {
        Divided {
            by: DividedBy::None,
            parts: 1,
            threads: 1,
            because,
        }
    }
}

/// Result of a run.
#[derive(Debug)]
pub struct Outcome {
    /// Completion times.
    pub flows: FlowLog,
    /// Where flows waited, by size class.
    pub waits: Vec<WaitSummary>,
    /// Completion times in both halves of the measured time, by size class.
    pub halves: Vec<HalvesSummary>,
    /// Queries of fan-out workloads.
    pub queries: Vec<QueryRecord>,
    /// Probes and samples.
    pub latency: LatencyLog,
    /// Latency by queue occupancy at the client's port.
    pub occupancy: Distribution,
    /// Latency by queue occupancy at each watched port, by the port's name.
    pub queues: IndexMap<String, Distribution>,
    /// Fairness among long flows, of those that are followed.
    pub fairness: Option<Fairness>,
    /// Logs that the scenario requests.
    pub logs: Logs,
    /// Packets by their fate.
    pub packets: PacketCount,
    /// Use of the client's link.
    pub throughput: Throughput,
    /// Use of each link.
    pub links: Vec<LinkCount>,
    /// Data packets received, by transport; none unless they are counted.
    pub data_packets: Vec<u64>,
    /// Pauses of links by class, with priority flow control.
    pub pauses: Vec<PauseCount>,
    /// Deadlocks of pauses, with a watchdog.
    pub locks: Option<Locks>,
    /// Causes of pauses, with priority flow control.
    pub pause_causes: Vec<PauseCause>,
    /// Admission by receivers, if they admit.
    pub admission: Option<AdmissionSummary>,
    /// Use of the client's processor, if it is modelled.
    pub processor: Option<ProcessorUse>,
    /// Use of the busiest sending processor, if they are modelled.
    pub sending_processor: Option<SendingUse>,
    /// Number of packets that found a receive ring full, if rings are limited.
    pub ring_drops: Option<u64>,
    /// Number of packets carried, counted at each link.
    pub packet_hops: u64,
    /// Number of events served, without samples.
    pub events: u64,
    /// Simulated time, ps.
    pub simulated_ps: u64,
    /// Number of packets marked CE.
    pub marks: u64,
    /// Results of each transport, if there are several.
    pub transports: IndexMap<String, TransportSummary>,
    /// Other counts.
    pub counts: Counts,
    /// Number of packets in flight at the end that carry options.
    pub options_in_flight: u64,
    /// Number of packets dropped because their flow had no path.
    pub drops_without_route: u64,
    /// Number of listed flows that would have started after the measured time.
    pub late_flows: u64,
    /// Number of times that a listed flow found no path through the switch that it must pass.
    pub pin_misses: u64,
    /// Completion of the last flow of each workload that ends by itself.
    pub last_flows: IndexMap<&'static str, LastFlow>,
    /// Quality of the results of partition/aggregate in levels, if there are any.
    pub quality: Option<Quality>,
    /// What became of the job, if there is one.
    pub job: Option<JobRecord>,
    /// Largest number of flows in use at the same time.
    pub flow_slots: u64,
    /// Processor time of each thread except the first, s.
    pub other_threads_seconds: Vec<f64>,
    /// How the run was divided.
    pub divided: Divided,
}

impl Outcome {
    /// Creates the results of a run; the processor times of its other threads are in s.
    pub(super) fn of(
        simulation: Simulation,
        measured: Measured,
        other_threads_seconds: Vec<f64>,
        divided: Divided,
    ) -> Result<Self, Failure> {
        let Simulation {
            clock,
            mut fabric,
            endpoints,
            instruments,
            workload,
            ..
        } = simulation;
        if let Some(locked) = fabric.locked() {
            return Err(Failure::Deadlock(locked));
        }
        let job = workload.traffic.job();
        if let Some(job) = job.as_ref().filter(|job| job.has_failed()) {
            return Err(Failure::Job(Box::new(job.clone())));
        }
        let (network, hosts, tally) = (&fabric.network, &endpoints.hosts, &endpoints.tally);
        let packets = PacketCount {
            sent: tally.sent,
            delivered: tally.delivered,
            dropped: tally.dropped,
            in_flight: (network.packets() + hosts.backlog()) as u64,
        };
        if packets.sent != packets.delivered + packets.dropped + packets.in_flight {
            return Err(Failure::NotConserved(packets));
        }
        let (simulated_ps, events) = (clock.now_ps, clock.served);
        let options_in_flight = fabric.network.options.len() as u64;
        // Packets and events are freed first: the tables of a large network also need much memory.
        drop(clock);
        fabric.network.discard_packets();
        let (network, hosts) = (&fabric.network, &endpoints.hosts);
        let losses = endpoints.table.losses();
        let tiers = fabric.tiers.iter();
        let tiers = Vec::from_iter(tiers.map(|&tiers| fabric.graph.name_of_tiers(tiers)));
        let (before, records) = (&instruments.at_warmup, &instruments.records);
        Ok(Outcome {
            throughput: instruments.throughput(&measured, network),
            links: fabric.links(hosts, before, &measured),
            pauses: fabric.pauses(simulated_ps),
            locks: network.locks(simulated_ps),
            pause_causes: fabric.pause_causes(simulated_ps),
            admission: (!hosts.admissions.is_empty())
                .then(|| AdmissionSummary::of(&tally.admission)),
            data_packets: tally.of_transports.iter().map(|of| of.packets).collect(),
            transports: records.transports(before, &measured, &tally.of_transports, &losses),
            processor: instruments.processor(simulated_ps, hosts),
            sending_processor: sending_processor(simulated_ps, hosts),
            ring_drops: ring_drops(hosts),
            counts: endpoints.counts(network, &losses),
            occupancy: measured.occupancy,
            queues: measured.queues,
            fairness: measured.fairness,
            packets,
            packet_hops: fabric.packet_hops,
            events,
            simulated_ps,
            marks: network.ports.iter().map(|port| port.marks).sum(),
            options_in_flight,
            drops_without_route: network.drops_without_route(),
            late_flows: workload.traffic.late(),
            pin_misses: endpoints.table.pin_misses(),
            last_flows: workload.traffic.last_flows().collect(),
            quality: workload.traffic.quality(),
            job,
            flow_slots: endpoints.table.most_flows,
            other_threads_seconds,
            divided,
            waits: records.waits.summary(records.flows.classes(), &tiers),
            halves: records.halves.summary(records.flows.classes()),
            logs: instruments.logs,
            flows: instruments.records.flows,
            queries: instruments.records.queries,
            latency: instruments.records.latency,
        })
    }
}

impl Endpoints {
    /// Counts of the run, including those that are computed at the end.
    fn counts(&self, network: &Network, losses: &[(u64, u64)]) -> Counts {
        let (hosts, mut counts) = (&self.hosts, self.tally.counts);
        counts.timeouts = losses.iter().map(|(timeouts, _)| timeouts).sum();
        counts.retransmissions = losses.iter().map(|(_, again)| again).sum();
        counts.paced = hosts.pacers.iter().map(|pacer| pacer.paced).sum();
        counts.associations = hosts.pacers.iter().map(|pacer| pacer.associations).sum();
        counts.trims = network.ports.iter().map(Port::trims).sum();
        counts
    }
}

impl Instruments {
    fn throughput(&self, measured: &Measured, network: &Network) -> Throughput {
        let before = &self.at_warmup;
        let seconds = measured.seconds_since(before);
        let received = |counts: &Measured| {
            let of_client = counts.received_bytes.get(self.client);
            of_client.copied().unwrap_or(0)
        };
        let bps = |now: u64, before: u64| 8.0 * (now - before) as f64 / seconds;
        let at_client = measured.at_port_since(before, self.client_port);
        let rate_bps = network.ports[self.client_port].rate_bps();
        Throughput {
            goodput_bps: bps(received(measured), received(before)),
            utilization: 8.0 * at_client.carried_bytes / seconds / rate_bps,
            total_goodput_bps: bps(
                measured.received_bytes.iter().sum(),
                before.received_bytes.iter().sum(),
            ),
        }
    }

    fn processor(&self, now_ps: u64, hosts: &HostSide) -> Option<ProcessorUse> {
        let receiver = hosts.receivers.get(self.client)?;
        let seconds = now_ps.max(1) as f64 * 1e-12;
        Some(ProcessorUse {
            interrupts_per_second: receiver.interrupts as f64 / seconds,
            utilization: receiver.busy_ps as f64 * 1e-12 / seconds,
        })
    }
}

fn sending_processor(now_ps: u64, hosts: &HostSide) -> Option<SendingUse> {
    let busy = hosts.senders.iter().map(|sender| sender.busy_ps(now_ps));
    Some(SendingUse {
        utilization: busy.max()? as f64 / now_ps.max(1) as f64,
    })
}

fn ring_drops(hosts: &HostSide) -> Option<u64> {
    let limited = hosts.receivers.first()?.has_limit();
    limited.then(|| hosts.receivers.iter().map(|receiver| receiver.drops).sum())
}

impl Records {
    /// Results of each transport; `whole` counts the whole run.
    fn transports(
        &self,
        before: &Measured,
        measured: &Measured,
        whole: &[TransportCount],
        losses: &[(u64, u64)],
    ) -> IndexMap<String, TransportSummary> {
        let seconds = measured.seconds_since(before);
        let early = |at: usize| before.of_transports.get(at).map_or(0, |c| c.received_bytes);
        let summary = |(at, flows): (usize, &FlowLog)| {
            let received_bytes = measured.of_transports[at].received_bytes - early(at);
            TransportSummary {
                goodput_bps: 8.0 * received_bytes as f64 / seconds,
                packets: whole[at].packets,
                marks: whole[at].marks,
                drops: whole[at].drops,
                timeouts: losses[at].0,
                retransmissions: losses[at].1,
                fct: flows.summary(),
                slowdown: flows.slowdowns(),
            }
        };
        let summaries = self.flows.by_transport().iter().enumerate();
        let names = self.flows.transports().iter().cloned();
        names.zip(summaries.map(summary)).collect()
    }
}

impl Fabric {
    fn pauses(&self, now_ps: u64) -> Vec<PauseCount> {
        let ports = 0..self.graph.ports();
        let each = ports.flat_map(|port| (0..CLASSES).map(move |class| (port, class)));
        let count = |(port, class): (usize, usize)| {
            Some(PauseCount {
                from: self.graph.name(self.graph.port_owner(port)),
                to: self.graph.name(self.graph.port_far_end(port)),
                class: class as u32,
                counts: self.network.class_pauses(port, class, now_ps)?,
                storms: self.network.storms(port, class),
            })
        };
        each.filter_map(count).collect()
    }

    /// Trees of the pauses until `now_ps`; empty without pauses.
    pub(super) fn pause_causes(&self, now_ps: u64) -> Vec<PauseCause> {
        let ends = |port: u32| {
            let port = port as usize;
            let ends = [self.graph.port_owner(port), self.graph.port_far_end(port)];
            ends.map(|node| self.graph.name(node))
        };
        let row = |one: &Caused| PauseCause {
            root: ends(one.by.root),
            cause: ends(one.by.cause),
            paused: ends(one.by.paused),
            class: u32::from(one.by.class),
            depth: u32::from(one.by.depth),
            pauses: one.pauses,
            paused_ps: one.paused_ps,
        };
        let causes = self.network.caused_pauses(now_ps);
        causes.iter().map(row).collect()
    }

    fn links(&self, hosts: &HostSide, before: &Measured, measured: &Measured) -> Vec<LinkCount> {
        let seconds = measured.seconds_since(before);
        let ports = &self.network.ports[..self.graph.ports()];
        let mut stages = vec![None; ports.len()];
        for (nic, stage) in hosts.pacers.iter().enumerate() {
            stages[self.graph.nic_port(nic)] = Some(stage);
        }
        let count = |(number, port): (usize, &Port)| {
            let done = measured.at_port_since(before, number);
            let waited_us = done.waited_ps as f64 * 1e-6;
            let stage = stages[number];
            LinkCount {
                from: self.graph.name(self.graph.port_owner(number)),
                to: self.graph.name(self.graph.port_far_end(number)),
                tier: self.graph.port_tiers(number),
                rate_bps: port.rate_bps().round() as u64,
                bytes: done.sent_bytes,
                packets: u64::from(done.sent_packets),
                utilization: 8.0 * done.carried_bytes / seconds / port.rate_bps(),
                mean_wait_us: (done.waited_packets > 0)
                    .then(|| waited_us / f64::from(done.waited_packets)),
                marks: port.marks,
                drops: port.drops + stage.map_or(0, |stage| stage.nic.drops),
                failure_drops: self.network.failure_drops(number),
                discarded: self.network.discarded(number),
                lost: port.lost(),
                pacer_drops: stage.map_or(0, |stage| stage.drops),
            }
        };
        ports.iter().enumerate().map(count).collect()
    }
}
