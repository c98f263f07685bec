//! DCTCP's window: alpha from `hull-core`, slow start and additive increase as NewReno, loss as NewReno
//! (thesis 2.2.1; RFC 8257, 3.5), and one of two reactions to ECN-Echo.
//!
//! Thesis 2.2.1, equation 2.2: once per window of data, by alpha / 2 of the window; the marked ACK
//! itself does not increase the window. Thesis 3.4.2, equation 3.35 ("RTT-fair"): every marked ACK
//! takes alpha / 2 packets for each packet that it covers, and every ACK, marked or not, adds its 1 /
//! W. Either ends slow start.
//!
//! The documents do not specify whether the window grows on ACKs without ECN-Echo while data from
//! before a cut is being acknowledged. The sawtooth of thesis 2.2.3 has a period of D round trips for D
//! packets (equation 2.9), so it grows from the cut on; RFC 8257, 3.4, lets it grow like TCP's; Linux
//! and ns-3 hold it.

use hull_core::dctcp::{self, DctcpConfig, ONE};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CongestionControl, Feedback};
use crate::problem::{Problem, quoted, require};
use crate::transport::receiver::EchoKind;
use crate::transport::window::Window;
use crate::units::Share;

/// DCTCP's parameters (thesis 2.2.1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dctcp {
    /// Weight g of a new sample of the marked fraction.
    #[serde(default = "sixteenth")]
    pub g: Share,
    /// First value of alpha.
    #[serde(default = "whole")]
    pub initial_alpha: Share,
    /// Whether every marked ACK applies its part of the cut (thesis 3.4.2), instead of one cut for each
    /// window of data.
    #[serde(default)]
    pub rtt_fair: bool,
    /// Whether the window stays constant after a cut until all data sent before it is acknowledged (Linux,
    /// ns-3), instead of growing with each ACK that has no ECN-Echo.
    #[serde(default)]
    pub hold_after_cut: bool,
}

const fn sixteenth() -> Share {
    Share(Share::ONE / 16)
}
const fn whole() -> Share {
    Share(Share::ONE)
}

impl Default for Dctcp {
    fn default() -> Self {
        Dctcp {
            g: sixteenth(),
            initial_alpha: whole(),
            rtt_fair: false,
            hold_after_cut: false,
        }
    }
}

impl Dctcp {
    /// Checks the settings.
    pub(crate) fn check(&self) -> Result<(), Problem> {
        let (g, alpha) = (self.g, self.initial_alpha);
        require(
            g.0 > 0 && g.0 <= Share::ONE,
            "transport.dctcp.g",
            quoted(g),
            "above 0 and at most 1",
        )?;
        require(
            alpha.0 <= Share::ONE,
            "transport.dctcp.initial_alpha",
            quoted(alpha),
            "0 to 1",
        )?;
        require(
            !(self.hold_after_cut && self.rtt_fair),
            "transport.dctcp.hold_after_cut",
            self.hold_after_cut,
            "false with transport.dctcp.rtt_fair = true, which has no cut",
        )
    }
}

/// DCTCP control of one flow.
#[derive(Clone, Debug)]
pub struct DctcpControl {
    estimator: dctcp::Dctcp,
    reaction: Reaction,
}

/// Reaction of the window to ECN-Echo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reaction {
    /// One cut per window of data.
    Cut,
    /// One cut per window of data, after which the window stays constant until all data sent before
    /// the cut is acknowledged.
    CutAndHold,
    /// A part of the cut per marked ACK.
    PerAck,
}

impl DctcpControl {
    /// Creates the control with these settings.
    pub fn new(settings: &Dctcp) -> Self {
        let one = u64::from(ONE);
        let config = DctcpConfig {
            g: settings.g.scaled(one) as u32,
            initial_alpha: settings.initial_alpha.scaled(one) as u32,
        };
        DctcpControl {
            estimator: dctcp::Dctcp::new(&config),
            reaction: if settings.rtt_fair {
                Reaction::PerAck
            } else if settings.hold_after_cut {
                Reaction::CutAndHold
            } else {
                Reaction::Cut
            },
        }
    }
}

impl CongestionControl for DctcpControl {
    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &Feedback) -> bool {
        self.estimator
            .on_ack(ack.una, ack.nxt, ack.acked, ack.echo.marked);
        let marked = ack.echo.marked && !ack.after_loss;
        let per_ack = self.reaction == Reaction::PerAck;
        if marked && per_ack {
            window.shrink_by(self.estimator.on_ece_per_ack(ack.acked));
        } else if marked && let Some(cwnd) = self.estimator.on_ece(ack.una, ack.nxt, window.cwnd())
        {
            window.reduce_to(cwnd);
            return true;
        }
        let held = self.reaction == Reaction::CutAndHold && self.estimator.cut_covers(ack.una);
        if ack.may_grow && !held && (per_ack || !ack.echo.marked) {
            window.grow(ack.acked);
        }
        marked && per_ack
    }

    /// DCTCP's two-state machine of thesis figure 2.10.
    fn echo(&self) -> EchoKind {
        EchoKind::Dctcp
    }

    fn alpha(&self) -> Option<f64> {
        Some(f64::from(self.estimator.alpha()) / f64::from(ONE))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Echo;
    use super::*;

    const MSS: u64 = 1000;

    /// Settings with a constant alpha.
    fn constant(alpha: f64) -> Dctcp {
        Dctcp {
            g: Share(0),
            initial_alpha: Share((alpha * Share::ONE as f64) as u64),
            ..Dctcp::default()
        }
    }

    fn per_ack(alpha: f64) -> DctcpControl {
        DctcpControl::new(&Dctcp {
            rtt_fair: true,
            ..constant(alpha)
        })
    }

    fn ack(n: u64, ece: bool) -> Feedback {
        Feedback {
            now_ps: 0,
            una: 100 * n * MSS,
            nxt: 1_000_000 * MSS,
            acked: MSS,
            echo: Echo::marks(ece),
            after_loss: false,
            may_grow: true,
            rtt_ps: None,
            srtt_ps: 0,
        }
    }

    /// Twenty packets in flight, alpha constant at 1/2, congestion avoidance. The first ACK cuts
    /// the window from 20 to 15 packets; no other ACK carries ECN-Echo. During the ACKs of the 19
    /// packets then in flight the window grows by one packet if it is not held, and not at all if
    /// it is; after them both windows grow alike.
    #[test]
    fn the_window_is_held_until_the_flight_of_the_cut_is_acknowledged() {
        let settings = |hold_after_cut| Dctcp {
            hold_after_cut,
            ..constant(0.5)
        };
        let windows = |mut control: DctcpControl| {
            let mut window = Window::new(20 * MSS, MSS as u32, 2 * MSS, 10_000 * MSS, true);
            let mut sizes = Vec::new();
            for n in 1..=36 {
                let event = Feedback {
                    una: n * MSS,
                    nxt: 20 * MSS + n.saturating_sub(1) * MSS,
                    ..ack(n, n == 1)
                };
                assert_eq!(control.on_ack(&mut window, &event), n == 1);
                sizes.push(window.cwnd() / MSS);
            }
            sizes
        };
        let (grows, holds) = (
            windows(DctcpControl::new(&settings(false))),
            windows(DctcpControl::new(&settings(true))),
        );
        assert_eq!((grows[0], holds[0]), (15, 15));
        // The 15 packets acknowledged by ACKs 2 to 16.
        assert_eq!((grows[14], grows[15]), (15, 16));
        // The 15 of ACKs 21 to 35: ACKs up to 20 cover packets from before the cut.
        assert_eq!((holds[33], holds[34]), (15, 16));
    }

    /// Window and threshold after a window of marked ACKs; no growth, alpha constant (g = 0).
    fn window_of_marks(alpha: f64, packets: u64, packets_per_ack: u64) -> (u64, u64) {
        let mut marked = per_ack(alpha);
        let mut window = Window::new(packets * MSS, MSS as u32, 2 * MSS, 10_000 * MSS, true);
        for n in 0..packets / packets_per_ack {
            let event = Feedback {
                acked: packets_per_ack * MSS,
                may_grow: false,
                ..ack(n, true)
            };
            assert!(marked.on_ack(&mut window, &event));
        }
        (window.cwnd(), window.ssthresh())
    }

    /// Equation 3.35: W marked packets reduce the window by W alpha / 2, like one cut per window,
    /// for any number of packets per ACK.
    #[test]
    fn window_of_marks_cuts_as_much_as_one_cut() {
        for (alpha, packets) in [(1.0, 20), (0.5, 40), (0.03, 400), (0.0, 60)] {
            for packets_per_ack in [1, 2, 4] {
                let expected = packets as f64 * MSS as f64 * (1.0 - alpha / 2.0);
                let (cwnd, ssthresh) = window_of_marks(alpha, packets, packets_per_ack);
                assert!((cwnd as f64 - expected).abs() <= 1.0, "{cwnd} {expected}");
                assert_eq!(ssthresh, cwnd);
            }
        }
    }

    /// With a share F of the ACKs marked and alpha = F, the window is stable where the marks take
    /// the one packet gained per window: W F alpha / 2 = 1, so W = 2 / F^2 packets.
    #[test]
    fn it_settles_where_growth_and_marks_balance() {
        let mut control = per_ack(0.25);
        let mut window = Window::new(200 * MSS, MSS as u32, 2 * MSS, 10_000 * MSS, true);
        window.set_ssthresh(MSS);
        for n in 1..40_000 {
            control.on_ack(&mut window, &ack(n, n % 4 == 0));
        }
        let packets = window.cwnd() as f64 / MSS as f64;
        assert!((packets - 32.0).abs() < 1.5, "{packets}");
    }
}
