//! The receiver control of one host: the order and the times at which senders receive credit, and
//! its rate in an oversubscribed fabric. The algorithm is [`hull_core::rccc`]. Times are ps.

use hull_core::rccc::{Oversubscription, Pull, PullConfig, PullPacer};

use crate::random::Stream;

/// Adaptation of the pull rate.
#[derive(Debug)]
struct Adaptation {
    rate: Oversubscription,
    round_trip_ps: u64,
    random: Stream,
}

/// Receiver control of one host.
#[derive(Debug)]
pub struct Puller {
    pacer: PullPacer,
    /// Earliest time of the next pull, ps.
    ready_ps: u64,
    /// Slot of each sender.
    slots: Vec<u32>,
    adaptation: Option<Adaptation>,
}

impl Puller {
    /// Creates a receiver control without senders. `ratio` is the width of the hosts' links
    /// relative to the fabric; above 1 the pull rate adapts about once per `round_trip_ps`.
    pub fn new(config: &PullConfig, ratio: f64, round_trip_ps: u64, random: Stream) -> Self {
        let adapts = ratio > 1.0;
        Puller {
            pacer: PullPacer::new(config),
            ready_ps: 0,
            slots: Vec::new(),
            adaptation: adapts.then(|| Adaptation {
                rate: Oversubscription::new(ratio),
                round_trip_ps,
                random,
            }),
        }
    }

    /// Adds a connection to this host. Returns its number at this host.
    pub fn add(&mut self, slot: u32) -> u32 {
        let number = self.pacer.add_sender();
        let at = number as usize;
        self.slots.resize(self.slots.len().max(at + 1), slot);
        self.slots[at] = slot;
        number
    }

    /// Removes the connection with this number.
    pub fn remove(&mut self, number: u32) {
        self.pacer.remove_sender(number);
    }

    /// Sets the total credit that the sender of the connection `number` requests, quanta of 256
    /// bytes.
    pub fn demand(&mut self, number: u32, target: u64) {
        self.pacer.on_target(number, target);
    }

    /// Requests credit for a trimmed packet of this connection.
    pub fn request(&mut self, number: u32) {
        self.pacer.request(number);
    }

    /// Reports an arrived data packet to the adaptation.
    pub fn on_data(&mut self, marked: bool) {
        if let Some(adaptation) = &mut self.adaptation {
            adaptation.rate.on_packet(marked);
        }
    }

    /// Reports a packet that arrived without its payload to the adaptation.
    pub fn on_trimmed(&mut self, last_hop: bool) {
        if let Some(adaptation) = &mut self.adaptation {
            adaptation.rate.on_trimmed(last_hop);
        }
    }

    /// Whether a pull must wait; an event is then scheduled for the end of the wait.
    pub fn waits(&self, now_ps: u64) -> bool {
        now_ps < self.ready_ps
    }

    /// Takes the next pull, if any, with the slot of its connection.
    pub fn next_pull(&mut self) -> Option<(u32, Pull)> {
        let pull = self.pacer.next_pull()?;
        Some((self.slots[pull.sender as usize], pull))
    }

    /// Records that the pull is sent. Returns the earliest time of the next one, ps.
    pub fn sent(&mut self, now_ps: u64, pull: &Pull) -> u64 {
        self.ready_ps = now_ps + pull.gap_ps;
        self.ready_ps
    }

    /// Ends an interval of the adaptation, or begins the first one. Returns the time of the next
    /// call, ps, if the rate adapts.
    pub fn adapt(&mut self, now_ps: u64) -> Option<u64> {
        let adaptation = self.adaptation.as_mut()?;
        if now_ps > 0 {
            self.pacer.set_rate(adaptation.rate.end_interval());
        }
        let random = adaptation.random.bits();
        Some(now_ps + Oversubscription::interval_ps(adaptation.round_trip_ps, random))
    }
}
