//! What a part sends to the others and does with what it receives. Times are ps.

use super::message::Message;
use super::part::{Part, Phase, Step};
use crate::network::{Departure, NO_OPTIONS};
use crate::simulation::divided_flows::Note;

impl Part<'_> {
    /// Receives the messages of the other parts. Fetches from the edge last and reads its messages
    /// first. Returns [`Step::Told`] if there are only clocks: the part's post stays true.
    #[inline]
    pub(super) fn receive(&mut self) -> Step {
        let mut received = Step::Stuck;
        for neighbour in self.neighbours.iter_mut().rev() {
            if neighbour.fetch() {
                received = Step::Told;
            }
        }
        if received == Step::Stuck {
            return received;
        }
        // Messages after the end of the run are not served.
        let serves = self.phase != Phase::Ending;
        let by_hosts = self.by_hosts();
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
                        if scheduled.packet.options != NO_OPTIONS && by_hosts {
                            scheduled.packet.options = self.neighbours[at].carried;
                        }
                        let (at_ps, port, packet_ref) = simulation.fabric.network.land(scheduled);
                        self.assert_not_served(at_ps, "a packet arrives");
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
                    Message::Route(at, count, entries) => {
                        let entries = &entries[..count];
                        simulation.fabric.network.set_route(at as usize, entries);
                    }
                    Message::Clock(_) => {}
                }
            }
        }
        received
    }

    /// Asserts that this part has not served the time at which something happens that another part
    /// tells. The results would depend on which part is ahead.
    #[inline]
    fn assert_not_served(&self, at_ps: u64, what: &str) {
        assert!(
            at_ps >= self.served_ps,
            "{what} at {at_ps} ps at part {}, which has served its events until {} ps",
            self.number,
            self.served_ps
        );
    }

    /// Sends changes since the last call: new routes before the packets that may follow them.
    #[inline]
    pub(super) fn send_all(&mut self) {
        let (simulation, neighbours) = (&mut *self.simulation, &mut self.neighbours);
        simulation.fabric.network.for_each_new_route(|at, entries| {
            for neighbour in neighbours.iter_mut() {
                Message::of_route(at, entries).for_each(|message| neighbour.send(message));
            }
        });
        self.send_notes();
        let (simulation, neighbours) = (&mut *self.simulation, &mut self.neighbours);
        let by_hosts = simulation.endpoints.table.halves.is_some();
        let (departures, options) = simulation.fabric.network.departures();
        for Departure { to, scheduled } in departures {
            let part = usize::from(to);
            let mut others = neighbours.iter_mut();
            let Some(neighbour) = others.find(|neighbour| neighbour.part == part) else {
                unreachable!("a packet's next part is a neighbour");
            };
            let packet = &scheduled.packet;
            if by_hosts && let Some(of_packet) = options.take(packet.options) {
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
        if simulation.endpoints.table.halves.is_none() {
            if !simulation.endpoints.keeps_flows
                && let Some(edge) = neighbours.first_mut()
            {
                let endpoints = &mut simulation.endpoints;
                for waited in endpoints.waited.drain(..) {
                    edge.send_note(Note::Waited(waited));
                }
                endpoints.take_losses(|loss| edge.send_note(Note::Lost(loss)));
            }
            return;
        }
        let mut own = Vec::new();
        simulation.endpoints.table.for_each_note(|part, note| {
            let mut others = neighbours.iter_mut();
            match others.find(|neighbour| neighbour.part == usize::from(part)) {
                Some(neighbour) => neighbour.send_note(note),
                None => {
                    assert_eq!(
                        usize::from(part),
                        *number,
                        "parts with hosts are neighbours"
                    );
                    own.push(note);
                }
            }
        });
        for note in own {
            if let (Note::Report(report), Some(ledger)) = (note, &mut *ledger) {
                ledger.take(*number as u8, report);
            }
        }
    }

    /// Processes a note of the neighbour at `at`.
    fn take_note(&mut self, at: usize, note: Note) {
        if let Note::Lost(loss) = &note {
            self.assert_not_served(loss.at_ps, "a flow learns of a loss");
        }
        let simulation = &mut *self.simulation;
        match note {
            Note::Lost(loss) => simulation.endpoints.await_loss(loss, &mut simulation.clock),
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
            Note::Waited(waited) => {
                let table = &mut simulation.fabric.network.options;
                if let Some(waits) = table.waits_mut(waited.options) {
                    waits.add(usize::from(waited.place), waited.waited_ps);
                }
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
