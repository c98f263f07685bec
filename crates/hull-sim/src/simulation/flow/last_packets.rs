//! Last packets of messages that have arrived, whose messages are incomplete. Times are ps.

use std::collections::HashMap;

use crate::network::Waits;

/// Slot and end of a message, modulo 2^32.
type Key = (u32, u32);

/// Last packets that have arrived, whose messages are incomplete.
#[derive(Debug, Default)]
pub struct LastPackets {
    /// The latest one: most messages are complete at once, so that it is taken before the next comes.
    latest: Option<(Key, Arrival)>,
    others: HashMap<Key, Arrival>,
}

impl LastPackets {
    /// Adds an arrival; the first of several copies of a packet counts.
    pub fn insert(&mut self, key: Key, arrival: Arrival) {
        if self.get_mut(key).is_none()
            && let Some((key, arrival)) = self.latest.replace((key, arrival))
        {
            self.others.insert(key, arrival);
        }
    }

    pub fn get_mut(&mut self, key: Key) -> Option<&mut Arrival> {
        match &mut self.latest {
            Some((latest, arrival)) if *latest == key => Some(arrival),
            _ if self.others.is_empty() => None,
            _ => self.others.get_mut(&key),
        }
    }

    pub fn remove(&mut self, key: Key) -> Option<Arrival> {
        match &self.latest {
            Some((latest, _)) if *latest == key => self.latest.take().map(|(_, arrival)| arrival),
            _ if self.others.is_empty() => None,
            _ => self.others.remove(&key),
        }
    }
}

/// Arrival of a message's last packet.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    pub waits: Waits,
    pub at_ps: u64,
    /// Time at which the transport received it, ps.
    pub received_ps: Option<u64>,
}
