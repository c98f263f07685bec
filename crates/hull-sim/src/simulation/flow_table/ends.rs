//! The ends of the flows in the slots. Each kind has a slab of its own, so no flow has the state of the
//! other kind.

use super::FlowTable;
use crate::simulation::flow::connection::Connection;
use crate::simulation::flow::ends::Ends;

impl FlowTable {
    /// Place of a slot's ends in the slab of their kind.
    #[inline]
    pub fn place(&self, slot: u32) -> usize {
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
    pub fn connection(&mut self, slot: u32) -> Option<&mut Connection> {
        if !self.is_message(slot) {
            return None;
        }
        let place = self.place(slot);
        self.connections.get_mut(place)
    }

    /// Connection in a slot, for reading.
    #[inline]
    pub fn connection_at(&self, slot: u32) -> Option<&Connection> {
        match self.is_message(slot) {
            true => self.connections.get(self.place(slot)),
            false => None,
        }
    }

    /// Ends of the flow in a slot.
    #[inline]
    pub fn ends(&self, slot: u32) -> Ends<'_> {
        let at = self.place(slot);
        match self.is_message(slot) {
            true => Ends::Message(&self.connections[at]),
            false => Ends::Stream(&self.senders[at], &self.receivers[at]),
        }
    }

    /// Adds `bytes` to the data of a flow.
    pub fn write_data(&mut self, now_ps: u64, slot: u32, bytes: u64) {
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
    pub fn stop_data(&mut self, slot: u32) -> (u64, u64) {
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
}
