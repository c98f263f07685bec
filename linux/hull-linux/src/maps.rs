//! Values of the programs' maps, in the layout of `linux/bpf/hull.h`.

use bytemuck::{Pod, Zeroable};
use hull_core::departure_pacer::DeparturePacerConfig;
use hull_core::flow_association::FlowAssociationConfig;
use hull_core::phantom_queue::{Drain, PhantomQueueConfig};

/// Number of slots of the maps: the largest number of attachments in a network namespace.
pub const SLOTS: u32 = 256;

/// Settings of a phantom queue; units as in hull-core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct PhantomSettings {
    /// Drain time of a byte, 2^-16 ps.
    pub byte_units: u64,
    /// Threshold as drain time, 2^-16 ps.
    pub threshold_units: u64,
    /// Largest counted packet, bytes: a larger one fills the counter.
    pub most_bytes: u64,
    /// Time between drain steps, ps; 0 for a continuous drain.
    pub tick_ps: u64,
    /// Whether the packet is added before the comparison (1) or after it (0).
    pub count_arriving: u32,
    /// Padding, zero.
    pub reserved: u32,
}

impl From<&PhantomQueueConfig> for PhantomSettings {
    fn from(config: &PhantomQueueConfig) -> Self {
        let units = config.units();
        PhantomSettings {
            byte_units: units.byte_units,
            threshold_units: units.threshold_units,
            most_bytes: u64::MAX / units.byte_units,
            tick_ps: match config.drain {
                Drain::Continuous => 0,
                Drain::Ticks { tick_ps } => tick_ps,
            },
            count_arriving: u32::from(config.count_arriving),
            reserved: 0,
        }
    }
}

/// State and counters of a phantom queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct PhantomQueue {
    /// Lock of the kernel; always read as zero.
    pub lock: u32,
    /// Padding, zero.
    pub reserved: u32,
    /// `byte_units` with which the backlog was counted.
    pub byte_units: u64,
    /// Backlog at `drained_to_ps`, 2^-16 ps.
    pub backlog_units: u64,
    /// Time up to which the drain has been applied, ps.
    pub drained_to_ps: u64,
    /// Largest backlog, 2^-16 ps.
    pub most_backlog_units: u64,
    /// Number of packets counted.
    pub packets: u64,
    /// Bytes counted.
    pub bytes: u64,
    /// Number of packets above the threshold.
    pub above_threshold: u64,
    /// Number of packets that the queue marked CE.
    pub marked: u64,
    /// Number of packets above the threshold that already carried CE.
    pub already_marked: u64,
    /// Number of packets above the threshold that are not ECN-capable.
    pub not_capable: u64,
}

/// Settings of the flow association.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct AssociationSettings {
    /// T_i, ns.
    pub timeout_ns: u64,
    /// p_a, scaled by 2^32.
    pub probability: u32,
    /// Padding, zero.
    pub reserved: u32,
}

impl From<&FlowAssociationConfig> for AssociationSettings {
    fn from(config: &FlowAssociationConfig) -> Self {
        AssociationSettings {
            timeout_ns: config.timeout_ps / 1000,
            probability: config.probability,
            reserved: 0,
        }
    }
}

/// Flow, as identified in its data packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Flow {
    /// Source address: IPv6, or IPv4 in the first word; network byte order.
    pub source: [u8; 16],
    /// Destination address, in the form of `source`.
    pub destination: [u8; 16],
    /// Source port, network byte order.
    pub source_port: [u8; 2],
    /// Destination port, network byte order.
    pub destination_port: [u8; 2],
}

/// Counters of the flow association.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct AssociationCounts {
    /// Number of ACKs with ECN-Echo.
    pub echoes: u64,
    /// Number of associations made or renewed.
    pub associations: u64,
}

/// Settings of the pacer; units as in hull-core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct PacerSettings {
    /// Largest rate, 2^-6 bit/s.
    pub max_rate: u64,
    /// Smallest rate, 2^-6 bit/s.
    pub min_rate: u64,
    /// Initial rate, 2^-6 bit/s.
    pub initial_rate: u64,
    /// Gain of the measured bytes, 2^-22 bit/s per byte.
    pub gain: u64,
    /// Largest number of bytes that count in one T_r.
    pub most_measured_bytes: u64,
    /// T_r, ns.
    pub update_interval_ns: u64,
    /// Time 0 of the pacer's clock on CLOCK_MONOTONIC, ns.
    pub began_ns: u64,
    /// 1 - eta, scaled by 2^16.
    pub kept: u32,
    /// beta per second, scaled by 2^8.
    pub beta: u32,
    /// Token bucket, bytes.
    pub bucket_bytes: u32,
    /// Largest backlog, bytes.
    pub fifo_bytes: u32,
    /// Whether packets are dropped when the FIFO is full (1).
    pub drop_when_full: u32,
    /// Padding, zero.
    pub reserved: u32,
}

impl PacerSettings {
    /// Settings of a pacer whose time 0 is `began_ns` on CLOCK_MONOTONIC.
    pub fn new(config: &DeparturePacerConfig, began_ns: u64) -> Self {
        let units = config.units();
        PacerSettings {
            max_rate: units.max_rate,
            min_rate: units.min_rate,
            initial_rate: units.initial_rate,
            gain: units.gain,
            most_measured_bytes: units.most_measured_bytes,
            update_interval_ns: units.update_interval_ns,
            began_ns,
            kept: units.kept,
            beta: units.beta,
            bucket_bytes: units.bucket_bytes,
            fifo_bytes: units.fifo_bytes,
            drop_when_full: units.drop_when_full,
            reserved: 0,
        }
    }
}

/// State and counters of the pacer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Pacer {
    /// Lock of the kernel; always read as zero.
    pub lock: u32,
    /// Whether the first packet has arrived.
    pub begun: u32,
    /// R, 2^-6 bit/s.
    pub rate: u64,
    /// Token time of a byte at the rate R, 2^-20 ns.
    pub byte_cost: u64,
    /// Time at which the token bucket is or was empty, 2^-8 ns, with an offset of 2^46.
    pub empty_at: u64,
    /// Wait per waiting byte, 2^-20 ns.
    pub waiting_cost: u64,
    /// M_r, bytes.
    pub measured_bytes: u64,
    /// Time of the next rate update on the pacer's clock, ns.
    pub next_update_ns: u64,
    /// Number of packets that the host sent.
    pub packets: u64,
    /// Bytes that the host sent.
    pub bytes: u64,
    /// Number of packets of associated flows.
    pub associated: u64,
    /// Number of packets that had to wait.
    pub paced: u64,
    /// Number of packets dropped because the FIFO was full.
    pub full: u64,
    /// Longest wait, ns.
    pub longest_wait_ns: u64,
}

impl Pacer {
    /// Q at `now_ns` on the pacer's clock, bytes.
    pub fn backlog_bytes(&self, now_ns: u64) -> u64 {
        let wait = self.empty_at.saturating_sub((now_ns << 8) + (1 << 46));
        match self.waiting_cost {
            0 => 0,
            cost => (u128::from(wait) << 12).div_euclid(u128::from(cost)) as u64,
        }
    }

    /// R, bit/s.
    pub fn rate_bps(&self) -> u64 {
        (self.rate + 32) >> 6
    }
}
