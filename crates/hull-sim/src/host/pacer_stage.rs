//! A host's way out where it has a pacer: NIC queue, flow association table, token bucket, wire
//! (paper 5.2: the pacer sits between server and switch, behind the NIC; report II-C: after the
//! queue, before the transmission).
//!
//! The NIC queue hands a packet over when its transmission would start; the wire behind the pacer
//! sends it with no further delay unless a paced packet is on it. A packet pays for its
//! serialization once. With several buckets (paper 4.2: one for each flow would be ideal) a flow's
//! number decides which one its packets take; each has a rate and a FIFO of its own.

use std::collections::VecDeque;

use hull_core::flow_association::{FlowAssociation, FlowAssociationConfig};
use hull_core::pacer::{Admission, Pacer, PacerConfig};

use crate::network::{Packet, Port};
use crate::random::Stream;
use crate::scenario::Overtaking;

/// What the pacer did with a packet that came from the NIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// It goes to the wire now.
    Now(Packet),
    /// It waits in the FIFO.
    Later,
    /// The FIFO was full.
    Dropped(Packet),
}

/// A token bucket with the packets that wait for it.
#[derive(Debug)]
struct Bucket {
    pacer: Pacer,
    fifo: VecDeque<Packet>,
}

/// NIC queue and pacer of one host.
#[derive(Debug)]
pub struct PacerStage {
    /// The NIC's queue: a port that hands over at the start of transmission.
    pub nic: Port,
    buckets: Vec<Bucket>,
    association: FlowAssociation,
    random: Stream,
    overtaking: Overtaking,
    /// How far the pacer's clock is ahead of the simulation's: the phase of its ticks.
    clock_ahead_ps: u64,
    /// When the event queue will wake the pacer; kept by the simulation.
    pub event_ps: u64,
    /// Packets dropped because the FIFO was full.
    pub drops: u64,
    /// Packets that waited in the FIFO.
    pub paced: u64,
    /// ECN-Echoes that associated their flow, refreshed associations counted in.
    pub associations: u64,
}

impl PacerStage {
    /// An empty stage. `overtaking` says which packets may pass those that wait in the FIFO,
    /// `clock_ahead_ps` sets the phase of the pacer's ticks and rate updates.
    pub fn new(
        nic: Port,
        pacer: &PacerConfig,
        association: &FlowAssociationConfig,
        random: Stream,
        overtaking: Overtaking,
        clock_ahead_ps: u64,
        buckets: usize,
    ) -> Self {
        let bucket = || Bucket {
            pacer: Pacer::new(pacer, clock_ahead_ps),
            fifo: VecDeque::new(),
        };
        PacerStage {
            nic,
            buckets: (0..buckets).map(|_| bucket()).collect(),
            association: FlowAssociation::new(association),
            random,
            overtaking,
            clock_ahead_ps,
            event_ps: u64::MAX,
            drops: 0,
            paced: 0,
            associations: 0,
        }
    }

    /// An ACK with ECN-Echo for a flow of this host came in.
    pub fn on_ece(&mut self, now_ps: u64, flow: u32) {
        let random = self.random.bits();
        if self.association.on_ece(now_ps, flow, random) {
            self.associations += 1;
        }
    }

    /// Takes a packet from the NIC.
    #[inline]
    pub fn admit(&mut self, now_ps: u64, packet: Packet) -> Release {
        let at = packet.flow as usize % self.buckets.len();
        let Bucket { pacer, fifo } = &mut self.buckets[at];
        let waits = match self.overtaking {
            Overtaking::Any => false,
            Overtaking::OtherFlows => fifo.iter().any(|waiting| waiting.flow == packet.flow),
            Overtaking::None => !fifo.is_empty(),
        };
        let paced = self.association.is_associated(now_ps, packet.flow) || waits;
        let clock_ps = now_ps + self.clock_ahead_ps;
        let bytes = u32::from(packet.wire_bytes);
        match pacer.admit(clock_ps, bytes, paced) {
            Admission::Pass => Release::Now(packet),
            Admission::Queued => {
                self.paced += 1;
                fifo.push_back(packet);
                Release::Later
            }
            Admission::Dropped => {
                self.drops += 1;
                Release::Dropped(packet)
            }
        }
    }

    /// When the pacer has to be looked at again; `None` when nothing waits.
    pub fn next_wake_ps(&self) -> Option<u64> {
        let wakes = self.buckets.iter().filter_map(|bucket| {
            let head = bucket.fifo.front()?;
            Some(bucket.pacer.next_wake_ps(u32::from(head.wire_bytes)) - self.clock_ahead_ps)
        });
        wakes.min()
    }

    /// The head of a FIFO that may leave at `now_ps`; call until `None`.
    pub fn release(&mut self, now_ps: u64) -> Option<Packet> {
        let clock_ps = now_ps + self.clock_ahead_ps;
        self.buckets.iter_mut().find_map(|bucket| {
            let bytes = u32::from(bucket.fifo.front()?.wire_bytes);
            if bucket.pacer.poll(clock_ps, bytes) {
                bucket.fifo.pop_front()
            } else {
                None
            }
        })
    }

    /// Rate (bit/s) and backlog (bytes, packets) of each bucket as they are at `now_ps`.
    pub fn readings(&self, now_ps: u64) -> impl Iterator<Item = (u64, u32, u32)> {
        self.buckets.iter().map(move |bucket| {
            let mut pacer = bucket.pacer.clone();
            pacer.advance(now_ps + self.clock_ahead_ps);
            let packets = bucket.fifo.len() as u32;
            (pacer.rate_bps(), pacer.backlog_bytes(), packets)
        })
    }

    /// Packets in the FIFOs.
    pub fn backlog(&self) -> usize {
        self.buckets.iter().map(|bucket| bucket.fifo.len()).sum()
    }

    /// The first bucket's rate, bit/s.
    pub fn rate_bps(&self) -> u64 {
        self.buckets[0].pacer.rate_bps()
    }
}
