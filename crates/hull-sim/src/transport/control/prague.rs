//! Prague, the sender of L4S traffic (RFC 9331; [`hull_core::prague`] has the source and the rules):
//! its data carries ECT(1), AccECN reports the number of marked packets, and it paces its window over
//! the round trip.
//!
//! The window is Prague's, rounded up to whole packets. Segments are paced individually; Linux sends
//! bursts of up to 2^-12 s. The marks of an ACK are the smallest number consistent with its ACE field:
//! exact while fewer than eight marked packets are counted between two arriving ACKs, too few if ACKs
//! are lost. Selectively acknowledged packets count when they are acknowledged cumulatively.
//! Retransmitted segments carry no ECT, as in every transport here. After a timeout the window is two
//! packets, in slow start up to half of its previous size.
//!
//! Units: bytes, ps.

use hull_core::accecn::AceDecoder;
use hull_core::prague::{self, ALPHA_ONE, PragueAck, PragueConfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CongestionControl, Feedback, Pace};
use crate::problem::{Problem, quoted, require};
use crate::transport::receiver::EchoKind;
use crate::transport::window::Window;
use crate::units::Time;

/// Prague's parameters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Prague {
    /// Round trip below which the increase shrinks, so that flows of unequal round trips get equal rates; 0s for
    /// none.
    #[serde(default = "rtt_target")]
    pub rtt_target: Time,
    /// Rounds after slow start until that applies.
    #[serde(default = "transition_rounds")]
    pub transition_rounds: u32,
}

const fn rtt_target() -> Time {
    Time(25_000_000_000)
}
const fn transition_rounds() -> u32 {
    500
}

impl Default for Prague {
    fn default() -> Self {
        Prague {
            rtt_target: rtt_target(),
            transition_rounds: transition_rounds(),
        }
    }
}

impl Prague {
    /// Whether all settings have their defaults.
    pub(crate) fn is_default(&self) -> bool {
        *self == Prague::default()
    }

    /// Checks the settings.
    pub(crate) fn check(&self) -> Result<(), Problem> {
        require(
            self.rtt_target <= Time(1_000_000_000_000),
            "transport.prague.rtt_target",
            quoted(self.rtt_target),
            "at most 1s",
        )?;
        require(
            self.transition_rounds <= 1_000_000,
            "transport.prague.transition_rounds",
            self.transition_rounds,
            "0 to 1000000",
        )
    }
}

/// Prague control of one flow.
#[derive(Clone, Debug)]
pub struct PragueControl(Box<State>);

#[derive(Clone, Debug)]
struct State {
    config: PragueConfig,
    /// Window and alpha; `None` before the first acknowledgment.
    sender: Option<prague::Prague>,
    marks: AceDecoder,
    pace: Pace,
    /// Largest segment sent, bytes on the wire.
    packet_bytes: u16,
}

impl PragueControl {
    /// Creates the control with these settings.
    pub fn new(settings: &Prague) -> Self {
        PragueControl(Box::new(State {
            config: PragueConfig {
                rtt_target_ps: settings.rtt_target.0,
                transition_rounds: settings.transition_rounds,
            },
            sender: None,
            marks: AceDecoder::new(),
            pace: Pace::Window,
            packet_bytes: 0,
        }))
    }
}

impl CongestionControl for PragueControl {
    fn on_ack(&mut self, window: &mut Window, ack: &Feedback) -> bool {
        let State {
            config,
            sender,
            marks,
            pace,
            packet_bytes,
        } = &mut *self.0;
        let mss = window.mss();
        let sender = sender.get_or_insert_with(|| {
            let packets = (window.cwnd() / mss) as u32;
            prague::Prague::new(config, packets.max(1), ack.now_ps)
        });
        if !ack.after_loss {
            sender.on_recovered();
        }
        let acked_packets = ack.acked.div_ceil(mss);
        let marked = marks.on_ack(ack.echo.ace, acked_packets).least;
        marks.accept(marked);
        let whole = |sender: &prague::Prague| sender.window_packets() * mss;
        let is_largest = whole(sender) > window.cwnd();
        let cut = sender.on_ack(&PragueAck {
            now_ps: ack.now_ps,
            una: ack.una,
            nxt: ack.nxt,
            acked_packets: acked_packets as u32,
            marked_packets: marked as u32,
            rtt_ps: ack.srtt_ps,
            slow_start: window.in_slow_start(),
            window_limited: ack.may_grow && !is_largest,
        });
        match cut {
            true => window.reduce_to(whole(sender)),
            false => window.set_cwnd(whole(sender)),
        }
        if ack.srtt_ps > 0 {
            let threshold = window.ssthresh() / mss;
            let bytes = u32::from(*packet_bytes);
            *pace = Pace::Bps(sender.pacing_bps(bytes, ack.srtt_ps, threshold).max(1));
        }
        cut
    }

    fn on_loss(&mut self, window: &mut Window, flight: u64) {
        let half = match &mut self.0.sender {
            Some(sender) => {
                sender.on_loss();
                sender.window_packets() * window.mss()
            }
            None => flight / 2,
        };
        window.reduce_to(half.max(2 * window.mss()));
    }

    fn on_timeout(&mut self, window: &mut Window, flight: u64) {
        window.reduce_to((flight / 2).max(2 * window.mss()));
        window.set_cwnd(window.mss());
        if let Some(sender) = &mut self.0.sender {
            sender.on_timeout();
        }
    }

    fn sets_pace(&self) -> bool {
        true
    }

    fn pace(&self) -> Pace {
        self.0.pace
    }

    fn on_sent(&mut self, _now_ps: u64, wire_bytes: u16) -> Pace {
        self.0.packet_bytes = self.0.packet_bytes.max(wire_bytes);
        self.0.pace
    }

    fn echo(&self) -> EchoKind {
        EchoKind::Accurate
    }

    fn alpha(&self) -> Option<f64> {
        let sender = self.0.sender.as_ref()?;
        Some(sender.alpha() as f64 / ALPHA_ONE as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Echo;
    use super::*;

    const MSS: u64 = 1000;
    const MS: u64 = 1_000_000_000;

    fn feedback(una: u64, segments: u64, ace: u8) -> Feedback<'static> {
        Feedback {
            now_ps: una * MS,
            una: una * MSS,
            nxt: (una + 10) * MSS,
            acked: segments * MSS,
            echo: Echo {
                ace,
                ..Echo::default()
            },
            after_loss: false,
            may_grow: true,
            rtt_ps: None,
            srtt_ps: 100 * MS,
            sent_ps: None,
        }
    }

    /// Ten packets; the first ACK covers two, one of them marked. alpha starts at 1, so the cut
    /// leaves five packets, and the unmarked packet adds a fifth: 5.2 packets of 1500 bytes in 100
    /// ms are 624 kbit/s. The next ACK repeats the field: no new mark.
    #[test]
    fn a_mark_in_the_field_cuts_and_paces() {
        let mut control = PragueControl::new(&Prague::default());
        let mut window = Window::new(10 * MSS, MSS as u32, 2 * MSS, 100 * MSS, true);
        window.set_ssthresh(MSS);
        control.on_sent(0, 1500);
        assert_eq!(control.pace(), Pace::Window);
        assert!(control.on_ack(&mut window, &feedback(2, 2, 6)));
        assert_eq!(window.cwnd(), 6 * MSS);
        let Pace::Bps(pace_bps) = control.pace() else {
            panic!("paced");
        };
        assert!((623_900..=624_000).contains(&pace_bps), "{pace_bps}");
        assert!(!control.on_ack(&mut window, &feedback(4, 2, 6)));
    }

    /// The field wraps at eight packets: from 7 (two marks) to 2 (five marks) are three marks.
    #[test]
    fn the_field_wraps() {
        let mut control = PragueControl::new(&Prague::default());
        let mut window = Window::new(10 * MSS, MSS as u32, 2 * MSS, 100 * MSS, true);
        control.on_ack(&mut window, &feedback(2, 2, 7));
        control.on_ack(&mut window, &feedback(6, 4, 2));
        assert_eq!(control.0.marks.marks(), 5);
    }
}
