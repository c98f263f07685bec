//! The receiver control of one host: which sender gets credit when, and at which rate in an
//! oversubscribed fabric. The algorithm is [`hull_core::rccc`]. Times are ps.

use hull_core::rccc::{Oversubscription, Pull, PullConfig, PullPacer};

use crate::random::Stream;

/// What adapts the rate of pulls.
#[derive(Debug)]
struct Adaptation {
    rate: Oversubscription,
    round_trip_ps: u64,
    random: Stream,
}

/// The receiver control of one host.
#[derive(Debug)]
pub struct Puller {
    pacer: PullPacer,
    /// No pull before then, ps.
    ready_ps: u64,
    /// The slot of each sender.
    slots: Vec<u32>,
    adaptation: Option<Adaptation>,
}

impl Puller {
    /// A host that has not heard of a sender. In a fabric whose hosts' links are `ratio` times as wide as it
    /// is, above 1, the rate of pulls adapts once in about `round_trip_ps`.
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

    /// A connection to this host was opened: its number here.
    pub fn add(&mut self, slot: u32) -> u32 {
        let number = self.pacer.add_sender();
        let at = number as usize;
        self.slots.resize(self.slots.len().max(at + 1), slot);
        self.slots[at] = slot;
        number
    }

    /// A connection, by its number, is over.
    pub fn remove(&mut self, number: u32) {
        self.pacer.remove_sender(number);
    }

    /// The sender of a connection, by its number, wants to have been granted so much.
    pub fn demand(&mut self, number: u32, target: u64) {
        self.pacer.on_target(number, target);
    }

    /// A packet of it was trimmed.
    pub fn request(&mut self, number: u32) {
        self.pacer.request(number);
    }

    /// What came: for the adaptation.
    pub fn on_data(&mut self, marked: bool) {
        if let Some(adaptation) = &mut self.adaptation {
            adaptation.rate.on_packet(marked);
        }
    }

    /// A header without its payload came.
    pub fn on_trimmed(&mut self, last_hop: bool) {
        if let Some(adaptation) = &mut self.adaptation {
            adaptation.rate.on_trimmed(last_hop);
        }
    }

    /// Whether a pull has to wait: an event comes when it is over.
    pub fn waits(&self, now_ps: u64) -> bool {
        now_ps < self.ready_ps
    }

    /// The next pull, where there is one; with the slot of its connection.
    pub fn next_pull(&mut self) -> Option<(u32, Pull)> {
        let pull = self.pacer.next_pull()?;
        Some((self.slots[pull.sender as usize], pull))
    }

    /// That pull is sent: when the next one may follow.
    pub fn sent(&mut self, now_ps: u64, pull: &Pull) -> u64 {
        self.ready_ps = now_ps + pull.gap_ps;
        self.ready_ps
    }

    /// An interval of the adaptation is over (or begins the first one): when the next one is, where the rate
    /// adapts.
    pub fn adapt(&mut self, now_ps: u64) -> Option<u64> {
        let adaptation = self.adaptation.as_mut()?;
        if now_ps > 0 {
            self.pacer.set_rate(adaptation.rate.end_interval());
        }
        let random = adaptation.random.bits();
        Some(now_ps + Oversubscription::interval_ps(adaptation.round_trip_ps, random))
    }
}
