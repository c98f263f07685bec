//! The ends of flows: sender and receiver of a stream, or a connection of the message transport. Each
//! kind has a slab of its own, so no flow has the state of the other kind. A slot keeps the kind of its
//! first flow, because the event of a timer may outlast a flow.

use super::connection::Connection;
use super::distances::Distances;
use super::flows::{FlowTable, Template};
use super::paced::Paced;
use crate::network::InBand;
use crate::transport::{Receiver, Sender};

/// Initial state of the ends of a transport's flows.
#[derive(Debug)]
pub enum Initial {
    /// A stream.
    Stream(Box<(Sender, Receiver)>),
    /// The message transport: the settings of its connections.
    Message(Box<Distances>),
}

/// Ends of one flow.
#[derive(Clone, Copy, Debug)]
pub enum Ends<'a> {
    /// A stream.
    Stream(&'a Sender, &'a Receiver),
    /// A connection of the message transport.
    Message(&'a Connection),
}

impl Ends<'_> {
    /// Numbers of timeouts and of retransmitted segments.
    #[inline]
    pub fn losses(self) -> (u32, u32) {
        match self {
            Ends::Stream(sender, _) => (sender.timeouts, sender.retransmissions),
            Ends::Message(connection) => {
                let sender = &connection.sender;
                (sender.timeouts, sender.retransmissions)
            }
        }
    }

    /// Whether all data is acknowledged and the flow is not queued at a NIC.
    #[inline]
    pub fn are_idle(self) -> bool {
        match self {
            Ends::Stream(sender, _) => sender.is_idle(),
            Ends::Message(connection) => {
                connection.sender.is_idle() && !connection.sender.waits_for_nic
            }
        }
    }

    /// Payload acknowledged to the sender, bytes; for the message transport, complete messages only.
    #[inline]
    pub fn acked_bytes(self) -> u64 {
        match self {
            Ends::Stream(sender, _) => sender.una(),
            Ends::Message(connection) => connection.sender.acked_bytes(),
        }
    }

    /// Payload that has arrived in order, bytes; for the message transport, in any order.
    #[inline]
    pub fn arrived_bytes(self) -> u64 {
        match self {
            Ends::Stream(_, receiver) => receiver.next(),
            Ends::Message(connection) => connection.receiver.received_payload(),
        }
    }
}

impl FlowTable {
    /// Place of a slot's ends in the slab of their kind.
    #[inline]
    pub(super) fn place(&self, slot: u32) -> usize {
        match self.places.get(slot as usize) {
            Some(&place) => place as usize,
            None => slot as usize, // all flows are of one kind
        }
    }

    /// Whether the flow in a slot uses the message transport.
    #[inline]
    pub fn is_message(&self, slot: u32) -> bool {
        !self.connections.is_empty()
            && (self.senders.is_empty() || self.template(slot).messages().is_some())
    }

    /// Connection in a slot, if its flow uses the message transport.
    #[inline]
    pub(super) fn connection(&mut self, slot: u32) -> Option<&mut Connection> {
        if !self.is_message(slot) {
            return None;
        }
        let place = self.place(slot);
        self.connections.get_mut(place)
    }

    /// Connection in a slot, for reading.
    #[inline]
    pub(super) fn connection_at(&self, slot: u32) -> Option<&Connection> {
        match self.is_message(slot) {
            true => self.connections.get(self.place(slot)),
            false => None,
        }
    }

    /// Ends of the flow in a slot.
    #[inline]
    pub(super) fn ends(&self, slot: u32) -> Ends<'_> {
        let at = self.place(slot);
        match self.is_message(slot) {
            true => Ends::Message(&self.connections[at]),
            false => Ends::Stream(&self.senders[at], &self.receivers[at]),
        }
    }

    /// Adds `bytes` to the data of a flow.
    pub(super) fn write_data(&mut self, now_ps: u64, slot: u32, bytes: u64) {
        match self.connection(slot) {
            Some(connection) => connection.write(now_ps, bytes),
            None => {
                let at = self.place(slot);
                self.senders[at].write(bytes);
            }
        }
    }

    /// Discards all data of a flow that is not yet sent. Returns the end of the payload and the payload
    /// that has arrived, bytes.
    pub(super) fn stop_data(&mut self, slot: u32) -> (u64, u64) {
        if let Some(connection) = self.connection(slot) {
            return connection.stop();
        }
        let at = self.place(slot);
        let sender = &mut self.senders[at];
        let end = sender.stop();
        match sender.is_idle() {
            true => (end, end),
            false => (end, self.receivers[at].next()),
        }
    }

    /// Adds the place of a new slot, and of a stream the ends.
    pub(super) fn grow_ends(&mut self, transport: usize) {
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
                self.senders.len() - 1
            }
        };
        if self.has_both_kinds {
            self.places.push(place as u32);
        }
    }

    /// Resets the ends in a slot for a new flow.
    pub(super) fn reset_ends(&mut self, slot: u32) {
        let at = self.place(slot);
        let flow = &self.flows[slot as usize];
        let (ends, transport) = ((flow.src, flow.dst), usize::from(flow.transport));
        match &mut self.templates[transport].initial {
            // A timer event of the slot's last flow may still be pending: it serves for this one.
            Initial::Stream(initial) => {
                self.senders[at].reset(&initial.0);
                self.receivers[at].reset(&initial.1);
            }
            Initial::Message(distances) => {
                let config = distances.between(ends.0, ends.1).clone();
                self.begin_connection(at, &config);
            }
        }
    }

    /// Stops the timers of a flow that has ended.
    pub(super) fn stop_ends(&mut self, slot: u32) {
        if !self.is_message(slot) {
            let at = self.place(slot);
            self.senders[at].rto_deadline_ps = u64::MAX;
            self.receivers[at].ack_deadline_ps = u64::MAX;
            self.leave_limiter(slot);
        }
    }
}

impl Template {
    /// Settings of the connections, if this is the message transport.
    #[inline]
    pub fn messages(&self) -> Option<&Distances> {
        match &self.initial {
            Initial::Message(distances) => Some(distances),
            Initial::Stream(_) => None,
        }
    }
}
