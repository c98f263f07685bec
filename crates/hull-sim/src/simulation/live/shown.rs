//! The content of a look at a live run: samples as columns, and statistics so far. Times s, rates
//! bit/s, sizes bytes, windows packets.

use hdrhistogram::Histogram;
use serde::Serialize;

use super::Live;
use super::digits::{rounded, seconds};
use super::pauses::ShownPauses;
use crate::measure::{Distribution, FlowReading};
use crate::simulation::instruments::look::Row;

/// Window that limits nothing, as of controls that set a rate alone.
const NO_WINDOW_BYTES: u64 = 1 << 50;

/// One flow over the samples; null before it is opened and after it has ended.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShownFlow {
    /// Congestion window, packets; null without one.
    pub cwnd: Vec<Option<f64>>,
    /// DCTCP's alpha; none with other congestion controls.
    pub alpha: Option<Vec<Option<f64>>>,
}

/// Shares of time in which the queue added at most each of these latencies.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cumulated {
    /// Latencies, s.
    pub edges: Vec<f64>,
    /// Shares.
    pub cdf: Vec<f64>,
}

/// Statistics since the end of the warm-up, or, before it, since time 0. Completion times cover the
/// first size class (small) and the second (medium).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stats {
    queue_mean: f64,
    queue_max: f64,
    throughput: f64,
    /// Payload that the long flows have delivered in order, bit/s.
    goodput_long: f64,
    latency_p50: f64,
    latency_p99: f64,
    fct_small_count: u64,
    fct_small_p50: Option<f64>,
    fct_small_p99: Option<f64>,
    fct_medium_count: u64,
    fct_medium_p50: Option<f64>,
    fct_medium_p99: Option<f64>,
    marks: u64,
    drops: u64,
    timeouts: u64,
    packet_hops: u64,
}

/// Observations since the last look.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Shown {
    /// Times of the samples.
    pub t: Vec<f64>,
    /// Bytes that wait at the client's port.
    pub queue: Vec<u64>,
    /// Bytes of the port's phantom queue, if it has one.
    pub phantom: Option<Vec<u64>>,
    /// Throughput of the port's link.
    pub throughput: Vec<f64>,
    /// Displayed flows.
    pub flows: Vec<ShownFlow>,
    /// Distribution of latency so far.
    pub latency: Cumulated,
    /// Statistics so far.
    pub stats: Stats,
    /// Pauses, if links may pause.
    pub pauses: Option<ShownPauses>,
}

impl Live {
    /// Takes the samples since the last look, thinned to at most `most`.
    pub fn take(&mut self, most: usize) -> Shown {
        let mss = f64::from(self.simulation.endpoints.mss);
        let mut rows = (self.simulation.instruments.live.as_mut()).map_or(Vec::new(), |l| l.take());
        let every = rows.len().div_ceil(most.max(1)).max(1);
        let mut number = 0;
        rows.retain(|_| {
            number += 1;
            number % every == 0
        });
        let phantom = rows.iter().map(|row| row.phantom_bytes).collect();
        Shown {
            t: rows.iter().map(|row| seconds(row.at_ps)).collect(),
            queue: rows.iter().map(|row| row.queue_bytes).collect(),
            phantom: if self.has_phantom() { phantom } else { None },
            throughput: rows.iter().map(|row| row.throughput_bps.round()).collect(),
            flows: flows(&rows, mss),
            latency: self.latency(),
            stats: self.stats(),
            pauses: self.pauses(&rows),
        }
    }

    fn has_phantom(&mut self) -> bool {
        let now_ps = self.reached_ps;
        let port = self.simulation.instruments.client_port;
        let network = &mut self.simulation.fabric.network;
        network.ports[port]
            .phantom_bytes(now_ps, &mut network.options)
            .is_some()
    }

    fn latency(&mut self) -> Cumulated {
        let now_ps = self.reached_ps;
        let network = &mut self.simulation.fabric.network;
        let port = &mut network.ports[self.simulation.instruments.client_port];
        port.advance(now_ps, &mut network.options);
        let shares = match port.watched() {
            Some(watch) => watch.occupancy.cumulated(now_ps, &self.edges_s),
            None => Vec::new(),
        };
        Cumulated {
            edges: self.edges_s.clone(),
            cdf: shares.iter().map(|&share| rounded(share, 1e6)).collect(),
        }
    }

    fn stats(&mut self) -> Stats {
        let now_ps = self.reached_ps;
        let simulation = &mut self.simulation;
        let client_port = simulation.instruments.client_port;
        let options = &mut simulation.fabric.network.options;
        let port = &mut simulation.fabric.network.ports[client_port];
        let (rate_bps, carried_bytes) = (port.rate_bps(), port.carried_bytes(now_ps, options));
        let marks = port.marks;
        let watch = port.watched();
        let queue = watch.map(|watch| Distribution::of_queue(&mut watch.occupancy, now_ps));
        let queue = queue.unwrap_or_default();
        let bytes = |us: f64| (us * 1e-6 * rate_bps / 8.0).round();
        let warm = &simulation.instruments.at_warmup;
        let before = warm
            .ports
            .get(client_port)
            .map_or(0.0, |port| port.carried_bytes);
        let lasted_s = now_ps.saturating_sub(warm.at_ps).max(1) as f64 * 1e-12;
        let delivered = simulation
            .instruments
            .delivered(&simulation.endpoints.table, &self.long);
        let at = |class: usize, share: f64| {
            let times = self.completions.get(class)?;
            (!times.is_empty()).then(|| rounded(times.value_at_quantile(share) as f64 * 1e-9, 1e9))
        };
        let count = |class: usize| self.completions.get(class).map_or(0, Histogram::len);
        Stats {
            queue_mean: bytes(queue.mean_us),
            queue_max: bytes(queue.max_us),
            throughput: (8.0 * (carried_bytes - before).max(0.0) / lasted_s).round(),
            goodput_long: (8.0 * delivered as f64 / lasted_s).round(),
            latency_p50: rounded(queue.p50_us * 1e-6, 1e10),
            latency_p99: rounded(queue.p99_us * 1e-6, 1e10),
            fct_small_count: count(0),
            fct_small_p50: at(0, 0.5),
            fct_small_p99: at(0, 0.99),
            fct_medium_count: count(1),
            fct_medium_p50: at(1, 0.5),
            fct_medium_p99: at(1, 0.99),
            marks,
            drops: simulation.endpoints.tally.dropped,
            timeouts: simulation
                .endpoints
                .table
                .losses()
                .iter()
                .map(|of| of.0)
                .sum(),
            packet_hops: simulation.fabric.packet_hops,
        }
    }
}

fn flows(rows: &[Row], mss: f64) -> Vec<ShownFlow> {
    let count = rows.first().map_or(0, |row| row.flows.len());
    let of_flow = |flow: usize| {
        let readings = rows.iter().map(|row| row.flows[flow].as_ref());
        let alpha = |reading: Option<&FlowReading>| {
            let alpha = reading.and_then(|reading| reading.alpha);
            alpha.map(|alpha| rounded(alpha, 1e4))
        };
        let window = |reading: Option<&FlowReading>| {
            let limit = reading.filter(|reading| reading.cwnd_bytes < NO_WINDOW_BYTES);
            limit.map(|reading| rounded(reading.cwnd_bytes as f64 / mss, 1e2))
        };
        let alphas: Vec<Option<f64>> = readings.clone().map(alpha).collect();
        ShownFlow {
            cwnd: readings.map(window).collect(),
            alpha: alphas.iter().any(Option::is_some).then_some(alphas),
        }
    };
    (0..count).map(of_flow).collect()
}
