//! TCP Vegas: the window follows the round-trip time.
//!
//! Source: L. Brakmo, S. O'Malley, L. Peterson, "TCP Vegas: New Techniques for Congestion Detection and
//! Avoidance" (SIGCOMM 1994), sections 3.2 and 3.3: its window rule. The thesis cites it as related
//! work (2.4). Its finer retransmission timer is not included: losses and marks are handled as in
//! NewReno.
//!
//! Once per round trip, with its duration R and the shortest one so far, R_min, `cwnd (R - R_min) / R`
//! bytes of the window wait in queues. In congestion avoidance the window grows by a segment if fewer
//! than alpha segments wait, and shrinks by one if more than beta do. In slow start it doubles every
//! other round trip, and leaves when more than gamma wait.
//!
//! Units: bytes, picoseconds; alpha, beta and gamma in segments.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::newreno::NewReno;
use super::{CongestionControl, Feedback};
use crate::problem::{Problem, require};
use crate::transport::sender::NEVER;
use crate::transport::window::Window;

/// TCP Vegas's parameters, in segments of the window that wait in queues.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Vegas {
    /// Number below which the window grows.
    #[serde(default = "two")]
    pub alpha: u8,
    /// Number above which the window shrinks.
    #[serde(default = "four")]
    pub beta: u8,
    /// Number above which slow start ends.
    #[serde(default = "one")]
    pub gamma: u8,
}

const fn one() -> u8 {
    1
}
const fn two() -> u8 {
    2
}
const fn four() -> u8 {
    4
}

impl Default for Vegas {
    fn default() -> Self {
        Vegas {
            alpha: two(),
            beta: four(),
            gamma: one(),
        }
    }
}

impl Vegas {
    /// Checks the settings.
    pub(crate) fn check(&self) -> Result<(), Problem> {
        require(
            (1..=self.beta).contains(&self.alpha),
            "transport.vegas.alpha",
            self.alpha,
            "1 to transport.vegas.beta",
        )
    }
}

/// Vegas state of one flow.
#[derive(Clone, Debug)]
pub struct VegasControl {
    config: Vegas,
    reno: NewReno,
    /// Shortest round trip so far; [`NEVER`] before the first.
    min_rtt_ps: u64,
    /// Whether slow start grows the window in this round trip.
    growing: bool,
}

impl VegasControl {
    /// Creates the state of a connection without a round-trip sample.
    pub fn new(config: &Vegas) -> Self {
        VegasControl {
            config: config.clone(),
            reno: NewReno::default(),
            min_rtt_ps: NEVER,
            growing: true,
        }
    }

    /// Adjusts the window at the end of a round trip of `rtt_ps`.
    fn on_round_trip(&mut self, window: &mut Window, rtt_ps: u64, may_grow: bool) {
        self.min_rtt_ps = self.min_rtt_ps.min(rtt_ps);
        let (cwnd, mss) = (window.cwnd(), window.mss());
        let excess_ps = u128::from(rtt_ps - self.min_rtt_ps);
        let waiting = (u128::from(cwnd) * excess_ps / u128::from(rtt_ps.max(1))) as u64;
        if window.in_slow_start() {
            self.growing = !self.growing;
            if waiting > u64::from(self.config.gamma) * mss {
                window.reduce_to(cwnd);
            }
        } else if waiting < u64::from(self.config.alpha) * mss {
            if may_grow {
                window.set_cwnd(cwnd + mss);
            }
        } else if waiting > u64::from(self.config.beta) * mss {
            window.shrink_by(mss);
        }
    }
}

impl CongestionControl for VegasControl {
    fn on_ack(&mut self, window: &mut Window, ack: &Feedback) -> bool {
        if ack.echo.marked {
            return self.reno.on_ack(window, ack);
        }
        if window.in_slow_start() && self.growing && ack.may_grow {
            window.grow(ack.acked);
        }
        if let Some(rtt_ps) = ack.rtt_ps {
            self.on_round_trip(window, rtt_ps, ack.may_grow);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::Echo;
    use super::*;

    const MSS: u64 = 1000;
    const CONFIG: Vegas = Vegas {
        alpha: 2,
        beta: 4,
        gamma: 1,
    };

    /// Two flows on a link that sends a segment per us, with 100 us of propagation: each sends its
    /// window in a round trip of `max(100, W1 + W2)` us. In equilibrium each has alpha to beta
    /// segments waiting relative to its own shortest round trip: 2 to 4 each and 4 to 8 in the
    /// queue, besides the 100 on the wire.
    #[test]
    fn keeps_alpha_to_beta_segments_waiting() {
        let mut flows = [(), ()].map(|()| {
            let window = Window::new(2 * MSS, MSS as u32, 2 * MSS, 1000 * MSS, true);
            (VegasControl::new(&CONFIG), window)
        });
        let mut una = 0;
        let mut queue = 0;
        for _ in 0..400 {
            let sent: u64 = flows.iter().map(|(_, window)| window.cwnd() / MSS).sum();
            let rtt_us = sent.max(100);
            queue = rtt_us - 100;
            for (vegas, window) in &mut flows {
                for n in 0..window.cwnd() / MSS {
                    una += MSS;
                    let event = Feedback {
                        now_ps: 0,
                        una,
                        nxt: una + window.cwnd(),
                        acked: MSS,
                        echo: Echo::default(),
                        after_loss: false,
                        may_grow: true,
                        rtt_ps: (n == 0).then_some(rtt_us * 1_000_000),
                        srtt_ps: rtt_us * 1_000_000,
                        sent_ps: None,
                    };
                    vegas.on_ack(window, &event);
                }
            }
        }
        assert!((4..=8).contains(&queue), "{queue}");
        for (_, window) in &flows {
            let cwnd = window.cwnd() as f64 / MSS as f64;
            let waiting = cwnd * queue as f64 / (100 + queue) as f64;
            assert!((2.0..=4.0).contains(&waiting), "{cwnd} {waiting}");
        }
    }

    /// Slow start doubles the window every other round trip: 2 to 32 segments in seven.
    #[test]
    fn doubles_every_other_round_trip() {
        let mut vegas = VegasControl::new(&CONFIG);
        let mut window = Window::new(2 * MSS, MSS as u32, 2 * MSS, 1000 * MSS, true);
        let mut una = 0;
        let mut windows = Vec::new();
        for _ in 0..7 {
            let segments = window.cwnd() / MSS;
            for n in 1..=segments {
                una += MSS;
                let event = Feedback {
                    now_ps: 0,
                    una,
                    nxt: una + window.cwnd(),
                    acked: MSS,
                    echo: Echo::default(),
                    after_loss: false,
                    may_grow: true,
                    rtt_ps: (n == segments).then_some(1),
                    srtt_ps: 1,
                    sent_ps: None,
                };
                vegas.on_ack(&mut window, &event);
            }
            windows.push(window.cwnd() / MSS);
        }
        assert_eq!(windows, [4, 4, 8, 8, 16, 16, 32]);
    }
}
