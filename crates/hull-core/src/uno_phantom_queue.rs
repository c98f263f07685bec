//! Uno's phantom queue: in parallel to the port's queue, with a size, a drain in packets and
//! probabilistic marking.
//!
//! Source: T. Bonato et al., "Uno" (SC'25, arXiv 2510.15802), as in the authors' simulator
//! (Uno_SC25, commit 68d164e, `compositequeue.cpp`).
//!
//! It is HULL's phantom queue in parallel to the queue (paper, remark 1) with these differences:
//!
//! - A data packet counts when it arrives at the port, even if the full port trims or drops it. Headers
//!   and ACKs do not count. The counter saturates at a configured size.
//! - The drain removes a full packet at a time, every `packet 8 / C (1 + s)` for a slowdown s, down to
//!   zero. Its rate is C / (1 + s), which is 0.9524 C at 5%, not 0.95 C. It begins with the first
//!   packet that leaves the port.
//! - A departing packet is marked by a [`ramp`](crate::ramp) between two thresholds.
//!
//! Published: packets of 4160 bytes at 100 Gbps, size 22,400,515 bytes (the product of bandwidth and delay
//! between the data centres), slowdown 5%, thresholds 2% and 60% of the size ([`share_bytes`]).
//!
//! A drain step at the instant of a packet precedes the packet; in the reference the event list decides
//! that order. The time of a step is rounded down to a picosecond.
//!
//! Units: bytes, picoseconds.

use crate::ramp::RampMarker;

/// `pct` percent of `size_bytes`, computed as in the reference: one percent is rounded down first.
pub fn share_bytes(size_bytes: u64, pct: u64) -> u64 {
    size_bytes / 100 * pct
}

/// Settings of a [`UnoPhantomQueue`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnoPhantomQueueConfig {
    /// Rate of the link behind the port (C), bit/s.
    pub link_bps: u64,
    /// Slowdown s of the drain relative to the link, percent.
    pub slowdown_pct: u32,
    /// Bytes removed per drain step: a full packet.
    pub packet_bytes: u32,
    /// Size at which the counter saturates, bytes.
    pub size_bytes: u64,
    /// Thresholds that the counter is compared with.
    pub ramp: RampMarker,
}

impl UnoPhantomQueueConfig {
    /// Time between two drain steps, ps.
    pub fn step_ps(&self) -> u64 {
        let bits = 8 * u128::from(self.packet_bytes) * 1_000_000_000_000;
        let slower = 100 + u128::from(self.slowdown_pct);
        (bits * slower / (u128::from(self.link_bps) * 100)) as u64
    }
}

/// Uno phantom queue of one port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnoPhantomQueue {
    step_ps: u64,
    packet_bytes: u64,
    size_bytes: u64,
    ramp: RampMarker,
    backlog_bytes: u64,
    /// Time of the next drain step, ps; `None` until the first packet has left.
    next_step_ps: Option<u64>,
}

impl UnoPhantomQueue {
    /// Creates an empty queue.
    ///
    /// # Panics
    /// Panics if the link's rate is zero, a drain step takes less than a picosecond, or the upper
    /// threshold is below the lower one.
    pub fn new(config: &UnoPhantomQueueConfig) -> Self {
        assert!(config.link_bps > 0, "link_bps must be above zero");
        let step_ps = config.step_ps();
        assert!(step_ps > 0, "a packet must take a picosecond or more");
        assert!(
            config.ramp.high_bytes >= config.ramp.low_bytes,
            "high_bytes must be at least low_bytes"
        );
        Self {
            step_ps,
            packet_bytes: u64::from(config.packet_bytes),
            size_bytes: config.size_bytes,
            ramp: config.ramp,
            backlog_bytes: 0,
            next_step_ps: None,
        }
    }

    /// Counts a data packet of `bytes` that arrives at the port at `now_ps`, whether or not the
    /// port accepts it.
    #[inline]
    pub fn on_arrival(&mut self, now_ps: u64, bytes: u32) {
        self.drain(now_ps);
        self.backlog_bytes = (self.backlog_bytes + u64::from(bytes)).min(self.size_bytes);
    }

    /// Decides on a data packet that leaves the port at `now_ps`; `random` holds 32 uniform bits.
    /// Returns true if the packet must be marked CE.
    #[inline]
    pub fn on_departure(&mut self, now_ps: u64, random: u32) -> bool {
        self.drain(now_ps);
        let backlog = self.backlog_bytes;
        if self.next_step_ps.is_none() {
            self.next_step_ps = Some(now_ps);
            self.drain(now_ps);
        }
        self.ramp.marks(backlog, random)
    }

    /// Counter at `now_ps` (not before the last packet), bytes.
    pub fn backlog_bytes(&self, now_ps: u64) -> u64 {
        self.backlog_bytes.saturating_sub(self.due_bytes(now_ps))
    }

    /// Bytes removed by the steps due since the last packet.
    #[inline]
    fn due_bytes(&self, now_ps: u64) -> u64 {
        self.due_steps(now_ps).saturating_mul(self.packet_bytes)
    }

    #[inline]
    fn due_steps(&self, now_ps: u64) -> u64 {
        match self.next_step_ps {
            Some(next_ps) if next_ps <= now_ps => (now_ps - next_ps) / self.step_ps + 1,
            _ => 0,
        }
    }

    #[inline]
    fn drain(&mut self, now_ps: u64) {
        let steps = self.due_steps(now_ps);
        self.backlog_bytes = self.backlog_bytes(now_ps);
        self.next_step_ps = self
            .next_step_ps
            .map(|next_ps| next_ps + steps * self.step_ps);
    }
}
