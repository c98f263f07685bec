//! The sending path of a host with a pacer: NIC queue, flow association table, token bucket, wire
//! (paper 5.2: the pacer sits between server and switch, behind the NIC; report II-C: after the queue,
//! before the transmission).
//!
//! The NIC queue hands a packet over when its transmission would start; the wire behind the pacer sends
//! it without further delay unless it is busy with a paced packet. Each packet is serialized once. With
//! several buckets (paper 4.2: ideally one per flow) a flow's number selects the bucket; each bucket
//! has its own rate and FIFO.
//!
//! The stage may also stand before segmentation, as a pacer in software does (thesis 4.3.2 and 4.6): it
//! holds whole pieces, and the NIC queue behind it sends the packets of each back to back.
//!
//! In the report's ns-2 code the NIC's queue stops while a packet waits in the pacer, and resumes when
//! that packet has been sent. There the FIFO holds one packet, and all other packets of the host, paced
//! or not, wait behind it ([`Overtaking::Held`]).

use std::collections::VecDeque;

use hull_core::flow_association::{FlowAssociation, FlowAssociationConfig, bit_of};
use hull_core::pacer::{Admission, Pacer, PacerConfig};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::nic::Nic;
use crate::memory::block_of;
use crate::network::{Packet, flags};
use crate::random::Stream;

/// Packets that may overtake those waiting in a pacer's FIFO.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Overtaking {
    /// Packets of all flows that are not associated, including flows whose association has just
    /// ended while packets of theirs wait: their packets are reordered (report II-C).
    Any,
    /// Packets of flows that have no packet waiting.
    #[default]
    OtherFlows,
    /// No packets: a small response waits behind paced packets.
    None,
    /// No packets, and the NIC stops while a packet waits, as in the report's ns-2 code: the FIFO
    /// holds one packet, and the others wait before the pacer.
    Held,
}

/// Result of passing a packet from the NIC to the pacer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// The packet goes to the wire now.
    Now,
    /// The packet waits.
    Later,
    /// The FIFO was full.
    Dropped,
}

/// Effect of an ACK with ECN-Echo on its flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Echo {
    /// No change.
    Nothing,
    /// The flow has become associated.
    Begun,
    /// The flow was already associated; its association time restarts.
    Renewed,
}

/// Token bucket with the packets that wait for it.
#[derive(Debug)]
struct Bucket {
    pacer: Pacer,
    fifo: VecDeque<Packet>,
    /// Bits of the flows that have had packets in the FIFO since it was last empty: a flow without
    /// its bit has none.
    flows: u64,
}

impl Bucket {
    /// Whether a packet of `flow` waits.
    #[inline]
    fn holds(&self, flow: u32) -> bool {
        self.flows & bit_of(flow) != 0 && self.fifo.iter().any(|waiting| waiting.flow == flow)
    }

    fn push(&mut self, packet: Packet) {
        self.flows |= bit_of(packet.flow);
        self.fifo.push_back(packet);
    }

    fn pop(&mut self) -> Option<Packet> {
        let packet = self.fifo.pop_front();
        if self.fifo.is_empty() {
            self.flows = 0;
        }
        packet
    }
}

/// NIC queue and pacer of one host.
#[derive(Debug)]
pub struct PacerStage {
    /// The NIC's queue.
    pub nic: Nic,
    buckets: Vec<Bucket>,
    association: FlowAssociation,
    /// Whether packets restart the timers of their flows (thesis 4.3.2).
    packets_restart: bool,
    random: Stream,
    overtaking: Overtaking,
    /// Whether the packets of a piece leave together: the pacer stands before segmentation.
    by_piece: bool,
    /// What became of the first packet of the last piece, and whether it was paced.
    last_piece: (Admission, bool),
    /// Packets that the NIC would not have handed over yet; with [`Overtaking::Held`] only.
    held: VecDeque<Packet>,
    /// End of the last released packet, ps; the next one is held until then. With
    /// [`Overtaking::Held`] only.
    held_until_ps: u64,
    /// Effects of packets with [`flags::ECHOED`] on their flows since the last
    /// [`Self::take_drawn`].
    drawn: Vec<(u32, Echo)>,
    /// Lead of the pacer's clock over the simulation's, ps: the phase of its ticks.
    clock_ahead_ps: u64,
    /// Time of the pacer's event in the event queue, ps; maintained by the simulation.
    pub event_ps: u64,
    /// Number of packets dropped because the FIFO was full.
    pub drops: u64,
    /// Number of packets that waited in the FIFO.
    pub paced: u64,
    /// Number of ECN-Echoes that associated their flow or renewed its association.
    pub associations: u64,
}

impl PacerStage {
    /// Creates an empty stage. `overtaking` selects the packets that may pass those waiting in the
    /// FIFO; `clock_ahead_ps` sets the phase of the pacer's ticks and rate updates.
    pub fn new(
        nic: Nic,
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
            flows: 0,
        };
        PacerStage {
            nic,
            buckets: (0..buckets).map(|_| bucket()).collect(),
            association: FlowAssociation::new(association),
            packets_restart: false,
            random,
            overtaking,
            by_piece: false,
            last_piece: (Admission::Pass, false),
            held: VecDeque::new(),
            held_until_ps: 0,
            drawn: Vec::new(),
            clock_ahead_ps,
            event_ps: u64::MAX,
            drops: 0,
            paced: 0,
            associations: 0,
        }
    }

    /// Lets packets restart the timers of their flows, if `restart`.
    pub fn with_packets_restarting(mut self, restart: bool) -> Self {
        self.packets_restart = restart;
        self
    }

    /// Makes the packets of a piece leave together.
    pub fn before_segmentation(mut self) -> Self {
        self.by_piece = true;
        self
    }

    /// Memory of a stage with this number of buckets, without packets and associations, bytes.
    pub fn bytes(buckets: usize) -> u64 {
        size_of::<PacerStage>() as u64 + block_of::<Bucket>(buckets)
    }

    /// Processes an ACK with ECN-Echo for a flow of this host, or the packet that reports it.
    pub fn on_ece(&mut self, now_ps: u64, flow: u32) -> Echo {
        let random = self.random.bits();
        let before = self.association.is_associated(now_ps, flow);
        if !self.association.on_ece(now_ps, flow, random) {
            return Echo::Nothing;
        }
        self.associations += 1;
        if before { Echo::Renewed } else { Echo::Begun }
    }

    /// Processes the end of a flow whose number another flow takes.
    pub fn forget(&mut self, flow: u32) {
        self.association.forget(flow);
        self.nic.forget(flow);
    }

    /// Takes the effect of one packet with [`flags::ECHOED`] on its flow.
    pub fn take_drawn(&mut self) -> Option<(u32, Echo)> {
        self.drawn.pop()
    }

    /// Passes a packet from the NIC to the pacer.
    #[inline]
    pub fn admit(&mut self, now_ps: u64, packet: &Packet) -> Release {
        if self.overtaking != Overtaking::Held {
            return self.enter(now_ps, packet);
        }
        if now_ps < self.held_until_ps || !self.held.is_empty() || self.fifo_len() > 0 {
            self.held.push_back(*packet);
            return Release::Later;
        }
        let release = self.enter(now_ps, packet);
        if release == Release::Now {
            self.hold(now_ps, packet);
        }
        release
    }

    /// Holds the next packet until the end of this one, which goes to the wire.
    fn hold(&mut self, now_ps: u64, packet: &Packet) {
        let ps = f64::from(packet.wire_bytes) * 8e12 / self.nic.rate_bps();
        self.held_until_ps = now_ps + ps.round() as u64;
    }

    /// Passes a packet to its bucket.
    #[inline]
    fn enter(&mut self, now_ps: u64, packet: &Packet) -> Release {
        if packet.has(flags::ECHOED) {
            let echo = self.on_ece(now_ps, packet.flow);
            self.drawn.push((packet.flow, echo));
        }
        // A division is slow, and one bucket is usual.
        let at = match self.buckets.len() {
            1 => 0,
            buckets => packet.flow as usize % buckets,
        };
        let bucket = &mut self.buckets[at];
        let bytes = u32::from(packet.wire_bytes);
        if self.by_piece && packet.is_behind() {
            let (first, paced) = self.last_piece;
            bucket.pacer.admit_behind(bytes, first, paced);
            return self.place(at, packet, first);
        }
        let associated = if self.packets_restart {
            self.association.on_packet(now_ps, packet.flow)
        } else {
            self.association.is_associated(now_ps, packet.flow)
        };
        let paced = associated
            || match self.overtaking {
                Overtaking::Any | Overtaking::Held => false,
                Overtaking::OtherFlows => bucket.holds(packet.flow),
                Overtaking::None => !bucket.fifo.is_empty(),
            };
        let clock_ps = now_ps + self.clock_ahead_ps;
        let admission = bucket.pacer.admit(clock_ps, bytes, paced);
        self.last_piece = (admission, paced);
        self.place(at, packet, admission)
    }

    /// Carries out what a bucket has decided on a packet.
    #[inline]
    fn place(&mut self, at: usize, packet: &Packet, admission: Admission) -> Release {
        match admission {
            Admission::Pass => Release::Now,
            Admission::Queued => {
                self.paced += 1;
                self.buckets[at].push(*packet);
                Release::Later
            }
            Admission::Dropped => {
                self.drops += 1;
                Release::Dropped
            }
        }
    }

    /// Next time at which the pacer must be polled, ps; `None` if nothing waits.
    pub fn next_wake_ps(&self) -> Option<u64> {
        let wakes = self.buckets.iter().filter_map(|bucket| {
            let head = bucket.fifo.front()?;
            Some(bucket.pacer.next_wake_ps(u32::from(head.wire_bytes)) - self.clock_ahead_ps)
        });
        let held = (!self.held.is_empty() && self.fifo_len() == 0).then_some(self.held_until_ps);
        let next_ps = wakes.chain(held).min()?;
        Some(next_ps.max(self.held_until_ps))
    }

    /// Takes a packet that may leave at `now_ps`; call until it returns `None`.
    pub fn release(&mut self, now_ps: u64) -> Option<Packet> {
        if self.overtaking != Overtaking::Held {
            return self.release_head(now_ps);
        }
        loop {
            if now_ps < self.held_until_ps {
                return None;
            }
            let (packet, release) = if self.fifo_len() > 0 {
                (self.release_head(now_ps)?, Release::Now)
            } else {
                let packet = self.held.pop_front()?;
                (packet, self.enter(now_ps, &packet))
            };
            if release == Release::Now {
                self.hold(now_ps, &packet);
                return Some(packet);
            }
        }
    }

    /// Takes the head of a FIFO that may leave at `now_ps`.
    fn release_head(&mut self, now_ps: u64) -> Option<Packet> {
        let clock_ps = now_ps + self.clock_ahead_ps;
        let by_piece = self.by_piece;
        self.buckets.iter_mut().find_map(|bucket| {
            let head = bucket.fifo.front()?;
            let bytes = u32::from(head.wire_bytes);
            if by_piece && head.is_behind() {
                bucket.pacer.release_behind(bytes);
                return bucket.pop();
            }
            if bucket.pacer.poll(clock_ps, bytes) {
                bucket.pop()
            } else {
                None
            }
        })
    }

    /// Rate (bit/s) and backlog (bytes, packets) of each bucket at `now_ps`.
    pub fn readings(&self, now_ps: u64) -> impl Iterator<Item = (u64, u32, u32)> {
        self.buckets.iter().map(move |bucket| {
            let mut pacer = bucket.pacer.clone();
            pacer.advance(now_ps + self.clock_ahead_ps);
            let packets = bucket.fifo.len() as u32;
            (pacer.rate_bps(), pacer.backlog_bytes(), packets)
        })
    }

    /// Number of packets in the FIFOs and held before them.
    pub fn backlog(&self) -> usize {
        self.fifo_len() + self.held.len()
    }

    /// Number of packets in the FIFOs.
    fn fifo_len(&self) -> usize {
        self.buckets.iter().map(|bucket| bucket.fifo.len()).sum()
    }

    /// Rate of the first bucket, bit/s.
    pub fn rate_bps(&self) -> u64 {
        self.buckets[0].pacer.rate_bps()
    }
}

#[cfg(test)]
mod tests;
