//! Periodic readings of a run: queues, flows, pacers. A sample does not perturb the run: a port only
//! catches up with the time, a table only with flows that have ended.

use super::Instruments;
use super::intervals::{FLOWS, PACERS, QUEUES};
use crate::engine::Kind;
use crate::host::HostSide;
use crate::measure::{PacerRow, QueueRow, SeriesRow};
use crate::network::{Network, QueueLevel};
use crate::simulation::clock::Clock;
use crate::simulation::endpoints::Endpoints;
use crate::simulation::flow_table::FlowTable;

impl Instruments {
    /// Schedules the first samples: queues from the end of the warm-up, flows and pacers from the
    /// start.
    pub fn begin_samples(&self, clock: &mut Clock) {
        clock.schedule(self.intervals.queues_from_ps, Kind::Sample, QUEUES);
        if self.intervals.flows_ps.is_some() {
            clock.schedule(0, Kind::Sample, FLOWS);
        }
        if self.intervals.pacers_ps.is_some() {
            clock.schedule(0, Kind::Sample, PACERS);
        }
    }

    /// Takes the readings that are due. Returns the time until the next ones, ps.
    pub fn sample(
        &mut self,
        what: usize,
        now_ps: u64,
        network: &mut Network,
        endpoints: &mut Endpoints,
    ) -> Option<u64> {
        match what {
            QUEUES => {
                self.sample_queues(now_ps, network);
                Some(self.intervals.queues_ps)
            }
            FLOWS => {
                self.sample_flows(now_ps, &mut endpoints.table);
                self.intervals.flows_ps
            }
            PACERS => {
                self.sample_pacers(now_ps, &endpoints.hosts);
                self.intervals.pacers_ps
            }
            _ => self.sample_live(now_ps, network, &endpoints.table),
        }
    }

    /// Takes the last readings at the end of the measured time.
    pub fn end_samples(&mut self, now_ps: u64, network: &mut Network, table: &mut FlowTable) {
        self.note_changes(now_ps, now_ps + 1, network);
        for &port in &self.ports {
            if let Some(watch) = network.ports[port].watched() {
                watch.stop_changes();
            }
        }
        if self.intervals.flows_read_ps < Some(now_ps) {
            self.sample_flows(now_ps, table);
        }
    }

    fn sample_queues(&mut self, now_ps: u64, network: &mut Network) {
        let from_ps = self.intervals.queues_from_ps;
        let port = &mut network.ports[self.client_port];
        let level = port.queue(now_ps, &mut network.options);
        let watch = port.watched();
        let mean = watch.and_then(|watch| watch.occupancy.mean_since_last(now_ps));
        let mean = mean.filter(|_| now_ps > from_ps);
        self.records.latency.sample(now_ps, level.bytes, mean);
        if !self.queue_changes {
            self.note_levels(now_ps, network);
        } else if now_ps > from_ps {
            self.note_changes(now_ps, now_ps, network);
        }
    }

    /// Records one row with the current queue per watched port.
    fn note_levels(&mut self, now_ps: u64, network: &mut Network) {
        let Some(log) = &mut self.logs.queues else {
            return;
        };
        let sampled = !self.queue_changes;
        for (place, &port) in (0..).zip(&self.ports) {
            let (port, options) = (&mut network.ports[port], &mut network.options);
            log.push(QueueRow {
                time_ps: now_ps,
                port: place,
                level: port.queue(now_ps, options),
                phantom_bytes: port.phantom_bytes(now_ps, options).filter(|_| sampled),
            });
        }
    }

    /// Discards the changes of the warm-up and records the queues at its end, if every change is
    /// recorded.
    pub fn begin_queues(&mut self, now_ps: u64, network: &mut Network) {
        if !self.queue_changes {
            return;
        }
        for &port in &self.ports {
            if let Some(watch) = network.ports[port].watched() {
                watch.take_changes(now_ps + 1);
            }
        }
        self.note_levels(now_ps, network);
    }

    /// Records the changes of all watched ports before `until_ps`, in the order of time.
    fn note_changes(&mut self, now_ps: u64, until_ps: u64, network: &mut Network) {
        let Some(log) = &mut self.logs.queues else {
            return;
        };
        let mut changes: Vec<(u64, u32, QueueLevel)> = Vec::new();
        for (place, &port) in (0..).zip(&self.ports) {
            let port = &mut network.ports[port];
            port.advance(now_ps, &mut network.options);
            if let Some(watch) = port.watched() {
                let taken = watch.take_changes(until_ps).into_iter();
                changes.extend(taken.map(|(at_ps, level)| (at_ps, place, level)));
            }
        }
        changes.sort_by_key(|&(at_ps, place, _)| (at_ps, place));
        for (time_ps, port, level) in changes {
            log.push(QueueRow {
                time_ps,
                port,
                level,
                phantom_bytes: None,
            });
        }
    }

    fn sample_flows(&mut self, now_ps: u64, table: &mut FlowTable) {
        let Some(log) = &mut self.logs.series else {
            return;
        };
        self.intervals.flows_read_ps = Some(now_ps);
        for reading in table.readings() {
            log.push(SeriesRow(now_ps, reading));
        }
    }

    fn sample_pacers(&mut self, now_ps: u64, hosts: &HostSide) {
        let Some(log) = &mut self.logs.pacers else {
            return;
        };
        for host in 0..hosts.rates_bps.len() {
            // The buckets of a host's NICs are numbered on.
            let pacers = hosts.nics_of(host).map(|nic| &hosts.pacers[nic]);
            let readings = pacers.flat_map(|pacer| pacer.readings(now_ps));
            for (bucket, reading) in (0..).zip(readings) {
                let (rate_bps, backlog_bytes, backlog_packets) = reading;
                log.push(PacerRow {
                    time_ps: now_ps,
                    host: host as u32,
                    bucket,
                    rate_bps,
                    backlog_bytes,
                    backlog_packets,
                });
            }
        }
    }
}
