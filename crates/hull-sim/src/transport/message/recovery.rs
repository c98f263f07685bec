//! How a connection learns that packets are lost, besides the headers of trimmed packets and the timeout.
//!
//! Go-back-N is what the adapters of RoCE do (InfiniBand's reliable connection): the receiver accepts
//! packets in order only. It discards others, and asks once to go back to the first missing packet. Selective
//! repeat is IRN's (Mittal et al., SIGCOMM 2018): the receiver accepts packets in any order, and the sender
//! retransmits those that a later acknowledged one has overtaken. The IRN of ConWeave's simulator
//! (conweave-project/conweave-ns3 at 236a801, `rdma-hw.cc`) is a third: at a gap the sender goes back to the missing packet
//! and leaves out only what has been acknowledged when its turn comes, so that it repeats most of a round trip.
//! Times are ps.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Recovery of lost packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Recovery {
    /// Packets are accepted in any order, and lost if they are trimmed or not acknowledged in time (Ultra
    /// Ethernet).
    #[default]
    Timeout,
    /// Packets are accepted in order only; after a gap the sender goes back to the missing packet (RoCE).
    GoBackN,
    /// Packets are accepted in any order, and lost if later ones are acknowledged (IRN).
    Selective,
    /// Packets are accepted in any order; after a gap the sender sends all again that it does not know to have
    /// arrived, from the missing packet on (IRN in ConWeave's simulator).
    SelectiveGoBack,
}

impl Recovery {
    /// Whether a receiver acknowledges each packet behind a gap.
    #[inline]
    pub fn answers_behind_gaps(self) -> bool {
        match self {
            Recovery::Timeout | Recovery::GoBackN => false,
            Recovery::Selective | Recovery::SelectiveGoBack => true,
        }
    }
}

/// A receiver's requests to go back.
#[derive(Clone, Copy, Debug)]
pub struct GapRequests {
    /// Time after which a request for the same packet is repeated, ps.
    pub interval_ps: u64,
    /// Packet of the last request, and its time, ps.
    last: Option<(u64, u64)>,
}

impl GapRequests {
    /// Creates the state before the first gap.
    pub fn new(interval_ps: u64) -> Self {
        GapRequests {
            interval_ps,
            last: None,
        }
    }

    /// Processes a packet that arrives while `expected` is missing. Returns whether to ask for that one.
    pub fn on_gap(&mut self, now_ps: u64, expected: u64) -> bool {
        if let Some((packet, at_ps)) = self.last
            && packet == expected
            && now_ps < at_ps + self.interval_ps
        {
            return false;
        }
        self.last = Some((expected, now_ps));
        true
    }
}

/// A receiver's notifications of marks: at most one per interval (DCQCN, SIGCOMM 2015, section 3.1).
#[derive(Clone, Copy, Debug)]
pub struct Notifications {
    interval_ps: u64,
    /// Time of the last one, ps.
    last_ps: Option<u64>,
}

impl Notifications {
    /// Creates the state before the first mark.
    pub fn new(interval_ps: u64) -> Self {
        Notifications {
            interval_ps,
            last_ps: None,
        }
    }

    /// Processes a marked packet. Returns whether to notify the sender.
    pub fn on_mark(&mut self, now_ps: u64) -> bool {
        let is_due = self
            .last_ps
            .is_none_or(|last_ps| now_ps >= last_ps + self.interval_ps);
        if is_due {
            self.last_ps = Some(now_ps);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One request for each missing packet, repeated after the interval.
    #[test]
    fn gaps_are_reported_once_and_again_after_the_interval() {
        let mut gaps = GapRequests::new(100);
        let asks = [
            (0, 5),
            (50, 5),
            (99, 5),
            (100, 5),
            (101, 6),
            (150, 6),
            (201, 6),
        ];
        let asked = asks.map(|(now_ps, expected)| gaps.on_gap(now_ps, expected));
        assert_eq!(asked, [true, false, false, true, true, false, true]);
    }

    /// Marks every 20 us and an interval of 50 us: notifications at 0, 60 and 120 us.
    #[test]
    fn notifications_keep_their_interval() {
        let mut notifications = Notifications::new(50);
        let sent = (0..8).filter(|n| notifications.on_mark(20 * n));
        assert_eq!(Vec::from_iter(sent), [0, 3, 6]);
    }
}
