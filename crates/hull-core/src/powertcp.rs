//! PowerTCP and theta-PowerTCP: a rate from the power of the busiest hop, the product of what arrives at
//! it and what it holds, or from an estimate of that by the round trip.
//!
//! Source: V. Addanki et al., "PowerTCP: Pushing the Performance Limits of Datacenter Networks" (NSDI
//! 2022), algorithms 1 and 2, and the authors' simulator (inet-tub/ns3-datacenter, commit 6ddb4a4,
//! `rdma-hw.cc`). With T the unloaded round trip and B the rate of a hop:
//!
//! - PowerTCP, between the records of two ACKs, dt apart: the current is `lambda = (change of the queue +
//!   sent bytes) / dt`, at least `min_gradient B`; the power is `p = lambda (queue + B T) / (B B T)`. The
//!   hop with the largest p counts, with its dt.
//! - theta-PowerTCP, between two ACKs: `p = max(1 + change of the round trip / dt, min_gradient) rtt / ((1
//!   + slack) T)`, where T falls to the smallest round trip measured.
//! - dt is at most T. `P <- (P (T - dt) + p dt) / T`, P = 1 at first.
//! - With a reference R: `new = gamma (R eta / P + a) + (1 - gamma) R`, without eta in theta-PowerTCP. Each
//!   ACK sets the rate; R becomes the new rate only with the first ACK of data sent after the last time
//!   (once per round trip). The ACKs between can be left out. The window is what the rate carries in T.
//! - The first ACK, and the first of another path, only stores records or round trip.
//!
//! In equilibrium `lambda = B`, so `P = 1 + queue / (B T) = eta / (1 - a / R)`: the queue is the sum of all
//! a T if eta is 1, the paper's value.
//!
//! Differences: the paper takes R from the time at which the acknowledged packet was sent, and
//! theta-PowerTCP acts once per round trip. The simulator computes with records that were never set at the
//! first ACK, does not look for changes of the path, and has switches report the bytes that arrive at a
//! queue: the change of the queue plus the bytes sent.
//!
//! Units: bytes, picoseconds, bit/s; `f64` with the four basic operations only.

use crate::telemetry::{Fields, HopRecord, HopRecords};

/// Bits of a byte times picoseconds of a second.
const BIT_PS: f64 = 8e12;

/// Settings of a flow of both.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PowerConfig {
    /// Rate of the sender's link, bit/s: the largest rate, and the first one.
    pub link_bps: u64,
    /// Unloaded round trip T, ps; of theta-PowerTCP the initial one.
    pub base_rtt_ps: u64,
    /// Weight of the new rate.
    pub gamma: f64,
    /// Additive increase a, bit/s.
    pub additive_bps: f64,
    /// Smallest current, as a share of the rate of the hop.
    pub min_gradient: f64,
    /// Smallest rate, bit/s.
    pub min_rate_bps: u64,
    /// Whether each ACK sets the rate, not only the first of a round trip.
    pub reacts_per_ack: bool,
}

/// Rate that follows a power.
#[derive(Clone, Debug, PartialEq)]
struct PowerRate {
    /// P: smoothed power.
    power: f64,
    rate_bps: f64,
    /// R: rate of the last replacement, bit/s.
    reference_bps: f64,
    /// Next byte at the last replacement; `None` before the first ACK.
    until: Option<u64>,
}

/// Use of an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    /// It is only stored.
    Stores,
    /// It changes the rate, and replaces the reference if `replaces`.
    Acts { replaces: bool },
    /// None.
    Nothing,
}

impl PowerRate {
    fn new(config: &PowerConfig) -> Self {
        let link_bps = config.link_bps as f64;
        PowerRate {
            power: 1.0,
            rate_bps: link_bps,
            reference_bps: link_bps,
            until: None,
        }
    }

    /// Use of the ACK of the bytes below `una` while `nxt` is sent next.
    fn use_of(&mut self, config: &PowerConfig, una: u64, nxt: u64) -> Use {
        let Some(until) = self.until else {
            self.until = Some(nxt);
            return Use::Stores;
        };
        let replaces = una > until;
        match replaces || config.reacts_per_ack {
            true => Use::Acts { replaces },
            false => Use::Nothing,
        }
    }

    /// Takes a power that was measured over `elapsed_ps`, and sets the rate for the target.
    fn take(&mut self, config: &PowerConfig, measured: &Measured, target: f64) {
        let base_rtt_ps = measured.base_rtt_ps;
        let elapsed_ps = measured.elapsed_ps.min(base_rtt_ps);
        self.power =
            (self.power * (base_rtt_ps - elapsed_ps) + measured.power * elapsed_ps) / base_rtt_ps;
        let aimed_bps = self.reference_bps * target / self.power + config.additive_bps;
        let rate_bps = config.gamma * aimed_bps + (1.0 - config.gamma) * self.reference_bps;
        let (least_bps, most_bps) = (config.min_rate_bps as f64, config.link_bps as f64);
        self.rate_bps = rate_bps.max(least_bps).min(most_bps);
    }

    /// Makes the rate the reference of the next round trip.
    fn replace(&mut self, nxt: u64) {
        self.reference_bps = self.rate_bps;
        self.until = self.until.max(Some(nxt));
    }
}

/// Power of a hop or a path.
#[derive(Clone, Copy, Debug)]
struct Measured {
    power: f64,
    elapsed_ps: f64,
    base_rtt_ps: f64,
}

/// PowerTCP state of a flow.
#[derive(Clone, Debug, PartialEq)]
pub struct PowerTcp {
    rate: PowerRate,
    /// Records of the last ACK that counted.
    last: HopRecords,
}

/// Settings of PowerTCP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PowerTcpConfig {
    /// Settings of both.
    pub common: PowerConfig,
    /// Target of the power.
    pub eta: f64,
    /// Fields of the records.
    pub fields: Fields,
}

impl PowerTcp {
    /// Creates a flow that sends at the rate of its link.
    pub fn new(config: &PowerTcpConfig) -> Self {
        PowerTcp {
            rate: PowerRate::new(&config.common),
            last: HopRecords::NONE,
        }
    }

    /// P: smoothed power of the busiest hop.
    pub fn power(&self) -> f64 {
        self.rate.power
    }

    /// Sending rate, bit/s.
    pub fn rate_bps(&self) -> f64 {
        self.rate.rate_bps
    }

    /// Window, bytes.
    pub fn window_bytes(&self, config: &PowerTcpConfig) -> f64 {
        self.rate.rate_bps * config.common.base_rtt_ps as f64 / BIT_PS
    }

    /// Processes an ACK of the bytes below `una` while `nxt` is sent next, with the records of the hops of the
    /// acknowledged packet. Returns whether it may have changed the rate.
    #[inline]
    pub fn on_ack(
        &mut self,
        config: &PowerTcpConfig,
        una: u64,
        nxt: u64,
        records: &HopRecords,
    ) -> bool {
        let Some(hops) = records.whole() else {
            return false;
        };
        let replaces = match self.rate.use_of(&config.common, una, nxt) {
            Use::Nothing => return false,
            Use::Acts { replaces } if self.last.are_of_path(records) => replaces,
            Use::Stores | Use::Acts { .. } => {
                self.last.copy_from(records);
                return false;
            }
        };
        let Some(measured) = self.busiest(config, hops) else {
            return false;
        };
        self.last.copy_from(records);
        self.rate.take(&config.common, &measured, config.eta);
        if replaces {
            self.rate.replace(nxt);
        }
        true
    }

    /// Largest power of a hop since the last records.
    fn busiest(&self, config: &PowerTcpConfig, hops: &[HopRecord]) -> Option<Measured> {
        let base_rtt_ps = config.common.base_rtt_ps as f64;
        let mut busiest: Option<Measured> = None;
        for (before, now) in self.last.as_slice().iter().zip(hops) {
            let Some(passed) = config.fields.between(before, now) else {
                continue;
            };
            let elapsed_ps = passed.elapsed_ps as f64;
            let link_bps = now.link_bps as f64;
            let queue_bytes = now.queue_bytes as f64;
            let arrived_bytes =
                passed.sent_bytes as f64 + (queue_bytes - before.queue_bytes as f64);
            let current = arrived_bytes * BIT_PS / (elapsed_ps * link_bps);
            let held = queue_bytes * BIT_PS / (base_rtt_ps * link_bps) + 1.0;
            let power = current.max(config.common.min_gradient) * held;
            if busiest.is_none_or(|most| power > most.power) {
                busiest = Some(Measured {
                    power,
                    elapsed_ps,
                    base_rtt_ps,
                });
            }
        }
        busiest
    }
}

/// Settings of theta-PowerTCP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThetaPowerTcpConfig {
    /// Settings of both.
    pub common: PowerConfig,
    /// Share of the base round trip that a round trip may be longer without a reduction.
    pub slack: f64,
}

/// theta-PowerTCP state of a flow.
#[derive(Clone, Debug, PartialEq)]
pub struct ThetaPowerTcp {
    rate: PowerRate,
    /// T: smallest round trip measured, ps.
    base_rtt_ps: u64,
    /// Last round trip, ps, and its time, ps.
    last_rtt_ps: u64,
    last_ps: u64,
}

impl ThetaPowerTcp {
    /// Creates a flow that sends at the rate of its link.
    pub fn new(config: &ThetaPowerTcpConfig) -> Self {
        ThetaPowerTcp {
            rate: PowerRate::new(&config.common),
            base_rtt_ps: config.common.base_rtt_ps,
            last_rtt_ps: 0,
            last_ps: 0,
        }
    }

    /// P: smoothed power.
    pub fn power(&self) -> f64 {
        self.rate.power
    }

    /// Sending rate, bit/s.
    pub fn rate_bps(&self) -> f64 {
        self.rate.rate_bps
    }

    /// Window, bytes.
    pub fn window_bytes(&self) -> f64 {
        self.rate.rate_bps * self.base_rtt_ps as f64 / BIT_PS
    }

    /// Processes an ACK at `now_ps` of the bytes below `una` while `nxt` is sent next, with the round trip of
    /// the acknowledged packet. Returns whether it may have changed rate or window.
    #[inline]
    pub fn on_ack(
        &mut self,
        config: &ThetaPowerTcpConfig,
        now_ps: u64,
        una: u64,
        nxt: u64,
        rtt_ps: u64,
    ) -> bool {
        let used = match self.rate.use_of(&config.common, una, nxt) {
            Use::Nothing => return false,
            used => used,
        };
        self.base_rtt_ps = self.base_rtt_ps.min(rtt_ps.max(1));
        let (before_ps, elapsed_ps) = (self.last_rtt_ps as f64, (now_ps - self.last_ps) as f64);
        if let Use::Acts { replaces } = used
            && elapsed_ps > 0.0
        {
            let base_rtt_ps = self.base_rtt_ps as f64;
            let gradient = 1.0 + (rtt_ps as f64 - before_ps) / elapsed_ps;
            let target_ps = (1.0 + config.slack) * base_rtt_ps;
            let measured = Measured {
                power: gradient.max(config.common.min_gradient) * rtt_ps as f64 / target_ps,
                elapsed_ps,
                base_rtt_ps,
            };
            self.rate.take(&config.common, &measured, 1.0);
            if replaces {
                self.rate.replace(nxt);
            }
        }
        (self.last_rtt_ps, self.last_ps) = (rtt_ps, now_ps);
        true
    }
}
