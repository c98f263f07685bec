//! Rules of a switch port beyond queueing: one file per rule, each a type that implements [`Rule`]. A
//! port has the rules of its settings, in the order of the list.
//!
//! The stages of a packet in a port: ingress (every packet), admission (is there room in the port's own
//! buffer and in the shared memory?), arrival (it is accepted, and may be marked or dropped early), the
//! scheduler, departure (its transmission starts, and its waiting time is known). A rule implements the
//! stages that it needs and owns the state that they share.
//!
//! A FIFO port with a threshold and a phantom queue has no rules: it makes these decisions on arrival
//! itself ([`Port`](super::Port)). Sizes are bytes, times ps.

mod adaptive_virtual_queue;
mod average_weight;
mod congestion_point;
mod dequeue_threshold;
mod offered_rate;
mod pi;
mod pie;
mod queue_length;
mod ramp;
mod random_loss;
mod red;
mod sized_phantom_queue;
mod telemetry;
#[cfg(feature = "verilated")]
pub mod verilated;
mod virtual_queue;

use std::fmt::Debug;

use hull_core::queue_estimate::{Link, QueueUnit};
use hull_core::signal::Signal;

pub use adaptive_virtual_queue::{Avq, AvqMarking};
pub use average_weight::AverageWeight;
pub use congestion_point::{CongestionPoint, QcnRounding, SampledQueue};
pub use dequeue_threshold::DequeueThreshold;
pub use offered_rate::{OfferedRate, Rcp, RcpAlgorithm};
pub use pi::{Pi, PiMarking};
pub use pie::{Pie, PieMarking};
pub use ramp::{RampMarking, When};
pub use random_loss::RandomLoss;
pub use red::{Red, RedDraw, RedMarking};
pub use sized_phantom_queue::SizedPhantomQueue;
pub use telemetry::{FieldWidths, Telemetry, WritesRecords};
pub use virtual_queue::VirtualQueue;

use super::options::OptionTable;
use super::packet::Packet;
use crate::random::{Purpose, Stream};
use crate::units::Rate;

/// Port at which a rule works.
#[derive(Clone, Copy, Debug)]
pub struct Site {
    /// Rate of the link.
    pub rate: Rate,
    /// Largest packet, bytes.
    pub mtu: u32,
    /// Seed of the run.
    pub seed: u64,
    /// Number of the port.
    pub port: usize,
}

impl Site {
    /// Random numbers of the port, for one purpose.
    pub(super) fn random(&self, purpose: Purpose) -> Stream {
        Stream::new(self.seed, purpose, self.port)
    }

    /// Link parameters for estimates of the queue.
    fn link(&self, unit: QueueUnit) -> Link {
        Link {
            rate_bps: self.rate.0,
            typical_packet_bytes: self.mtu,
            unit,
        }
    }
}

/// State of the port at a packet's arrival.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Current time, ps.
    pub now_ps: u64,
    /// Bytes of the packet's queue, without the packet.
    pub queue_bytes: u64,
    /// Packets of the packet's queue, without the packet.
    pub queue_packets: u64,
    /// Bytes of the packet on the link, including framing.
    pub framed_bytes: u32,
    /// Whether the packet must wait for the link.
    pub waits: bool,
}

impl Arrival {
    /// Queue at the packet's arrival, in bytes or packets.
    fn queue(&self, unit: QueueUnit) -> u64 {
        match unit {
            QueueUnit::Bytes => self.queue_bytes,
            QueueUnit::Packets => self.queue_packets,
        }
    }
}

/// State of the port at the start of a packet's transmission.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// Start of the transmission, ps.
    pub at_ps: u64,
    /// Time since the packet's arrival, ps.
    pub sojourn_ps: u64,
    /// Bytes that remain in the packet's queue.
    pub queue_bytes: u64,
    /// Bytes that remain in all queues of the port.
    pub port_bytes: u64,
}

/// Decision of a rule on a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The packet passes unchanged.
    Pass,
    /// The packet passes and, if it is ECN-capable, is marked CE.
    Mark,
    /// The packet is dropped.
    Drop,
}

impl Decision {
    /// Marks if `marks` is set, otherwise passes.
    pub fn mark_if(marks: bool) -> Self {
        if marks {
            Decision::Mark
        } else {
            Decision::Pass
        }
    }
}

impl From<Signal> for Decision {
    fn from(signal: Signal) -> Self {
        match signal {
            Signal::Pass => Decision::Pass,
            Signal::Mark => Decision::Mark,
            Signal::Drop => Decision::Drop,
        }
    }
}

/// Notice to the sender of the packet offered last (QCN): steps of reduction.
pub type Notice = u8;

/// Rule of one port.
pub trait Rule: Debug + Send {
    /// Whether the rule decides on a packet's arrival, from the port's state alone. Its departures
    /// are then not observed, and the network may be split into parts at this port.
    fn decides_on_arrival(&self) -> bool {
        false
    }

    /// Processes an arriving packet before it is known whether there is room for it.
    fn on_ingress(&mut self, _arrival: &Arrival, _packet: &Packet) -> Decision {
        Decision::Pass
    }

    /// Processes a packet that is dropped for lack of room.
    fn on_overflow(&mut self, _arrival: &Arrival, _packet: &Packet, _options: &OptionTable) {}

    /// Processes an admitted packet.
    fn on_arrival(
        &mut self,
        _arrival: &Arrival,
        _packet: &Packet,
        _options: &OptionTable,
    ) -> Decision {
        Decision::Pass
    }

    /// Processes the start of a packet's transmission. It must not return [`Decision::Drop`]:
    /// packets are dropped on arrival only.
    fn on_departure(
        &mut self,
        _departure: &Departure,
        _packet: &Packet,
        _options: &mut OptionTable,
    ) -> Decision {
        Decision::Pass
    }

    /// Whether the rule processes packets at the end of transmission only.
    fn looks_at_sent(&self) -> bool {
        false
    }

    /// Processes the end of a packet's transmission; `queue_bytes` wait then. Called only by
    /// `Queued` ports.
    fn on_sent(&mut self, _queue_bytes: u64) -> Decision {
        Decision::Pass
    }

    /// Processes a failure of the link at `now_ps`; the queue is then empty.
    fn on_failure(&mut self, _now_ps: u64) {}

    /// Number of packets that the link has lost at random, if the rule is about that.
    fn lost(&self) -> Option<u64> {
        None
    }

    /// Takes the pending notice to the sender of the packet offered last.
    fn take_notice(&mut self) -> Option<Notice> {
        None
    }

    /// Bytes of the rule's virtual queue at `now_ps`, if it has one.
    fn virtual_bytes(&self, _now_ps: u64) -> Option<u64> {
        None
    }
}
