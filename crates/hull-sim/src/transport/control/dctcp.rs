//! DCTCP's window: alpha from `hull-core`, slow start and additive increase as NewReno, loss as NewReno
//! (thesis 2.2.1; RFC 8257, 3.5), and one of two reactions to ECN-Echo.
//!
//! Thesis 2.2.1, equation 2.2: once per window of data, by alpha / 2 of the window; the marked ACK
//! itself does not increase the window. Thesis 3.4.2, equation 3.35 ("RTT-fair"): every marked ACK
//! takes alpha / 2 packets for each packet that it covers (or once, as the equation is printed), and
//! every ACK, marked or not, adds its 1 / W. Either ends slow start.
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
    /// With rtt_fair: whether a marked ACK applies the cut of each packet that it covers or, as the equation
    /// is printed, of one packet.
    #[serde(default, skip_serializing_if = "FairPer::is_default")]
    pub rtt_fair_per: FairPer,
    /// Whether the window stays constant after a cut until all data sent before it is acknowledged (Linux,
    /// ns-3), instead of growing with each ACK that has no ECN-Echo.
    #[serde(default)]
    pub hold_after_cut: bool,
    /// ACKs that the receiver sends when the marking changes while an ACK is delayed: 2, for the packets before
    /// the change and the one after it (Linux), or 1, for those before it (thesis 2.2.1).
    #[serde(default = "two", skip_serializing_if = "is_two")]
    pub acks_at_change: u8,
}

/// Unit of equation 3.35's cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FairPer {
    /// Each packet that a marked ACK covers: a window of marks removes the same for any number of packets
    /// per ACK.
    #[default]
    Packet,
    /// Each marked ACK: the equation as it is printed.
    Ack,
}

impl FairPer {
    #[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
    fn is_default(&self) -> bool {
        *self == FairPer::default()
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
const fn is_two(acks: &u8) -> bool {
    *acks == two()
}

const fn two() -> u8 {
    2
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
            rtt_fair_per: FairPer::default(),
            hold_after_cut: false,
            acks_at_change: two(),
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
        )?;
        require(
            self.rtt_fair || self.rtt_fair_per == FairPer::Packet,
            "transport.dctcp.rtt_fair_per",
            quoted("ack"),
            "\"packet\" without transport.dctcp.rtt_fair = true",
        )?;
        require(
            (1..=2).contains(&self.acks_at_change),
            "transport.dctcp.acks_at_change",
            self.acks_at_change,
            "1 or 2",
        )
    }
}

/// DCTCP control of one flow.
#[derive(Clone, Debug)]
pub struct DctcpControl {
    estimator: dctcp::Dctcp,
    reaction: Reaction,
    echo: EchoKind,
}

/// Reaction of the window to ECN-Echo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reaction {
    /// One cut per window of data.
    Cut,
    /// One cut per window of data, after which the window stays constant until all data sent before
    /// the cut is acknowledged.
    CutAndHold,
    /// A part of the cut per packet that a marked ACK covers.
    PerPacket,
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
                match settings.rtt_fair_per {
                    FairPer::Packet => Reaction::PerPacket,
                    FairPer::Ack => Reaction::PerAck,
                }
            } else if settings.hold_after_cut {
                Reaction::CutAndHold
            } else {
                Reaction::Cut
            },
            echo: match settings.acks_at_change {
                1 => EchoKind::DctcpOneAck,
                2 => EchoKind::Dctcp,
                other => unreachable!("the scenario's check rejects {other} ACKs"),
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
        let covered = match self.reaction {
            Reaction::PerPacket => Some(ack.acked),
            Reaction::PerAck => Some(ack.acked.min(window.mss())),
            Reaction::Cut | Reaction::CutAndHold => None,
        };
        let per_ack = covered.is_some();
        if marked && let Some(covered) = covered {
            window.shrink_by(self.estimator.on_ece_per_ack(covered));
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
        self.echo
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

    fn fair(alpha: f64, rtt_fair_per: FairPer) -> DctcpControl {
        DctcpControl::new(&Dctcp {
            rtt_fair: true,
            rtt_fair_per,
            ..constant(alpha)
        })
    }

    fn ack(n: u64, ece: bool) -> Feedback<'static> {
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
            sent_ps: None,
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
    fn window_of_marks(mut marked: DctcpControl, packets: u64, packets_per_ack: u64) -> (u64, u64) {
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
    /// for any number n of packets per ACK; per ACK, by an n-th of that.
    #[test]
    fn window_of_marks_cuts_as_much_as_one_cut() {
        for (alpha, packets) in [(1.0, 20), (0.5, 40), (0.03, 400), (0.0, 60)] {
            for n in [1, 2, 4] {
                for (per, share) in [(FairPer::Packet, 1.0), (FairPer::Ack, 1.0 / n as f64)] {
                    let expected = packets as f64 * MSS as f64 * (1.0 - share * alpha / 2.0);
                    let (cwnd, ssthresh) = window_of_marks(fair(alpha, per), packets, n);
                    assert!((cwnd as f64 - expected).abs() <= 1.0, "{cwnd} {expected}");
                    assert_eq!(ssthresh, cwnd);
                }
            }
        }
    }

    /// With a share F of the ACKs marked and alpha = F, the window is stable where the marks take
    /// what the ACKs add: F alpha / 2 = 1 / W for each ACK, so W = 2 / F^2 packets. For ACKs of two
    /// packets that add 1 / W each, a cut per packet halves that window; the equation as it is printed
    /// leaves it.
    #[test]
    fn it_settles_where_growth_and_marks_balance() {
        for (per, packets_per_ack, expected) in [
            (FairPer::Packet, 1, 32.0),
            (FairPer::Packet, 2, 16.0),
            (FairPer::Ack, 1, 32.0),
            (FairPer::Ack, 2, 32.0),
        ] {
            let mut control = fair(0.25, per);
            let mut window = Window::new(200 * MSS, MSS as u32, 2 * MSS, 10_000 * MSS, false);
            window.set_ssthresh(MSS);
            for n in 1..40_000 {
                let event = Feedback {
                    acked: packets_per_ack * MSS,
                    ..ack(n, n % 4 == 0)
                };
                control.on_ack(&mut window, &event);
            }
            let packets = window.cwnd() as f64 / MSS as f64;
            assert!((packets - expected).abs() < 1.5, "{packets} {expected}");
        }
    }
}
