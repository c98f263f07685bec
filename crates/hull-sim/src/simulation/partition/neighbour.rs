//! A part's view of another part with which it shares a cut link: the channels in both directions, and
//! the other part's clock. Times are ps.
//!
//! Each part publishes its clock, and guarantees to send nothing that it decides before then. The other
//! part may therefore advance to that clock plus the lookahead between them (Chandy and Misra, 1979:
//! their null messages carry this clock). With two parts, each also publishes its next event if nothing
//! arrives, so that two parts that wait for a timer advance there in one step; more than two determine
//! that together (`board`).

use std::sync::mpsc;

use super::channel::{Reader, Writer, channel};
use super::message::{Clock, Message};
use crate::network::NO_OPTIONS;
use crate::simulation::completion::Since;
use crate::simulation::flow::halves::Note;

/// Another part as seen by one part. Two threads never share its cache lines.
#[derive(Debug)]
#[repr(align(128))]
pub struct Neighbour {
    /// Number of the other part.
    pub part: usize,
    outgoing: Writer,
    incoming: Reader,
    /// Notes, for each of which there is a message in the channel.
    notes_out: mpsc::Sender<Note>,
    notes_in: mpsc::Receiver<Note>,
    /// Lookahead of incoming and of outgoing messages, ps.
    incoming_ps: u64,
    outgoing_ps: u64,
    /// Number of messages sent and taken, without clocks.
    pub sent: u64,
    pub taken: u64,
    told: Clock,
    /// Last clock of the other part.
    pub theirs: Clock,
    /// Entry of the options of its next packet that has some.
    pub carried: u32,
}

impl Neighbour {
    /// Creates the views that two parts have of each other, the first part's first. `numbers` are
    /// the parts' numbers, `ahead_ps` the lookahead from the first to the second and from the second
    /// to the first, and `capacity` the number of records in a channel.
    pub fn pair(
        numbers: [usize; 2],
        ahead_ps: [u64; 2],
        capacity: usize,
    ) -> (Neighbour, Neighbour) {
        let (from_first, to_second) = channel(capacity);
        let (from_second, to_first) = channel(capacity);
        let (notes_from_first, notes_to_second) = mpsc::channel();
        let (notes_from_second, notes_to_first) = mpsc::channel();
        let view =
            |part, (outgoing, incoming), (notes_out, notes_in), ahead_ps: [u64; 2]| Neighbour {
                part,
                outgoing,
                incoming,
                notes_out,
                notes_in,
                incoming_ps: ahead_ps[1],
                outgoing_ps: ahead_ps[0],
                sent: 0,
                taken: 0,
                told: Clock::NONE,
                theirs: Clock::NONE,
                carried: NO_OPTIONS,
            };
        let [there_ps, back_ps] = ahead_ps;
        (
            view(
                numbers[1],
                (from_first, to_first),
                (notes_from_first, notes_to_first),
                ahead_ps,
            ),
            view(
                numbers[0],
                (from_second, to_second),
                (notes_from_second, notes_to_second),
                [back_ps, there_ps],
            ),
        )
    }

    /// Simulated time after which a part sends its clock again, ps: a quarter of the sum of both
    /// lookaheads.
    pub fn stride_ps(&self) -> u64 {
        self.incoming_ps
            .saturating_add(self.outgoing_ps)
            .div_ceil(4)
    }

    /// Whether there are messages to [`fetch`](Neighbour::fetch).
    #[inline]
    pub fn has_new(&self) -> bool {
        self.incoming.has_new()
    }

    /// Fetches the arrived messages, for [`Neighbour::next`]. Returns true if there are any.
    #[inline]
    pub fn fetch(&mut self) -> bool {
        self.incoming.look()
    }

    /// Next of the fetched messages.
    #[inline]
    pub fn next(&mut self) -> Option<Message> {
        let message = Message::of(&self.incoming.next()?);
        match message {
            Message::Packet(..) | Message::Note => self.taken += 1,
            Message::Clock(clock) => self.theirs = clock,
        }
        Some(message)
    }

    /// Time before which nothing further arrives, by the other part's clock, ps.
    #[inline]
    pub fn bound_ps(&self) -> u64 {
        self.theirs.clock_ps.saturating_add(self.incoming_ps)
    }

    /// Bound for a run of two parts, ps, if this part's next event is at `next_ps`.
    #[inline]
    pub fn bound_of_two_ps(&self, next_ps: u64) -> u64 {
        let mut clock_ps = self.theirs.clock_ps;
        if self.theirs.taken == self.sent {
            // The other part has received everything: it waits for its next event or ours.
            let answer_ps = next_ps.saturating_add(self.outgoing_ps);
            clock_ps = clock_ps.max(self.theirs.next_ps.min(answer_ps));
        }
        clock_ps.saturating_add(self.incoming_ps)
    }

    /// Sends a message other than a clock.
    #[inline]
    pub fn send(&mut self, message: Message) {
        self.sent += 1;
        self.outgoing.write(message.record());
    }

    /// Sends a note.
    pub fn send_note(&mut self, note: Note) {
        // Cannot fail: all parts exist until the end of the run.
        let _ = self.notes_out.send(note);
        self.send(Message::Note);
    }

    /// Note of the message returned last.
    pub fn note(&mut self) -> Option<Note> {
        self.notes_in.try_recv().ok()
    }

    /// Sends this part's clock after all previous messages: nothing that is decided before
    /// `clock_ps` will follow, and the next event is at `next_ps` if nothing arrives.
    #[inline]
    pub fn send_clock(&mut self, clock_ps: u64, next_ps: u64, complete: Since) {
        let clock = Clock {
            clock_ps,
            next_ps,
            taken: self.taken,
            complete,
        };
        self.send_this(clock);
    }

    /// Sends clock and end of the run only, for more than two parts.
    #[inline]
    pub fn send_clock_alone(&mut self, clock_ps: u64, complete: Since) {
        let clock = Clock {
            clock_ps,
            complete,
            ..Clock::NONE
        };
        self.send_this(clock);
    }

    #[inline]
    fn send_this(&mut self, clock: Clock) {
        if clock != self.told {
            self.told = clock;
            self.outgoing.write(Message::Clock(clock).record());
        }
        self.publish();
    }

    /// Publishes the sent messages as far as there is room.
    #[inline]
    pub fn publish(&mut self) {
        if self.outgoing.is_behind() {
            self.outgoing.publish();
        }
    }

    /// Whether sent messages cannot be read yet, because the other part must fetch first.
    #[inline]
    pub fn is_behind(&self) -> bool {
        self.outgoing.is_behind()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::flow::halves::Report;

    fn take_all(neighbour: &mut Neighbour) {
        while neighbour.fetch() {
            while neighbour.next().is_some() {}
        }
    }

    /// By hand: lookaheads of 700 from the second part and 200 to it.
    #[test]
    fn part_advances_until_messages_could_arrive() {
        let (mut first, mut second) = Neighbour::pair([0, 1], [700, 200], 8);
        assert_eq!((first.part, second.part), (1, 0));
        assert_eq!((first.stride_ps(), second.stride_ps()), (225, 225));
        // If nothing arrives, the first part acts at 5000 and the second at 1000: the second's packet
        // can reach the first at 1700, and the answer can return at 1900.
        second.send_clock(700, 5000, u64::MAX);
        assert!(first.has_new());
        take_all(&mut first);
        assert_eq!(first.bound_of_two_ps(1000), 1900);
        // The first part has an unread message, so only its clock counts.
        first.send_note(Note::Report(Report::Freed(0)));
        assert_eq!(first.bound_of_two_ps(1000), 900);
        assert_eq!(first.bound_ps(), 900);
        first.send_clock(950, 1000, u64::MAX);
        take_all(&mut second);
        assert_eq!(second.bound_of_two_ps(5000), 1700);
        second.send_clock(1500, 1600, u64::MAX);
        take_all(&mut first);
        assert_eq!(first.bound_of_two_ps(3000), 1800);
        first.send_clock_alone(960, 2000);
        take_all(&mut second);
        assert_eq!((second.bound_ps(), second.theirs.complete), (1660, 2000));
    }
}
