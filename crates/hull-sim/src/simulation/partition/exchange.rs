//! What a part sends to the others and does with what it receives. Times are ps.

use super::message::Message;
use super::part::{Part, Phase, Step};
use crate::network::{Departure, NO_OPTIONS};
use crate::simulation::flow::halves::Note;

/// Place of part `other` among the neighbours of part `number`, which are all others in order.
#[inline]
fn place_of(other: u8, number: usize) -> usize {
    let other = usize::from(other);
    other - usize::from(other > number)
}

impl Part<'_> {
    /// Receives the messages of the other parts. Returns [`Step::Told`] if there are only clocks: the
    /// part's post stays true.
    #[inline]
    pub(super) fn receive(&mut self) -> Step {
        let mut received = Step::Stuck;
        for neighbour in &mut self.neighbours {
            if neighbour.fetch() {
                received = Step::Told;
            }
        }
        if received == Step::Stuck {
            return received;
        }
        // Messages after the end of the run are not served.
        let serves = self.phase != Phase::Ending;
        for at in 0..self.neighbours.len() {
            while let Some(message) = self.neighbours[at].next() {
                if matches!(message, Message::Clock(_)) {
                    continue;
                }
                self.take_back();
                received = Step::Ahead;
                let simulation = &mut *self.simulation;
                match message {
                    Message::Packet(mut scheduled) => {
                        if scheduled.packet.options != NO_OPTIONS {
                            scheduled.packet.options = self.neighbours[at].carried;
                        }
                        let (at_ps, port, packet_ref) = simulation.fabric.network.land(scheduled);
                        self.assert_not_served(at_ps);
                        let simulation = &mut *self.simulation;
                        if serves {
                            simulation.clock.schedule_arrival(at_ps, port, packet_ref);
                        }
                    }
                    Message::Note => {
                        let Some(note) = self.neighbours[at].note() else {
                            unreachable!("a note is sent before its message");
                        };
                        self.take_note(at, note);
                    }
                    Message::Clock(_) => {}
                }
            }
        }
        received
    }

    /// Asserts that this part has not served the time at which a packet from another part arrives. The
    /// results would depend on which part is ahead.
    #[inline]
    fn assert_not_served(&self, at_ps: u64) {
        assert!(
            at_ps >= self.served_ps,
            "a packet arrives at {at_ps} ps at part {}, which has served its events until {} ps",
            self.number,
            self.served_ps
        );
    }

    /// Sends changes since the last call: new flows before their packets.
    #[inline]
    pub(super) fn send_all(&mut self) {
        self.send_notes();
        let (number, neighbours) = (self.number, &mut self.neighbours);
        let (departures, options) = self.simulation.fabric.network.departures();
        for Departure { to, scheduled } in departures {
            let neighbour = &mut neighbours[place_of(to, number)];
            let packet = &scheduled.packet;
            if let Some(of_packet) = options.take(packet.options) {
                let waits = options.waits_mut(packet.options).copied();
                let waits = waits.filter(|_| packet.is_last());
                neighbour.send_note(Note::Options(Box::new((of_packet, waits))));
            }
            neighbour.send(Message::Packet(scheduled));
        }
    }

    /// Sends the notes since the last call.
    #[inline]
    pub(super) fn send_notes(&mut self) {
        let Part {
            number,
            simulation,
            neighbours,
            ledger,
            ..
        } = self;
        simulation.endpoints.table.for_each_note(|part, note| {
            if usize::from(part) != *number {
                neighbours[place_of(part, *number)].send_note(note);
            } else if let (Note::Report(report), Some(ledger)) = (note, &mut *ledger) {
                ledger.take(part, report);
            }
        });
    }

    /// Processes a note of the neighbour at `at`.
    fn take_note(&mut self, at: usize, note: Note) {
        let simulation = &mut *self.simulation;
        match note {
            Note::Opened(opening) => {
                let network = &mut simulation.fabric.network;
                simulation.endpoints.adopt(&opening, network);
            }
            Note::Options(options) => {
                let table = &mut simulation.fabric.network.options;
                let (options, waits) = *options;
                let entry = table.insert(options);
                if let Some(waits) = waits {
                    table.follow(entry, waits);
                }
                self.neighbours[at].carried = entry;
            }
            Note::Arrived(slot, arrival, waits) => {
                simulation.message_arrived(slot, arrival, waits.as_deref());
            }
            Note::InFlight(slot, count) => simulation.endpoints.table.take_in_flight(slot, count),
            Note::Report(report) => {
                if let Some(ledger) = &mut self.ledger {
                    ledger.take(self.neighbours[at].part as u8, report);
                }
            }
        }
    }
}
