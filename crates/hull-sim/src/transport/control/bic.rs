//! BIC-TCP: after a reduction the window binary-searches between its new and its old size.
//!
//! Source: L. Xu, K. Harfoush, I. Rhee, "Binary Increase Congestion Control for Fast Long-Distance
//! Networks" (INFOCOM 2004), section 3, to which the thesis traces QCN's averaging (remarks 5.1 and 5.6).
//! With W in segments, beta the decrease, and W_max the window at the last reduction:
//!
//! - A reduction takes beta of the window. Fast convergence: if the window had not reached W_max again,
//!   W_max becomes the mean of the window before and after the reduction.
//! - Below W_max the target is the mean of W and W_max. A window of acknowledged data adds target - W,
//!   at most S_max (additive increase) and at least S_min (so that the search ends).
//! - From W_max on the window probes for a new maximum: a window of data adds 1, then 2, 4, ... up to
//!   S_max, and S_max from there on.
//! - Below the low window BIC behaves as TCP: it halves the window, and adds one segment per window of
//!   data.
//! - After a timeout no maximum is known: slow start, then the probing.
//!
//! An ECN-Echo counts as a loss, at most one per window of data (RFC 3168). The paper sets the window
//! to W_max if the gap is less than S_min; here it approaches it in steps of S_min. Linux searches with
//! a quarter of the gap instead of half, and a beta of 205/1024; its S_max is 16 (`tcp_bic`).
//!
//! Units: bytes; the settings in segments, or fixed point as named.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::newreno::NewReno;
use super::{CongestionControl, Feedback};
use crate::problem::{Problem, quoted, require};
use crate::transport::window::Window;
use crate::units::Share;

/// BIC-TCP's parameters; windows in segments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bic {
    /// Share by which a reduction shrinks the window (beta; Linux: 205/1024).
    #[serde(default = "eighth")]
    pub decrease: Share,
    /// Largest growth in a round trip (S_max; Linux: 16).
    #[serde(default = "max_increment")]
    pub max_increment: u16,
    /// Smallest growth in a round trip of the binary search (S_min).
    #[serde(default = "hundredth")]
    pub min_increment: Share,
    /// Window below which TCP's rules apply.
    #[serde(default = "low_window")]
    pub low_window: u16,
    /// Whether a flow whose window did not reach its old maximum gives way to newer flows.
    #[serde(default = "yes")]
    pub fast_convergence: bool,
}

const fn eighth() -> Share {
    Share(Share::ONE / 8)
}
const fn max_increment() -> u16 {
    32
}
const fn hundredth() -> Share {
    Share(Share::ONE / 100)
}
const fn low_window() -> u16 {
    14
}
const fn yes() -> bool {
    true
}

impl Default for Bic {
    fn default() -> Self {
        Bic {
            decrease: eighth(),
            max_increment: max_increment(),
            min_increment: hundredth(),
            low_window: low_window(),
            fast_convergence: yes(),
        }
    }
}

impl Bic {
    /// Checks the settings.
    pub(crate) fn check(&self) -> Result<(), Problem> {
        require(
            self.decrease.0 > 0 && self.decrease.0 <= Share::ONE / 2,
            "transport.bic.decrease",
            quoted(self.decrease),
            "above 0 and at most 0.5",
        )?;
        require(
            (1..=10_000).contains(&self.max_increment),
            "transport.bic.max_increment",
            self.max_increment,
            "1 to 10000 segments",
        )?;
        require(
            (Share::ONE / 1000..=Share::ONE).contains(&self.min_increment.0),
            "transport.bic.min_increment",
            quoted(self.min_increment),
            "0.001 to 1 segment",
        )?;
        require(
            (1..=10_000).contains(&self.low_window),
            "transport.bic.low_window",
            self.low_window,
            "1 to 10000 segments",
        )
    }
}

/// Share 1.0 in fixed point: 2^16.
const ONE: u64 = 1 << 16;

/// BIC-TCP's settings as integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Config {
    /// Share of the window by which a reduction shrinks it (beta), scaled by 2^16.
    decrease: u16,
    /// Largest growth per window of data (S_max), segments.
    max_increment: u16,
    /// Smallest growth per window of data (S_min), 1/1000 of a segment.
    min_increment: u16,
    /// Window below which TCP's rules apply, segments.
    low_window: u16,
    /// Fast convergence: whether a reduction before W_max was reached again lowers W_max further.
    fast_convergence: bool,
}

/// BIC-TCP state of one flow.
#[derive(Clone, Debug)]
pub struct BicControl {
    config: Config,
    reduction: NewReno,
    /// W_max, bytes; 0 if unknown.
    max: u32,
    /// Growth per window of data while probing for a new maximum, bytes; 0 if not probing.
    probe: u32,
    /// Window at which the probing growth doubles, bytes.
    probe_until: u32,
}

impl BicControl {
    /// Creates the state of a connection without a maximum.
    pub fn new(settings: &Bic) -> Self {
        BicControl {
            config: Config {
                decrease: settings.decrease.scaled(ONE) as u16,
                max_increment: settings.max_increment,
                min_increment: settings.min_increment.scaled(1000) as u16,
                low_window: settings.low_window,
                fast_convergence: settings.fast_convergence,
            },
            reduction: NewReno::default(),
            max: 0,
            probe: 0,
            probe_until: 0,
        }
    }

    /// Reduces `bytes` after a congestion event and updates the maximum. Returns the remaining
    /// bytes.
    fn reduced(&mut self, window: &Window, bytes: u64) -> u64 {
        let cwnd = window.cwnd();
        self.probe = 0;
        if cwnd < u64::from(self.config.low_window) * window.mss() {
            self.max = cwnd as u32;
            return bytes / 2;
        }
        let kept = |bytes: u64| bytes - bytes * u64::from(self.config.decrease) / ONE;
        let short = cwnd < u64::from(self.max);
        self.max = if self.config.fast_convergence && short {
            u64::midpoint(cwnd, kept(cwnd)) as u32
        } else {
            cwnd as u32
        };
        kept(bytes)
    }

    /// Growth per window of data, bytes.
    fn step(&mut self, cwnd: u64, mss: u64) -> u64 {
        let most = u64::from(self.config.max_increment) * mss;
        let max = u64::from(self.max);
        if cwnd < max && self.probe == 0 {
            let least = u64::from(self.config.min_increment) * mss / 1000;
            return ((max - cwnd) / 2).clamp(least.max(1), most).min(max - cwnd);
        }
        if self.probe == 0 {
            self.probe = mss as u32;
            self.probe_until = (cwnd + mss) as u32;
        } else if cwnd >= u64::from(self.probe_until) && u64::from(self.probe) < most {
            self.probe = (2 * u64::from(self.probe)).min(most) as u32;
            self.probe_until = (cwnd + u64::from(self.probe)) as u32;
        }
        u64::from(self.probe)
    }
}

impl CongestionControl for BicControl {
    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &Feedback) -> bool {
        if self.reduction.must_reduce(ack) {
            let reduced = self.reduced(window, window.cwnd());
            window.reduce_to(reduced);
            return true;
        }
        if !ack.may_grow || ack.echo.marked {
            return false;
        }
        let (cwnd, mss) = (window.cwnd(), window.mss());
        if window.in_slow_start() || cwnd < u64::from(self.config.low_window) * mss {
            window.grow(ack.acked);
        } else {
            let step = self.step(cwnd, mss);
            window.grow_towards(step, ack.acked.min(cwnd));
        }
        false
    }

    fn on_loss(&mut self, window: &mut Window, flight: u64) {
        let reduced = self.reduced(window, flight);
        window.reduce_to(reduced.max(2 * window.mss()));
    }

    fn on_timeout(&mut self, window: &mut Window, flight: u64) {
        let reduced = self.reduced(window, flight);
        self.max = 0;
        window.reduce_to(reduced.max(2 * window.mss()));
        window.set_cwnd(window.mss());
    }
}

#[cfg(test)]
mod tests {
    use super::super::Echo;
    use super::*;

    const MSS: u64 = 1000;
    /// A flow in congestion avoidance whose whole window is acknowledged in each round trip.
    struct Flow {
        bic: BicControl,
        window: Window,
        una: u64,
    }

    impl Flow {
        fn new(segments: u64) -> Self {
            let mut window = Window::new(segments * MSS, MSS as u32, 2 * MSS, 100_000 * MSS, true);
            window.set_ssthresh(MSS);
            Flow {
                bic: BicControl::new(&Bic::default()),
                window,
                una: 0,
            }
        }

        fn ack(&mut self, ece: bool) -> bool {
            self.una += MSS;
            let event = Feedback {
                now_ps: 0,
                una: self.una,
                nxt: self.una + self.window.cwnd(),
                acked: MSS,
                echo: Echo::marks(ece),
                after_loss: false,
                may_grow: true,
                rtt_ps: None,
                srtt_ps: 1,
                sent_ps: None,
            };
            self.bic.on_ack(&mut self.window, &event)
        }

        /// The window after a round trip, segments.
        fn round_trip(&mut self) -> f64 {
            for _ in 0..self.window.cwnd() / MSS {
                self.ack(false);
            }
            self.segments()
        }

        fn segments(&self) -> f64 {
            self.window.cwnd() as f64 / MSS as f64
        }
    }

    /// 2000 segments, cut to 1750: the window grows by 32 segments per round trip while half of the
    /// gap exceeds 32, up to 1936; then the gap of 64 decays as exp(-n / 2), which is dW/dn =
    /// (W_max - W) / 2, until half of it is less than S_min.
    #[test]
    fn searches_linearly_then_by_halves() {
        let mut flow = Flow::new(2000);
        flow.bic.on_loss(&mut flow.window, 2000 * MSS);
        assert_eq!(flow.window.cwnd(), 1750 * MSS);
        let mut round_trips = 0.0_f64;
        while flow.segments() < 1999.9 {
            round_trips += 1.0;
            let found = flow.round_trip();
            let linear = 1750.0 + 32.0 * round_trips;
            let since = round_trips - (1936.0 - 1750.0) / 32.0;
            let expected = if since < 0.0 {
                linear
            } else {
                2000.0 - 64.0 * (-since / 2.0).exp()
            };
            // A round trip acknowledges its initial window: 1% less growth on 186 segments.
            assert!((found - expected).abs() < 2.0, "{found} {expected}");
        }
        // 5.8 linear and 2 ln(640) = 12.9 more.
        assert!((18.0..=21.0).contains(&round_trips), "{round_trips}");
    }

    /// Beyond the maximum the window grows by 1, 2, 4, ... 32 segments, then by 32 each round trip.
    #[test]
    fn probes_for_a_new_maximum() {
        let mut flow = Flow::new(1000);
        let windows: Vec<f64> = (0..8).map(|_| flow.round_trip()).collect();
        let mut expected = 1000.0_f64;
        for (found, step) in windows.iter().zip([1, 2, 4, 8, 16, 32, 32, 32]) {
            expected += f64::from(step);
            // The last packets of a step may fall into the next round trip.
            assert!(
                (found - expected).abs() < 0.1 * f64::from(step) + 0.1,
                "{windows:?}"
            );
        }
    }

    /// A second loss at 875 of 1000 segments: the next search targets (875 + 765.6) / 2.
    #[test]
    fn fast_convergence_gives_way() {
        let mut flow = Flow::new(1000);
        flow.bic.on_loss(&mut flow.window, 1000 * MSS);
        flow.bic.on_loss(&mut flow.window, 875 * MSS);
        assert_eq!(flow.window.cwnd(), 765_625);
        assert_eq!(flow.bic.max, 820_312);
    }

    /// Cuts are half below 14 segments (TCP), else an eighth, for ECN-Echo once per data window.
    #[test]
    fn small_windows_are_halved() {
        let mut flow = Flow::new(12);
        flow.bic.on_loss(&mut flow.window, 12 * MSS);
        assert_eq!(flow.window.cwnd(), 6 * MSS);
        assert!((flow.round_trip() - 7.0).abs() < 0.01);
        let mut flow = Flow::new(100);
        assert!(flow.ack(true));
        assert_eq!(flow.window.cwnd(), 87_500);
        assert!(!flow.ack(true));
        assert_eq!(flow.window.cwnd(), 87_500);
    }

    /// A timeout sets the window to one segment, starts slow start and clears the maximum.
    #[test]
    fn a_timeout_forgets_the_maximum() {
        let mut flow = Flow::new(100);
        flow.bic.on_timeout(&mut flow.window, 100 * MSS);
        assert_eq!((flow.window.cwnd(), flow.window.ssthresh()), (MSS, 87_500));
        assert_eq!(flow.bic.max, 0);
    }
}
