//! AVQ in parallel with the port's queue: it counts each packet that the buffer accepts, marks, and adapts
//! its capacity to a target utilization ([`hull_core::adaptive_virtual_queue`]). Packets that cannot be
//! marked count too, but are not dropped. Bytes.

use hull_core::adaptive_virtual_queue::{AdaptiveVirtualQueue, AdaptiveVirtualQueueConfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Arrival, Decision, Rule, Site};
use crate::network::{OptionTable, Packet};
use crate::problem::{Problem, quoted, require};
use crate::units::{Share, Size, Time};

/// Adaptive virtual queue (Kunniyur and Srikant), in parallel to the port's queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Avq {
    /// Share of the link's rate at which arrivals settle (gamma).
    #[serde(default = "published")]
    pub target: Share,
    /// Time constant of the virtual capacity, 1 / alpha. The published alpha of 0.15 per second is 6.7s.
    pub time_constant: Time,
    /// Size of the virtual queue: a packet that finds no room in it is marked.
    pub buffer: Size,
}

const fn published() -> Share {
    Share(Share::ONE / 100 * 98)
}

impl Avq {
    /// Checks the settings.
    pub(crate) fn check(&self) -> Result<(), Problem> {
        require(
            self.target.0 > 0 && self.target.0 <= Share::ONE,
            "switch.avq.target",
            quoted(self.target),
            "above 0% and at most 100%",
        )?;
        require(
            (1_000_000..=10_000_000_000_000).contains(&self.time_constant.0),
            "switch.avq.time_constant",
            quoted(self.time_constant),
            "1us to 10s",
        )?;
        require(
            self.buffer.0 <= 1_000_000_000,
            "switch.avq.buffer",
            quoted(self.buffer),
            "at most 1GB",
        )
    }
}

/// AVQ of one port.
#[derive(Debug)]
pub struct AvqMarking(AdaptiveVirtualQueue);

impl AvqMarking {
    /// Creates the rule with these settings at one port.
    pub fn new(settings: &Avq, site: &Site) -> Self {
        AvqMarking(AdaptiveVirtualQueue::new(&AdaptiveVirtualQueueConfig {
            link_bps: site.rate.0,
            target_bps: settings.target.scaled(site.rate.0),
            time_constant_ps: settings.time_constant.0,
            buffer_bytes: settings.buffer.0,
        }))
    }
}

impl Rule for AvqMarking {
    fn decides_on_arrival(&self) -> bool {
        true
    }

    fn on_arrival(
        &mut self,
        arrival: &Arrival,
        packet: &Packet,
        _options: &OptionTable,
    ) -> Decision {
        let bytes = u32::from(packet.wire_bytes);
        Decision::mark_if(self.0.on_packet(arrival.now_ps, bytes))
    }

    fn on_failure(&mut self, now_ps: u64) {
        self.0.clear(now_ps);
    }

    fn virtual_bytes(&self, now_ps: u64) -> Option<u64> {
        Some(self.0.backlog_bytes(now_ps))
    }
}
