//! Flows of a run that is divided by hosts. The part of a flow's sender opens it and owns its slot; if
//! the receiver is in another part, each part has one half of the flow, in the same slot, and tells the
//! other what it cannot see. Times are ps.
//!
//! All parts take new slots from one counter, so a run has about as many slots as on one thread, however
//! its flows are distributed; a part uses a slot again for its own flows only. Every part draws the whole
//! workload, and opens the flows of its own hosts, so numbers and random draws are the same as with
//! one part.
//!
//! A packet is in flight between two halves that each count what they have sent less what has arrived.
//! When its message has arrived, the receiver's half reports its count after each change. If the sender
//! has nothing to do and both counts add up to zero, no packet of the flow is left, and the slot is free.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::endpoints::Endpoints;
use super::flows::{FlowTable, Pending};
use crate::measure::{AckedFlow, MessageWaits};
use crate::network::{Network, Options, Waits};
use crate::workload::{FlowRecord, Message};

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
    slot: u32,
    ends: (u32, u32),
    number: u64,
    transport: u16,
    message: Pending,
    /// Entries of the routes of the data and of the acknowledgments.
    routes: [Vec<u32>; 2],
}

/// What the sender's half knows of both halves' packets.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    theirs: InFlight,
    /// Time of the last change here since the message arrived, ps.
    changed_ps: u64,
}

/// Packets that a half has sent less those that have arrived there, modulo 2^32.
#[derive(Clone, Copy, Debug, Default)]
pub struct InFlight {
    count: u32,
    changed_ps: u64,
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
    number: u32,
    /// Part of each host.
    of_hosts: Vec<u8>,
    /// Number of slots that any part has used.
    slots: Arc<AtomicU32>,
    /// Number of rows reported so far.
    rows: u64,
    /// Number of arrivals of messages and acknowledgments so far.
    arrivals: u64,
    /// Arrival of the message that is being processed.
    arrival: At,
    /// Packets of own flows whose receiver is elsewhere, by slot.
    known: HashMap<u32, Known>,
    /// The last timeouts, by slot and time.
    timeouts: VecDeque<(u32, u64)>,
    /// Longest time by which a part may be ahead of a note when it receives it, ps.
    late_ps: u64,
    outbox: Vec<(u8, Note)>,
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
    fn is_elsewhere(&self, host: u32) -> bool {
        self.part_of(host) != self.number
    }

    fn part_of(&self, host: u32) -> u32 {
        u32::from(self.of_hosts[host as usize])
    }

    /// Takes a slot that no part has used.
    pub fn fresh_slot(&mut self) -> u32 {
        self.slots.fetch_add(1, Ordering::Relaxed)
    }

    fn tell(&mut self, part: u32, note: Note) {
        self.outbox.push((part as u8, note));
    }

    fn report(&mut self, report: Report) {
        self.tell(0, Note::Report(report));
    }

    /// Arrival at a host of this part.
    fn arrive(&mut self, now_ps: u64, host: u32) -> At {
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

impl FlowTable {
    /// Takes the notes to other parts since the last call, in order, and calls `carry` with the
    /// part and each note.
    pub(super) fn for_each_note(&mut self, mut carry: impl FnMut(u8, Note)) {
        if let Some(halves) = &mut self.halves {
            (halves.outbox.drain(..)).for_each(|(part, note)| carry(part, note));
        }
    }

    /// Processes that a flow's message has arrived in the receiver's part. Returns the message.
    pub(super) fn take_arrival(&mut self, slot: u32, at: At) -> Option<Pending> {
        if let Some(halves) = &mut self.halves {
            halves.arrival = at;
        }
        let flow = &mut self.flows[slot as usize];
        flow.completed(flow.first.end)
    }

    /// Whether another part opens the flow of a message.
    pub(super) fn is_opened_elsewhere(&self, message: &Message) -> bool {
        let halves = self.halves.as_ref();
        halves.is_some_and(|halves| halves.is_elsewhere(message.src))
    }

    /// Whether this is the whole run's table, or the first part's.
    pub(super) fn is_of_first_part(&self) -> bool {
        (self.halves.as_ref()).is_none_or(|halves| halves.number == 0)
    }

    /// Reports a new flow of any part, if this is the part that counts them.
    pub(super) fn count_opening(&mut self, now_ps: u64) {
        if let Some(halves) = &mut self.halves
            && halves.number == 0
        {
            halves.report(Report::Opened(now_ps));
        }
    }

    /// Tells the receiver's part of a new flow, if it is another one.
    pub(super) fn share(&mut self, slot: u32, network: &Network) {
        let Some(halves) = &mut self.halves else {
            return;
        };
        let flow = &mut self.flows[slot as usize];
        flow.is_half = halves.is_elsewhere(flow.dst);
        if !flow.is_half {
            return;
        }
        flow.transient = false;
        halves.known.insert(slot, Known::default());
        let opening = Opening {
            slot,
            ends: (flow.src, flow.dst),
            number: flow.number,
            transport: flow.transport,
            message: flow.first,
            routes: [flow.out, flow.back].map(|at| network.whole_route(at).to_vec()),
        };
        let part = halves.part_of(flow.dst);
        halves.tell(part, Note::Opened(Box::new(opening)));
    }

    /// Adds the receiver's half of a flow of another part.
    fn adopt(&mut self, opening: &Opening, network: &mut Network) {
        self.grow_to(opening.slot, opening.transport, network);
        let slot = opening.slot;
        let flow = self.renew(slot, opening.ends, opening.transport, opening.number);
        flow.is_half = true;
        flow.in_flight = 0;
        flow.first = opening.message;
        let places = [flow.out, flow.back];
        for (at, entries) in places.into_iter().zip(&opening.routes) {
            network.set_route(at as usize, entries);
        }
    }

    /// Timeouts of the flow in a slot before this time, which may be past in a divided run.
    pub(super) fn timeouts_before(&self, slot: u32, at_ps: u64) -> u32 {
        let halves = self.halves.as_ref();
        let since = halves.map_or(0, |halves| halves.timeouts_since(slot, at_ps));
        self.ends(slot).losses().0 - since
    }

    /// Processes that a flow's message has arrived. Returns true if another part is told, which
    /// has the sender.
    #[inline]
    pub(super) fn leave_arrival(
        &mut self,
        slot: u32,
        now_ps: u64,
        waits: Option<&MessageWaits>,
    ) -> bool {
        let Some(halves) = &mut self.halves else {
            return false;
        };
        let flow = &self.flows[slot as usize];
        halves.arrival = halves.arrive(now_ps, flow.dst);
        let leaves = flow.is_half && halves.is_elsewhere(flow.src);
        if leaves {
            let owner = halves.part_of(flow.src);
            let waits = waits.map(|waits| Box::new(*waits));
            halves.tell(owner, Note::Arrived(slot, halves.arrival, waits));
        }
        leaves
    }

    /// Processes a change of a half's packets in flight: reports it, or frees the slot if the flow
    /// is done.
    #[inline(never)]
    pub(super) fn settle(&mut self, slot: u32, changed_ps: u64) {
        let flow = &self.flows[slot as usize];
        if flow.first.end != u64::MAX {
            return;
        }
        let (count, src) = (flow.in_flight, flow.src);
        let Some(halves) = &mut self.halves else {
            return;
        };
        if halves.is_elsewhere(src) {
            let in_flight = InFlight { count, changed_ps };
            halves.tell(halves.part_of(src), Note::InFlight(slot, in_flight));
        } else if let Some(known) = halves.known.get_mut(&slot) {
            known.changed_ps = changed_ps;
            self.free_if_done(slot);
        }
    }

    /// Takes the count of the receiver's half.
    pub(super) fn take_in_flight(&mut self, slot: u32, theirs: InFlight) {
        if let Some(halves) = &mut self.halves
            && let Some(known) = halves.known.get_mut(&slot)
        {
            known.theirs = theirs;
            self.free_if_done(slot);
        }
    }

    /// Frees the slot of a flow whose receiver is elsewhere if the flow is done.
    fn free_if_done(&mut self, slot: u32) {
        let known = self
            .halves
            .as_ref()
            .and_then(|halves| halves.known.get(&slot));
        let Some(&Known { theirs, changed_ps }) = known else {
            return;
        };
        let flow = &self.flows[slot as usize];
        if flow.in_flight.wrapping_add(theirs.count) == 0
            && flow.first.end == u64::MAX
            && self.ends(slot).are_idle()
        {
            let flow = &mut self.flows[slot as usize];
            flow.is_half = false;
            flow.in_flight = 0;
            if let Some(halves) = &mut self.halves {
                halves.known.remove(&slot);
            }
            self.release(slot, theirs.changed_ps.max(changed_ps));
        }
    }
}

impl Endpoints {
    /// Adds the receiver's half of a flow of another part.
    pub(super) fn adopt(&mut self, opening: &Opening, network: &mut Network) {
        self.table.adopt(opening, network);
        (self.hosts).forget_flow(opening.ends, opening.slot, network);
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
