//! The observations of a live run since the last look.

use std::collections::VecDeque;
use std::ops::Range;

use crate::measure::FlowReading;

/// Largest number of samples kept for the next look; beyond it, every second one is dropped.
const MOST_ROWS: usize = 4096;

/// Largest number of samples over which throughput is averaged.
const MOST_AVERAGED: usize = 4096;

/// Largest number of links whose pauses are shown: the first that pause.
const MOST_LINKS: usize = 64;

/// Port and flows at one time.
#[derive(Clone, Debug)]
pub struct Row {
    pub at_ps: u64,
    /// Bytes that wait at the client's port.
    pub queue_bytes: u64,
    pub phantom_bytes: Option<u64>,
    /// Recent mean rate of the port's link, bit/s.
    pub throughput_bps: f64,
    /// Displayed flows; `None` if not open.
    pub flows: Vec<Option<FlowReading>>,
    /// Pauses and rates, if links may pause.
    pub pauses: Option<PauseRow>,
}

/// Pauses of links until one time.
#[derive(Clone, Debug)]
pub struct PauseRow {
    /// Sum of the times for which links were paused, each class counted, ps.
    pub all_ps: u64,
    /// Time for which each of [`Look::links`] was paused, ps; shorter if more links have come since.
    pub paused_ps: Vec<u64>,
    /// Recent mean rate of the payload that arrives of each displayed flow, bit/s.
    pub rates_bps: Vec<f64>,
}

/// Mean rate over the last samples.
#[derive(Debug)]
struct Mean {
    /// Bytes at the last samples; the first is before the averaging interval.
    carried: VecDeque<f64>,
    averaged: usize,
    interval_ps: u64,
}

impl Mean {
    fn of(interval_ps: u64, average_ps: u64) -> Self {
        let averaged = average_ps.div_ceil(interval_ps).max(1) as usize;
        Mean {
            carried: VecDeque::new(),
            averaged: averaged.min(MOST_AVERAGED),
            interval_ps,
        }
    }

    fn bps(&mut self, carried_bytes: f64) -> f64 {
        self.carried.push_back(carried_bytes);
        if self.carried.len() > self.averaged + 1 {
            self.carried.pop_front();
        }
        let intervals = self.carried.len() - 1;
        if intervals == 0 {
            return 0.0;
        }
        let bytes = carried_bytes - self.carried[0];
        8e12 * bytes / (intervals as u64 * self.interval_ps) as f64
    }
}

/// Samples of a live run.
#[derive(Debug)]
pub struct Look {
    pub interval_ps: u64,
    /// Numbers of the displayed flows.
    pub flows: Range<u64>,
    link: Mean,
    of_flows: Vec<Mean>,
    /// Ports and classes in the order of their first pause.
    pub links: Vec<(u32, u8)>,
    pub rows: Vec<Row>,
    /// Sampling: one of `kept_of` samples is kept; `left_out` samples have been dropped since the
    /// last one.
    kept_of: usize,
    left_out: usize,
}

impl Look {
    pub fn new(interval_ps: u64, flows: Range<u64>, average_ps: u64) -> Self {
        let mean = || Mean::of(interval_ps, average_ps);
        Look {
            interval_ps,
            of_flows: flows.clone().map(|_| mean()).collect(),
            flows,
            link: mean(),
            links: Vec::new(),
            rows: Vec::new(),
            kept_of: 1,
            left_out: 0,
        }
    }

    /// Takes the samples; from now on all samples are kept again.
    pub fn take(&mut self) -> Vec<Row> {
        self.kept_of = 1;
        self.left_out = 0;
        std::mem::take(&mut self.rows)
    }

    pub fn throughput_bps(&mut self, carried_bytes: f64) -> f64 {
        self.link.bps(carried_bytes)
    }

    /// Pauses by port and class until now, and the rates of the displayed flows.
    pub fn pauses(
        &mut self,
        times: impl Iterator<Item = ((u32, u8), u64)>,
        flows: &[Option<FlowReading>],
    ) -> PauseRow {
        let mut row = PauseRow {
            all_ps: 0,
            paused_ps: vec![0; self.links.len()],
            rates_bps: Vec::new(),
        };
        for (link, paused_ps) in times {
            row.all_ps += paused_ps;
            if let Some(at) = self.links.iter().position(|&known| known == link) {
                row.paused_ps[at] = paused_ps;
            } else if self.links.len() < MOST_LINKS {
                self.links.push(link);
                row.paused_ps.push(paused_ps);
            }
        }
        let arrived = flows
            .iter()
            .map(|flow| flow.as_ref().map_or(0, |flow| flow.delivered_bytes));
        let rates = self.of_flows.iter_mut().zip(arrived);
        row.rates_bps = rates.map(|(mean, bytes)| mean.bps(bytes as f64)).collect();
        row
    }

    pub fn keep(&mut self, row: Row) {
        self.left_out += 1;
        if self.left_out < self.kept_of {
            return;
        }
        self.left_out = 0;
        self.rows.push(row);
        if self.rows.len() == MOST_ROWS {
            self.kept_of *= 2;
            let mut number = 0;
            self.rows.retain(|_| {
                number += 1;
                number % 2 == 0
            });
        }
    }
}
