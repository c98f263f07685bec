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
#[cfg(feature = "verilated")]
pub mod verilated;
mod virtual_queue;

use std::fmt::Debug;

use hull_core::queue_estimate::{Link, QueueUnit};
use hull_core::signal::Signal;

pub use average_weight::AverageWeight;
pub use congestion_point::{CongestionPoint, QcnRounding, SampledQueue};
pub use dequeue_threshold::DequeueThreshold;
pub use offered_rate::{OfferedRate, Rcp, RcpAlgorithm};
pub use pi::{Pi, PiMarking};
pub use pie::{Pie, PieMarking};
pub use ramp::{RampMarking, When};
pub use random_loss::RandomLoss;
pub use red::{Red, RedMarking};
pub use sized_phantom_queue::SizedPhantomQueue;
pub use virtual_queue::VirtualQueue;

use super::options::OptionTable;
use super::packet::Packet;
use crate::random::{Purpose, Stream};
use crate::units::Rate;

/// Where a rule works.
#[derive(Clone, Copy, Debug)]
pub struct Site {
    /// The link's rate.
    pub rate: Rate,
    /// Largest packet, bytes.
    pub mtu: u32,
    /// The run's seed.
    pub seed: u64,
    /// Number of the port.
    pub port: usize,
}

impl Site {
    /// Random numbers of the port, for one purpose.
    pub(super) fn random(&self, purpose: Purpose) -> Stream {
        Stream::new(self.seed, purpose, self.port)
    }

    /// The link as estimates of the queue know it.
    fn link(&self, unit: QueueUnit) -> Link {
        Link {
            rate_bps: self.rate.0,
            typical_packet_bytes: self.mtu,
            unit,
        }
    }
}

/// What a packet finds at a port.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Now, ps.
    pub now_ps: u64,
    /// Bytes and packets of its queue, before it.
    pub queue_bytes: u64,
    /// The same in packets.
    pub queue_packets: u64,
    /// What it is on the link, framing included, bytes.
    pub framed_bytes: u32,
    /// Whether it will have to wait for the link.
    pub waits: bool,
}

impl Arrival {
    /// The queue that the packet finds, in bytes or packets.
    fn queue(&self, unit: QueueUnit) -> u64 {
        match unit {
            QueueUnit::Bytes => self.queue_bytes,
            QueueUnit::Packets => self.queue_packets,
        }
    }
}

/// What a packet leaves behind when its transmission starts.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// Start of the transmission, ps.
    pub at_ps: u64,
    /// Time since its arrival, ps.
    pub sojourn_ps: u64,
    /// Bytes of its queue, behind it.
    pub queue_bytes: u64,
}

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It goes on as it is.
    Pass,
    /// It goes on with CE, if its sender reacts to ECN.
    Mark,
    /// It is dropped.
    Drop,
}

impl Decision {
    /// Marks when `marks`.
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

/// A message to the sender of the packet that was offered last (QCN): steps of reduction.
pub type Notice = u8;

/// A rule of one port.
pub trait Rule: Debug + Send {
    /// Whether it decides when a packet arrives, with nothing but what the port has: then its departures
    /// are not looked at, and the network may be simulated in parts that meet at this port.
    fn decides_on_arrival(&self) -> bool {
        false
    }

    /// A packet comes; whether there is room for it is not decided yet.
    fn on_ingress(&mut self, _arrival: &Arrival, _packet: &Packet) -> Decision {
        Decision::Pass
    }

    /// There is no room for the packet: it is dropped.
    fn on_overflow(&mut self, _arrival: &Arrival, _packet: &Packet, _options: &OptionTable) {}

    /// The packet has been admitted.
    fn on_arrival(
        &mut self,
        _arrival: &Arrival,
        _packet: &Packet,
        _options: &OptionTable,
    ) -> Decision {
        Decision::Pass
    }

    /// The packet's transmission starts. Whoever drops packets does it on arrival: on departure
    /// [`Decision::Drop`] is not to be returned.
    fn on_departure(
        &mut self,
        _departure: &Departure,
        _packet: &Packet,
        _options: &mut OptionTable,
    ) -> Decision {
        Decision::Pass
    }

    /// Whether it looks at packets whose transmission has ended, and at nothing else.
    fn looks_at_sent(&self) -> bool {
        false
    }

    /// The packet's transmission has ended; `queue_bytes` wait then. Only ports with several queues tell it.
    fn on_sent(&mut self, _queue_bytes: u64) -> Decision {
        Decision::Pass
    }

    /// The link has failed at `now_ps`, and the queue is empty.
    fn on_failure(&mut self, _now_ps: u64) {}

    /// What there is to tell the sender of the packet that was offered last; once.
    fn take_notice(&mut self) -> Option<Notice> {
        None
    }

    /// Bytes of a virtual queue at `now_ps`, where the rule has one.
    fn virtual_bytes(&self, _now_ps: u64) -> Option<u64> {
        None
    }
}
