//! Messages between parts, and their encoding in a channel's records. Times are ps.

use super::channel::Record;
use crate::limits;
use crate::network::{Packet, Scheduled};
use crate::simulation::completion::{NOT_YET, Since};

/// Message from one part to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// A packet on the link before its next hop, in the order in which it was queued there.
    Packet(Scheduled),
    /// The next note ([`Note`](crate::simulation::flow::halves::Note)), which travels beside the channel.
    Note,
    /// The sender's clock.
    Clock(Clock),
}

/// Clock of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// Time before which the part decides nothing further, ps.
    pub clock_ps: u64,
    /// Next event of the part if nothing arrives, ps.
    pub next_ps: u64,
    /// Number of messages that it had taken, without clocks.
    pub taken: u64,
    /// Time since when its flows are complete.
    pub complete: Since,
}

impl Clock {
    /// Clock before the first message.
    pub const NONE: Clock = Clock {
        clock_ps: 0,
        next_ps: 0,
        taken: 0,
        complete: NOT_YET,
    };
}

/// Kinds of messages, in the two highest bits of a record's first word, which times never reach.
const PACKET: u64 = 0;
const NOTE: u64 = 1;
const CLOCK: u64 = 2;
const KIND_SHIFT: u32 = 62;
const _: () = assert!(CLOCK < 1 << (u64::BITS - KIND_SHIFT));
const _: () = assert!(3 * limits::TIME_PS < 1 << KIND_SHIFT);

#[inline]
fn join(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

#[inline]
fn halves(word: u64) -> (u32, u32) {
    (word as u32, (word >> 32) as u32)
}

impl Message {
    /// Encodes the message as a record.
    #[inline]
    pub fn record(&self) -> Record {
        let (kind, [first, b, c, d]) = match *self {
            Message::Packet(Scheduled { arrival_ps, packet }) => {
                let bits = u32::from(packet.wire_bytes) | u32::from(packet.flags) << 16;
                let stream = join(packet.seq, packet.ack);
                let flow = join(packet.flow, packet.options);
                (PACKET, [arrival_ps, stream, flow, join(packet.hop, bits)])
            }
            Message::Note => (NOTE, [0; 4]),
            Message::Clock(Clock {
                clock_ps,
                next_ps,
                taken,
                complete,
            }) => (CLOCK, [clock_ps, next_ps, taken, complete]),
        };
        [first | kind << KIND_SHIFT, b, c, d]
    }

    /// Decodes a record.
    #[inline]
    pub fn of(record: &Record) -> Message {
        let [first, b, c, d] = *record;
        let a = first & ((1 << KIND_SHIFT) - 1);
        match first >> KIND_SHIFT {
            PACKET => {
                let ((seq, ack), (flow, options), (hop, bits)) = (halves(b), halves(c), halves(d));
                let packet = Packet {
                    seq,
                    ack,
                    flow,
                    options,
                    hop,
                    wire_bytes: bits as u16,
                    flags: (bits >> 16) as u16,
                };
                let arrival_ps = a;
                Message::Packet(Scheduled { arrival_ps, packet })
            }
            NOTE => Message::Note,
            CLOCK => Message::Clock(Clock {
                clock_ps: a,
                next_ps: b,
                taken: c,
                complete: d,
            }),
            3.. => unreachable!("three kinds"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_decode_as_encoded() {
        let packet = Packet {
            seq: 1,
            ack: u32::MAX,
            flow: 3,
            options: 4,
            hop: u32::MAX - 5,
            wire_bytes: 65535,
            flags: 0xabcd,
        };
        let arrival_ps = 1 << 60;
        for message in [
            Message::Packet(Scheduled { arrival_ps, packet }),
            Message::Note,
            Message::Clock(Clock {
                clock_ps: 1,
                next_ps: u64::MAX,
                taken: 3,
                complete: 4,
            }),
        ] {
            assert_eq!(Message::of(&message.record()), message);
        }
    }
}
