//! HPCC: a rate, or a window, from the utilization of the busiest hop that telemetry reports.
//!
//! Source: Y. Li et al., "HPCC: High Precision Congestion Control" (SIGCOMM 2019), algorithm 1, and its
//! authors' simulator (alibaba-edu/High-Precision-Congestion-Control, commit 9f4be2a, `rdma-hw.cc`). With T
//! the unloaded round trip, B the rate of a hop and W the window at the rate of the sender's link:
//!
//! - A hop's utilization between the records of two ACKs, dt apart: `u = sent bytes / dt / B + min(queue,
//!   queue before) / (B T)`. The code has `rate of the link / (B W)` in place of `1 / (B T)`, the same if
//!   W is what the link carries in T.
//! - The hop with the largest u counts, with its dt, at most T: `U <- (U (T - dt) + u dt) / T`, U = 1 at
//!   first.
//! - With a reference R and a stage: if `U >= eta` or the stage is `max_stage` or more, the new value is
//!   `R / (U / eta) + a`, and the stage 0; otherwise `R + a`, and the stage is one more.
//! - Each ACK sets the new value. R and the stage become the new ones only with the first ACK of data sent
//!   after the last time (once per round trip). The code can leave out the ACKs between.
//! - The first ACK, and the first of another path, only stores the records.
//!
//! The value is the window in the paper, with the rate W / T, and the rate in the code.
//!
//! Differences: the window has an upper bound too, what the link carries in T, and both have a lower
//! bound; the code does not look for changes of the path.
//!
//! Units: bytes, picoseconds, bit/s; `f64` with the four basic operations only.

use crate::telemetry::{Fields, HopRecord, HopRecords};

/// Value that HPCC controls, and its additive increase a.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Controlled {
    /// The rate, as in the code.
    Rate {
        /// Additive increase, bit/s.
        additive_bps: f64,
    },
    /// The window, as in the paper.
    Window {
        /// Additive increase W_AI, bytes.
        additive_bytes: f64,
    },
}

/// Settings of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HpccConfig {
    /// Rate of the sender's link, bit/s: the largest rate, and the first one.
    pub link_bps: u64,
    /// Unloaded round trip T, ps.
    pub base_rtt_ps: u64,
    /// Window W at the rate of the link, bytes.
    pub window_bytes: u64,
    /// Value, and its increase.
    pub controlled: Controlled,
    /// Target utilization.
    pub eta: f64,
    /// Number of round trips with additive increase only (maxStage).
    pub max_stage: u32,
    /// Smallest rate, bit/s.
    pub min_rate_bps: u64,
    /// Whether each ACK sets the value, not only the first of a round trip.
    pub reacts_per_ack: bool,
    /// Fields of the records.
    pub fields: Fields,
}

impl HpccConfig {
    /// Computes the constants.
    ///
    /// # Panics
    /// Panics if the round trip or the window is zero.
    pub fn constants(&self) -> HpccConstants {
        assert!(
            self.base_rtt_ps > 0 && self.window_bytes > 0,
            "round trip and window must be above zero"
        );
        let link_bps = self.link_bps as f64;
        let window_bytes = self.window_bytes as f64;
        let base_rtt_ps = self.base_rtt_ps as f64;
        let (largest, additive, queue_bps_per_byte) = match self.controlled {
            Controlled::Rate { additive_bps } => (link_bps, additive_bps, link_bps / window_bytes),
            Controlled::Window { additive_bytes } => {
                (window_bytes, additive_bytes, BIT_PS / base_rtt_ps)
            }
        };
        HpccConstants {
            base_rtt_ps,
            queue_bps_per_byte,
            eta: self.eta,
            largest,
            smallest: largest * self.min_rate_bps as f64 / link_bps,
            additive,
            link_bps,
            window_bytes,
            max_stage: self.max_stage,
            reacts_per_ack: self.reacts_per_ack,
            fields: self.fields,
        }
    }
}

/// Bits of a byte times picoseconds of a second.
const BIT_PS: f64 = 8e12;

/// Constants of a flow's settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HpccConstants {
    base_rtt_ps: f64,
    /// Rate that counts as sent for each byte of the queue, bit/s.
    queue_bps_per_byte: f64,
    eta: f64,
    largest: f64,
    smallest: f64,
    additive: f64,
    link_bps: f64,
    window_bytes: f64,
    max_stage: u32,
    reacts_per_ack: bool,
    fields: Fields,
}

/// Contents of an ACK.
#[derive(Clone, Copy, Debug)]
pub struct HpccAck<'a> {
    /// First byte that is not acknowledged.
    pub una: u64,
    /// Next byte to be sent.
    pub nxt: u64,
    /// Records of the hops of the acknowledged packet.
    pub records: &'a HopRecords,
}

/// State of a flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Hpcc {
    /// U: smoothed utilization of the busiest hop.
    utilization: f64,
    /// Rate or window.
    value: f64,
    /// R: value of the last replacement.
    reference: f64,
    stage: u32,
    /// Next byte at the last replacement; `None` before the first ACK.
    until: Option<u64>,
    /// Records of the last ACK that counted.
    last: HopRecords,
}

impl Hpcc {
    /// Creates a flow that sends at the rate of its link.
    pub fn new(constants: &HpccConstants) -> Self {
        Hpcc {
            utilization: 1.0,
            value: constants.largest,
            reference: constants.largest,
            stage: 0,
            until: None,
            last: HopRecords::NONE,
        }
    }

    /// U: smoothed utilization of the busiest hop.
    pub fn utilization(&self) -> f64 {
        self.utilization
    }

    /// Sending rate, bit/s.
    #[inline]
    pub fn rate_bps(&self, constants: &HpccConstants) -> f64 {
        self.value / constants.largest * constants.link_bps
    }

    /// Window, bytes.
    #[inline]
    pub fn window_bytes(&self, constants: &HpccConstants) -> f64 {
        self.value / constants.largest * constants.window_bytes
    }

    /// Processes an ACK. Returns whether it may have changed the rate.
    pub fn on_ack(&mut self, constants: &HpccConstants, ack: &HpccAck) -> bool {
        let Some(records) = ack.records.whole() else {
            return false;
        };
        let Some(until) = self.until else {
            self.until = Some(ack.nxt);
            self.last.copy_from(ack.records);
            return false;
        };
        let replaces = ack.una > until;
        if !replaces && !constants.reacts_per_ack {
            return false;
        }
        if !self.last.are_of_path(ack.records) {
            self.last.copy_from(ack.records);
            return false;
        }
        let Some((utilization, elapsed_ps)) = self.busiest(constants, records) else {
            return false;
        };
        self.last.copy_from(ack.records);
        let base_rtt_ps = constants.base_rtt_ps;
        let elapsed_ps = elapsed_ps.min(base_rtt_ps);
        self.utilization = (self.utilization * (base_rtt_ps - elapsed_ps)
            + utilization * elapsed_ps)
            / base_rtt_ps;
        let excess = self.utilization / constants.eta;
        let (value, stage) = if excess >= 1.0 || self.stage >= constants.max_stage {
            (self.reference / excess + constants.additive, 0)
        } else {
            (self.reference + constants.additive, self.stage + 1)
        };
        self.value = value.max(constants.smallest).min(constants.largest);
        if replaces {
            self.reference = self.value;
            self.stage = stage;
            self.until = Some(until.max(ack.nxt));
        }
        true
    }

    /// Largest utilization of a hop since the last records, and the time between them, ps.
    fn busiest(&self, constants: &HpccConstants, records: &[HopRecord]) -> Option<(f64, f64)> {
        let mut busiest = None;
        let mut largest = 0.0;
        for (before, now) in self.last.as_slice().iter().zip(records) {
            let Some(passed) = constants.fields.between(before, now) else {
                continue;
            };
            let elapsed_ps = passed.elapsed_ps as f64;
            let sent_bps = passed.sent_bytes as f64 * BIT_PS / elapsed_ps;
            let queue_bytes = before.queue_bytes.min(now.queue_bytes) as f64;
            let used_bps = sent_bps + queue_bytes * constants.queue_bps_per_byte;
            let utilization = used_bps / now.link_bps as f64;
            if utilization > largest {
                largest = utilization;
                busiest = Some((utilization, elapsed_ps));
            }
        }
        busiest
    }
}
