//! The pacer in both forms, and the NIC of `rtl/bench/pacer_bench.sv` around the hardware's form: a
//! FIFO and a line, so that a million packets take one call.

use std::collections::VecDeque;

use hull_core::hardware::pacer as hardware;
use hull_core::pacer as simulated;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// `hull_core::pacer::Pacer`: times in ps.
#[pyclass]
pub struct Pacer(simulated::Pacer);

/// Settings of both forms, with the names of `PacerConfig`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Config {
    max_rate_bps: u64,
    min_rate_bps: u64,
    initial_rate_bps: u64,
    bucket_bytes: u32,
    fifo_bytes: u32,
    update_interval_ps: u64,
    eta: u32,
    beta: u32,
    rate_step_bps: u64,
    token_tick_ps: u64,
    when_full: String,
}

impl Config {
    /// Settings of the simulated form; `hold` applies to the hardware's form only.
    fn simulated(&self) -> PyResult<simulated::PacerConfig> {
        let invalid = self.min_rate_bps == 0
            || self.min_rate_bps > self.max_rate_bps
            || self.max_rate_bps >= 1 << 48
            || !(1..=simulated::MAX_BUCKET_BYTES).contains(&self.bucket_bytes)
            || self.update_interval_ps == 0
            || self.eta > 1 << 16;
        let when_full = match self.when_full.as_str() {
            "bypass" => simulated::WhenFifoFull::Bypass,
            "drop" | "hold" => simulated::WhenFifoFull::Drop,
            other => {
                return Err(PyValueError::new_err(format!(
                    "when_full: \"{other}\" is invalid; expected drop, bypass or hold"
                )));
            }
        };
        if invalid {
            return Err(PyValueError::new_err(
                "a setting is outside the range of PacerConfig",
            ));
        }
        Ok(simulated::PacerConfig {
            max_rate_bps: self.max_rate_bps,
            min_rate_bps: self.min_rate_bps,
            initial_rate_bps: self.initial_rate_bps,
            bucket_bytes: self.bucket_bytes,
            fifo_bytes: self.fifo_bytes,
            update_interval_ps: self.update_interval_ps,
            eta: self.eta,
            beta: self.beta,
            rate_step_bps: self.rate_step_bps,
            token_tick_ps: self.token_tick_ps,
            when_full,
        })
    }

    fn hardware(&self, clock_ps: u32) -> PyResult<hardware::Settings> {
        let mut settings =
            hardware::Settings::of(&self.simulated()?, clock_ps).ok_or_else(|| {
                PyValueError::new_err("a setting does not fit into the hardware's registers")
            })?;
        if self.when_full == "hold" {
            settings.when_full = hardware::WhenFull::Hold;
        }
        Ok(settings)
    }
}

#[pymethods]
impl Pacer {
    /// Creates a pacer at `now_ps`; `config` is a dict of the settings.
    #[new]
    fn new(config: Config, now_ps: u64) -> PyResult<Self> {
        Ok(Self(simulated::Pacer::new(&config.simulated()?, now_ps)))
    }

    /// Admits a packet. Returns `pass`, `queued` or `dropped`.
    fn admit(&mut self, now_ps: u64, bytes: u32, paced: bool) -> &'static str {
        match self.0.admit(now_ps, bytes, paced) {
            simulated::Admission::Pass => "pass",
            simulated::Admission::Queued => "queued",
            simulated::Admission::Dropped => "dropped",
        }
    }

    /// Whether the head leaves now.
    fn poll(&mut self, now_ps: u64, head_bytes: u32) -> bool {
        self.0.poll(now_ps, head_bytes)
    }

    /// Time of the next poll, ps.
    fn next_wake_ps(&self, head_bytes: u32) -> u64 {
        self.0.next_wake_ps(head_bytes)
    }

    /// Rate at which tokens are generated, bit/s.
    fn rate_bps(&self) -> u64 {
        self.0.rate_bps()
    }

    /// Waiting bytes.
    fn backlog_bytes(&self) -> u32 {
        self.0.backlog_bytes()
    }
}

/// `hull_core::hardware::pacer::Pacer`: times in clocks.
#[pyclass]
pub struct HardwarePacer(hardware::Pacer);

/// Admissions: clock of the decision, answer (0 pass, 1 queued, 2 dropped, 3 held), backlog after
/// it, whether tokens were below zero, rate. Releases: clock of the decision, bytes, backlog after
/// it, rate.
type Replay = (
    (Vec<u64>, Vec<u32>, Vec<u32>, Vec<bool>, Vec<u64>),
    (Vec<u64>, Vec<u32>, Vec<u32>, Vec<u64>),
);

/// Packet in the bench's NIC.
struct Waiting {
    bytes: u32,
    line_clocks: u64,
    head_delay: u64,
}

// Clocks of the module: from taking a packet to its decision, from a decision to its answer, and
// from the head's arrival to its first decision.
const TAKEN_TO_DECISION: u64 = 6;
const DECISION_TO_ANSWER: u64 = 2;
const HEAD_TO_DECISION: u64 = 6;

#[pymethods]
impl HardwarePacer {
    /// Number of clocks from the sampling of M_r and Q to the first step at the new rate.
    #[classattr]
    const RATE_DELAY: u64 = hardware::RATE_DELAY;

    /// Creates a pacer that starts at the clock `now`.
    #[new]
    fn new(config: Config, clock_ps: u32, now: u64) -> PyResult<Self> {
        let settings = config.hardware(clock_ps)?;
        Ok(Self(hardware::Pacer::new(
            &settings,
            clock_ps,
            hardware::RATE_DELAY,
            now,
        )))
    }

    /// Contents of the registers, by their names.
    #[staticmethod]
    fn registers(config: Config, clock_ps: u32) -> PyResult<Vec<(&'static str, u64)>> {
        let all = config.hardware(clock_ps)?;
        Ok(vec![
            ("max_rate_bps", all.max_rate_bps),
            ("min_rate_bps", all.min_rate_bps),
            ("initial_rate_bps", all.initial_rate_bps),
            ("bucket_bytes", all.bucket_bytes.into()),
            ("fifo_bytes", all.fifo_bytes.into()),
            ("update_interval", all.update_interval.into()),
            ("eta", all.eta.into()),
            ("gain", all.gain),
            ("beta", all.beta.into()),
            ("rate_step_bps", all.rate_step_bps.into()),
            ("token_tick", all.token_tick.into()),
            (
                "when_full",
                match all.when_full {
                    hardware::WhenFull::Drop => 0,
                    hardware::WhenFull::Bypass => 1,
                    hardware::WhenFull::Hold => 2,
                },
            ),
        ])
    }

    /// Counts `[passed, queued, dropped, bypassed]`.
    fn counts(&self) -> [u32; 4] {
        let counts = self.0.counts();
        [
            counts.passed,
            counts.queued,
            counts.dropped,
            counts.bypassed,
        ]
    }

    /// Rate at which tokens are generated at the step `now`, bit/s.
    fn rate_bps(&mut self, now: u64) -> u64 {
        self.0.advance(now);
        self.0.rate_bps()
    }

    /// Simulates the pacer inside a NIC: packets are decided at the clocks `decided`, and the k-th
    /// queued one can be released by a decision at `head_from[k]` or later. `changes` are settings,
    /// and the clock after which packets are decided with them; a head may already be released with
    /// them in that clock. Returns the answers for the packets (0 pass, 1 queued, 2 dropped, 3
    /// held, 4 pass a full FIFO), the rates at which tokens are then generated, and the clocks of
    /// the decisions that release.
    fn in_nic(
        &mut self,
        decided: Vec<u64>,
        bytes: Vec<u32>,
        paced: Vec<bool>,
        head_from: Vec<u64>,
        changes: Vec<(u64, Config)>,
        clock_ps: u32,
    ) -> PyResult<(Vec<u32>, Vec<u64>, Vec<u64>)> {
        let (mut answers, mut rates, mut releases) = (Vec::new(), Vec::new(), Vec::new());
        let mut fifo: VecDeque<u32> = VecDeque::new();
        let pacer = &mut self.0;
        let mut changes = changes.into_iter().peekable();
        let mut at = 0;
        loop {
            let packet = decided.get(at).copied().unwrap_or(u64::MAX);
            let change = changes.peek().map_or(u64::MAX, |(from, _)| *from);
            let until = packet.min(change);
            while let (Some(&head), Some(&from)) = (fifo.front(), head_from.get(releases.len())) {
                let mut step = even(from).max(pacer.now());
                let mut left = false;
                while step < until && !left {
                    pacer.advance(step);
                    let wake = pacer.next_wake(head);
                    if wake > step {
                        step = wake;
                    } else if pacer.poll(step, head) {
                        left = true;
                    } else {
                        step += hardware::STEP_CLOCKS;
                    }
                }
                if !left {
                    break;
                }
                releases.push(step);
                fifo.pop_front();
            }
            if until == u64::MAX {
                return Ok((answers, rates, releases));
            }
            if change < packet {
                let (from, config) = changes.next().expect("a change");
                pacer.change(even(from), &config.hardware(clock_ps)?);
                continue;
            }
            pacer.advance(packet);
            rates.push(pacer.rate_bps());
            let bypassed = pacer.counts().bypassed;
            let admission = pacer.admit(packet, bytes[at], paced[at]);
            answers.push(match admission {
                hardware::Admission::Pass if pacer.counts().bypassed != bypassed => 4,
                hardware::Admission::Pass => 0,
                hardware::Admission::Queued => 1,
                hardware::Admission::Dropped => 2,
                hardware::Admission::Held => 3,
            });
            if admission == hardware::Admission::Queued {
                fifo.push_back(bytes[at]);
            }
            at += 1;
        }
    }

    /// Simulates the bench with packets that are offered from the clocks `offered` on, until all
    /// have left. With `again`, a packet is offered again until it is not held, and the next one
    /// waits for it.
    fn replay(
        &mut self,
        offered: Vec<u64>,
        bytes: Vec<u32>,
        paced: Vec<bool>,
        line_clocks: Vec<u64>,
        head_delay: Vec<u64>,
        again: bool,
    ) -> Replay {
        let mut admissions = (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut releases = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let pacer = &mut self.0;
        let mut fifo: VecDeque<Waiting> = VecDeque::new();
        // First clocks at which the head can be decided, and at which the line is free.
        let (mut head_at, mut line_at) = (0_u64, 0_u64);
        // First clock at which the player can offer the next packet.
        let mut player_at = 0;
        let mut packets = (0..offered.len()).peekable();
        let mut taken = None;
        loop {
            let decision = packets.peek().map(|&i| {
                let at = *taken.get_or_insert_with(|| even(offered[i].max(player_at)));
                at + TAKEN_TO_DECISION
            });
            // The head, up to the step of the next packet; at the same step the packet comes first.
            let until = decision.unwrap_or(u64::MAX);
            let free_at = even(line_at.saturating_sub(1));
            let mut at = even(head_at).max(free_at).max(pacer.now());
            let released = fifo.front().and_then(|head| {
                while at < until {
                    pacer.advance(at);
                    let wake = pacer.next_wake(head.bytes);
                    if wake > at {
                        at = wake;
                    } else if pacer.poll(at, head.bytes) {
                        return Some(at);
                    } else {
                        at += hardware::STEP_CLOCKS;
                    }
                }
                None
            });
            if let Some(at) = released {
                let head = fifo.pop_front().expect("a head");
                releases.0.push(at);
                releases.1.push(head.bytes);
                releases.2.push(pacer.backlog_bytes());
                releases.3.push(pacer.rate_bps());
                let next = at + DECISION_TO_ANSWER + 1;
                line_at = next + head.line_clocks;
                head_at = next + HEAD_TO_DECISION + fifo.front().map_or(0, |next| next.head_delay);
                continue;
            }
            let (Some(at), Some(&i)) = (decision, packets.peek()) else {
                return (admissions, releases);
            };
            pacer.advance(at);
            admissions.3.push(pacer.tokens_negative());
            let admission = pacer.admit(at, bytes[i], paced[i]);
            let answer = at + DECISION_TO_ANSWER;
            admissions.0.push(at);
            admissions.1.push(match admission {
                hardware::Admission::Pass => 0,
                hardware::Admission::Queued => 1,
                hardware::Admission::Dropped => 2,
                hardware::Admission::Held => 3,
            });
            admissions.2.push(pacer.backlog_bytes());
            admissions.4.push(pacer.rate_bps());
            if admission == hardware::Admission::Queued {
                if fifo.is_empty() {
                    head_at = head_at.max(answer + 1 + head_delay[i] + HEAD_TO_DECISION);
                }
                fifo.push_back(Waiting {
                    bytes: bytes[i],
                    line_clocks: line_clocks[i],
                    head_delay: head_delay[i],
                });
            }
            if admission == hardware::Admission::Held {
                taken = Some(even(answer + 1));
            } else {
                player_at = if again {
                    answer + 1
                } else {
                    at - TAKEN_TO_DECISION + 1
                };
                taken = None;
                packets.next();
            }
        }
    }
}

/// First step not before `clock`.
fn even(clock: u64) -> u64 {
    clock.next_multiple_of(hardware::STEP_CLOCKS)
}
