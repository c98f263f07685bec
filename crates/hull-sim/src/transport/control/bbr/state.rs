//! The model of a BBR flow and what follows from it: bandwidth, shortest round trip, mode, pace and window.
//! The parent has source, rules and units.

use super::aggregation::Aggregation;
use super::windowed_max::WindowedMax;
use super::{
    BANDWIDTH_ROUNDS, BURST_PACKETS, CYCLE, DRAIN_GAIN, FIRST_PHASES, FULL_GAIN, FULL_ROUNDS,
    HIGH_GAIN, INITIAL_PACKETS, MIN_PACKETS, MIN_RTT_PS, ONE, PROBE_RTT_PS, WINDOW_GAIN, bytes_in,
    next_random, paced_bps, rate_bps,
};
use crate::transport::control::Pace;
use crate::transport::delivery_rate::{DeliveryRate, DeliverySample};
use crate::transport::window::Window;

/// What the flow is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Startup,
    Drain,
    ProbeBandwidth,
    ProbeRtt,
}

/// Loss recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Recovery {
    None,
    Fast,
    Timeout,
}

/// Model of one flow.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub delivery: DeliveryRate,
    pub mode: Mode,
    pub pacing_gain: u64,
    pub window_gain: u64,
    /// Largest delivery rate by rounds, bit/s.
    pub bandwidth: WindowedMax,
    pub rounds: u64,
    /// Delivered bytes at which the round ends: data sent later begins the next one.
    pub round_end: u64,
    pub begins_round: bool,
    /// Shortest round trip, `u64::MAX` before the first, and its time.
    pub min_rtt_ps: u64,
    pub min_rtt_at_ps: u64,
    /// End of the time with the smallest window; `None` while more is in flight.
    pub probe_rtt_until_ps: Option<u64>,
    pub has_probed_a_round: bool,
    /// Bandwidth at the last growth by a quarter, and rounds since then.
    pub full_bps: u64,
    pub full_rounds: u8,
    pub is_full: bool,
    pub phase: usize,
    pub phase_start_ps: u64,
    pub random: u64,
    pub cwnd: u64,
    /// Window before it was reduced for recovery or for measuring the round trip.
    pub prior_cwnd: u64,
    pub recovery: Recovery,
    /// Recovery at the last acknowledgment.
    pub last_recovery: Recovery,
    /// Whether a packet leaves only for one that arrives.
    pub conserves: bool,
    /// Whether data is sent after idle time, and whether it has not been acknowledged.
    pub restarts: bool,
    pub has_restarted: bool,
    pub aggregation: Aggregation,
    /// Pace of the payload, bit/s; 0 before the first acknowledgment.
    pub pacing_bps: u64,
    pub has_rtt: bool,
    /// Largest packet on the wire, and its payload.
    pub packet_bytes: u16,
    pub mss: u64,
    pub packets_sent: u64,
    pub next_departure_ps: u64,
}

impl State {
    /// Creates the state of a flow that has sent nothing.
    pub fn new() -> Self {
        State {
            delivery: DeliveryRate::default(),
            mode: Mode::Startup,
            pacing_gain: HIGH_GAIN,
            window_gain: HIGH_GAIN,
            bandwidth: WindowedMax::default(),
            rounds: 0,
            round_end: 0,
            begins_round: false,
            min_rtt_ps: u64::MAX,
            min_rtt_at_ps: 0,
            probe_rtt_until_ps: None,
            has_probed_a_round: false,
            full_bps: 0,
            full_rounds: 0,
            is_full: false,
            phase: 0,
            phase_start_ps: 0,
            random: 0,
            cwnd: 0,
            prior_cwnd: 0,
            recovery: Recovery::None,
            last_recovery: Recovery::None,
            conserves: false,
            restarts: false,
            has_restarted: false,
            aggregation: Aggregation::default(),
            pacing_bps: 0,
            has_rtt: false,
            packet_bytes: 0,
            mss: 1,
            packets_sent: 0,
            next_departure_ps: 0,
        }
    }

    pub fn bps(&self) -> u64 {
        self.bandwidth.get()
    }

    /// Packets of bandwidth times shortest round trip times `gain`, rounded up.
    pub fn product_packets(&self, gain: u64) -> u64 {
        if self.min_rtt_ps == u64::MAX {
            return INITIAL_PACKETS;
        }
        let bits_ps = u128::from(self.bps()) * u128::from(self.min_rtt_ps) * u128::from(gain);
        let unit = 8_000_000_000_000 * u128::from(ONE * self.mss);
        bits_ps.div_ceil(unit) as u64
    }

    /// Window for `packets` in the network, bytes: with those that end systems hold, an even number.
    pub fn with_room(&self, packets: u64) -> u64 {
        let mut packets = (packets + 3 * BURST_PACKETS).next_multiple_of(2);
        if self.mode == Mode::ProbeBandwidth && self.phase == 0 {
            packets += 2;
        }
        packets * self.mss
    }

    /// Bytes in flight that the model aims at with `gain`.
    pub fn target(&self, gain: u64) -> u64 {
        self.with_room(self.product_packets(gain))
    }

    /// Bytes that will be in the network when the next packet leaves.
    pub fn at_departure(&self, now_ps: u64, in_flight: u64) -> u64 {
        let delivered = bytes_in(self.bps(), self.next_departure_ps.saturating_sub(now_ps));
        let joins = self.pacing_gain > ONE;
        (in_flight + u64::from(joins) * BURST_PACKETS * self.mss).saturating_sub(delivered)
    }

    /// Adds a delivery rate and counts rounds.
    pub fn update_bandwidth(&mut self, sample: &DeliverySample) {
        self.begins_round = false;
        let Some(rate) = sample.rate else {
            return;
        };
        if rate.prior_bytes >= self.round_end {
            self.round_end = self.delivery.delivered().0;
            self.rounds += 1;
            self.begins_round = true;
            self.conserves = false;
        }
        let bps = rate_bps(rate.bytes, rate.interval_ps);
        if !rate.is_limited || bps >= self.bps() {
            self.bandwidth.add(BANDWIDTH_ROUNDS, self.rounds, bps);
        }
        if sample.acked > 0 {
            let (begins, bps) = (self.begins_round, self.bps());
            let now_ps = self.delivery.delivered().1;
            self.aggregation
                .add(now_ps, begins, sample.acked, bps, self.cwnd);
        }
    }

    /// Begins the next phase of probing when the current one is over.
    pub fn update_phase(&mut self, now_ps: u64, sample: &DeliverySample) {
        if self.mode != Mode::ProbeBandwidth {
            return;
        }
        let delivered_ps = self.delivery.delivered().1;
        let is_long = delivered_ps.saturating_sub(self.phase_start_ps) > self.min_rtt_ps;
        let in_flight = self.at_departure(now_ps, sample.prior_in_flight);
        let is_over = match self.pacing_gain {
            ONE => is_long,
            gain if gain > ONE => is_long && (sample.lost > 0 || in_flight >= self.target(gain)),
            _ => is_long || in_flight <= self.target(ONE),
        };
        if is_over {
            self.begin_phase(self.phase + 1);
        }
    }

    pub fn begin_phase(&mut self, phase: usize) {
        self.phase = phase % CYCLE.len();
        self.phase_start_ps = self.delivery.delivered().1;
    }

    /// Begins probing at a random phase.
    pub fn probe_bandwidth(&mut self) {
        self.mode = Mode::ProbeBandwidth;
        let drawn = next_random(&mut self.random) % FIRST_PHASES;
        self.begin_phase(CYCLE.len() - drawn as usize);
    }

    /// Ends startup when the bandwidth has stopped growing, and drain when the queue is empty.
    pub fn update_startup(&mut self, now_ps: u64, window: &mut Window, sample: &DeliverySample) {
        let is_limited = sample.rate.is_some_and(|rate| rate.is_limited);
        if !self.is_full && self.begins_round && !is_limited {
            if u128::from(self.bps()) * u128::from(ONE)
                >= u128::from(self.full_bps) * u128::from(FULL_GAIN)
            {
                self.full_bps = self.bps();
                self.full_rounds = 0;
            } else {
                self.full_rounds += 1;
                self.is_full = self.full_rounds >= FULL_ROUNDS;
            }
        }
        if self.mode == Mode::Startup && self.is_full {
            self.mode = Mode::Drain;
            window.set_ssthresh(self.target(ONE));
        }
        if self.mode == Mode::Drain
            && self.at_departure(now_ps, sample.in_flight) <= self.target(ONE)
        {
            self.probe_bandwidth();
        }
    }

    /// Updates the shortest round trip, and measures it with a small window when it is old.
    pub fn update_min_rtt(&mut self, now_ps: u64, sample: &DeliverySample) {
        let is_old = now_ps > self.min_rtt_at_ps.saturating_add(MIN_RTT_PS);
        // A single short segment: its acknowledgment may have been delayed.
        let is_delayed =
            sample.acked < self.mss && (sample.rate).is_some_and(|rate| rate.bytes == sample.acked);
        if let Some(rtt_ps) = sample.rtt_ps
            && (rtt_ps <= self.min_rtt_ps || (is_old && !is_delayed))
        {
            self.min_rtt_ps = rtt_ps;
            self.min_rtt_at_ps = now_ps;
        }
        if is_old && !self.has_restarted && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_cwnd();
            self.probe_rtt_until_ps = None;
        }
        if self.mode == Mode::ProbeRtt {
            self.delivery.limit(sample.in_flight);
            if self.probe_rtt_until_ps.is_some() {
                self.has_probed_a_round |= self.begins_round;
                if self.has_probed_a_round {
                    self.end_probe_rtt(now_ps);
                }
            } else if sample.in_flight <= MIN_PACKETS * self.mss {
                self.probe_rtt_until_ps = Some(now_ps + PROBE_RTT_PS);
                self.has_probed_a_round = false;
                self.round_end = self.delivery.delivered().0;
            }
        }
        if sample.rate.is_some_and(|rate| rate.bytes > 0) {
            self.has_restarted = false;
        }
    }

    /// Ends the measurement of the round trip after its time.
    pub fn end_probe_rtt(&mut self, now_ps: u64) {
        if self.probe_rtt_until_ps.is_none_or(|until| now_ps <= until) {
            return;
        }
        self.min_rtt_at_ps = now_ps;
        self.cwnd = self.cwnd.max(self.prior_cwnd);
        if self.is_full {
            self.probe_bandwidth();
        } else {
            self.mode = Mode::Startup;
        }
    }

    pub fn update_gains(&mut self) {
        (self.pacing_gain, self.window_gain) = match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBandwidth => (CYCLE[self.phase], WINDOW_GAIN),
            Mode::ProbeRtt => (ONE, ONE),
        };
    }

    /// Sets the pace. Before the bandwidth is reached it only rises.
    pub fn set_pace(&mut self, gain: u64, srtt_ps: u64) {
        if !self.has_rtt && srtt_ps > 0 {
            self.has_rtt = true;
            self.pacing_bps = paced_bps(rate_bps(self.cwnd, srtt_ps), HIGH_GAIN);
        }
        let bps = paced_bps(self.bps(), gain);
        if self.is_full || bps > self.pacing_bps {
            self.pacing_bps = bps;
        }
    }

    /// Remembers the window, unless it is reduced.
    pub fn save_cwnd(&mut self) {
        let is_reduced = self.last_recovery != Recovery::None || self.mode == Mode::ProbeRtt;
        self.prior_cwnd = match is_reduced {
            true => self.prior_cwnd.max(self.cwnd),
            false => self.cwnd,
        };
    }

    /// Adjusts the window at the start and end of recovery. Returns whether that is all.
    pub fn recover(&mut self, sample: &DeliverySample) -> bool {
        self.cwnd = self.cwnd.saturating_sub(sample.lost).max(self.mss);
        let (last, now) = (self.last_recovery, self.recovery);
        if now == Recovery::Fast && last != Recovery::Fast {
            self.conserves = true;
            self.round_end = self.delivery.delivered().0;
            self.cwnd = sample.in_flight + sample.acked;
        } else if last != Recovery::None && now == Recovery::None {
            self.cwnd = self.cwnd.max(self.prior_cwnd);
            self.conserves = false;
        }
        self.last_recovery = now;
        if self.conserves {
            self.cwnd = self.cwnd.max(sample.in_flight + sample.acked);
        }
        self.conserves
    }

    pub fn set_window(&mut self, window: &mut Window, sample: &DeliverySample) {
        if sample.acked > 0 && !self.recover(sample) {
            let mut packets = self.product_packets(self.window_gain);
            if self.is_full {
                packets += self.aggregation.bytes(self.bps()) / self.mss;
            }
            let target = self.with_room(packets);
            if self.is_full {
                self.cwnd = (self.cwnd + sample.acked).min(target);
            } else if self.cwnd < target || self.delivery.delivered().0 < INITIAL_PACKETS * self.mss
            {
                self.cwnd += sample.acked;
            }
            self.cwnd = self.cwnd.max(MIN_PACKETS * self.mss);
        }
        window.set_cwnd(self.cwnd);
        self.cwnd = window.cwnd();
        if self.mode == Mode::ProbeRtt {
            self.cwnd = self.cwnd.min(MIN_PACKETS * self.mss);
            window.set_cwnd(self.cwnd);
        }
    }

    /// Pace on the wire: the headers of packets are added.
    pub fn pace(&self) -> Pace {
        if self.pacing_bps == 0 {
            return Pace::Window;
        }
        let wire = u128::from(self.pacing_bps) * u128::from(self.packet_bytes);
        Pace::Bps((wire / u128::from(self.mss)).max(1) as u64)
    }
}
