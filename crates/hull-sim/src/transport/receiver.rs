//! The receiving half of a TCP flow: reassembly, delayed ACKs, ECN-Echo, SACK blocks (RFC 2018).
//! Positions are bytes of the stream, times ps.
//!
//! An ACK is delayed until `ack_every` data packets have arrived or its timer expires. Data out of
//! order, data that fills a hole, for DCTCP the first packet after a change of marking (with a single
//! ACK at a change, only if no other packet's ACK is pending), and the first
//! `quick_acks` packets of a connection are acknowledged at once; the latter as in Linux, so that a
//! sender's first windows do not wait for the timer. The end of a message gets no ACK of its own: no
//! document specifies one, and Linux sends it only if the application reads at once and does not
//! answer.

use hull_core::accecn::{AccEcnReceiver, Codepoint};
use hull_core::ecn_echo::{AckNow, ClassicEcho, DctcpEcho};

use super::reassembly::Reassembly;
use super::sender::NEVER;
use crate::network::SackBlocks;

/// Method of echoing congestion marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EchoKind {
    /// RFC 3168: ECE on every ACK from a mark until CWR.
    Classic,
    /// DCTCP's two-state machine (thesis figure 2.10).
    Dctcp,
    /// The same with a single ACK at a change of marking (thesis 2.2.1, to the letter).
    DctcpOneAck,
    /// AccECN (RFC 9768): the count of marked packets on every ACK, and an immediate ACK if the
    /// codepoint changes.
    Accurate,
    /// None: nothing is acknowledged, and lost data is never sent again.
    Silent,
}

/// Configuration of a receiver.
#[derive(Clone, Copy, Debug)]
pub struct ReceiverConfig {
    /// Data packets per ACK; 1 acknowledges each.
    pub ack_every: u32,
    /// Longest wait of a delayed ACK, ps.
    pub delayed_ack_ps: u64,
    /// Number of first data packets that are acknowledged at once.
    pub quick_acks: u16,
    /// Method of echoing marks.
    pub echo: EchoKind,
    /// Whether acknowledgments report data that has arrived twice (DSACK, RFC 2883).
    pub reports_duplicates: bool,
}

#[derive(Clone, Debug)]
enum Echo {
    Classic(ClassicEcho),
    Dctcp(DctcpEcho),
    Accurate(Box<AccurateEcho>),
    Silent,
}

impl Echo {
    /// ACE field; 0 unless marked packets are counted.
    #[inline]
    fn ace(&self) -> u8 {
        match self {
            Echo::Accurate(echo) => echo.counts.ace(),
            _ => 0,
        }
    }
}

/// Codepoint of data. Retransmitted data carries none and counts as unmarked.
fn codepoint(ce: bool) -> Codepoint {
    if ce { Codepoint::Ce } else { Codepoint::Ect1 }
}

/// State of an AccECN receiver.
#[derive(Clone, Debug)]
struct AccurateEcho {
    counts: AccEcnReceiver,
    ack_every: u32,
    /// Data packets since the last ACK.
    pending: u32,
}

impl AccurateEcho {
    fn new(ack_every: u32) -> Self {
        AccurateEcho {
            counts: AccEcnReceiver::new(),
            ack_every,
            pending: 0,
        }
    }

    /// Counts a data packet. Returns the ACK that is due now; it has no ECN-Echo.
    fn on_data(&mut self, ce: bool, bytes: u64) -> Option<AckNow> {
        let changed = self.counts.on_packet(codepoint(ce), bytes as u32);
        self.pending += 1;
        let due = changed || self.pending >= self.ack_every;
        due.then(|| {
            self.pending = 0;
            AckNow { ece: false }
        })
    }
}

/// ACK to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutgoingAck {
    /// Next byte expected.
    pub ack: u64,
    /// ECN-Echo.
    pub ece: bool,
    /// ACE field, of receivers that count marked packets.
    pub ace: u8,
    /// Whether the ACK answers a SYN.
    pub syn: bool,
    /// Whether the ACK reports data above `ack` ([`Receiver::sack`]).
    pub selective: bool,
}

/// Receiving half of a flow: one cache line.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct Receiver {
    next: u64,
    /// Data received above `next`; allocated when needed.
    held: Option<Box<Reassembly>>,
    delayed_ack_ps: u64,
    /// Deadline of the delayed ACK, ps; [`NEVER`] if none is pending.
    pub ack_deadline_ps: u64,
    /// Time of the timer's event in the event queue, ps; maintained by the simulation.
    pub ack_event_ps: u64,
    echo: Echo,
    quick_acks: u16,
    reports_duplicates: bool,
}

impl Receiver {
    /// Creates a receiver that expects byte 0.
    pub fn new(config: &ReceiverConfig) -> Self {
        Receiver {
            next: 0,
            held: None,
            delayed_ack_ps: config.delayed_ack_ps,
            ack_deadline_ps: NEVER,
            ack_event_ps: NEVER,
            echo: match config.echo {
                EchoKind::Classic => Echo::Classic(ClassicEcho::new(config.ack_every)),
                EchoKind::Dctcp => Echo::Dctcp(DctcpEcho::new(config.ack_every)),
                EchoKind::DctcpOneAck => Echo::Dctcp(DctcpEcho::with_one_ack(config.ack_every)),
                EchoKind::Accurate => Echo::Accurate(Box::new(AccurateEcho::new(config.ack_every))),
                EchoKind::Silent => Echo::Silent,
            },
            quick_acks: config.quick_acks,
            reports_duplicates: config.reports_duplicates,
        }
    }

    /// Resets to a new flow like `template`, an unused receiver. `ack_event_ps` is kept, because
    /// the event stays in the queue.
    pub fn reset(&mut self, template: &Receiver) {
        let ack_event_ps = self.ack_event_ps;
        self.clone_from(template);
        self.ack_event_ps = ack_event_ps;
    }

    /// Next expected byte: everything below has been received. Without acknowledgments, the number of
    /// received bytes.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Bytes received, in order or above a hole; each counts once.
    #[inline]
    pub fn received_bytes(&self) -> u64 {
        self.next + self.held.as_ref().map_or(0, |held| held.bytes())
    }

    /// Processes a SYN, including retransmissions. Returns the SYN-ACK.
    pub fn on_syn(&mut self) -> OutgoingAck {
        OutgoingAck {
            syn: true,
            ..self.ack(false)
        }
    }

    /// Processes data [start, start + bytes) with its CE and CWR bits. Returns the ACKs to send
    /// now.
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
        let in_order = start == before && self.held.is_none();
        if in_order {
            self.next += bytes;
        } else {
            self.hold(start, start + bytes);
        }
        let (previous, current) = match &mut self.echo {
            Echo::Classic(echo) => (None, echo.on_data(ce, cwr)),
            Echo::Dctcp(echo) => echo.on_data(ce),
            Echo::Accurate(echo) => (None, echo.on_data(ce, bytes)),
            Echo::Silent => return [None, None],
        };
        let previous = previous.map(|now| OutgoingAck {
            ack: before,
            ece: now.ece,
            ace: 0, // none goes before the ACK of the data itself
            syn: false,
            selective: false,
        });
        let quick = self.quick_acks > 0;
        self.quick_acks -= u16::from(quick);
        let current = match current {
            Some(now) => Some(now.ece),
            None if in_order && !quick => None,
            None => Some(self.echo_sent()),
        };
        match current {
            Some(ece) => {
                self.ack_deadline_ps = NEVER;
                [previous, Some(self.ack(ece))]
            }
            None => {
                if previous.is_some() || self.ack_deadline_ps == NEVER {
                    self.ack_deadline_ps = now_ps + self.delayed_ack_ps;
                }
                [previous, None]
            }
        }
    }

    /// Counts `more` further packets that were joined to the next data, for receivers that count
    /// marked packets.
    pub fn count_joined(&mut self, ce: bool, more: u32) {
        if let Echo::Accurate(echo) = &mut self.echo {
            for _ in 0..more {
                echo.counts.on_packet(codepoint(ce), 0);
            }
        }
    }

    /// Takes the pending ACK, for the timer or for piggybacking on data; `None` if none is pending.
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
            Echo::Accurate(echo) => {
                echo.pending = 0;
                false
            }
            Echo::Silent => false,
        }
    }

    #[inline]
    fn ack(&self, ece: bool) -> OutgoingAck {
        OutgoingAck {
            ack: self.next,
            ece,
            ace: self.echo.ace(),
            syn: false,
            selective: self.held.is_some(),
        }
    }

    /// Blocks received above the next expected byte, for an ACK that reports them.
    pub fn sack(&self) -> SackBlocks {
        (self.held.as_ref()).map_or_else(SackBlocks::default, |held| held.sack())
    }

    /// Stores data that is out of order or fills a hole. Without acknowledgments it is only counted.
    fn hold(&mut self, start: u64, end: u64) {
        if matches!(self.echo, Echo::Silent) {
            self.next += end - start;
            return;
        }
        let held = self.held.get_or_insert_default();
        if self.reports_duplicates {
            held.note_duplicate(start, end, self.next);
        }
        self.next = held.take(start, end, self.next);
        if held.is_empty() {
            self.held = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receiver(ack_every: u32) -> Receiver {
        with_echo(EchoKind::Dctcp, ack_every)
    }

    fn with_echo(echo: EchoKind, ack_every: u32) -> Receiver {
        Receiver::new(&ReceiverConfig {
            ack_every,
            delayed_ack_ps: 100,
            quick_acks: 0,
            echo,
            reports_duplicates: false,
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

    /// Takes ten bytes, and returns the acknowledgments (position, ECE) with the deadline of the next.
    fn acks_of(flow: &mut Receiver, now_ps: u64, start: u64, ce: bool) -> (Vec<(u64, bool)>, u64) {
        let acks = flow.on_data(now_ps, start, 10, ce, false);
        let acks = acks.iter().flatten().map(|ack| (ack.ack, ack.ece));
        (acks.collect(), flow.ack_deadline_ps)
    }

    /// Thesis figure 2.10: when the marking changes, the waiting packet gets an ACK without ECE and
    /// the marked packet one with ECE, both at once. The next marked packets have delayed ACKs
    /// again; the first unmarked one is another change.
    #[test]
    fn a_change_of_marking_is_acknowledged_at_once() {
        let mut flow = receiver(2);
        flow.on_data(0, 0, 10, false, false);
        let mut acks = |now_ps, start, ce| acks_of(&mut flow, now_ps, start, ce);
        assert_eq!(acks(7, 10, true), (vec![(10, false), (20, true)], NEVER));
        assert_eq!(acks(8, 20, true), (vec![], 108));
        assert_eq!(acks(9, 30, true), (vec![(40, true)], NEVER));
        assert_eq!(acks(10, 40, false), (vec![(50, false)], NEVER));
        assert_eq!(acks(11, 50, false), (vec![], 111));
    }

    /// With a single ACK, the marked packet waits and its timer starts again; the next one completes the
    /// pair. A change while nothing waits is acknowledged at once.
    #[test]
    fn a_change_of_marking_may_have_a_single_ack() {
        let mut flow = with_echo(EchoKind::DctcpOneAck, 2);
        let mut acks = |now_ps, start, ce| acks_of(&mut flow, now_ps, start, ce);
        assert_eq!(acks(0, 0, false), (vec![], 100));
        assert_eq!(acks(7, 10, true), (vec![(10, false)], 107));
        assert_eq!(acks(8, 20, true), (vec![(30, true)], NEVER));
        assert_eq!(acks(9, 30, false), (vec![(40, false)], NEVER));
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
            (ack.ack, ack.selective, flow.sack().as_slice()),
            (0, true, &[(40, 70), (80, 90), (20, 30)][..])
        );
        let [_, ack] = flow.on_data(0, 0, 20, false, false);
        assert_eq!(ack.map(|ack| ack.ack), Some(30));
        assert_eq!(flow.next(), 30);
    }

    /// The packet that arrives twice comes first among the blocks, once (RFC 2883, 4).
    #[test]
    fn reports_a_packet_that_arrives_twice() {
        let mut flow = Receiver::new(&ReceiverConfig {
            ack_every: 2,
            delayed_ack_ps: 100,
            quick_acks: 0,
            echo: EchoKind::Dctcp,
            reports_duplicates: true,
        });
        let reports: [(u64, &[(u32, u32)]); 7] = [
            (0, &[]),
            (20, &[(20, 30)]),
            (20, &[(20, 30), (20, 30)]),
            (0, &[(0, 10), (20, 30)]),
            (10, &[]),
            (10, &[(10, 20)]),
            (30, &[]),
        ];
        for (start, blocks) in reports {
            let [_, ack] = flow.on_data(0, start, 10, false, false);
            assert_eq!(flow.sack().as_slice(), blocks, "{start}");
            assert_eq!(ack.is_some(), start > 0 || !blocks.is_empty());
        }
    }

    /// Linux: each of a connection's first packets is acknowledged at once, later ones in pairs.
    #[test]
    fn first_acks_are_not_delayed() {
        let mut flow = Receiver::new(&ReceiverConfig {
            ack_every: 2,
            delayed_ack_ps: 100,
            quick_acks: 3,
            echo: EchoKind::Dctcp,
            reports_duplicates: false,
        });
        let mut acks = Vec::new();
        for n in 0..8 {
            let [previous, current] = flow.on_data(0, 10 * n, 10, false, false);
            assert_eq!(previous, None);
            acks.extend(current.map(|ack| ack.ack));
        }
        assert_eq!(acks, [10, 20, 30, 50, 70]);
        assert_eq!(flow.ack_deadline_ps, 100);
    }

    #[test]
    fn a_syn_is_answered_each_time() {
        let mut flow = receiver(2);
        for _ in 0..2 {
            let answer = flow.on_syn();
            assert_eq!((answer.ack, answer.syn, answer.ece), (0, true, false));
        }
        assert_eq!(flow.take_pending(), None);
        flow.on_data(0, 0, 10, false, false);
        assert_eq!(flow.next(), 10);
    }

    #[test]
    fn reset_receiver_equals_a_new_one() {
        let template = receiver(2);
        let mut flow = template.clone();
        flow.on_data(0, 0, 10, true, false);
        flow.on_data(0, 50, 10, false, false);
        flow.ack_event_ps = 77;
        flow.reset(&template);
        assert_eq!((flow.next(), flow.ack_event_ps), (0, 77));
        assert_eq!(flow.take_pending(), None);
        let [previous, current] = flow.on_data(0, 0, 10, false, false);
        assert_eq!((previous, current), (None, None));
    }

    #[test]
    fn a_receiver_is_one_cache_line() {
        assert_eq!(size_of::<Receiver>(), 64);
    }
}
