//! What is read again and again while a run is under way: queues, flows, pacers. A sample reads and
//! changes nothing.

use super::Simulation;
use crate::engine::Kind;
use crate::measure::{PacerRow, QueueRow, SeriesRow};
use crate::network::QueueLevel;
use crate::scenario::Scenario;

/// What the events of `Kind::Sample` read, by their index.
const QUEUES: usize = 0;
const FLOWS: usize = 1;
const PACERS: usize = 2;
/// What a live run shows; last, so that it sees what the others have noted.
pub(super) const LIVE: usize = 3;

/// Times between two samples, ps.
#[derive(Clone, Copy, Debug)]
pub struct Intervals {
    queues_ps: u64,
    flows_ps: Option<u64>,
    pacers_ps: Option<u64>,
    /// When flows were last read.
    flows_read_ps: Option<u64>,
}

impl Intervals {
    /// As the scenario says.
    pub fn of(scenario: &Scenario) -> Self {
        let measure = &scenario.measure;
        let pacers = measure.pacers.as_ref().filter(|_| scenario.pacer.is_some());
        Intervals {
            queues_ps: measure.sample_interval.0,
            flows_ps: measure.flows.as_ref().map(|flows| flows.interval.0),
            pacers_ps: pacers.map(|pacers| pacers.interval.0),
            flows_read_ps: None,
        }
    }
}

impl Simulation {
    /// The first samples: queues from the end of the warm-up, flows and pacers from the beginning.
    pub(super) fn begin_samples(&mut self) {
        let intervals = self.instruments.intervals;
        let warmup_ps = self.clock.warmup_ps;
        self.clock.schedule(warmup_ps, Kind::Sample, QUEUES);
        if intervals.flows_ps.is_some() {
            self.clock.schedule(0, Kind::Sample, FLOWS);
        }
        if intervals.pacers_ps.is_some() {
            self.clock.schedule(0, Kind::Sample, PACERS);
        }
    }

    /// Reads what it is time for.
    pub(super) fn serve_sample(&mut self, what: usize) {
        self.tally.samples += 1;
        let intervals = self.instruments.intervals;
        let interval_ps = match what {
            QUEUES => {
                self.sample_queues();
                Some(intervals.queues_ps)
            }
            FLOWS => {
                self.sample_flows();
                intervals.flows_ps
            }
            PACERS => {
                self.sample_pacers();
                intervals.pacers_ps
            }
            _ => self.sample_live(),
        };
        let next_ps = interval_ps.map(|interval_ps| self.clock.now_ps + interval_ps);
        if let Some(next_ps) = next_ps.filter(|&next_ps| next_ps < self.clock.end_ps) {
            self.clock.schedule(next_ps, Kind::Sample, what);
        }
    }

    /// The last readings, at the end of the measured time.
    pub(super) fn end_samples(&mut self) {
        self.note_changes(self.clock.now_ps + 1);
        for &port in &self.instruments.ports {
            if let Some(watch) = self.fabric.network.ports[port].watched() {
                watch.stop_changes();
            }
        }
        if self.instruments.intervals.flows_read_ps < Some(self.clock.now_ps) {
            self.sample_flows();
        }
    }

    fn sample_queues(&mut self) {
        let now_ps = self.clock.now_ps;
        let port = self.instruments.client_port;
        let level = self.fabric.network.ports[port].queue(now_ps, &mut self.fabric.network.options);
        let watch = self.fabric.network.ports[port].watched();
        let mean = watch.and_then(|watch| watch.occupancy.mean_since_last(now_ps));
        let mean = mean.filter(|_| now_ps > self.clock.warmup_ps);
        self.records.latency.sample(now_ps, level.bytes, mean);
        if !self.instruments.queue_changes {
            self.note_levels();
        } else if now_ps > self.clock.warmup_ps {
            self.note_changes(now_ps);
        }
    }

    /// One row for each watched port, as it is now.
    fn note_levels(&mut self) {
        let Some(log) = &mut self.instruments.logs.queues else {
            return;
        };
        let sampled = !self.instruments.queue_changes;
        for (place, &port) in (0..).zip(&self.instruments.ports) {
            let (port, options) = (
                &mut self.fabric.network.ports[port],
                &mut self.fabric.network.options,
            );
            log.push(QueueRow {
                time_ps: self.clock.now_ps,
                port: place,
                level: port.queue(self.clock.now_ps, options),
                phantom_bytes: port
                    .phantom_bytes(self.clock.now_ps, options)
                    .filter(|_| sampled),
            });
        }
    }

    /// With every change: forgets those of the warm-up and notes what it leaves.
    pub(super) fn begin_queues(&mut self) {
        if !self.instruments.queue_changes {
            return;
        }
        for &port in &self.instruments.ports {
            if let Some(watch) = self.fabric.network.ports[port].watched() {
                watch.take_changes(self.clock.now_ps + 1);
            }
        }
        self.note_levels();
    }

    /// The changes of all watched ports before `until_ps`, by time.
    fn note_changes(&mut self, until_ps: u64) {
        let Some(log) = &mut self.instruments.logs.queues else {
            return;
        };
        let mut changes: Vec<(u64, u32, QueueLevel)> = Vec::new();
        for (place, &port) in (0..).zip(&self.instruments.ports) {
            let port = &mut self.fabric.network.ports[port];
            port.advance(self.clock.now_ps, &mut self.fabric.network.options);
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

    fn sample_flows(&mut self) {
        let Some(log) = &mut self.instruments.logs.series else {
            return;
        };
        self.instruments.intervals.flows_read_ps = Some(self.clock.now_ps);
        for reading in self.endpoints.table.readings() {
            log.push(SeriesRow(self.clock.now_ps, reading));
        }
    }

    fn sample_pacers(&mut self) {
        let Some(log) = &mut self.instruments.logs.pacers else {
            return;
        };
        for (host, pacer) in (0..).zip(&self.endpoints.hosts.pacers) {
            for (bucket, reading) in (0..).zip(pacer.readings(self.clock.now_ps)) {
                let (rate_bps, backlog_bytes, backlog_packets) = reading;
                log.push(PacerRow {
                    time_ps: self.clock.now_ps,
                    host,
                    bucket,
                    rate_bps,
                    backlog_bytes,
                    backlog_packets,
                });
            }
        }
    }
}
