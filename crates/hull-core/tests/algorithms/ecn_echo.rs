//! The two ECN-Echo receivers.

use hull_core::ecn_echo::{AckNow, ClassicEcho, DctcpEcho};
use proptest::prelude::*;

/// The sender's view: each ACK covers the packets since the previous ACK.
#[derive(Default)]
struct Sender {
    acked: usize,
    rebuilt: Vec<bool>,
}

impl Sender {
    fn on_ack(&mut self, up_to: usize, ece: bool) {
        assert!(up_to > self.acked, "an ACK covers at least one packet");
        self.rebuilt.resize(up_to, ece);
        self.acked = up_to;
    }
}

proptest! {
    /// For any sequence of CE bits, with ACKs for other reasons in between, the sender reconstructs
    /// the sequence exactly, with one or two ACKs at each transition.
    #[test]
    fn dctcp_sender_rebuilds_the_marks(
        packets in prop::collection::vec((any::<bool>(), 0_u32..6), 0..300),
        ack_every in 0_u32..10,
        one_ack in any::<bool>(),
    ) {
        let mut echo = match one_ack {
            true => DctcpEcho::with_one_ack(ack_every),
            false => DctcpEcho::new(ack_every),
        };
        let mut sender = Sender::default();
        let mut last_ce = false;
        for (number, &(ce, timer)) in packets.iter().enumerate() {
            let waited = echo.pending() > 0;
            let (previous, current) = echo.on_data(ce);
            if let Some(AckNow { ece }) = previous {
                sender.on_ack(number, ece);
            }
            if let Some(AckNow { ece }) = current {
                sender.on_ack(number + 1, ece);
            }
            prop_assert_eq!(echo.pending() as usize, number + 1 - sender.acked);
            let acks = u32::from(previous.is_some()) + u32::from(current.is_some());
            if ce != last_ce && ack_every > 1 {
                prop_assert_eq!(acks, if waited && !one_ack { 2 } else { 1 });
                prop_assert_eq!(echo.pending(), u32::from(waited && one_ack));
            }
            last_ce = ce;
            prop_assert!(echo.pending() < ack_every.max(1), "m packets are acknowledged at once");
            if timer == 0 && echo.pending() > 0 {
                sender.on_ack(number + 1, echo.on_ack_sent());
                prop_assert_eq!(echo.pending(), 0);
            }
        }
        if echo.pending() > 0 {
            sender.on_ack(packets.len(), echo.on_ack_sent());
        }
        let truth: Vec<bool> = packets.iter().map(|packet| packet.0).collect();
        prop_assert_eq!(sender.rebuilt, truth);
    }

    /// An ACK carries ECE exactly if a CE arrived since the last CWR, or with it.
    #[test]
    fn classic_echo_lasts_until_cwr(
        packets in prop::collection::vec((any::<bool>(), any::<bool>()), 0..300),
        ack_every in 0_u32..10,
    ) {
        let mut echo = ClassicEcho::new(ack_every);
        for number in 0..packets.len() {
            let (ce, cwr) = packets[number];
            let ack = echo.on_data(ce, cwr);
            let from = packets[..=number].iter().rposition(|packet| packet.1).unwrap_or(0);
            let marked = packets[from..=number].iter().any(|packet| packet.0);
            match ack {
                Some(AckNow { ece }) => prop_assert_eq!(ece, marked),
                None => prop_assert_eq!(echo.clone().on_ack_sent(), marked),
            }
            prop_assert!(echo.pending() < ack_every.max(1));
        }
    }
}
