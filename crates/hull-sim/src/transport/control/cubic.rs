//! CUBIC (RFC 9438), Linux's default congestion control: after a reduction the window follows a cubic
//! curve of time up to its old size and beyond it, so that its growth does not depend on the round trip.
//!
//! With W in segments and t the time since congestion avoidance began:
//!
//! - `W(t) = C (t - K)^3 + W_max`, C = 0.4, `K = cbrt((W_max - cwnd) / C)` (equations 1 and 2). An
//!   acknowledged segment adds `(W(t + srtt) - cwnd) / cwnd`, the target within 1 and 1.5 of cwnd.
//! - Reno-friendly region: cwnd is at least `W_est`, which grows by 9/17 of a segment in a window of
//!   acknowledgments, and by a whole one once it has reached the old window (equation 4, section 4.3).
//! - A loss reduces the window to beta = 0.7 of the flight, an ECN-Echo to 0.7 of the window, at most
//!   once per window of data (section 4.6). Fast convergence: if the window had not reached W_max again,
//!   W_max becomes 0.85 of it (section 4.7).
//! - After a timeout K = 0 and W_max is the window at which congestion avoidance begins (section 4.8).
//! - Idle time does not count as t, as in Linux.
//!
//! Slow start is RFC 5681's; with `hystart` Linux's HyStart ends it (`hystart.rs`). Units: bytes; time in
//! 2^-20 s; integers only, so that every machine computes the same window.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::hystart::HyStart;
use super::newreno::NewReno;
use super::{CongestionControl, Feedback};
use crate::transport::send_times::SendTimes;
use crate::transport::window::Window;

/// Fraction bits of a second in the time of the cubic curve.
const TIME_BITS: u32 = 20;
/// Fraction bits of the Reno-friendly window, bytes.
const ESTIMATE_BITS: u32 = 16;
/// Conversion from ps to 2^-20 s, scaled by 2^64: 2^(TIME_BITS + 64) / 10^12.
const TICKS_PER_PS: u64 = ((1_u128 << (TIME_BITS + 64)) / 1_000_000_000_000) as u64;

/// CUBIC's parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cubic {
    /// Whether slow start ends before the first loss, at a long train of ACKs or a longer round trip (HyStart;
    /// Linux: true).
    #[serde(default)]
    pub hystart: bool,
}

impl Cubic {
    /// Whether all settings have their defaults.
    pub(crate) fn is_default(&self) -> bool {
        *self == Cubic::default()
    }
}

/// CUBIC control of one flow.
#[derive(Clone, Debug)]
pub enum CubicControl {
    /// Slow start ends with a loss.
    Plain(Curve),
    /// HyStart may end it before.
    Early(Box<Early>),
}

/// CUBIC state with HyStart.
#[derive(Clone, Debug)]
pub struct Early {
    curve: Curve,
    hystart: HyStart,
}

/// CUBIC state of one flow.
#[derive(Clone, Debug, Default)]
pub struct Curve {
    reduction: NewReno,
    /// Whether congestion avoidance has begun. Its unused values distinguish the controls, so that a
    /// sender fits its cache lines.
    is_avoiding: bool,
    /// Start of congestion avoidance, ps.
    epoch_start_ps: u64,
    /// Reno-friendly window W_est, in 2^-16 bytes.
    estimate: u64,
    /// W_max, the window at the curve's plateau, bytes; 0: the window at the start of congestion
    /// avoidance.
    w_max: u32,
    /// Window before the last reduction, bytes.
    prior_cwnd: u32,
    /// K, the time of the curve's plateau, in 2^-20 s.
    k: u32,
}

/// Converts picoseconds to 2^-20 s.
#[inline]
fn ticks(ps: u64) -> u64 {
    ((u128::from(ps) * u128::from(TICKS_PER_PS)) >> 64) as u64
}

/// Largest integer whose cube is at most `value`.
fn cube_root(value: u128) -> u32 {
    let mut root = 0_u128;
    for bit in (0..32).rev() {
        let larger = root | (1 << bit);
        if larger * larger * larger <= value {
            root = larger;
        }
    }
    root as u32
}

impl CubicControl {
    /// Creates the control of a flow in its first slow start.
    pub fn new(settings: &Cubic) -> Self {
        let curve = Curve::default();
        match settings.hystart {
            true => CubicControl::Early(Box::new(Early {
                curve,
                hystart: HyStart::default(),
            })),
            false => CubicControl::Plain(curve),
        }
    }

    fn curve(&mut self) -> &mut Curve {
        match self {
            CubicControl::Plain(curve) => curve,
            CubicControl::Early(early) => &mut early.curve,
        }
    }
}

impl Curve {
    /// Starts congestion avoidance with the current window.
    fn begin(&mut self, window: &Window, now_ps: u64) {
        let cwnd = window.cwnd();
        self.is_avoiding = true;
        self.epoch_start_ps = now_ps;
        self.estimate = cwnd << ESTIMATE_BITS;
        let below = u64::from(self.w_max).saturating_sub(cwnd);
        if below == 0 {
            self.w_max = cwnd as u32;
        }
        // K^3 = below / (C mss), in 2^-60 s^3.
        let cubed = (u128::from(below) << (3 * TIME_BITS)) * 5 / (2 * u128::from(window.mss()));
        self.k = cube_root(cubed);
    }

    /// Window of the cubic curve at time t, W(t), bytes.
    fn curve(&self, t: u64, mss: u64) -> u64 {
        // Beyond 2^31 (34 minutes from K) the curve is far above every window.
        let from_k = (t.min(1 << 32) as i64 - i64::from(self.k)).clamp(-(1 << 31), 1 << 31);
        let cubed = i128::from(from_k).pow(3);
        let rise = (cubed * i128::from(2 * mss) / 5) >> (3 * TIME_BITS);
        (i128::from(self.w_max) + rise).max(0) as u64
    }

    /// Updates the Reno-friendly window for `acked` further bytes and returns it, bytes.
    fn estimate(&mut self, acked: u64, cwnd: u64, mss: u64) -> u64 {
        let (gain, divisor) = if self.estimate >> ESTIMATE_BITS >= u64::from(self.prior_cwnd) {
            (1, 1)
        } else {
            (9, 17)
        };
        self.estimate += ((acked * mss * gain) << ESTIMATE_BITS) / (cwnd * divisor);
        self.estimate >> ESTIMATE_BITS
    }

    /// Records a congestion event before the window is reduced.
    fn remember(&mut self, window: &Window) {
        let cwnd = window.cwnd() as u32;
        self.prior_cwnd = cwnd;
        self.w_max = if cwnd < self.w_max {
            (u64::from(cwnd) * 17 / 20) as u32
        } else {
            cwnd
        };
        self.is_avoiding = false;
    }
}

/// Window of 0.7 `bytes`, at least two segments.
fn reduced(bytes: u64, window: &Window) -> u64 {
    (bytes * 7 / 10).max(2 * window.mss())
}

impl CongestionControl for Curve {
    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &Feedback) -> bool {
        if self.reduction.must_reduce(ack) {
            self.remember(window);
            window.reduce_to(window.cwnd() * 7 / 10);
            return true;
        }
        if !ack.may_grow || ack.echo.marked {
            return false;
        }
        if window.in_slow_start() {
            window.grow(ack.acked);
            return false;
        }
        if !self.is_avoiding {
            self.begin(window, ack.now_ps);
        }
        let (cwnd, mss) = (window.cwnd(), window.mss());
        let acked = ack.acked.min(cwnd);
        let estimate = self.estimate(acked, cwnd, mss);
        let t = ticks(ack.now_ps.saturating_sub(self.epoch_start_ps));
        if self.curve(t, mss) < estimate {
            window.set_cwnd(cwnd.max(estimate));
        } else {
            let target = self.curve(t + ticks(ack.srtt_ps), mss);
            window.grow_towards(target.clamp(cwnd, cwnd * 3 / 2) - cwnd, acked);
        }
        false
    }

    fn on_loss(&mut self, window: &mut Window, flight: u64) {
        self.remember(window);
        window.reduce_to(reduced(flight, window));
    }

    fn on_timeout(&mut self, window: &mut Window, flight: u64) {
        self.remember(window);
        self.w_max = 0;
        window.reduce_to(reduced(flight, window));
        window.set_cwnd(window.mss());
    }

    fn on_restart(&mut self, idle_ps: u64) {
        if self.is_avoiding {
            self.epoch_start_ps = self.epoch_start_ps.saturating_add(idle_ps);
        }
    }
}

impl CongestionControl for CubicControl {
    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &Feedback) -> bool {
        match self {
            CubicControl::Plain(curve) => curve.on_ack(window, ack),
            CubicControl::Early(early) => {
                let Curve {
                    is_avoiding,
                    epoch_start_ps,
                    ..
                } = early.curve;
                let epoch_start_ps = is_avoiding.then_some(epoch_start_ps);
                early.hystart.on_ack(window, ack, epoch_start_ps);
                early.curve.on_ack(window, ack)
            }
        }
    }

    fn on_loss(&mut self, window: &mut Window, flight: u64) {
        self.curve().on_loss(window, flight);
    }

    fn on_timeout(&mut self, window: &mut Window, flight: u64) {
        if let CubicControl::Early(early) = self {
            early.hystart.restart();
        }
        self.curve().on_timeout(window, flight);
    }

    #[inline]
    fn on_restart(&mut self, idle_ps: u64) {
        self.curve().on_restart(idle_ps);
    }

    fn samples_every_ack(&self) -> bool {
        matches!(self, CubicControl::Early(_))
    }

    fn send_times(&mut self) -> Option<&mut SendTimes> {
        match self {
            CubicControl::Plain(_) => None,
            CubicControl::Early(early) => Some(early.hystart.send_times()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Echo;
    use super::*;

    const MSS: u64 = 1000;
    const MS_PS: u64 = 1_000_000_000;

    /// A flow whose whole window is acknowledged in each round trip, packet by packet.
    struct Flow {
        cubic: Curve,
        window: Window,
        una: u64,
        now_ps: u64,
        rtt_ps: u64,
    }

    impl Flow {
        fn new(segments: u64, rtt_ps: u64) -> Self {
            let mut window = Window::new(segments * MSS, MSS as u32, 2 * MSS, 100_000 * MSS, true);
            window.set_ssthresh(MSS);
            Flow {
                cubic: Curve::default(),
                window,
                una: 0,
                now_ps: 0,
                rtt_ps,
            }
        }

        fn ack(&mut self, ece: bool) -> bool {
            let segments = self.window.cwnd() / MSS;
            self.now_ps += self.rtt_ps / segments;
            self.una += MSS;
            let event = Feedback {
                now_ps: self.now_ps,
                una: self.una,
                nxt: self.una + self.window.cwnd(),
                acked: MSS,
                echo: Echo::marks(ece),
                after_loss: false,
                may_grow: true,
                rtt_ps: None,
                srtt_ps: self.rtt_ps,
                sent_ps: None,
            };
            self.cubic.on_ack(&mut self.window, &event)
        }

        fn until(&mut self, at_ps: u64) {
            while self.now_ps < at_ps {
                self.ack(false);
            }
        }

        fn segments(&self) -> f64 {
            self.window.cwnd() as f64 / MSS as f64
        }
    }

    /// RFC 9438, equations 1 and 2: 1000 segments, reduced to 700 by a loss: K = cbrt(300 / 0.4) = 9.086
    /// s. The window reaches W(t + srtt) one round trip after t, so it is W(t) at t.
    #[test]
    fn follows_the_curve_of_the_rfc() {
        let mut flow = Flow::new(1000, 100 * MS_PS);
        flow.cubic.on_loss(&mut flow.window, 1000 * MSS);
        assert_eq!(flow.window.cwnd(), 700 * MSS);
        flow.ack(false);
        let start_ps = flow.now_ps;
        let k = (300.0_f64 / 0.4).cbrt();
        for seconds in [1, 2, 4, 8, 9, 10, 12, 15, 18] {
            flow.until(start_ps + seconds * 1000 * MS_PS);
            let t = (flow.now_ps - start_ps) as f64 * 1e-12;
            let expected = 0.4 * (t - k).powi(3) + 1000.0;
            let found = flow.segments();
            assert!(
                (found / expected - 1.0).abs() < 0.01,
                "{t}: {found} {expected}"
            );
        }
    }

    /// With round trips of 100 us the curve hardly moves and stays below the Reno-friendly window.
    /// That grows by 9/17 segment per round trip up to the old window, then by one (section 4.3).
    #[test]
    fn matches_reno_at_short_round_trips() {
        let mut flow = Flow::new(100, MS_PS / 10);
        flow.cubic.on_loss(&mut flow.window, 100 * MSS);
        let start_ps = flow.now_ps;
        flow.until(start_ps + 17 * MS_PS / 10);
        assert!((flow.segments() - 79.0).abs() < 0.3, "{}", flow.segments());
        // 30 / (9/17) = 56.7 round trips to 100 segments, and 20 more to 120.
        flow.until(start_ps + 767 * MS_PS / 100);
        assert!((flow.segments() - 120.0).abs() < 1.0, "{}", flow.segments());
    }

    /// Section 4.7: a loss at 700 segments, short of the old 1000, sets W_max to 595.
    #[test]
    fn converges_fast() {
        let mut flow = Flow::new(1000, 100 * MS_PS);
        flow.cubic.on_loss(&mut flow.window, 1000 * MSS);
        assert_eq!(flow.cubic.w_max, 1_000_000);
        flow.cubic.on_loss(&mut flow.window, 700 * MSS);
        assert_eq!(flow.cubic.w_max, 595_000);
        assert_eq!(flow.window.cwnd(), 490 * MSS);
    }

    /// Section 4.6: ECN-Echo reduces the window to 0.7, once per window of data.
    #[test]
    fn ecn_echo_reduces_to_seven_tenths() {
        let mut flow = Flow::new(100, MS_PS);
        assert!(flow.ack(true));
        assert_eq!(flow.window.cwnd(), 70 * MSS);
        for _ in 0..100 {
            assert!(!flow.ack(true));
            assert_eq!(flow.window.cwnd(), 70 * MSS);
        }
        assert!(flow.ack(true));
        assert_eq!(flow.window.cwnd(), 49 * MSS);
    }

    /// Section 4.8: one segment, slow start to 0.7 of the flight, then a curve with K = 0.
    #[test]
    fn timeout_restarts_the_curve() {
        let mut flow = Flow::new(100, 100 * MS_PS);
        flow.cubic.on_timeout(&mut flow.window, 100 * MSS);
        assert_eq!(
            (flow.window.cwnd(), flow.window.ssthresh()),
            (MSS, 70 * MSS)
        );
        for _ in 0..69 {
            flow.ack(false);
        }
        assert_eq!(flow.window.cwnd(), 70 * MSS);
        flow.ack(false);
        assert_eq!((flow.cubic.k, flow.cubic.w_max), (0, 70_000));
    }

    /// Idle time does not advance the curve.
    #[test]
    fn idle_time_does_not_count() {
        let mut flow = Flow::new(1000, 100 * MS_PS);
        flow.cubic.on_loss(&mut flow.window, 1000 * MSS);
        flow.until(1000 * MS_PS);
        let mut idle = Flow {
            cubic: flow.cubic.clone(),
            window: flow.window.clone(),
            ..flow
        };
        flow.until(3000 * MS_PS);
        idle.now_ps += 60_000 * MS_PS;
        idle.cubic.on_restart(60_000 * MS_PS);
        idle.until(63_000 * MS_PS);
        assert_eq!(idle.window.cwnd(), flow.window.cwnd());
    }

    #[test]
    fn cube_roots_are_rounded_down() {
        for root in [0_u128, 1, 2, 3, 1000, 123_456_789, u128::from(u32::MAX)] {
            assert_eq!(u128::from(cube_root(root.pow(3))), root);
            assert_eq!(u128::from(cube_root((root + 1).pow(3) - 1)), root);
        }
    }
}
