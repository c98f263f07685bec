//! What one part of a divided run knows of flows that it shares with another, and what it tells it. How
//! such a flow lives is in `flow_table::halves`. Times are ps.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::messages::Pending;
use crate::measure::{AckedFlow, MessageWaits};
use crate::network::{Options, Waits};
use crate::workload::FlowRecord;

/// What one part tells another, in the order in which it happened.
#[derive(Clone, Debug)]
pub enum Note {
    /// A flow was opened whose receiver is in the part.
    Opened(Box<Opening>),
    /// Options of the next packet that has some, and its waits if it is the last one of a message.
    Options(Box<(Options, Option<Waits>)>),
    /// The message of the flow in this slot arrived, and the waits of its last packet.
    Arrived(u32, At, Option<Box<MessageWaits>>),
    /// Count of packets in flight at the receiver's half, and the time of its last change.
    InFlight(u32, InFlight),
    /// For the tables of the run.
    Report(Report),
}

/// Flow whose receiver is in another part.
#[derive(Clone, Debug)]
pub struct Opening {
    pub slot: u32,
    pub ends: (u32, u32),
    pub number: u64,
    pub transport: u16,
    pub message: Pending,
    /// Entries of the routes of the data and of the acknowledgments.
    pub routes: [Vec<u32>; 2],
}

/// What the sender's half knows of both halves' packets.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known {
    pub theirs: InFlight,
    /// Time of the last change here since the message arrived, ps.
    pub changed_ps: u64,
}

/// Packets that a half has sent less those that have arrived there, modulo 2^32.
#[derive(Clone, Copy, Debug, Default)]
pub struct InFlight {
    pub count: u32,
    pub changed_ps: u64,
}

/// Time of an event (ps), the host where it happened, and its number in the host's part: all parts order
/// events like this.
pub type At = (u64, u32, u64);

/// What the first part needs for the tables of the run.
#[derive(Clone, Copy, Debug)]
pub enum Report {
    /// A flow's message arrived; its row has this number in the sender's part.
    Row(At, u64, FlowRecord),
    /// A row's last byte was acknowledged.
    Acked(At, AckedFlow),
    /// A flow was opened at this time.
    Opened(u64),
    /// A flow's slot was free from this time on.
    Freed(u64),
}

/// State of a part's halves.
#[derive(Debug)]
pub struct Halves {
    pub number: u32,
    /// Part of each host.
    of_hosts: Vec<u8>,
    /// Number of slots that any part has used.
    slots: Arc<AtomicU32>,
    /// Number of rows reported so far.
    rows: u64,
    /// Number of arrivals of messages and acknowledgments so far.
    arrivals: u64,
    /// Arrival of the message that is being processed.
    pub arrival: At,
    /// Packets of own flows whose receiver is elsewhere, by slot.
    pub known: HashMap<u32, Known>,
    /// The last timeouts, by slot and time.
    timeouts: VecDeque<(u32, u64)>,
    /// Longest time by which a part may be ahead of a note when it receives it, ps.
    late_ps: u64,
    pub outbox: Vec<(u8, Note)>,
}

impl Halves {
    /// Creates the state of part `number`; `of_hosts` has the part of each host, notes are at most
    /// `late_ps` late, and all parts share the counter of `slots`.
    pub fn new(number: usize, of_hosts: Vec<u8>, late_ps: u64, slots: Arc<AtomicU32>) -> Halves {
        Halves {
            number: number as u32,
            of_hosts,
            slots,
            rows: 0,
            arrivals: 0,
            arrival: At::default(),
            known: HashMap::new(),
            timeouts: VecDeque::new(),
            late_ps,
            outbox: Vec::new(),
        }
    }

    /// Longest time by which a part may be ahead of a note when it receives it, ps.
    pub fn late_ps(&self) -> u64 {
        self.late_ps
    }

    /// Whether a host is in another part.
    pub fn is_elsewhere(&self, host: u32) -> bool {
        self.part_of(host) != self.number
    }

    pub fn part_of(&self, host: u32) -> u32 {
        u32::from(self.of_hosts[host as usize])
    }

    /// Takes a slot that no part has used.
    pub fn fresh_slot(&mut self) -> u32 {
        self.slots.fetch_add(1, Ordering::Relaxed)
    }

    pub fn tell(&mut self, part: u32, note: Note) {
        self.outbox.push((part as u8, note));
    }

    pub fn report(&mut self, report: Report) {
        self.tell(0, Note::Report(report));
    }

    /// Arrival at a host of this part.
    pub fn arrive(&mut self, now_ps: u64, host: u32) -> At {
        self.arrivals += 1;
        (now_ps, host, self.arrivals)
    }

    /// Reports the row of the message that is being processed. Returns its number.
    pub fn report_row(&mut self, record: FlowRecord) -> u64 {
        let number = self.rows;
        self.rows += 1;
        self.report(Report::Row(self.arrival, number, record));
        number
    }

    /// Reports that a row's last byte was acknowledged.
    pub fn report_acked(&mut self, now_ps: u64, host: u32, acked: AckedFlow) {
        let at = self.arrive(now_ps, host);
        self.report(Report::Acked(at, acked));
    }

    /// Reports a free slot.
    pub fn report_freed(&mut self, at_ps: u64) {
        self.report(Report::Freed(at_ps));
    }

    /// Records a timeout of the flow in a slot.
    pub fn note_timeout(&mut self, slot: u32, now_ps: u64) {
        let kept_ps = 2 * self.late_ps;
        while (self.timeouts.front()).is_some_and(|&(_, at_ps)| at_ps + kept_ps < now_ps) {
            self.timeouts.pop_front();
        }
        self.timeouts.push_back((slot, now_ps));
    }

    /// Number of timeouts of the flow in a slot from this time on.
    pub fn timeouts_since(&self, slot: u32, from_ps: u64) -> u32 {
        let later = self.timeouts.iter();
        let later = later.filter(|&&(of, at_ps)| of == slot && at_ps >= from_ps);
        later.count() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A part that opens all flows does not run out of slots before a run on one thread does.
    #[test]
    fn slots_have_no_gaps() {
        let slots = Arc::new(AtomicU32::new(0));
        let part = |number| Halves::new(number, vec![0, 1], 1, Arc::clone(&slots));
        let (mut first, mut second) = (part(0), part(1));
        let taken = [first.fresh_slot(), first.fresh_slot(), second.fresh_slot()];
        assert_eq!(taken, [0, 1, 2]);
    }
}
