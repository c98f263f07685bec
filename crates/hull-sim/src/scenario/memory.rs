//! Packet memory that the ports of a switch share, with dynamic thresholds (thesis 2.1.3), and the
//! switches of thesis table 2.1.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::problem::{Problem, need, quoted, require};
use crate::units::{Share, Size};

/// The switches of thesis table 2.1. Alpha follows from the memory that one busy port gets, 600 to
/// 700 KB of 4 MB (thesis 2.3.1 and 4.5.2), and is the same for all three.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Preset {
    /// Broadcom Triumph: 48 ports of 1 Gbps and 4 of 10 Gbps, 4 MB, ECN.
    Triumph,
    /// Broadcom Scorpion: 24 ports of 10 Gbps, 4 MB, ECN.
    Scorpion,
    /// Cisco CAT4948: 48 ports of 1 Gbps and 2 of 10 Gbps, 16 MB, no ECN.
    Cat4948,
}

impl Preset {
    /// Number of ports, and how many of them have 10 Gbps.
    pub fn ports(self) -> (usize, usize) {
        match self {
            Preset::Triumph => (52, 4),
            Preset::Scorpion => (24, 24),
            Preset::Cat4948 => (50, 2),
        }
    }

    /// Size of the packet memory.
    pub fn size(self) -> Size {
        match self {
            Preset::Triumph | Preset::Scorpion => Size(4_000_000),
            Preset::Cat4948 => Size(16_000_000),
        }
    }

    /// Whether the switch supports ECN.
    pub fn ecn(self) -> bool {
        self != Preset::Cat4948
    }
}

/// Shared packet memory; `preset` or `size`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// A switch of thesis table 2.1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<Preset>,
    /// Total memory (default: the preset's).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-packets" = true))]
    pub size: Option<Size>,
    /// Limit of a queue in the shared pool, as a multiple of the pool's free part (alpha).
    #[serde(default = "alpha")]
    pub alpha: Share,
    /// Bytes reserved for each queue.
    #[serde(default)]
    #[schemars(extend("x-packets" = true))]
    pub reserved: Size,
    /// Number of queues with a reservation on each port, with or without traffic. With a preset all of
    /// its ports have them, also those without a link (default: only `switch.priorities` of each link).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queues: Option<u32>,
    /// Largest part of the shared pool for one queue, besides `alpha` (default: none).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-packets" = true))]
    pub limit: Option<Size>,
    /// Size of a memory cell; a packet occupies whole cells (default: a packet occupies its own size).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<Size>,
    /// Length from which a queue is busy: the number of busy queues divides `alpha`, and a shorter queue counts
    /// as its part (ABM; default: no division).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-packets" = true))]
    pub busy: Option<Size>,
}

/// Default alpha: one busy port gets alpha / (1 + alpha) of the memory, 667 KB of 4 MB.
const fn alpha() -> Share {
    Share(Share::ONE / 5)
}

impl Memory {
    /// Size of the packet memory, bytes.
    pub fn bytes(&self) -> u64 {
        let preset = self.preset.map(Preset::size);
        self.size.or(preset).unwrap_or_default().0
    }

    /// Number of queues with a reservation on a switch with `ports` ports and `classes` queues with
    /// traffic on each.
    pub fn reservations(&self, ports: usize, classes: u32) -> u64 {
        let traffic = ports as u64 * u64::from(classes);
        let Some(queues) = self.queues else {
            return traffic;
        };
        let of_preset = self.preset.map_or(0, |preset| preset.ports().0);
        ports.max(of_preset) as u64 * u64::from(queues)
    }

    /// Memory without the reservations of queues that never have traffic, bytes.
    pub fn usable_bytes(&self, ports: usize, classes: u32) -> u64 {
        let traffic = ports as u64 * u64::from(classes);
        let idle = self.reservations(ports, classes) - traffic;
        self.bytes() - idle * self.reserved.0
    }
}

/// Checks the memory of switches that mark packets if `marks`.
pub(super) fn check(memory: &Memory, classes: u32, marks: bool, mtu: u64) -> Result<(), Problem> {
    let bytes = memory.bytes();
    let (fits, key) = (bytes >= mtu && bytes <= 1 << 40, "switch.memory.size");
    let expected = "room for a packet of transport.mtu or more, or a preset";
    match memory.size {
        Some(size) => require(fits, key, quoted(size), expected)?,
        None => need(fits, key, "nothing", expected)?,
    }
    let alpha = memory.alpha;
    require(
        alpha.0 > 0 && alpha.0 <= 1000 * Share::ONE,
        "switch.memory.alpha",
        quoted(alpha),
        "above 0 and at most 1000",
    )?;
    require(
        memory.reserved.0 <= bytes,
        "switch.memory.reserved",
        quoted(memory.reserved),
        "at most switch.memory.size",
    )?;
    if let Some(queues) = memory.queues {
        require(
            (classes..=64).contains(&queues),
            "switch.memory.queues",
            queues,
            "switch.priorities to 64",
        )?;
    }
    if let Some(limit) = memory.limit {
        require(
            limit.0 >= mtu && limit.0 <= bytes,
            "switch.memory.limit",
            quoted(limit),
            "transport.mtu to switch.memory.size",
        )?;
    }
    if let Some(cell) = memory.cell {
        require(
            (1..=16_384).contains(&cell.0),
            "switch.memory.cell",
            quoted(cell),
            "1B to 16384B",
        )?;
        require(
            mtu.div_ceil(cell.0) * cell.0 <= bytes,
            "switch.memory.cell",
            quoted(cell),
            "cells that hold a packet of transport.mtu within switch.memory.size",
        )?;
    }
    if let Some(busy) = memory.busy {
        require(
            (1..=bytes).contains(&busy.0),
            "switch.memory.busy",
            quoted(busy),
            "1B to switch.memory.size",
        )?;
    }
    let can_mark = memory.preset.is_none_or(Preset::ecn);
    require(
        can_mark || !marks,
        "switch.memory.preset",
        quoted("cat4948"),
        "a switch with ECN where there is marking; this one has none",
    )
}
