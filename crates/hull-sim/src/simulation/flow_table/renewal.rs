//! The ends in a slot when a flow begins and ends. A slot keeps the kind of its first flow, because the
//! event of a timer may outlast a flow.

use std::sync::Arc;

use super::FlowTable;
use crate::network::InBand;
use crate::simulation::flow::connection::Connection;
use crate::simulation::flow::ends::Initial;
use crate::simulation::flow::paced::Paced;
use crate::simulation::flow::spraying::Spraying;
use crate::simulation::flow::template::Template;
use crate::simulation::hash::mix;
use crate::transport::message::MessageConfig;

impl FlowTable {
    /// Adds the place of a new slot, and of a stream the ends.
    pub fn grow_ends(&mut self, transport: usize) {
        let template = &self.templates[transport];
        let place = match &template.initial {
            Initial::Message(_) => self.connections.len(),
            Initial::Stream(ends) => {
                self.senders.push(ends.0.clone());
                self.receivers.push(ends.1.clone());
                let has_state =
                    |one: &Template| one.has_pace || matches!(one.asks, InBand::Rate(_));
                if self.templates.iter().any(has_state) {
                    self.paced.push(Paced::new());
                }
                let mut sprays = self.templates.iter().filter_map(|one| one.spray);
                if let Some(spray) = sprays.next() {
                    self.spraying.push(Spraying::new(&spray, 0));
                }
                self.senders.len() - 1
            }
        };
        if self.has_both_kinds {
            self.places.push(place as u32);
        }
    }

    /// Resets the ends in a slot for a new flow.
    pub fn reset_ends(&mut self, slot: u32) {
        let at = self.place(slot);
        let flow = &self.flows[slot as usize];
        let (ends, transport) = ((flow.src, flow.dst), usize::from(flow.transport));
        match &mut self.templates[transport].initial {
            // A timer event of the slot's last flow may still be pending: it serves for this one.
            Initial::Stream(initial) => {
                self.senders[at].reset(&initial.0);
                self.receivers[at].reset(&initial.1);
                if let Some(spray) = &self.templates[transport].spray {
                    let random = mix(self.seed ^ mix(self.opened));
                    self.spraying[at].begin(spray, random);
                }
            }
            Initial::Message(distances) => {
                let config = distances.between(ends.0, ends.1).clone();
                self.begin_connection(at, &config);
            }
        }
    }

    /// Begins the last flow opened as a connection at this place.
    pub fn begin_connection(&mut self, at: usize, config: &Arc<MessageConfig>) {
        let (number, random) = (self.opened, mix(self.seed ^ mix(self.opened)));
        match self.connections.get_mut(at) {
            Some(old) => {
                let routes = std::mem::take(&mut old.routes);
                *old = Connection::new(config, number, random, routes);
            }
            None => {
                let new = Connection::new(config, number, random, Vec::new());
                self.connections.push(new);
            }
        }
    }

    /// Stops the timers of a flow that has ended.
    pub fn stop_ends(&mut self, slot: u32) {
        if !self.is_message(slot) {
            let at = self.place(slot);
            self.senders[at].rto_deadline_ps = u64::MAX;
            self.receivers[at].ack_deadline_ps = u64::MAX;
            self.leave_limiter(slot);
        }
    }
}
