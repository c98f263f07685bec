//! BBR version 1, as Linux runs it: the pace follows the measured bandwidth, the window the product of
//! bandwidth and shortest round trip. Neither loss nor marks reduce the rate.
//!
//! Source: the rules and constants of Linux (`net/ipv4/tcp_bbr.c`, 6.1) and
//! draft-cardwell-iccrg-bbr-congestion-control-00. [`DeliveryRate`] measures.
//!
//! - Bandwidth: the largest delivery rate of the last 10 rounds. A round ends when data sent after its
//!   start is acknowledged. Shortest round trip: of the last 10 s.
//! - Startup: gain 2.89 until the bandwidth grows by less than a quarter in each of three rounds.
//!   Drain: gain 1/2.89 until no more than the product is in flight. Then the bandwidth is probed: gains
//!   5/4, 3/4 and six times 1, a shortest round trip each, with a window of twice the product.
//! - If the shortest round trip is 10 s old, the window is four packets for 200 ms and a round.
//! - The pace is the gain times 99% of the bandwidth; the window is the product, rounded up, plus 3
//!   packets, even, plus the excess of bundled acknowledgments.
//! - In the first round of loss recovery a packet leaves for each that arrives; after recovery the window
//!   is again what it was.
//!
//! Linux's model of policers is not part of this. The phase at which probing begins is drawn from the
//! flow's number and start time. Units: bytes of payload, bit/s of payload, ps; gains in 1/256.

mod aggregation;
mod state;
mod windowed_max;

use super::{CongestionControl, Feedback, Pace, Start};
use crate::transport::delivery_rate::DeliveryRate;
use crate::transport::window::Window;
use state::{Mode, Recovery, State};

/// Gain 1.
const ONE: u64 = 256;
/// Gain of startup, 2 / ln 2: the rate doubles in a round.
const HIGH_GAIN: u64 = ONE * 2885 / 1000 + 1;
/// Gain that drains the queue of startup in about a round.
const DRAIN_GAIN: u64 = ONE * 1000 / 2885;
/// Gain of the window while the bandwidth is probed.
const WINDOW_GAIN: u64 = 2 * ONE;
/// Gains of the pace while the bandwidth is probed, by phase.
const CYCLE: [u64; 8] = [ONE * 5 / 4, ONE * 3 / 4, ONE, ONE, ONE, ONE, ONE, ONE];
/// Phases among which the first is drawn; 3/4 is not among them.
const FIRST_PHASES: u64 = 7;
/// Rounds for which a bandwidth counts.
const BANDWIDTH_ROUNDS: u64 = 10;
/// Time for which a shortest round trip counts: 10 s.
const MIN_RTT_PS: u64 = 10_000_000_000_000;
/// Time with the smallest window in which the round trip is measured: 200 ms.
const PROBE_RTT_PS: u64 = 200_000_000_000;
/// Growth in a round below which the bandwidth counts as reached.
const FULL_GAIN: u64 = ONE * 5 / 4;
/// Rounds without such growth that end startup.
const FULL_ROUNDS: u8 = 3;
/// Smallest window, packets.
const MIN_PACKETS: u64 = 4;
/// Linux's initial window, packets: as many leave unpaced.
const INITIAL_PACKETS: u64 = 10;
/// Packets that end systems hold back, of which the window leaves room for three.
const BURST_PACKETS: u64 = 1;
/// Share of the bandwidth at which the flow is paced, per cent.
const PACED_PERCENT: u64 = 99;

/// BBR state of one flow.
#[derive(Clone, Debug)]
pub struct BbrControl(Box<State>);

impl Default for BbrControl {
    fn default() -> Self {
        BbrControl(Box::new(State::new()))
    }
}

/// Bytes that arrive in `ps` at `bps`.
fn bytes_in(bps: u64, ps: u64) -> u64 {
    (u128::from(bps) * u128::from(ps) / 8_000_000_000_000) as u64
}

/// Rate in bit/s of `bytes` in `ps`.
fn rate_bps(bytes: u64, ps: u64) -> u64 {
    (u128::from(bytes) * 8_000_000_000_000 / u128::from(ps.max(1))) as u64
}

/// Pace at a bandwidth and a gain, bit/s.
fn paced_bps(bps: u64, gain: u64) -> u64 {
    (u128::from(bps) * u128::from(gain * PACED_PERCENT) / u128::from(100 * ONE)) as u64
}

/// Next state of a generator of random numbers, and its output (SplitMix64).
fn next_random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut bits = *state;
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

impl CongestionControl for BbrControl {
    fn on_start(&mut self, start: &Start) {
        let state = &mut *self.0;
        state.random = start.flow ^ start.now_ps.rotate_left(32);
        state.min_rtt_at_ps = start.now_ps;
        state.aggregation.restart(start.now_ps);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Feedback) -> bool {
        let state = &mut *self.0;
        let sample = state.delivery.sample();
        if state.cwnd == 0 {
            state.cwnd = window.cwnd();
        }
        state.mss = window.mss();
        if !sample.is_recovering {
            state.recovery = Recovery::None;
        }
        state.update_bandwidth(&sample);
        state.update_phase(ack.now_ps, &sample);
        state.update_startup(ack.now_ps, window, &sample);
        state.update_min_rtt(ack.now_ps, &sample);
        state.update_gains();
        state.set_pace(state.pacing_gain, ack.srtt_ps);
        state.set_window(window, &sample);
        false
    }

    fn on_loss(&mut self, window: &mut Window, _flight: u64) {
        let state = &mut *self.0;
        if state.cwnd == 0 {
            state.cwnd = window.cwnd();
        }
        state.save_cwnd();
        state.recovery = Recovery::Fast;
    }

    fn on_timeout(&mut self, window: &mut Window, _flight: u64) {
        let state = &mut *self.0;
        if state.cwnd == 0 {
            state.cwnd = window.cwnd();
        }
        state.save_cwnd();
        state.recovery = Recovery::Timeout;
        state.last_recovery = Recovery::Timeout;
        state.full_bps = 0;
        window.set_cwnd(window.mss());
        state.cwnd = window.cwnd();
    }

    fn on_restart(&mut self, _idle_ps: u64) {
        self.0.restarts = true;
    }

    fn sets_pace(&self) -> bool {
        true
    }

    fn pace(&self) -> Pace {
        self.0.pace()
    }

    fn on_sent(&mut self, now_ps: u64, wire_bytes: u16) -> Pace {
        let state = &mut *self.0;
        if std::mem::take(&mut state.restarts) && state.delivery.is_limited() {
            state.has_restarted = true;
            state.aggregation.restart(now_ps);
            match state.mode {
                Mode::ProbeBandwidth => state.set_pace(ONE, 0),
                Mode::ProbeRtt => state.end_probe_rtt(now_ps),
                Mode::Startup | Mode::Drain => (),
            }
        }
        state.packet_bytes = state.packet_bytes.max(wire_bytes);
        state.packets_sent += 1;
        state.next_departure_ps = now_ps;
        let pace = match state.pace() {
            Pace::Bps(_) if state.packets_sent < INITIAL_PACKETS => Pace::Window,
            pace => pace,
        };
        if let Pace::Bps(bps) = pace {
            let bits_ps = u128::from(wire_bytes) * 8_000_000_000_000;
            state.next_departure_ps += (bits_ps / u128::from(bps)) as u64;
        }
        pace
    }

    /// Linux computes the gap behind a packet when it leaves.
    fn adjusts_gap(&self) -> bool {
        false
    }

    fn is_paced_by_host(&self) -> bool {
        true
    }

    fn delivery_rate(&mut self) -> Option<&mut DeliveryRate> {
        Some(&mut self.0.delivery)
    }

    fn samples_delivery(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests;
