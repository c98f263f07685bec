//! Swift: a window by the delay of packets against a target that grows with the links of the path and
//! with the number of flows.
//!
//! Source: the simulator Broadcom/csg-htsim (commit 841d9e7), sim/swift.cpp, whose authors call several
//! constants guesses (`swift.toml`). It follows Swift (SIGCOMM'20), which splits the delay between fabric
//! and host; here, as there, one target is compared with the whole round trip.
//!
//! With W in packets, f = clamp(a / sqrt(W) + b, 0, range), a = range / (1 / sqrt(min) - 1 / sqrt(max))
//! and b = -a / sqrt(max):
//!
//! ```text
//! target = base + links * per_hop + f
//! delay < target:   W += ai * n / W from one packet on, W += ai * n below, for n acknowledged packets
//! otherwise:        W *= max(1 - beta (delay - target) / delay, 1 - max_mdf)
//! loss, timeout:    W *= 1 - max_mdf; from timeout `reset_after` in a row on W = min_window
//! ```
//!
//! W decreases at most once in a smoothed round trip. Below one packet the sender is paced: a packet in
//! RTT / W.
//!
//! Differences: the reference keeps W as a whole number of bytes. It also reduces W when recovery from a
//! loss ends, here when the loss is detected. It does not ask whether W is in use. Packets that time out within a round trip of the last counted timeout are one
//! timeout, because here each packet has its own.
//!
//! Units: bytes, picoseconds; W and factors are `f64` with the four basic operations only.

/// Flow scaling: how the target grows as the window becomes small.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowScaling {
    /// Largest addition to the target, ps.
    pub range_ps: u64,
    /// Window at and below which the addition is the largest, packets.
    pub min_packets: f64,
    /// Window from which on there is no addition, packets.
    pub max_packets: f64,
    /// Whether the window counts in whole packets, rounded down, as in the reference: below one packet the
    /// addition is then the largest.
    pub whole_packets: bool,
}

/// Settings of Swift flows over one path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SwiftConfig {
    /// Size of a full packet, bytes.
    pub packet_bytes: u32,
    /// Target without flow scaling: base + links * per_hop, ps.
    pub target_ps: u64,
    /// Flow scaling.
    pub scaling: FlowScaling,
    /// Additive increase per round trip (ai), packets.
    pub increase_packets: f64,
    /// Factor of the decrease (beta).
    pub beta: f64,
    /// Largest share of W that a decrease removes (max_mdf).
    pub max_decrease: f64,
    /// Number of timeouts in a row from which on W is the smallest.
    pub reset_after: u32,
    /// Bounds of W, bytes.
    pub min_window_bytes: f64,
    /// Largest W, bytes.
    pub max_window_bytes: f64,
    /// Initial W, bytes.
    pub initial_window_bytes: f64,
    /// Unloaded round trip, ps, which counts until the first is measured.
    pub base_rtt_ps: u64,
}

/// Constants of all Swift flows over one path.
#[derive(Clone, Debug, PartialEq)]
pub struct SwiftConstants {
    config: SwiftConfig,
    /// a and b of flow scaling, ps.
    scaling_ps: (f64, f64),
}

/// Contents of an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwiftAck {
    /// Arrival time at the sender, ps.
    pub now_ps: u64,
    /// Newly acknowledged bytes.
    pub acked_bytes: u64,
    /// Time from the sending of the packet that caused the ACK to its arrival, ps, if known.
    pub delay_ps: Option<u64>,
    /// Whether the window was in use when the ACK arrived.
    pub in_use: bool,
}

/// Swift state of one flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Swift {
    window_bytes: f64,
    /// Smoothed round trip, ps; 0 before the first.
    smoothed_ps: u64,
    decreased_at_ps: Option<u64>,
    /// Timeouts since the last ACK, and the time of the last.
    timeouts: u32,
    timed_out_at_ps: Option<u64>,
}

impl SwiftConfig {
    /// Calculates the constants.
    ///
    /// # Panics
    /// Panics if the packet is empty, or if the bounds of flow scaling are not above 0 and in order.
    pub fn constants(&self) -> SwiftConstants {
        let scaling = &self.scaling;
        assert!(self.packet_bytes > 0, "packet_bytes must be above zero");
        assert!(
            scaling.min_packets > 0.0 && scaling.min_packets < scaling.max_packets,
            "min_packets must be above zero and below max_packets"
        );
        let least = inverse_root(scaling.max_packets);
        let a_ps = scaling.range_ps as f64 / (inverse_root(scaling.min_packets) - least);
        SwiftConstants {
            config: *self,
            scaling_ps: (a_ps, -a_ps * least),
        }
    }
}

impl SwiftConstants {
    /// Target delay for a window, ps.
    pub fn target_ps(&self, window_bytes: f64) -> f64 {
        let scaling = &self.config.scaling;
        let packets = window_bytes / f64::from(self.config.packet_bytes);
        let range_ps = scaling.range_ps as f64;
        let extra_ps = match scaling.whole_packets {
            true if packets < 1.0 => range_ps,
            true => self.extra_ps(packets as u32 as f64),
            false => self.extra_ps(packets),
        };
        self.config.target_ps as f64 + extra_ps.clamp(0.0, range_ps)
    }

    fn extra_ps(&self, packets: f64) -> f64 {
        let (a_ps, b_ps) = self.scaling_ps;
        a_ps * inverse_root(packets) + b_ps
    }
}

impl Swift {
    /// Creates a flow.
    pub fn new(constants: &SwiftConstants) -> Self {
        let config = &constants.config;
        let (least, most) = (config.min_window_bytes, config.max_window_bytes);
        Swift {
            window_bytes: config.initial_window_bytes.clamp(least, most),
            smoothed_ps: 0,
            decreased_at_ps: None,
            timeouts: 0,
            timed_out_at_ps: None,
        }
    }

    /// Window, bytes; it may be below a packet.
    pub fn window_bytes(&self) -> f64 {
        self.window_bytes
    }

    /// Smoothed round trip, ps; the unloaded one before the first is measured.
    pub fn rtt_ps(&self, constants: &SwiftConstants) -> u64 {
        match self.smoothed_ps {
            0 => constants.config.base_rtt_ps,
            measured_ps => measured_ps,
        }
    }

    /// Time between two packets, ps, if the window is below a packet.
    pub fn gap_ps(&self, constants: &SwiftConstants) -> Option<u64> {
        let packet_bytes = f64::from(constants.config.packet_bytes);
        if self.window_bytes >= packet_bytes {
            return None;
        }
        let rtt_ps = self.rtt_ps(constants) as f64;
        Some((rtt_ps * packet_bytes / self.window_bytes) as u64)
    }

    /// Processes an ACK.
    pub fn on_ack(&mut self, constants: &SwiftConstants, ack: &SwiftAck) {
        self.timeouts = 0;
        let Some(delay_ps) = ack.delay_ps else {
            return;
        };
        let config = &constants.config;
        let may_decrease = self.may_decrease(ack.now_ps);
        self.smoothed_ps = match self.smoothed_ps {
            0 => delay_ps,
            before_ps => 7 * before_ps / 8 + delay_ps / 8,
        };
        let (delay_ps, target_ps) = (delay_ps as f64, constants.target_ps(self.window_bytes));
        if delay_ps < target_ps {
            if ack.in_use {
                self.increase(config, ack.acked_bytes as f64);
            }
        } else if may_decrease {
            let excess = (delay_ps - target_ps) / delay_ps;
            let share = (config.beta * excess).min(config.max_decrease);
            self.decrease(config, ack.now_ps, share);
        }
    }

    fn increase(&mut self, config: &SwiftConfig, acked_bytes: f64) {
        let packet_bytes = f64::from(config.packet_bytes);
        let per_packet = match self.window_bytes >= packet_bytes {
            true => packet_bytes / self.window_bytes,
            false => 1.0,
        };
        self.window_bytes += config.increase_packets * acked_bytes * per_packet;
        self.window_bytes = self.window_bytes.min(config.max_window_bytes);
    }

    /// Processes the detection of a loss.
    pub fn on_loss(&mut self, constants: &SwiftConstants, now_ps: u64) {
        let config = &constants.config;
        if self.may_decrease(now_ps) {
            self.decrease(config, now_ps, config.max_decrease);
        }
    }

    /// Processes the timeout of a packet.
    pub fn on_timeout(&mut self, constants: &SwiftConstants, now_ps: u64) {
        let rtt_ps = self.rtt_ps(constants);
        if (self.timed_out_at_ps).is_some_and(|last_ps| now_ps - last_ps < rtt_ps) {
            return;
        }
        self.timed_out_at_ps = Some(now_ps);
        self.timeouts = self.timeouts.saturating_add(1);
        if self.timeouts >= constants.config.reset_after {
            self.window_bytes = constants.config.min_window_bytes;
        } else {
            self.on_loss(constants, now_ps);
        }
    }

    fn may_decrease(&self, now_ps: u64) -> bool {
        (self.decreased_at_ps).is_none_or(|last_ps| now_ps - last_ps >= self.smoothed_ps)
    }

    fn decrease(&mut self, config: &SwiftConfig, now_ps: u64, share: f64) {
        let before = self.window_bytes;
        self.window_bytes = (before * (1.0 - share)).max(config.min_window_bytes);
        if self.window_bytes < before {
            self.decreased_at_ps = Some(now_ps);
        }
    }
}

/// 1 / sqrt(x) by Newton's method, which gives the same bits on every machine.
fn inverse_root(x: f64) -> f64 {
    // Halving the exponent gives a first value within 4%; each step squares the relative error.
    let mut root = f64::from_bits(0x5FE6_EB50_C7B5_37A9 - (x.to_bits() >> 1));
    for _ in 0..5 {
        root *= 1.5 - 0.5 * x * root * root;
    }
    root
}
