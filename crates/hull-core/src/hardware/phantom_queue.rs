//! The phantom queue of `rtl/switch/phantom_queue.sv`: paper 5.1, thesis 4.4.1.
//!
//! In the counter's units a byte is `byte_units` and a clock drains `drain_units`, both integers: the
//! drain rate is `drain_units / byte_units` bytes per clock, a fraction without rounding. 950 Mbps at
//! 125 MHz is 0.95 bytes per clock: 19 / 20. If the units are the clock's period and the drain time of
//! a byte in 2^-16 ps, they are those of [`crate::phantom_queue`], and both queues agree bit for bit
//! ([`Settings::of`]).
//!
//! Limits: time is in whole clocks; the counter saturates at `2^counter_bits - 1`; the settings have 32
//! bits, the threshold 20 (with 52 bits it is always below the counter's maximum).

use crate::phantom_queue::{Drain, PhantomQueueConfig};

/// Bits of the counter in the hardware: 20 of the threshold and 32 of a byte.
pub const COUNTER_BITS: u32 = 52;
/// The largest threshold, in bytes.
pub const MAX_THRESHOLD_BYTES: u32 = (1 << 20) - 1;
/// Fraction bits of a picosecond in the units of [`crate::phantom_queue`].
const FRACTION_BITS: u32 = 16;

/// Contents of the hardware's registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// What one clock drains, above zero.
    pub drain_units: u32,
    /// What one byte adds, above zero.
    pub byte_units: u32,
    /// A packet is marked when the counter is strictly above this, in bytes, at most
    /// [`MAX_THRESHOLD_BYTES`].
    pub threshold_bytes: u32,
    /// The packet is added before the comparison (true) or after it (false).
    pub count_arriving: bool,
    /// Clocks between two steps of the drain; 0: each clock. NetFPGA: 100 clocks of 8 ns.
    pub tick_clocks: u16,
    /// Width of the counter, at most 63.
    pub counter_bits: u32,
}

impl Settings {
    /// The settings with which the hardware does what [`crate::phantom_queue`] does, with a clock of
    /// `clock_ps`; nothing where a register is too small: a drain rate below 123 Mbit/s, a clock of
    /// 65.536 ns or longer, a tick that is no multiple of the clock.
    pub fn of(config: &PhantomQueueConfig, clock_ps: u32) -> Option<Self> {
        let byte_units = u32::try_from(config.units().byte_units).ok()?;
        let drain_units = u32::try_from(u64::from(clock_ps) << FRACTION_BITS).ok()?;
        Self::with(config, clock_ps, drain_units, byte_units)
    }

    /// The settings whose drain rate is `config.drain_bps` without any rounding, as a fraction in its
    /// lowest terms; nothing where a register is too small.
    pub fn exact(config: &PhantomQueueConfig, clock_ps: u32) -> Option<Self> {
        // Bytes a clock: drain_bps * clock_ps / 8e12.
        let drain = u128::from(config.drain_bps) * u128::from(clock_ps);
        let byte = 8_000_000_000_000_u128;
        let common = greatest_common_divisor(drain, byte);
        let drain_units = u32::try_from(drain / common).ok()?;
        let byte_units = u32::try_from(byte / common).ok()?;
        Self::with(config, clock_ps, drain_units, byte_units)
    }

    fn with(
        config: &PhantomQueueConfig,
        clock_ps: u32,
        drain_units: u32,
        byte_units: u32,
    ) -> Option<Self> {
        let tick_clocks = match config.drain {
            Drain::Continuous => 0,
            Drain::Ticks { tick_ps } if tick_ps % u64::from(clock_ps) == 0 => {
                u16::try_from(tick_ps / u64::from(clock_ps)).ok()?
            }
            Drain::Ticks { .. } => return None,
        };
        (config.threshold_bytes <= MAX_THRESHOLD_BYTES && drain_units > 0).then_some(Self {
            drain_units,
            byte_units,
            threshold_bytes: config.threshold_bytes,
            count_arriving: config.count_arriving,
            tick_clocks,
            counter_bits: COUNTER_BITS,
        })
    }
}

fn greatest_common_divisor(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The counter of one port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhantomQueue {
    settings: Settings,
    backlog_units: u64,
    /// Clock up to which the drain has been applied; with ticks a multiple of the tick.
    drained_to: u64,
}

impl PhantomQueue {
    /// An empty queue at clock zero.
    ///
    /// # Panics
    /// When a setting is outside the range that [`Settings`] gives.
    pub fn new(settings: &Settings) -> Self {
        assert!(settings.drain_units > 0, "drain_units must be above zero");
        assert!(settings.byte_units > 0, "byte_units must be above zero");
        assert!(
            settings.counter_bits < 64,
            "counter_bits must be at most 63"
        );
        assert!(
            settings.threshold_bytes <= MAX_THRESHOLD_BYTES,
            "threshold_bytes must be at most MAX_THRESHOLD_BYTES"
        );
        Self {
            settings: *settings,
            backlog_units: 0,
            drained_to: 0,
        }
    }

    /// Settings that are in force from the clock `now` on, which must not be before the last call's.
    ///
    /// # Panics
    /// When the ticks change, or with ticks the drain: what is due of both is not defined here.
    pub fn change(&mut self, now: u64, settings: &Settings) {
        assert!(
            settings.tick_clocks == self.settings.tick_clocks
                && (settings.tick_clocks == 0 || settings.drain_units == self.settings.drain_units),
            "ticks, and the drain of ticks, must not change"
        );
        self.backlog_units = self.backlog_units(now);
        self.drained_to += self.due(now);
        self.settings = *settings;
    }

    /// A packet of `bytes` leaves the port at the clock `now`, which must not be before the last call's.
    /// Returns true when the packet is to be marked CE.
    pub fn on_packet(&mut self, now: u64, bytes: u32) -> bool {
        let before = self.backlog_units(now);
        self.drained_to += self.due(now);
        let most = (1 << self.settings.counter_bits) - 1;
        let added = u64::from(self.settings.byte_units) * u64::from(bytes);
        let after = before.saturating_add(added).min(most);
        self.backlog_units = after;
        let compared = if self.settings.count_arriving {
            after
        } else {
            before
        };
        compared > u64::from(self.settings.threshold_bytes) * u64::from(self.settings.byte_units)
    }

    /// The counter at the clock `now`, which must not be before the last packet's.
    pub fn backlog_units(&self, now: u64) -> u64 {
        let drained = self
            .due(now)
            .saturating_mul(u64::from(self.settings.drain_units));
        self.backlog_units.saturating_sub(drained)
    }

    /// Clocks of drain that have come due.
    fn due(&self, now: u64) -> u64 {
        let elapsed = now - self.drained_to;
        match u64::from(self.settings.tick_clocks) {
            0 => elapsed,
            tick => elapsed - elapsed % tick,
        }
    }
}
