//! Requests in an open loop over persistent connections (paper 6.2). A request is due at its own time,
//! independent of earlier requests, and its latency runs from that time. A connection carries one request at
//! a time. If no connection of a request's group is free, the request waits, which counts as latency. The
//! stall of a server therefore shows in all requests due meanwhile (no coordinated omission).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hull_sim::workload::{Acked, FlowRecord};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::alarm::Alarm;
use crate::arrivals::Arrival;
use crate::connect::{Connector, Server};
use crate::failure::Failure;
use crate::latencies::Latencies;
use crate::link::{Delivered, Link};
use crate::outcome::{Ends, Outcome, Window};
use crate::queue::Queue;

/// Time from the opening of the last connection to time 0.
const HEAD_START: Duration = Duration::from_millis(20);
/// Longest time in which the servers may report their TCP state at the end.
pub const LAST_WORDS: Duration = Duration::from_secs(2);
/// Largest number of requests handed over without a pause.
const IN_A_ROW: usize = 64;
/// Interval at which outstanding requests are checked.
const LOOK: Duration = Duration::from_millis(1);

/// Run of requests.
#[derive(Debug)]
pub struct OpenLoop {
    /// The servers.
    pub servers: Vec<Server>,
    /// Server of each connection.
    pub connections: Vec<usize>,
    /// Connections of each group.
    pub groups: Vec<Vec<usize>>,
    /// Names of the size classes.
    pub classes: Vec<String>,
    /// Bytes of a request.
    pub request_bytes: usize,
    /// Warm-up, which is not measured.
    pub warmup: Duration,
    /// Measured time, after the warm-up.
    pub duration: Duration,
    /// Longest wait for responses after the measured time.
    pub drain: Duration,
}

/// Records shared by the connections.
#[derive(Debug)]
struct Records {
    flows: Vec<FlowRecord>,
    latencies: Vec<Latencies>,
    /// Number of measured requests without a response, by class.
    unanswered: Vec<u64>,
    outstanding: u64,
    lateness: Latencies,
    queued: u64,
}

/// State of the run that each connection knows.
#[derive(Clone, Debug)]
struct Stage {
    records: Arc<Mutex<Records>>,
    start: Instant,
    warmup_ps: u64,
    end_ps: u64,
    request_bytes: usize,
}

impl Stage {
    fn records(&self) -> MutexGuard<'_, Records> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_measured(&self, at_ps: u64) -> bool {
        (self.warmup_ps..self.end_ps).contains(&at_ps)
    }

    fn instant(&self, at_ps: u64) -> Instant {
        self.start + Duration::from_nanos(at_ps / 1000)
    }

    fn now_ps(&self) -> u64 {
        ps(self.start.elapsed())
    }
}

/// Converts a time to ps.
pub fn ps(time: Duration) -> u64 {
    u64::try_from(time.as_nanos() * 1000).unwrap_or(u64::MAX)
}

impl OpenLoop {
    /// Runs the requests. When `stop` is ready, the run ends early with the measurements so far.
    pub async fn run(
        &self,
        connector: &Connector,
        arrivals: impl Iterator<Item = Arrival>,
        stop: impl Future<Output = ()>,
    ) -> Result<Outcome, Failure> {
        tokio::pin!(stop);
        let delivered = Delivered::default();
        let mut links = Vec::with_capacity(self.connections.len());
        for &server in &self.connections {
            let link = Link::open(connector, &self.servers[server], &delivered);
            tokio::select! {
                link = link => links.push(Some(link?)),
                () = &mut stop => return Ok(Outcome::nothing(&self.classes)),
            }
        }
        let stage = Stage {
            records: Arc::new(Mutex::new(Records {
                flows: Vec::new(),
                latencies: vec![Latencies::default(); self.classes.len()],
                unanswered: vec![0; self.classes.len()],
                outstanding: 0,
                lateness: Latencies::default(),
                queued: 0,
            })),
            start: Instant::now() + HEAD_START,
            warmup_ps: ps(self.warmup),
            end_ps: ps(self.warmup + self.duration),
            request_bytes: self.request_bytes,
        };
        let (give_up, given_up) = watch::channel(false);
        let mut tasks = JoinSet::new();
        let queues: Vec<Arc<Queue>> = self.groups.iter().map(|_| Arc::default()).collect();
        for (queue, connections) in queues.iter().zip(&self.groups) {
            for &connection in connections {
                if let Some(link) = links[connection].take() {
                    let worker = Worker {
                        link,
                        connection: connection as u32,
                        server: self.connections[connection] as u32,
                        stage: stage.clone(),
                        last_flow: None,
                    };
                    tasks.spawn(worker.run(Arc::clone(queue), given_up.clone()));
                }
            }
        }
        let mut window = Window::default();
        let interrupted = {
            let work = async {
                let meter =
                    window.measure(&delivered, stage.instant(stage.warmup_ps), self.duration);
                tokio::try_join!(dispatch(&stage, &queues, arrivals), meter)?;
                wait_for_rest(&stage, self.drain).await
            };
            tokio::select! {
                done = work => { done?; false }
                () = &mut stop => true,
                ended = tasks.join_next() => return Err(early(ended)),
            }
        };
        window.close(&delivered);
        queues.iter().for_each(|queue| queue.close());
        let busy = stage.records().outstanding > 0;
        if busy {
            // Connections that wait for a response leave; the others have a last exchange.
            let _ = give_up.send(true);
        }
        let mut ends = Ends::default();
        while let Some(ended) = tasks.join_next().await {
            ends.push(ended.map_err(|error| Failure::Run(error.to_string()))??);
        }
        let mut records = stage.records();
        Ok(Outcome {
            classes: self.classes.clone(),
            flows: std::mem::take(&mut records.flows),
            latencies: std::mem::take(&mut records.latencies),
            unanswered: std::mem::take(&mut records.unanswered),
            lateness: records.lateness.distribution(),
            queued: records.queued,
            connections: self.connections.len(),
            window,
            ends,
            interrupted,
            ..Outcome::nothing(&[])
        })
    }
}

/// Hands each request over at its time.
async fn dispatch(
    stage: &Stage,
    queues: &[Arc<Queue>],
    arrivals: impl Iterator<Item = Arrival>,
) -> Result<(), Failure> {
    let mut alarm = Alarm::new()?;
    let measured = arrivals.take_while(|arrival| arrival.at_ps < stage.end_ps);
    for (number, arrival) in measured.enumerate() {
        // A late request does not wait, but other tasks must run too.
        if number % IN_A_ROW == 0 {
            tokio::task::yield_now().await;
        }
        alarm.until(stage.instant(arrival.at_ps)).await?;
        let late_ps = stage.now_ps().saturating_sub(arrival.at_ps);
        let mut records = stage.records();
        records.outstanding += 1;
        let queued = queues[arrival.group].push(arrival);
        if stage.is_measured(arrival.at_ps) {
            records.unanswered[usize::from(arrival.class)] += 1;
            records.lateness.add(late_ps, 0);
            records.queued += u64::from(queued);
        }
    }
    Ok(())
}

async fn wait_for_rest(stage: &Stage, drain: Duration) -> Result<(), Failure> {
    let mut alarm = Alarm::new()?;
    let last = Instant::now() + drain;
    while stage.records().outstanding > 0 && Instant::now() < last {
        alarm.after(LOOK).await?;
    }
    Ok(())
}

/// Failure of a connection's task that ended without being told to.
fn early(
    ended: Option<Result<Result<crate::outcome::End, Failure>, tokio::task::JoinError>>,
) -> Failure {
    match ended {
        Some(Ok(Err(failure))) => failure,
        Some(Err(error)) => Failure::Run(error.to_string()),
        Some(Ok(Ok(_))) | None => Failure::Run("there is no connection".to_owned()),
    }
}

/// Connection that carries requests.
#[derive(Debug)]
struct Worker {
    link: Link,
    connection: u32,
    server: u32,
    stage: Stage,
    /// Place of the last flow of this connection; the next response reports its timeouts.
    last_flow: Option<usize>,
}

impl Worker {
    async fn run(
        mut self,
        queue: Arc<Queue>,
        mut given_up: watch::Receiver<bool>,
    ) -> Result<crate::outcome::End, Failure> {
        let idle = tokio::select! {
            // An idle connection ends by itself, and can request the server's TCP state.
            biased;
            done = self.work(&queue) => { done?; true }
            _ = given_up.wait_for(|&given_up| given_up) => false,
        };
        let own = self.link.own_info();
        let mut server = None;
        if idle
            && let Ok(Ok((info, lost))) =
                tokio::time::timeout(LAST_WORDS, self.link.server_info()).await
        {
            self.blame_last(lost);
            server = Some(info);
        }
        Ok(crate::outcome::End { own, server })
    }

    async fn work(&mut self, queue: &Queue) -> Result<(), Failure> {
        while let Some(arrival) = queue.next().await {
            let frame_bytes = self.stage.request_bytes;
            self.link
                .ask(arrival.bytes, arrival.service_ns, frame_bytes)
                .await?;
            let losses = self.link.answer(arrival.bytes).await?;
            let now_ps = self.stage.now_ps();
            self.blame_last(losses.before);
            self.last_flow = self.record(&arrival, now_ps, losses.own);
        }
        Ok(())
    }

    /// Records a response. Returns its place if it is measured.
    fn record(&self, arrival: &Arrival, now_ps: u64, timeouts: u32) -> Option<usize> {
        let mut records = self.stage.records();
        records.outstanding -= 1;
        if !self.stage.is_measured(arrival.at_ps) {
            return None;
        }
        let fct_ps = now_ps.saturating_sub(arrival.at_ps);
        let class = usize::from(arrival.class);
        records.unanswered[class] -= 1;
        records.latencies[class].add(fct_ps, arrival.bytes);
        records.flows.push(FlowRecord {
            start_ps: arrival.at_ps,
            fct_ps,
            ideal_ps: None,
            bytes: arrival.bytes,
            class: arrival.class,
            src: self.server + 1,
            dst: 0,
            connection: self.connection,
            transport: 0,
            group: 0,
            timeouts: u16::try_from(timeouts).unwrap_or(u16::MAX),
            acked: Acked::Unknown,
        });
        Some(records.flows.len() - 1)
    }

    fn blame_last(&self, timeouts: u32) {
        if let Some(place) = self.last_flow {
            let timeouts = u16::try_from(timeouts).unwrap_or(u16::MAX);
            let flow = &mut self.stage.records().flows[place];
            flow.timeouts = flow.timeouts.saturating_add(timeouts);
        }
    }
}
