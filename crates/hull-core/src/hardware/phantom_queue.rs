//! The phantom queue of `rtl/switch/phantom_queue.sv`: paper 5.1, thesis 4.4.1.
//!
//! In the counter's units a byte is `byte_units` and a clock drains `drain_units`, both integers: the
//! drain rate is `drain_units / byte_units` bytes per clock, a fraction without rounding. 950 Mbps at
//! 125 MHz is 0.95 bytes per clock: 19 / 20. If the units are the clock's period and the drain time
//! of a byte in 2^-16 ps, as in [`crate::phantom_queue`], both queues agree bit for bit
//! ([`Settings::of`]).
//!
//! Limits: time is in whole clocks; the counter saturates at `2^counter_bits - 1`; the settings have 32
//! bits, the threshold 20 (with 52 bits it is always below the counter's maximum).

use crate::phantom_queue::{Drain, PhantomQueueConfig};

/// Width of the counter in the hardware, bits: 20 for the threshold and 32 for a byte.
pub const COUNTER_BITS: u32 = 52;
/// Largest threshold, bytes.
pub const MAX_THRESHOLD_BYTES: u32 = (1 << 20) - 1;
/// Fraction bits of a picosecond in the units of [`crate::phantom_queue`].
const FRACTION_BITS: u32 = 16;

/// Contents of the hardware's registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Units drained per clock, above zero.
    pub drain_units: u32,
    /// Units added per byte, above zero.
    pub byte_units: u32,
    /// Marking threshold, bytes, at most [`MAX_THRESHOLD_BYTES`]. A packet is marked if the counter
    /// is strictly above it.
    pub threshold_bytes: u32,
    /// Whether the packet is added before the comparison (true) or after it (false).
    pub count_arriving: bool,
    /// Clocks between two drain steps; 0: drain at each clock. NetFPGA: 100 clocks of 8 ns.
    pub tick_clocks: u16,
    /// Width of the counter, bits, at most 63.
    pub counter_bits: u32,
}

impl Settings {
    /// Converts settings of [`crate::phantom_queue`] for a clock of `clock_ps`. Returns `None` if a
    /// register is too small: a drain rate below 123 Mbit/s, a clock of 65.536 ns or longer, a tick
    /// that is not a multiple of the clock.
    pub fn of(config: &PhantomQueueConfig, clock_ps: u32) -> Option<Self> {
        let byte_units = u32::try_from(config.units().byte_units).ok()?;
        let drain_units = u32::try_from(u64::from(clock_ps) << FRACTION_BITS).ok()?;
        Self::with(config, clock_ps, drain_units, byte_units)
    }

    /// Converts settings such that the drain rate is exactly `config.drain_bps`, as a fraction in
    /// lowest terms. Returns `None` if a register is too small.
    pub fn exact(config: &PhantomQueueConfig, clock_ps: u32) -> Option<Self> {
        // Bytes per clock: drain_bps * clock_ps / 8e12.
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

/// Hardware's phantom queue of one port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhantomQueue {
    settings: Settings,
    backlog_units: u64,
    /// Clock up to which the drain has been applied; with ticks, a multiple of the tick.
    drained_to: u64,
}

impl PhantomQueue {
    /// Creates an empty queue at clock zero.
    ///
    /// # Panics
    /// Panics if a setting is outside the range stated in [`Settings`].
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

    /// Changes the settings from clock `now` on (not before the last call's).
    ///
    /// # Panics
    /// Panics if the ticks change, or, with ticks, the drain: the drain due from a partial tick is
    /// undefined then.
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

    /// Counts a packet of `bytes` that leaves the port at clock `now` (not before the last call's).
    /// Returns true if the packet must be marked CE.
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

    /// Counter at clock `now` (not before the last packet's), units.
    pub fn backlog_units(&self, now: u64) -> u64 {
        let drained = self
            .due(now)
            .saturating_mul(u64::from(self.settings.drain_units));
        self.backlog_units.saturating_sub(drained)
    }

    /// Clocks of drain due.
    fn due(&self, now: u64) -> u64 {
        let elapsed = now - self.drained_to;
        match u64::from(self.settings.tick_clocks) {
            0 => elapsed,
            tick => elapsed - elapsed % tick,
        }
    }
}
