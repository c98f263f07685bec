//! Result of a client's run, before it is written.

use std::time::{Duration, Instant};

use hull_sim::measure::{Distribution, Fairness};
use hull_sim::workload::{FlowRecord, QueryRecord};
use serde::Serialize;

use crate::alarm::Alarm;
use crate::failure::Failure;
use crate::latencies::Latencies;
use crate::link::Delivered;
use crate::tcp_info::TcpInfo;

/// Result of a run.
#[derive(Debug)]
pub struct Outcome {
    /// Names of the size classes.
    pub classes: Vec<String>,
    /// Answered requests, in the order of their answers.
    pub flows: Vec<FlowRecord>,
    /// Latencies of the answered requests, by class.
    pub latencies: Vec<Latencies>,
    /// Number of measured requests without an answer, by class.
    pub unanswered: Vec<u64>,
    /// Delays of the client itself, from a request's due time until the client handles it.
    pub lateness: Option<Distribution>,
    /// Number of measured requests that found no free connection.
    pub queued: u64,
    /// Queries of an incast.
    pub queries: Vec<QueryRecord>,
    /// Samples of the long-lived flows.
    pub series: Vec<Sample>,
    /// Long-lived flows in the measured time.
    pub long_flows: Vec<LongFlow>,
    /// Jain's fairness index of the goodput of these flows.
    pub fairness: Option<Fairness>,
    /// Number of persistent connections.
    pub connections: usize,
    /// Measured time.
    pub window: Window,
    /// TCP state of the connections at the end.
    pub ends: Ends,
    /// Whether the run was stopped early.
    pub interrupted: bool,
}

/// Sample of a long-lived flow.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Time since the start of the run, ps.
    pub time_ps: u64,
    /// Number of the flow.
    pub flow: usize,
    /// Sending and receiving host.
    pub ends: (u32, u32),
    /// Payload delivered since the flow was opened, bytes.
    pub delivered_bytes: u64,
    /// Payload delivered since the last sample over the time since then, bit/s.
    pub goodput_bps: f64,
}

/// Long-lived flow in the measured time.
#[derive(Clone, Debug, Serialize)]
pub struct LongFlow {
    /// Number of the flow.
    pub flow: usize,
    /// Name of the flow's server.
    pub server: String,
    /// Goodput, bit/s.
    pub goodput_bps: f64,
}

/// TCP state of both ends of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub struct End {
    /// State of the client's end.
    pub own: Option<TcpInfo>,
    /// State of the server's end; `None` if a response was in flight, so that it was not requested.
    pub server: Option<TcpInfo>,
}

/// TCP state of both ends of all connections.
#[derive(Clone, Debug, Default)]
pub struct Ends {
    /// States of the client's ends.
    pub own: Vec<TcpInfo>,
    /// States of the servers' ends.
    pub servers: Vec<TcpInfo>,
}

impl Ends {
    /// Adds a connection.
    pub fn push(&mut self, end: End) {
        self.own.extend(end.own);
        self.servers.extend(end.server);
    }
}

/// Measured time, and the bytes received in it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Window {
    from: Option<(Instant, u64)>,
    to: Option<(Instant, u64)>,
}

impl Window {
    /// Opens the window at `from` and closes it after `duration`.
    pub async fn measure(
        &mut self,
        delivered: &Delivered,
        from: Instant,
        duration: Duration,
    ) -> Result<(), Failure> {
        let mut alarm = Alarm::new()?;
        alarm.until(from).await?;
        self.from = Some((Instant::now(), delivered.bytes()));
        alarm.until(from + duration).await?;
        self.close(delivered);
        Ok(())
    }

    /// Creates a window that starts and ends at given readings of clock and bytes.
    pub fn of(from: (Instant, u64), to: (Instant, u64)) -> Self {
        Window {
            from: Some(from),
            to: Some(to),
        }
    }

    /// Opens the window now.
    pub fn open(&mut self, delivered: &Delivered) {
        self.from = Some((Instant::now(), delivered.bytes()));
    }

    /// Closes the window now, if it is open.
    pub fn close(&mut self, delivered: &Delivered) {
        if self.from.is_some() && self.to.is_none() {
            self.to = Some((Instant::now(), delivered.bytes()));
        }
    }

    /// Time for which the window was open, s.
    pub fn seconds(&self) -> f64 {
        match (self.from, self.to) {
            (Some((from, _)), Some((to, _))) => (to - from).as_secs_f64(),
            _ => 0.0,
        }
    }

    /// Payload per time, bit/s; 0 if it never opened.
    pub fn goodput_bps(&self) -> f64 {
        match (self.from, self.to) {
            (Some((from, before)), Some((to, after))) if to > from => {
                8.0 * (after - before) as f64 / (to - from).as_secs_f64()
            }
            _ => 0.0,
        }
    }
}

impl Outcome {
    /// Creates the result of a run that has not begun.
    pub fn nothing(classes: &[String]) -> Self {
        Outcome {
            classes: classes.to_vec(),
            flows: Vec::new(),
            latencies: vec![Latencies::default(); classes.len()],
            unanswered: vec![0; classes.len()],
            lateness: None,
            queued: 0,
            queries: Vec::new(),
            series: Vec::new(),
            long_flows: Vec::new(),
            fairness: None,
            connections: 0,
            window: Window::default(),
            ends: Ends::default(),
            interrupted: true,
        }
    }
}
