//! Long-lived flows between servers and client (paper 6.1, thesis 2.3.1), and the goodput of each.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use hull_sim::measure::Fairness;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::alarm::Alarm;
use crate::connect::{Connector, Server};
use crate::failure::Failure;
use crate::link::{Delivered, Link};
use crate::open_loop::{LAST_WORDS, ps};
use crate::outcome::{End, Ends, LongFlow, Outcome, Sample, Window};
use crate::protocol::Kind;

/// Interval at which an upload reads the number of acknowledged bytes.
const LOOK: Duration = Duration::from_millis(5);

/// Direction of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Direction {
    /// From the servers to the client.
    Download,
    /// From the client to the servers.
    Upload,
}

/// Run of long-lived flows.
#[derive(Debug)]
pub struct LongFlows {
    /// The servers.
    pub servers: Vec<Server>,
    /// Number of flows with each server.
    pub per_server: usize,
    /// Direction of the data.
    pub direction: Direction,
    /// Warm-up before the measured time.
    pub warmup: Duration,
    /// Measured time, after the warm-up.
    pub duration: Duration,
    /// Time between two samples.
    pub interval: Duration,
}

impl LongFlows {
    /// Runs the flows; ends early when `stop` is ready.
    pub async fn run(
        &self,
        connector: &Connector,
        stop: impl Future<Output = ()>,
    ) -> Result<Outcome, Failure> {
        tokio::pin!(stop);
        let mut links = Vec::new();
        let counts: Vec<Delivered> = (0..self.servers.len() * self.per_server)
            .map(|_| Delivered::default())
            .collect();
        for (flow, count) in counts.iter().enumerate() {
            let server = &self.servers[flow / self.per_server];
            tokio::select! {
                link = Link::open(connector, server, count) => links.push(link?),
                () = &mut stop => return Ok(Outcome::nothing(&[])),
            }
        }
        let start = Instant::now();
        let (finish, finished) = watch::channel(false);
        let ends = Arc::new(Mutex::new(Ends::default()));
        let mut tasks = JoinSet::new();
        for (link, count) in links.into_iter().zip(&counts) {
            let (ends, mut finished) = (Arc::clone(&ends), finished.clone());
            let (direction, count) = (self.direction, count.clone());
            tasks.spawn(async move {
                let mut link = link;
                let moved = tokio::select! {
                    moved = keep_moving(&mut link, direction, &count) => moved,
                    _ = finished.wait_for(|&finished| finished) => Ok(()),
                };
                let own = link.own_info();
                let server = tokio::time::timeout(LAST_WORDS, link.end_endless()).await;
                let server = server.ok().and_then(Result::ok);
                let mut ends = ends.lock().unwrap_or_else(PoisonError::into_inner);
                ends.push(End { own, server });
                moved
            });
        }
        let mut watcher = Watcher::new(self, &counts);
        let interrupted = tokio::select! {
            watched = watcher.watch(start) => { watched?; false }
            () = &mut stop => true,
            ended = tasks.join_next() => match ended {
                Some(Ok(Err(failure))) => return Err(failure),
                _ => return Err(Failure::Run("a flow ended unexpectedly".to_owned())),
            },
        };
        watcher.close();
        let _ = finish.send(true);
        while tasks.join_next().await.is_some() {}
        let ends = std::mem::take(&mut *ends.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(watcher.outcome(ends, interrupted))
    }
}

/// Transfers bytes until it is dropped.
async fn keep_moving(
    link: &mut Link,
    direction: Direction,
    count: &Delivered,
) -> Result<(), Failure> {
    match direction {
        Direction::Download => {
            link.begin_endless(Kind::Download).await?;
            loop {
                link.take_some().await?;
                tokio::task::yield_now().await;
            }
        }
        Direction::Upload => {
            link.begin_endless(Kind::Upload).await?;
            let mut acked_bytes = link.own_info().map_or(0, |info| info.acked_bytes);
            let mut alarm = Alarm::new()?;
            loop {
                tokio::select! {
                    sent = link.send_some() => { sent?; }
                    rung = alarm.after(LOOK) => rung?,
                }
                if let Some(info) = link.own_info() {
                    count.add(info.acked_bytes.wrapping_sub(acked_bytes) as usize);
                    acked_bytes = info.acked_bytes;
                }
            }
        }
    }
}

/// Samples all flows in turn.
#[derive(Debug)]
struct Watcher<'a> {
    flows: &'a LongFlows,
    counts: &'a [Delivered],
    series: Vec<Sample>,
    last: Vec<u64>,
    last_ps: u64,
    /// Counts of each flow at the start and the end of the measured time.
    from: Option<(Instant, Vec<u64>)>,
    to: Option<(Instant, Vec<u64>)>,
}

impl<'a> Watcher<'a> {
    fn new(flows: &'a LongFlows, counts: &'a [Delivered]) -> Self {
        Watcher {
            flows,
            counts,
            series: Vec::new(),
            last: vec![0; counts.len()],
            last_ps: 0,
            from: None,
            to: None,
        }
    }

    async fn watch(&mut self, start: Instant) -> Result<(), Failure> {
        let mut alarm = Alarm::new()?;
        let from = start + self.flows.warmup;
        let to = from + self.flows.duration;
        let mut next = start + self.flows.interval;
        loop {
            // The start and the end of the measured time need not coincide with samples.
            let at = [self.from.is_none().then_some(from), Some(next), Some(to)];
            alarm
                .until(at.into_iter().flatten().min().unwrap_or(to))
                .await?;
            let now = Instant::now();
            if self.from.is_none() && now >= from {
                self.from = Some((now, self.bytes()));
            }
            if now >= next {
                self.sample(ps(now - start));
                next += self.flows.interval;
            }
            if now >= to {
                return Ok(());
            }
        }
    }

    fn sample(&mut self, time_ps: u64) {
        let seconds = (time_ps - self.last_ps).max(1) as f64 * 1e-12;
        for (flow, delivered_bytes) in self.bytes().into_iter().enumerate() {
            let server = (flow / self.flows.per_server) as u32 + 1;
            let before = std::mem::replace(&mut self.last[flow], delivered_bytes);
            self.series.push(Sample {
                time_ps,
                flow,
                ends: match self.flows.direction {
                    Direction::Download => (server, 0),
                    Direction::Upload => (0, server),
                },
                delivered_bytes,
                goodput_bps: 8.0 * (delivered_bytes - before) as f64 / seconds,
            });
        }
        self.last_ps = time_ps;
    }

    fn bytes(&self) -> Vec<u64> {
        self.counts.iter().map(Delivered::bytes).collect()
    }

    fn close(&mut self) {
        if self.from.is_some() {
            self.to = Some((Instant::now(), self.bytes()));
        }
    }

    fn outcome(self, ends: Ends, interrupted: bool) -> Outcome {
        let mut window = Window::default();
        let mut gained = vec![0; self.counts.len()];
        if let (Some((from, before)), Some((to, after))) = (&self.from, &self.to) {
            window = Window::of((*from, before.iter().sum()), (*to, after.iter().sum()));
            gained = after
                .iter()
                .zip(before)
                .map(|(after, before)| after - before)
                .collect();
        }
        let seconds = window.seconds();
        let long_flow = |(flow, &bytes): (usize, &u64)| LongFlow {
            flow,
            server: self.flows.servers[flow / self.flows.per_server]
                .name
                .clone(),
            goodput_bps: if seconds > 0.0 {
                8.0 * bytes as f64 / seconds
            } else {
                0.0
            },
        };
        Outcome {
            fairness: Fairness::of(&gained),
            long_flows: gained.iter().enumerate().map(long_flow).collect(),
            series: self.series,
            connections: self.counts.len(),
            window,
            ends,
            interrupted,
            ..Outcome::nothing(&[])
        }
    }
}
