//! The flow association table of `rtl/nic/flow_association.sv`: paper 4.2 and 5.1, thesis 4.4.1.
//!
//! The table is [`crate::flow_association`] with one clock in place of a picosecond. This module adds
//! the hardware's properties: the random bits of an LFSR; a shortest T_i of [`MIN_TIMEOUT_CLOCKS`];
//! the four clocks of a draw, during which another successful draw is missed; and counters.

use crate::flow_association as simulated;

pub use simulated::WhenFull;

/// Shortest T_i, clocks; a shorter one is raised to it.
pub const MIN_TIMEOUT_CLOCKS: u32 = 8;
/// Clocks after a successful draw during which another one is missed.
pub const DRAW_CLOCKS: u64 = 4;

/// Linear feedback shift register x^32 + x^22 + x^2 + x + 1, advanced by 32 bits per draw. A draw
/// is the inverted state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lfsr(u32);

impl Lfsr {
    /// Creates the generator with its seed loaded. A seed of 0 yields one draw of `u32::MAX`; the
    /// next state is 1.
    pub fn new(seed: u32) -> Self {
        Self(seed)
    }

    /// Draws the next 32 random bits.
    pub fn draw(&mut self) -> u32 {
        let bits = !self.0;
        self.0 = match self.0 {
            0 => 1,
            state => (0..32).fold(state, |state, _| {
                state << 1 | (state >> 9 ^ state >> 29 ^ state >> 30 ^ state >> 31) & 1
            }),
        };
        bits
    }
}

/// Contents of the hardware's registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Number of table entries.
    pub entries: usize,
    /// p_a, scaled by 2^32; `u32::MAX` means always.
    pub probability: u32,
    /// T_i, clocks.
    pub timeout_clocks: u32,
    /// Treatment of a new flow when the table is full.
    pub when_full: WhenFull,
}

/// The hardware's counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Flows that entered the table.
    pub associations: u64,
    /// Draws that restarted a timer.
    pub refreshed: u64,
    /// Associations that ended T_i after the last draw.
    pub expired: u64,
    /// Draws for a new flow that found the table full.
    pub ignored: u64,
    /// Flows replaced by a new one.
    pub evicted: u64,
    /// Successful draws less than [`DRAW_CLOCKS`] after another one.
    pub missed: u64,
}

/// Hardware's flow association table. Clocks must not decrease from call to call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowAssociation {
    settings: Settings,
    table: simulated::FlowAssociation,
    live: usize,
    last_draw: Option<u64>,
    counts: Counts,
}

impl FlowAssociation {
    /// Creates an empty table.
    ///
    /// # Panics
    /// Panics if `entries` is zero.
    pub fn new(settings: &Settings) -> Self {
        let timeout = settings.timeout_clocks.max(MIN_TIMEOUT_CLOCKS);
        Self {
            settings: *settings,
            table: simulated::FlowAssociation::new(&simulated::FlowAssociationConfig {
                entries: settings.entries,
                probability: settings.probability,
                timeout_ps: u64::from(timeout),
                when_full: settings.when_full,
            }),
            live: 0,
            last_draw: None,
            counts: Counts::default(),
        }
    }

    /// Changes p_a and the treatment of a full table from the next call on.
    pub fn change(&mut self, probability: u32, when_full: WhenFull) {
        self.settings.probability = probability;
        self.settings.when_full = when_full;
        self.table.change(probability, when_full);
    }

    /// Processes an ACK with ECN-Echo for `flow` in clock `now`; `random` is its draw. Returns true
    /// if the flow was associated or its timer restarted.
    pub fn on_ece(&mut self, now: u64, flow: u32, random: u32) -> bool {
        let live = self.len(now);
        let probability = self.settings.probability;
        if random >= probability && probability != u32::MAX {
            return false;
        }
        if self.last_draw.is_some_and(|last| now < last + DRAW_CLOCKS) {
            self.counts.missed += 1;
            return false;
        }
        self.last_draw = Some(now);
        let present = self.table.is_associated(now, flow);
        let full = live == self.settings.entries;
        let associated = self.table.on_ece(now, flow, random);
        self.counts.refreshed += u64::from(present);
        self.counts.associations += u64::from(associated && !present);
        self.counts.evicted += u64::from(associated && !present && full);
        self.counts.ignored += u64::from(!associated);
        self.live = self.table.len(now);
        associated
    }

    /// Whether to pace packets of `flow` in clock `now`.
    pub fn is_associated(&mut self, now: u64, flow: u32) -> bool {
        self.len(now);
        self.table.is_associated(now, flow)
    }

    /// Number of flows associated in clock `now`.
    pub fn len(&mut self, now: u64) -> usize {
        let live = self.table.len(now);
        self.counts.expired += (self.live - live) as u64;
        self.live = live;
        live
    }

    /// Whether no flow is associated in clock `now`.
    pub fn is_empty(&mut self, now: u64) -> bool {
        self.len(now) == 0
    }

    /// Counters as of the last call.
    pub fn counts(&self) -> Counts {
        self.counts
    }
}
