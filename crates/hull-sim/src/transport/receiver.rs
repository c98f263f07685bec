//! The receiving half of a TCP flow: reassembly, delayed ACKs, ECN-Echo, SACK blocks (RFC 2018).
//! Positions are bytes of the stream, times ps.

use hull_core::ecn_echo::{ClassicEcho, DctcpEcho};

use super::sack_table::SackBlocks;
use super::sender::NEVER;

/// How congestion marks are echoed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EchoKind {
    /// RFC 3168: ECE on every ACK until CWR.
    Classic,
    /// DCTCP's two-state machine (thesis figure 2.10).
    Dctcp,
}

/// What a receiver is made of.
#[derive(Clone, Copy, Debug)]
pub struct ReceiverConfig {
    /// One ACK for every so many data packets, 1 for all.
    pub ack_every: u32,
    /// Longest wait of a delayed ACK, ps.
    pub delayed_ack_ps: u64,
    /// Echo.
    pub echo: EchoKind,
}

#[derive(Clone, Debug)]
enum Echo {
    Classic(ClassicEcho),
    Dctcp(DctcpEcho),
}

/// An ACK to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutgoingAck {
    /// Next byte expected.
    pub ack: u64,
    /// ECN-Echo.
    pub ece: bool,
    /// Bytes received above `ack`.
    pub sack: SackBlocks,
}

/// The receiving half of a flow.
#[derive(Clone, Debug)]
pub struct Receiver {
    next: u64,
    /// Blocks received above `next`, disjoint, the latest first.
    blocks: Vec<(u64, u64)>,
    echo: Echo,
    delayed_ack_ps: u64,
    /// When the delayed ACK is due; [`NEVER`] when none is pending.
    pub ack_deadline_ps: u64,
    /// When the event queue will look at the timer; kept by the simulation.
    pub ack_event_ps: u64,
}

impl Receiver {
    /// A receiver that expects byte 0.
    pub fn new(config: &ReceiverConfig) -> Self {
        Receiver {
            next: 0,
            blocks: Vec::new(),
            echo: match config.echo {
                EchoKind::Classic => Echo::Classic(ClassicEcho::new(config.ack_every)),
                EchoKind::Dctcp => Echo::Dctcp(DctcpEcho::new(config.ack_every)),
            },
            delayed_ack_ps: config.delayed_ack_ps,
            ack_deadline_ps: NEVER,
            ack_event_ps: NEVER,
        }
    }

    /// Next byte expected: everything below has been received.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Takes data [start, start + bytes) with its CE and CWR bits; returns the ACKs to send now.
    #[inline]
    pub fn on_data(
        &mut self,
        now_ps: u64,
        start: u64,
        bytes: u64,
        ce: bool,
        cwr: bool,
    ) -> [Option<OutgoingAck>; 2] {
        let before = self.next;
        let in_order = start == before && self.blocks.is_empty();
        if in_order {
            self.next += bytes;
        } else {
            self.take(start, start + bytes);
        }
        let (previous, current) = match &mut self.echo {
            Echo::Classic(echo) => (None, echo.on_data(ce, cwr)),
            Echo::Dctcp(echo) => echo.on_data(ce),
        };
        let previous = previous.map(|now| OutgoingAck {
            ack: before,
            ece: now.ece,
            sack: SackBlocks::default(),
        });
        let current = match current {
            Some(now) => Some(now.ece),
            None if in_order => None,
            None => Some(self.echo_sent()),
        };
        match current {
            Some(ece) => {
                self.ack_deadline_ps = NEVER;
                [previous, Some(self.ack(ece))]
            }
            None => {
                if self.ack_deadline_ps == NEVER || previous.is_some() {
                    self.ack_deadline_ps = now_ps + self.delayed_ack_ps;
                }
                [previous, None]
            }
        }
    }

    /// The ACK that is pending, for the timer or to ride on a data packet; `None` when none is.
    #[inline]
    pub fn take_pending(&mut self) -> Option<OutgoingAck> {
        if self.ack_deadline_ps == NEVER {
            return None;
        }
        self.ack_deadline_ps = NEVER;
        let ece = self.echo_sent();
        Some(self.ack(ece))
    }

    fn echo_sent(&mut self) -> bool {
        match &mut self.echo {
            Echo::Classic(echo) => echo.on_ack_sent(),
            Echo::Dctcp(echo) => echo.on_ack_sent(),
        }
    }

    #[inline]
    fn ack(&self, ece: bool) -> OutgoingAck {
        let mut sack = SackBlocks::default();
        for &(start, end) in self.blocks.iter().take(3) {
            sack.push(start, end);
        }
        OutgoingAck {
            ack: self.next,
            ece,
            sack,
        }
    }

    /// Out-of-order data: joins it with what it touches and moves `next` over what is complete.
    fn take(&mut self, start: u64, end: u64) {
        let (mut low, mut high) = (start.max(self.next), end);
        if low >= high {
            return;
        }
        self.blocks.retain(|&(s, e)| {
            let touches = s <= high && e >= low;
            if touches {
                low = low.min(s);
                high = high.max(e);
            }
            !touches
        });
        if low == self.next {
            self.next = high;
        } else {
            self.blocks.insert(0, (low, high));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receiver(ack_every: u32) -> Receiver {
        Receiver::new(&ReceiverConfig {
            ack_every,
            delayed_ack_ps: 100,
            echo: EchoKind::Dctcp,
        })
    }

    #[test]
    fn delays_every_other_ack() {
        let mut flow = receiver(2);
        assert_eq!(flow.on_data(0, 0, 10, false, false), [None, None]);
        assert_eq!(flow.ack_deadline_ps, 100);
        let [previous, current] = flow.on_data(5, 10, 10, false, false);
        assert_eq!((previous, current.map(|ack| ack.ack)), (None, Some(20)));
        assert_eq!(flow.ack_deadline_ps, NEVER);
    }

    #[test]
    fn a_change_of_marking_acknowledges_what_came_before() {
        let mut flow = receiver(2);
        flow.on_data(0, 0, 10, false, false);
        let [previous, current] = flow.on_data(7, 10, 10, true, false);
        assert_eq!(previous.map(|ack| (ack.ack, ack.ece)), Some((10, false)));
        assert_eq!(current, None);
        assert_eq!(flow.ack_deadline_ps, 107);
        assert_eq!(
            flow.take_pending().map(|ack| (ack.ack, ack.ece)),
            Some((20, true))
        );
    }

    #[test]
    fn reports_holes_latest_block_first() {
        let mut flow = receiver(2);
        for start in [20, 40, 60, 80] {
            flow.on_data(0, start, 10, false, false);
        }
        let [_, ack] = flow.on_data(0, 50, 10, false, false);
        let ack = ack.expect("out of order data is acknowledged at once");
        assert_eq!(
            (ack.ack, ack.sack.as_slice()),
            (0, &[(40, 70), (80, 90), (20, 30)][..])
        );
        let [_, ack] = flow.on_data(0, 0, 20, false, false);
        assert_eq!(ack.map(|ack| ack.ack), Some(30));
        assert_eq!(flow.next(), 30);
    }
}
