//! The configuration of a port.

use hull_core::marking::ThresholdMarker;
use hull_core::phantom_queue::PhantomQueue;

use super::super::rules::Rule;
use super::super::schedulers::Order;
use super::super::trimming::Trimming;

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

/// What a port is made of.
#[derive(Debug)]
pub struct PortConfig {
    /// Link rate, bit/s.
    pub rate_bps: u64,
    /// What each packet takes on the link besides its own bytes (Ethernet: 38), bytes.
    pub framing_bytes: u16,
    /// Propagation (and constant processing) delay of the link, ps.
    pub delay_ps: u64,
    /// Bytes after which the far end begins to forward: a cut-through switch. None: all of them.
    pub cut_through_bytes: Option<u16>,
    /// Buffer room; of each priority class if there are several.
    pub buffer: BufferLimit,
    /// Whether the packet being sent occupies buffer and counts for marking.
    pub count_in_service: bool,
    /// Marking on the queue that a packet finds.
    pub marker: Option<ThresholdMarker>,
    /// Phantom queue behind the port, in series: it counts what leaves.
    pub phantom_queue: Option<PhantomQueue>,
    /// What the port does besides, in this order.
    pub rules: Vec<Box<dyn Rule>>,
    /// Queues; 1 for a FIFO.
    pub classes: usize,
    /// With several queues: how they are served.
    pub order: Order,
    /// With several classes: bytes left to send, framing included, at which the next packet is chosen.
    pub commit_bytes: u16,
    /// With several classes: data that finds no room loses its payload, and is not dropped.
    pub trimming: Option<Trimming>,
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
            rules: Vec::new(),
            classes: 1,
            order: Order::Strict,
            commit_bytes: 0,
            trimming: None,
        }
    }
}
