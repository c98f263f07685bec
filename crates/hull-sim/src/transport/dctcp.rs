//! DCTCP's window: alpha from `hull-core`, slow start and additive increase as NewReno, loss as NewReno
//! (thesis 2.2.1; RFC 8257, 3.5), and one of two reactions to ECN-Echo.
//!
//! Thesis 2.2.1, equation 2.2: once per window of data, by alpha / 2 of the window; the marked ACK
//! itself lets nothing grow. Thesis 3.4.2, equation 3.35 ("RTT-fair"): every marked ACK takes alpha / 2
//! packets for each packet that it covers, and every ACK, marked or not, adds its 1 / W. Either ends
//! slow start.
//!
//! Whether the window grows on ACKs without ECN-Echo while the data from before a cut is still being
//! acknowledged, the documents leave open: the sawtooth of thesis 2.2.3 has a period of D round trips for
//! D packets (equation 2.9), so it grows from the cut on, and RFC 8257, 3.4, lets it grow as TCP's; Linux
//! and ns-3 hold it.

use hull_core::dctcp::{Dctcp, DctcpConfig};

use super::congestion::{AckEvent, CongestionControl};
use super::window::Window;

/// DCTCP's reaction to ECN-Echo.
#[derive(Clone, Debug)]
pub struct DctcpControl {
    estimator: Dctcp,
    reaction: Reaction,
}

/// What ECN-Echo does to the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reaction {
    /// One cut for each window of data.
    Cut,
    /// The same, and the window stands still until the data from before the cut is acknowledged.
    CutAndHold,
    /// A part of the cut for each marked ACK.
    PerAck,
}

impl DctcpControl {
    /// With the gain and first alpha of `config`, and the cut once per window of data.
    pub fn new(config: &DctcpConfig) -> Self {
        DctcpControl {
            estimator: Dctcp::new(config),
            reaction: Reaction::Cut,
        }
    }

    /// The same, with the window held after a cut until all that was sent before it is acknowledged.
    pub fn holding(config: &DctcpConfig) -> Self {
        DctcpControl {
            reaction: Reaction::CutAndHold,
            ..Self::new(config)
        }
    }

    /// The same with the RTT-fair reaction per ACK (thesis 3.4.2).
    pub fn rtt_fair(config: &DctcpConfig) -> Self {
        DctcpControl {
            reaction: Reaction::PerAck,
            ..Self::new(config)
        }
    }

    /// The share of marked bytes that it estimates, 0 to [`hull_core::dctcp::ONE`].
    pub fn alpha(&self) -> u32 {
        self.estimator.alpha()
    }
}

impl CongestionControl for DctcpControl {
    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &AckEvent) -> bool {
        self.estimator.on_ack(ack.una, ack.nxt, ack.acked, ack.ece);
        let marked = ack.ece && !ack.after_loss;
        let per_ack = self.reaction == Reaction::PerAck;
        if marked && per_ack {
            window.shrink_by(self.estimator.on_ece_per_ack(ack.acked));
        } else if marked && let Some(cwnd) = self.estimator.on_ece(ack.una, ack.nxt, window.cwnd())
        {
            window.reduce_to(cwnd);
            return true;
        }
        let held = self.reaction == Reaction::CutAndHold && self.estimator.cut_covers(ack.una);
        if ack.may_grow && !held && (per_ack || !ack.ece) {
            window.grow(ack.acked);
        }
        marked && per_ack
    }
}

#[cfg(test)]
mod tests {
    use hull_core::dctcp::ONE;

    use super::*;

    const MSS: u64 = 1000;

    fn ack(n: u64, ece: bool) -> AckEvent {
        AckEvent {
            now_ps: 0,
            una: 100 * n * MSS,
            nxt: 1_000_000 * MSS,
            acked: MSS,
            ece,
            after_loss: false,
            may_grow: true,
            rtt_ps: None,
            srtt_ps: 0,
        }
    }

    /// Twenty packets in flight, alpha 1/2 for good, in congestion avoidance. The first ACK cuts 20 to
    /// 15 packets, and no other carries ECN-Echo. The 19 packets that were in flight then let a window of
    /// 15 grow by one packet where it is not held, by none where it is; once they are acknowledged the two
    /// grow alike.
    #[test]
    fn the_window_is_held_until_the_flight_of_the_cut_is_acknowledged() {
        let config = DctcpConfig {
            g: 0,
            initial_alpha: ONE / 2,
        };
        let windows = |mut control: DctcpControl| {
            let mut window = Window::new(20 * MSS, MSS as u32, 2 * MSS, 10_000 * MSS, true);
            let mut sizes = Vec::new();
            for n in 1..=36 {
                let event = AckEvent {
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
            windows(DctcpControl::new(&config)),
            windows(DctcpControl::holding(&config)),
        );
        assert_eq!((grows[0], holds[0]), (15, 15));
        // The 15 packets of ACKs 2 to 16.
        assert_eq!((grows[14], grows[15]), (15, 16));
        // Of ACKs 21 to 35: up to 20 all is from before the cut.
        assert_eq!((holds[33], holds[34]), (15, 16));
    }

    /// g = 0, so that alpha stays: the sum over a window of marked ACKs, growth counted apart.
    fn window_of_marks(alpha: f64, packets: u64, packets_per_ack: u64) -> (u64, u64) {
        let config = DctcpConfig {
            g: 0,
            initial_alpha: (alpha * f64::from(ONE)) as u32,
        };
        let mut marked = DctcpControl::rtt_fair(&config);
        let mut window = Window::new(packets * MSS, MSS as u32, 2 * MSS, 10_000 * MSS, true);
        for n in 0..packets / packets_per_ack {
            let event = AckEvent {
                acked: packets_per_ack * MSS,
                may_grow: false,
                ..ack(n, true)
            };
            assert!(marked.on_ack(&mut window, &event));
        }
        (window.cwnd(), window.ssthresh())
    }

    /// Equation 3.35: W marked packets take W alpha / 2, as the cut once per window does, whether each
    /// ACK covers one packet or four.
    #[test]
    fn a_window_of_marks_takes_what_one_cut_does() {
        for (alpha, packets) in [(1.0, 20), (0.5, 40), (0.03, 400), (0.0, 60)] {
            for packets_per_ack in [1, 2, 4] {
                let expected = packets as f64 * MSS as f64 * (1.0 - alpha / 2.0);
                let (cwnd, ssthresh) = window_of_marks(alpha, packets, packets_per_ack);
                assert!((cwnd as f64 - expected).abs() <= 1.0, "{cwnd} {expected}");
                assert_eq!(ssthresh, cwnd);
            }
        }
    }

    /// A share F of the ACKs marked and alpha = F: the window stands still where the gain of one packet
    /// a window is what the marks take, W F alpha / 2 = 1, at W = 2 / F^2 packets.
    #[test]
    fn it_settles_where_growth_and_marks_balance() {
        let config = DctcpConfig {
            g: 0,
            initial_alpha: ONE / 4,
        };
        let mut control = DctcpControl::rtt_fair(&config);
        let mut window = Window::new(200 * MSS, MSS as u32, 2 * MSS, 10_000 * MSS, true);
        window.set_ssthresh(MSS);
        for n in 1..40_000 {
            control.on_ack(&mut window, &ack(n, n % 4 == 0));
        }
        let packets = window.cwnd() as f64 / MSS as f64;
        assert!((packets - 32.0).abs() < 1.5, "{packets}");
    }
}
