//! Uno's phantom queue: its settings and its default size.

use hull_core::ramp::{self, RampMarker};
use hull_core::uno_phantom_queue::UnoPhantomQueueConfig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Scenario, longest_round_trip_ps};
use crate::network::rules::{Rule, Site, SizedPhantomQueue};
use crate::problem::{Problem, quoted, require};
use crate::topology::Graph;
use crate::units::{Share, Size};

/// One percent of [`Share::ONE`].
const PERCENT: u64 = Share::ONE / 100;
/// Largest size of the counter, bytes: what 6.4 Tbps carries in 1.25 s.
const MOST_BYTES: u64 = 1_000_000_000_000;

/// Uno's phantom queue (SC'25): in parallel to the port's queue, with a size, a drain of a packet at a time and
/// marking with a probability between two thresholds. It counts and marks data only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UnoPhantomQueue {
    /// Slowdown s of the drain against the link, in whole percents: the drain rate is the link's
    /// over 1 + s.
    #[serde(default = "slowdown")]
    pub slowdown: Share,
    /// Value at which its counter saturates. Unset: the bandwidth-delay product of the fastest host's
    /// link at the longest round trip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Size>,
    /// Share of the size up to which no packet is marked (Kmin).
    #[serde(default = "low")]
    pub low: Share,
    /// Share of the size above which every packet is marked (Kmax).
    #[serde(default = "high")]
    pub high: Share,
}

const fn slowdown() -> Share {
    Share(5 * PERCENT)
}
const fn low() -> Share {
    Share(2 * PERCENT)
}
const fn high() -> Share {
    Share(60 * PERCENT)
}

impl UnoPhantomQueue {
    /// Checks each key.
    pub(super) fn check(&self) -> Result<(), Problem> {
        let slowdown = self.slowdown.0;
        require(
            slowdown.is_multiple_of(PERCENT) && slowdown <= Share::ONE,
            "switch.uno_phantom_queue.slowdown",
            quoted(self.slowdown),
            "a whole percentage from 0% to 100%",
        )?;
        if let Some(size) = self.size {
            require(
                (1..=MOST_BYTES).contains(&size.0),
                "switch.uno_phantom_queue.size",
                quoted(size),
                "1B to 1000GB",
            )?;
        }
        require(
            self.low < self.high && self.high.0 <= Share::ONE,
            "switch.uno_phantom_queue.high",
            quoted(self.high),
            &format!("more than low, {}, and at most 100%", quoted(self.low)),
        )
    }

    /// Rule for one port.
    pub(super) fn rule(&self, site: &Site) -> Box<dyn Rule> {
        let size_bytes = self.size.map_or(MOST_BYTES, |size| size.0);
        let config = UnoPhantomQueueConfig {
            link_bps: site.rate.0,
            slowdown_pct: (self.slowdown.0 / PERCENT) as u32,
            packet_bytes: site.mtu,
            size_bytes,
            ramp: RampMarker {
                low_bytes: self.low.scaled(size_bytes),
                high_bytes: self.high.scaled(size_bytes),
                max_probability: ramp::ONE,
            },
        };
        Box::new(SizedPhantomQueue::new(&config, site))
    }
}

/// Derives the size of a checked scenario if it is unset, and returns its key.
pub(super) fn resolve(scenario: &mut Scenario, graph: &Graph) -> Option<&'static str> {
    let queue = scenario.switch.uno_phantom_queue.as_ref();
    if queue.is_none_or(|queue| queue.size.is_some()) {
        return None;
    }
    let round_trip_ps = longest_round_trip_ps(scenario, graph);
    let (_, fastest) = graph.host_rates();
    let bits = u128::from(fastest.0) * u128::from(round_trip_ps) / 1_000_000_000_000;
    let bytes = ((bits / 8) as u64).clamp(1, MOST_BYTES);
    if let Some(queue) = &mut scenario.switch.uno_phantom_queue {
        queue.size = Some(Size(bytes));
    }
    Some("switch.uno_phantom_queue.size")
}
