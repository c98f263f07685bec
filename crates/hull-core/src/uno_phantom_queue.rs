//! Uno's phantom queue: in parallel to the port's queue, with a size, a drain in packets and
//! probabilistic marking.
//!
//! Source: T. Bonato et al., "Uno" (SC'25, arXiv 2510.15802), as in the authors' simulator (Uno_SC25, commit
//! 68d164e, `compositequeue.cpp`).
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

/// `pct` hundredths of `size_bytes` as the reference computes them: the hundredth rounded down.
pub fn share_bytes(size_bytes: u64, pct: u64) -> u64 {
    size_bytes / 100 * pct
}

/// Settings of a [`UnoPhantomQueue`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnoPhantomQueueConfig {
    /// Rate of the link behind the port (C), bit/s.
    pub link_bps: u64,
    /// How much slower than the link it drains (s), in hundredths.
    pub slowdown_pct: u32,
    /// What a step of the drain takes: a full packet, bytes.
    pub packet_bytes: u32,
    /// Where the counter saturates, bytes.
    pub size_bytes: u64,
    /// The thresholds that its counter is compared with.
    pub ramp: RampMarker,
}

impl UnoPhantomQueueConfig {
    /// Time between two steps of the drain, ps.
    pub fn step_ps(&self) -> u64 {
        let bits = 8 * u128::from(self.packet_bytes) * 1_000_000_000_000;
        let slower = 100 + u128::from(self.slowdown_pct);
        (bits * slower / (u128::from(self.link_bps) * 100)) as u64
    }
}

/// The phantom queue of one port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnoPhantomQueue {
    step_ps: u64,
    packet_bytes: u64,
    size_bytes: u64,
    ramp: RampMarker,
    backlog_bytes: u64,
    /// When the next step is due; `None` before the first packet has left.
    next_step_ps: Option<u64>,
}

impl UnoPhantomQueue {
    /// An empty queue.
    ///
    /// # Panics
    /// When the rate or the packet is zero, the link faster than a packet per picosecond, or the upper
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

    /// A data packet of `bytes` arrives at the port at `now_ps`, whether or not the port keeps it.
    #[inline]
    pub fn on_arrival(&mut self, now_ps: u64, bytes: u32) {
        self.drain(now_ps);
        self.backlog_bytes = (self.backlog_bytes + u64::from(bytes)).min(self.size_bytes);
    }

    /// A data packet leaves the port at `now_ps`; `random` is 32 uniform bits. Returns true when it is to be
    /// marked CE.
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

    /// The counter at `now_ps`, not before the last packet.
    pub fn backlog_bytes(&self, now_ps: u64) -> u64 {
        self.backlog_bytes.saturating_sub(self.due_bytes(now_ps))
    }

    /// What the steps since the last packet take.
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
