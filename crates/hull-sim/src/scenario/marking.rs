//! ECN marking by the length of the queue (thesis 2.2.1), at a threshold or between two.

use hull_core::marking::ThresholdMarker;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::network::rules::{DequeueThreshold, RampMarking, Rule, Site, When};
use crate::problem::{Problem, quoted, require};
use crate::units::{Buffer, Size};

/// Time at which the queue is compared with the threshold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MarkOn {
    /// At a packet's arrival, with the queue that it finds (thesis 2.2.1).
    #[default]
    Enqueue,
    /// At the start of its transmission, with the queue that it leaves behind.
    Dequeue,
    /// At the end of its transmission, with the queue at that time; only at ports with several queues.
    Sent,
}

/// ECN marking on the instantaneous queue (thesis 2.2.1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Marking {
    /// Queue above which packets are marked (the papers' K).
    #[schemars(extend("x-packets" = true))]
    pub threshold: Size,
    /// Queue above which every packet is marked (Kmax): between the threshold and this value the marking
    /// probability rises linearly. Unset: all packets above the threshold are marked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_threshold: Option<Size>,
    /// Whether the queue includes the packet itself.
    #[serde(default)]
    pub count_arriving: bool,
    /// Time at which the queue is compared with the threshold.
    #[serde(default)]
    pub on: MarkOn,
}

impl Marking {
    /// Threshold marker of a port that decides at arrival by the threshold alone; `None` for other
    /// ports.
    pub(crate) fn at_once(&self) -> Option<ThresholdMarker> {
        (self.on == MarkOn::Enqueue && self.max_threshold.is_none()).then(|| self.marker())
    }

    /// Marking rule of all other ports; `None` if [`Self::at_once`] has a marker.
    pub(super) fn rule(&self, site: &Site) -> Option<Box<dyn Rule>> {
        let when = match self.on {
            MarkOn::Enqueue => When::Arrival,
            MarkOn::Dequeue => When::Departure,
            MarkOn::Sent => When::Sent,
        };
        match (self.max_threshold, when) {
            (None, When::Arrival) => None,
            (None, When::Departure) => Some(Box::new(DequeueThreshold(self.marker()))),
            (max, _) => {
                let high_bytes = max.unwrap_or(self.threshold).0;
                let ramp = RampMarking::new(self.threshold.0, high_bytes, when, site);
                Some(Box::new(ramp))
            }
        }
    }

    /// Threshold marker with these settings.
    fn marker(&self) -> ThresholdMarker {
        ThresholdMarker {
            threshold_bytes: self.threshold.0 as u32,
            count_arriving: self.count_arriving,
        }
    }
}

/// Checks the marking at `key` for ports with the buffer `room`, packets of at most `mtu` bytes and
/// the given number of queues.
pub(super) fn check(
    key: &str,
    marking: &Marking,
    room: Buffer,
    (mtu, queues): (u64, usize),
) -> Result<(), Problem> {
    require(
        marking.on != MarkOn::Sent || queues > 1,
        &format!("{key}.on"),
        "\"sent\"",
        "\"enqueue\" or \"dequeue\" at ports of one queue; switch.trimming and switch.priorities make several",
    )?;
    let bytes = match room {
        Buffer::Unlimited => u64::MAX,
        Buffer::Bytes(bytes) => bytes,
        Buffer::Packets(packets) => packets.saturating_mul(mtu),
    };
    let key = format!("{key}.threshold");
    let found = quoted(marking.threshold);
    require(
        marking.threshold.0 < bytes,
        &key,
        &found,
        &format!("less than switch.buffer, \"{room}\""),
    )?;
    let fits = marking.threshold.0 <= 1_000_000_000;
    require(fits, &key, &found, "at most 1GB")?;
    let Some(max) = marking.max_threshold else {
        return Ok(());
    };
    let max_key = key.replace(".threshold", ".max_threshold");
    require(
        (marking.threshold.0 + 1..=bytes).contains(&max.0),
        &max_key,
        quoted(max),
        &format!("more than threshold, {found}, and at most switch.buffer, \"{room}\""),
    )?;
    require(
        !marking.count_arriving,
        &key.replace(".threshold", ".count_arriving"),
        true,
        "false with max_threshold",
    )
}
