//! The sent packets of a connection whose arrival is not yet known, by number.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::prefetch::prefetch;

/// State of a packet as known to its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    InFlight,
    /// Waits for retransmission.
    Lost,
    Arrived,
}

/// Record of one packet.
#[derive(Clone, Copy, Debug)]
struct Record {
    /// Time of the first transmission, ps.
    first_sent_ps: u64,
    /// Time of the last transmission, ps.
    sent_ps: u64,
    bytes: u16,
    /// Entropy value of the last transmission.
    entropy: u16,
    /// Number of retransmissions.
    resent: u8,
    state: State,
}

/// Change of a packet's state that affects the bytes in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// No change.
    None,
    /// A packet in flight has arrived.
    Arrived,
    /// A packet of this many bytes that counted as lost has arrived: it was in flight after all.
    ArrivedAfterAll(u16),
}

/// Packets from the first unacknowledged one on.
#[derive(Clone, Debug, Default)]
pub struct SentPackets {
    first: u64,
    records: VecDeque<Record>,
    /// Times and numbers in the order of transmission; outdated entries are skipped.
    by_time: VecDeque<(u64, u64)>,
    /// Numbers of packets that wait for retransmission, the smallest first; may contain outdated
    /// entries.
    lost: BinaryHeap<Reverse<u64>>,
    lost_bytes: u64,
}

impl SentPackets {
    /// First unacknowledged packet: all packets below are acknowledged.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// Number of the next new packet.
    pub fn next(&self) -> u64 {
        self.first + self.records.len() as u64
    }

    /// Prefetches the records of the oldest and the newest packets.
    #[inline]
    pub fn prefetch(&self) {
        if let (Some(oldest), Some(newest)) = (self.records.front(), self.records.back()) {
            prefetch(oldest);
            prefetch(newest);
        }
        if let (Some(oldest), Some(newest)) = (self.by_time.front(), self.by_time.back()) {
            prefetch(oldest);
            prefetch(newest);
        }
    }

    /// Whether no packet is outstanding.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Bytes that wait for retransmission.
    pub fn lost_bytes(&self) -> u64 {
        self.lost_bytes
    }

    fn record(&mut self, number: u64) -> Option<&mut Record> {
        let index = number.checked_sub(self.first)?;
        self.records.get_mut(index as usize)
    }

    /// Adds a new packet that is sent now. Returns its number.
    pub fn push(&mut self, now_ps: u64, bytes: u16) -> u64 {
        let number = self.next();
        self.records.push_back(Record {
            first_sent_ps: now_ps,
            sent_ps: now_ps,
            bytes,
            entropy: 0,
            resent: 0,
            state: State::InFlight,
        });
        self.by_time.push_back((now_ps, number));
        number
    }

    /// Records the entropy value with which a packet is sent.
    pub fn take_path(&mut self, number: u64, entropy: u16) {
        if let Some(record) = self.record(number) {
            record.entropy = entropy;
        }
    }

    /// Entropy value of a packet's last transmission.
    pub fn path(&mut self, number: u64) -> u16 {
        self.record(number).map_or(0, |record| record.entropy)
    }

    /// Next packet to be retransmitted: number and bytes.
    pub fn next_lost(&mut self) -> Option<(u64, u16)> {
        while let Some(&Reverse(number)) = self.lost.peek() {
            match self.record(number) {
                Some(record) if record.state == State::Lost => return Some((number, record.bytes)),
                _ => self.lost.pop(),
            };
        }
        None
    }

    /// Records the retransmission of that packet.
    pub fn resend(&mut self, now_ps: u64, number: u64) {
        self.lost.pop();
        let Some(record) = self.record(number) else {
            return;
        };
        record.sent_ps = now_ps;
        record.resent = record.resent.saturating_add(1);
        record.state = State::InFlight;
        let bytes = u64::from(record.bytes);
        self.lost_bytes -= bytes;
        self.by_time.push_back((now_ps, number));
    }

    /// Counts a packet in flight as lost. Returns its send time (ps) and bytes, or `None` if it is
    /// not in flight.
    pub fn lose(&mut self, number: u64) -> Option<(u64, u16)> {
        let record = self.record(number)?;
        if record.state != State::InFlight {
            return None;
        }
        record.state = State::Lost;
        let (sent_ps, bytes) = (record.sent_ps, record.bytes);
        self.lost_bytes += u64::from(bytes);
        self.lost.push(Reverse(number));
        Some((sent_ps, bytes))
    }

    /// Send time of a packet in flight, ps, if its echo yields a round trip: the packet was sent
    /// once, or it was sent twice and the echo answers the second transmission.
    pub fn sample_ps(&mut self, number: u64, echo_resent: bool) -> Option<u64> {
        let record = self.record(number)?;
        let clear = match record.resent {
            0 => !echo_resent,
            1 => echo_resent,
            _ => false,
        };
        (clear && record.state == State::InFlight).then_some(record.sent_ps)
    }

    /// Time of a packet's first transmission, ps, if its echo answers that one.
    pub fn first_sent_ps(&mut self, number: u64, echo_resent: bool) -> Option<u64> {
        let record = self.record(number).filter(|_| !echo_resent)?;
        Some(record.first_sent_ps)
    }

    /// Whether a packet has been sent more than once.
    pub fn is_resent(&mut self, number: u64) -> bool {
        self.record(number).is_some_and(|record| record.resent > 0)
    }

    /// Time at which a packet in flight was last sent, ps.
    pub fn last_sent_ps(&mut self, number: u64) -> Option<u64> {
        let record = self.record(number)?;
        (record.state == State::InFlight).then_some(record.sent_ps)
    }

    /// Records the arrival of a packet.
    pub fn arrived(&mut self, number: u64) -> News {
        let Some(record) = self.record(number) else {
            return News::None;
        };
        let before = std::mem::replace(&mut record.state, State::Arrived);
        let bytes = record.bytes;
        match before {
            State::Arrived => News::None,
            State::InFlight => News::Arrived,
            State::Lost => {
                self.lost_bytes -= u64::from(bytes);
                News::ArrivedAfterAll(bytes)
            }
        }
    }

    /// Records the arrival of all packets below `number`. Returns the bytes of those that counted
    /// as lost.
    pub fn arrived_below(&mut self, number: u64) -> u64 {
        let mut after_all = 0;
        while self.first < number && !self.records.is_empty() {
            if let News::ArrivedAfterAll(bytes) = self.arrived(self.first) {
                after_all += u64::from(bytes);
            }
            self.records.pop_front();
            self.first += 1;
        }
        after_all
    }

    /// Packet that has been in flight for the longest time: send time (ps) and number.
    pub fn oldest(&mut self) -> Option<(u64, u64)> {
        while let Some(&(sent_ps, number)) = self.by_time.front() {
            match self.record(number) {
                Some(record) if record.state == State::InFlight && record.sent_ps == sent_ps => {
                    return Some((sent_ps, number));
                }
                _ => self.by_time.pop_front(),
            };
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_lost_retransmitted_and_acknowledged() {
        let mut sent = SentPackets::default();
        for time in 0..5 {
            assert_eq!(sent.push(10 * time, 100), time);
        }
        assert_eq!(sent.lose(3), Some((30, 100)));
        assert_eq!(sent.lose(3), None);
        assert_eq!(sent.lose(1), Some((10, 100)));
        assert_eq!((sent.lost_bytes(), sent.next_lost()), (200, Some((1, 100))));
        sent.resend(60, 1);
        assert_eq!(sent.next_lost(), Some((3, 100)));
        // An echo of the first transmission gives no sample for the second.
        assert_eq!(sent.sample_ps(1, false), None);
        assert_eq!(sent.sample_ps(1, true), Some(60));
        assert_eq!(sent.sample_ps(0, false), Some(0));
        // One of the first transmission always tells its time.
        assert_eq!(sent.first_sent_ps(1, false), Some(10));
        assert_eq!(sent.first_sent_ps(1, true), None);
        // Packet 3 was not lost after all.
        assert_eq!(sent.arrived(3), News::ArrivedAfterAll(100));
        assert_eq!((sent.lost_bytes(), sent.next_lost()), (0, None));
        assert_eq!(sent.oldest(), Some((0, 0)));
        assert_eq!(sent.arrived(0), News::Arrived);
        assert_eq!(sent.oldest(), Some((20, 2)));
        assert_eq!(sent.arrived_below(4), 0);
        assert_eq!((sent.first(), sent.oldest()), (4, Some((40, 4))));
        assert_eq!(sent.arrived_below(9), 0);
        assert!(sent.is_empty() && sent.next() == 5);
    }
}
