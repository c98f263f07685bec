//! What a port is made of.

use hull_core::marking::ThresholdMarker;
use hull_core::phantom_queue::PhantomQueue;
use hull_core::rcp::Rcp;

use super::super::aqm::Aqm;
use super::super::congestion_point::SampledQueue;
use super::super::lanes::Order;
use super::super::random_loss::RandomLoss;

/// Room of a drop-tail buffer. A packet that does not fit is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferLimit {
    /// Nothing is ever dropped.
    Unlimited,
    /// At most so many bytes in the queue.
    Bytes(u64),
    /// At most so many packets in the queue.
    Packets(u64),
}

/// When the queue is compared with the marking threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkOn {
    /// When the packet arrives (thesis 2.2.1).
    Enqueue,
    /// When its transmission starts: what has queued behind it counts.
    Dequeue,
}

/// What a port is made of.
#[derive(Clone, Debug)]
pub struct PortConfig {
    /// Link rate, bit/s.
    pub rate_bps: u64,
    /// What each packet takes on the link besides its own bytes (Ethernet: 38), bytes.
    pub framing_bytes: u16,
    /// Propagation (and constant processing) delay of the link, ps.
    pub delay_ps: u64,
    /// Bytes after which the far end begins to forward: a cut-through switch. None: all of them.
    pub cut_through_bytes: Option<u16>,
    /// Buffer room; of each priority class where there are several.
    pub buffer: BufferLimit,
    /// Whether the packet being sent occupies buffer and counts for marking.
    pub count_in_service: bool,
    /// Marking on the instantaneous queue.
    pub marker: Option<(ThresholdMarker, MarkOn)>,
    /// Phantom queue behind the port, in series: it counts what leaves.
    pub phantom_queue: Option<PhantomQueue>,
    /// Virtual queue beside the port's own, in parallel: it counts what arrives.
    pub virtual_queue: Option<PhantomQueue>,
    /// RED or PI.
    pub aqm: Option<Aqm>,
    /// QCN's congestion point.
    pub congestion_point: Option<SampledQueue>,
    /// The rate that the port offers to its flows; a FIFO only.
    pub rcp: Option<Rcp>,
    /// Loss that has nothing to do with the queue.
    pub loss: Option<RandomLoss>,
    /// Queues; 1 for a FIFO.
    pub classes: usize,
    /// With several queues: which is served next.
    pub order: Order,
    /// With several classes: bytes left to send, framing included, at which the next packet is chosen.
    pub commit_bytes: u16,
}

impl PortConfig {
    /// A drop-tail FIFO without any marking.
    pub fn plain(rate_bps: u64, delay_ps: u64, buffer: BufferLimit) -> Self {
        PortConfig {
            rate_bps,
            framing_bytes: 0,
            delay_ps,
            cut_through_bytes: None,
            buffer,
            count_in_service: false,
            marker: None,
            phantom_queue: None,
            virtual_queue: None,
            aqm: None,
            congestion_point: None,
            rcp: None,
            loss: None,
            classes: 1,
            order: Order::Priority,
            commit_bytes: 0,
        }
    }
}
