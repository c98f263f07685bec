//! The way from one part of a split run to the other: what is said, and how far the sayer is. Times
//! are ps.
//!
//! Each part tells its clock: nothing that it decides before then will follow. So the other may go
//! as far as that clock plus the lookahead of the cut (Chandy and Misra, 1979; the clock is theirs of
//! the null messages). A part also tells when it acts next if nothing comes, so that two parts that
//! wait for a timer go there in one step.

use std::hint;
use std::thread;

use super::channel::{Closing, Reader, Record, Writer, channel};
use super::cut::Lookahead;
use super::losses::Loss;
use crate::network::{Packet, Scheduled};

/// Looks at the channel before the processor is offered to other threads.
const PATIENCE: u32 = 1 << 12;

/// Entries of a route in one word, and in a record.
const ENTRIES: usize = 6;

/// What one part tells the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// A packet on the link before its next hop, in the order in which it was queued there.
    Packet(Scheduled),
    /// A flow is to know of a loss.
    Loss(Loss),
    /// Entries of the list of hops, from a place on, for packets to come: how many of them, and they.
    Route(u32, usize, [u32; ENTRIES]),
    /// How far the other part is.
    Clock(Clock),
}

/// How far a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// Nothing decided before then will follow, ps.
    pub clock_ps: u64,
    /// Its next event if nothing comes, ps.
    pub next_ps: u64,
    /// How much had come.
    pub taken: u64,
    /// The end of the run, as far as it is known, ps.
    pub stop_ps: u64,
}

const NO_CLOCK: Clock = Clock {
    clock_ps: 0,
    next_ps: 0,
    taken: 0,
    stop_ps: u64::MAX,
};

/// The kinds of news, in the two highest bits of a record's first word, which no time reaches.
const PACKET: u64 = 0;
const LOSS: u64 = 1;
const ROUTE: u64 = 2;
const CLOCK: u64 = 3;
const KIND_SHIFT: u32 = 62;

#[inline]
fn join(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

#[inline]
fn part(word: u64) -> (u32, u32) {
    (word as u32, (word >> 32) as u32)
}

impl News {
    #[inline]
    fn record(&self) -> Record {
        let (kind, [first, b, c, d]) = match *self {
            News::Packet(Scheduled { start_ps, packet }) => {
                let bits = u32::from(packet.wire_bytes) | u32::from(packet.flags) << 16;
                let stream = join(packet.seq, packet.ack);
                let flow = join(packet.flow, packet.options);
                (PACKET, [start_ps, stream, flow, join(packet.hop, bits)])
            }
            News::Loss(loss) => (LOSS, [loss.at_ps, join(loss.flow, loss.options), 0, 0]),
            News::Route(at, count, [a, b, c, d, e, f]) => {
                let first = join(at, count as u32);
                (ROUTE, [first, join(a, b), join(c, d), join(e, f)])
            }
            News::Clock(Clock {
                clock_ps,
                next_ps,
                taken,
                stop_ps,
            }) => (CLOCK, [clock_ps, next_ps, taken, stop_ps]),
        };
        [first | kind << KIND_SHIFT, b, c, d]
    }

    #[inline]
    fn of(record: &Record) -> News {
        let [first, b, c, d] = *record;
        let a = first & ((1 << KIND_SHIFT) - 1);
        match first >> KIND_SHIFT {
            PACKET => {
                let ((seq, ack), (flow, options), (hop, bits)) = (part(b), part(c), part(d));
                let packet = Packet {
                    seq,
                    ack,
                    flow,
                    options,
                    hop,
                    wire_bytes: bits as u16,
                    flags: (bits >> 16) as u16,
                };
                let start_ps = a;
                News::Packet(Scheduled { start_ps, packet })
            }
            LOSS => {
                let (at_ps, (flow, options)) = (a, part(b));
                News::Loss(Loss {
                    at_ps,
                    flow,
                    options,
                })
            }
            ROUTE => {
                let ((at, count), (b, c, d)) = (part(a), (part(b), part(c), part(d)));
                News::Route(at, count as usize, [b.0, b.1, c.0, c.1, d.0, d.1])
            }
            _ => News::Clock(Clock {
                clock_ps: a,
                next_ps: b,
                taken: c,
                stop_ps: d,
            }),
        }
    }
}

/// One part's view of the other.
#[derive(Debug)]
pub struct Peer {
    fabric: bool,
    outgoing: Writer,
    incoming: Reader,
    /// Lookahead of what comes and of what goes, ps.
    incoming_ps: u64,
    outgoing_ps: u64,
    /// How far this part goes before it tells again how far it is, ps: a quarter of what lies
    /// between the furthest that each can be ahead of the other.
    pub stride_ps: u64,
    /// Packets and losses so far.
    sent: u64,
    taken: u64,
    told: Clock,
    /// What the other part told last.
    pub theirs: Clock,
    /// The end of the run, once it is known here, ps.
    pub stop_ps: u64,
}

impl Peer {
    /// The edge's view of the fabric and the fabric's of the edge.
    pub fn pair(lookahead: Lookahead) -> (Peer, Peer) {
        let Lookahead {
            outward_ps,
            inward_ps,
        } = lookahead;
        let (from_edge, to_fabric) = channel();
        let (from_fabric, to_edge) = channel();
        let peer = |fabric, outgoing, incoming| Peer {
            fabric,
            outgoing,
            incoming,
            incoming_ps: if fabric { outward_ps } else { inward_ps },
            outgoing_ps: if fabric { inward_ps } else { outward_ps },
            stride_ps: (outward_ps + inward_ps).div_ceil(4),
            sent: 0,
            taken: 0,
            told: NO_CLOCK,
            theirs: NO_CLOCK,
            stop_ps: u64::MAX,
        };
        (
            peer(false, from_edge, to_edge),
            peer(true, from_fabric, to_fabric),
        )
    }

    /// Whether this is the fabric's.
    #[inline]
    pub fn is_fabric(&self) -> bool {
        self.fabric
    }

    /// Whether the other part has said something new.
    #[inline]
    pub fn listen(&mut self) -> bool {
        self.incoming.look()
    }

    /// What the other part has said, one thing after the other, when [`Peer::listen`] says so.
    #[inline]
    pub fn hear(&mut self) -> Option<News> {
        let news = News::of(&self.incoming.next()?);
        match news {
            News::Packet(..) | News::Loss(_) => self.taken += 1,
            News::Clock(clock) => self.theirs = clock,
            News::Route(..) => {}
        }
        Some(news)
    }

    /// Before this time nothing more can arrive, when the own next event is at `next_ps`.
    #[inline]
    pub fn bound_ps(&self, next_ps: u64) -> u64 {
        let mut clock_ps = self.theirs.clock_ps;
        if self.theirs.taken == self.sent {
            // They have seen all that was sent: they wait for their next event or ours.
            let answer_ps = next_ps.saturating_add(self.outgoing_ps);
            clock_ps = clock_ps.max(self.theirs.next_ps.min(answer_ps));
        }
        clock_ps.saturating_add(self.incoming_ps)
    }

    /// Says that a packet was queued at a port.
    #[inline]
    pub fn say_packet(&mut self, scheduled: Scheduled) {
        self.sent += 1;
        self.outgoing.write(News::Packet(scheduled).record());
    }

    /// Says that a packet was lost.
    pub fn say_loss(&mut self, loss: Loss) {
        self.sent += 1;
        self.outgoing.write(News::Loss(loss).record());
    }

    /// Says what a route is from now on.
    pub fn say_route(&mut self, at: u32, entries: &[u32]) {
        for (i, entries) in entries.chunks(ENTRIES).enumerate() {
            let mut all = [0; ENTRIES];
            all[..entries.len()].copy_from_slice(entries);
            let at = at + (i * ENTRIES) as u32;
            let news = News::Route(at, entries.len(), all);
            self.outgoing.write(news.record());
        }
    }

    /// Says how far this part is, with everything said before: nothing that is decided before
    /// `clock_ps` will follow, and the next event is at `next_ps` if nothing comes.
    #[inline]
    pub fn say_clock(&mut self, clock_ps: u64, next_ps: u64) {
        let clock = Clock {
            clock_ps,
            next_ps,
            taken: self.taken,
            stop_ps: self.stop_ps,
        };
        if clock != self.told {
            self.told = clock;
            self.outgoing.write(News::Clock(clock).record());
        } else if !self.outgoing.is_behind() {
            return;
        }
        self.outgoing.publish();
    }

    /// Whether something said cannot be heard yet: the other part has to listen first.
    pub fn is_behind(&self) -> bool {
        self.outgoing.is_behind()
    }

    /// Whether the other part has ended. What it said before may still be unheard.
    pub fn is_alone(&self) -> bool {
        self.incoming.is_closed()
    }

    /// Waits a moment for the other part; `waits` counts how often in a row.
    #[inline]
    pub fn wait(&self, waits: &mut u32) {
        *waits += 1;
        if *waits < PATIENCE {
            hint::spin_loop();
        } else {
            thread::yield_now();
        }
    }

    /// Closes the channel to the other part when it is dropped.
    pub fn closing(&self) -> Closing {
        self.outgoing.closing()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn news_are_heard_as_they_were_said() {
        let packet = Packet {
            seq: 1,
            ack: u32::MAX,
            flow: 3,
            options: 4,
            hop: u32::MAX - 5,
            wire_bytes: 65535,
            flags: 0xabcd,
        };
        let start_ps = 1 << 60;
        let loss = Loss {
            at_ps: 9,
            flow: u32::MAX,
            options: 11,
        };
        for news in [
            News::Packet(Scheduled { start_ps, packet }),
            News::Loss(loss),
            News::Route(7, 5, [1, 2, u32::MAX, 4, 5, 0]),
            News::Clock(Clock {
                clock_ps: 1,
                next_ps: u64::MAX,
                taken: 3,
                stop_ps: 4,
            }),
        ] {
            assert_eq!(News::of(&news.record()), news);
        }
    }

    /// Hand-made: lookaheads 700 out of the edge, 200 into it.
    #[test]
    fn a_part_may_go_as_far_as_nothing_can_reach_it() {
        let (mut edge, mut fabric) = Peer::pair(Lookahead {
            outward_ps: 700,
            inward_ps: 200,
        });
        // The fabric acts at 5000 if nothing comes, the edge at 1000: its packet can reach the
        // fabric at 1700 and be answered at 1900.
        fabric.say_clock(700, 5000);
        assert!(edge.listen() && edge.hear().is_some() && edge.hear().is_none());
        assert_eq!(edge.bound_ps(1000), 1900);
        // The fabric has not heard of a packet: only its clock counts.
        edge.say_loss(Loss {
            at_ps: 0,
            flow: 0,
            options: 0,
        });
        assert_eq!(edge.bound_ps(1000), 900);
        edge.say_clock(950, 1000);
        assert!(fabric.listen());
        while fabric.hear().is_some() {}
        assert_eq!(fabric.bound_ps(5000), 1700);
        fabric.say_clock(1500, 1600);
        while edge.listen() {
            while edge.hear().is_some() {}
        }
        assert_eq!(edge.bound_ps(3000), 1800);
    }
}
