//! The configuration of a port.

use hull_core::marking::ThresholdMarker;
use hull_core::phantom_queue::PhantomQueue;

use super::super::rules::{Rule, WritesRecords};
use super::super::schedulers::Order;
use super::super::trimming::Trimming;

/// Capacity of a drop-tail buffer. A packet that does not fit is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferLimit {
    /// No packet is ever dropped.
    Unlimited,
    /// Largest number of bytes in the queue.
    Bytes(u64),
    /// Largest number of packets in the queue.
    Packets(u64),
}

impl BufferLimit {
    /// Largest numbers of bytes and packets in the queue.
    pub(crate) fn limits(self) -> (u64, u32) {
        match self {
            BufferLimit::Unlimited => (u64::MAX, u32::MAX),
            BufferLimit::Bytes(limit) => (limit, u32::MAX),
            BufferLimit::Packets(limit) => (u64::MAX, u32::try_from(limit).unwrap_or(u32::MAX)),
        }
    }
}

/// Configuration of a port.
#[derive(Debug)]
pub struct PortConfig {
    /// Link rate, bit/s.
    pub rate_bps: u64,
    /// Framing of each packet on the link in addition to its own bytes (Ethernet: 38), bytes.
    pub framing_bytes: u16,
    /// Propagation (and constant processing) delay of the link, ps.
    pub delay_ps: u64,
    /// Bytes after which the far end begins to forward, if it is a cut-through switch; `None`: all
    /// bytes.
    pub cut_through_bytes: Option<u16>,
    /// Buffer capacity: of each queue, or of all together if the scheduler [manages](Order::manages) or
    /// each flow has a queue.
    pub buffer: BufferLimit,
    /// Whether the packet in transmission occupies buffer and counts for marking.
    pub count_in_service: bool,
    /// Marking by the queue at a packet's arrival.
    pub marker: Option<ThresholdMarker>,
    /// Phantom queue in series with the port: it counts departing packets.
    pub phantom_queue: Option<PhantomQueue>,
    /// Further rules of the port, applied in this order.
    pub rules: Vec<Box<dyn Rule>>,
    /// Writer of telemetry records.
    pub records: Option<WritesRecords>,
    /// Number of queues; 1 for a FIFO, 0 if each flow gets one.
    pub classes: usize,
    /// Whether packets are selected when the link is free although there is one queue: whoever limits
    /// what waits there must know when a packet leaves.
    pub selects: bool,
    /// Order in which several queues are served.
    pub order: Order,
    /// If `Queued`: bytes left to send, including framing, at which the next packet is
    /// selected.
    pub commit_bytes: u16,
    /// If `Queued`: trimming of data packets that find no room, instead of dropping them.
    pub trimming: Option<Trimming>,
}

impl PortConfig {
    /// Whether the port is `Queued`: a scheduler selects packets when the link is free. Otherwise it is a
    /// FIFO, which decides when they arrive.
    pub fn is_queued(&self) -> bool {
        self.classes > 1 || self.selects || self.order.manages() || self.order.is_per_flow()
    }

    /// Configuration of a drop-tail FIFO without marking.
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
            records: None,
            classes: 1,
            selects: false,
            order: Order::Strict,
            commit_bytes: 0,
            trimming: None,
        }
    }
}
