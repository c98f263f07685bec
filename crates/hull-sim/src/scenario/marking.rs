//! ECN marking by the length of the queue (thesis 2.2.1), at a threshold or between two.

use hull_core::marking::ThresholdMarker;
use hull_core::ramp::{self, RampMarker};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::network::rules::{DequeueThreshold, RampMarking, Rule, Site, When};
use crate::problem::{Problem, quoted, rate, require};
use crate::units::{Buffer, Rate, Share, Size};

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
    /// Marking probability at max_threshold (Pmax); above it every packet is marked.
    #[serde(default = "certain", skip_serializing_if = "is_certain")]
    pub max_probability: Share,
    /// Rate of the ports to which the thresholds apply; at other ports they are proportional to the rate.
    /// Unset: the same at every rate. As deployed for DCQCN (HPCC's simulator): threshold 100KB,
    /// max_threshold 400KB and max_probability 20% at 25Gbps, on "dequeue".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_rate: Option<Rate>,
    /// Whether the queue includes the packet itself.
    #[serde(default)]
    pub count_arriving: bool,
    /// Time at which the queue is compared with the threshold.
    #[serde(default)]
    pub on: MarkOn,
}

const fn certain() -> Share {
    Share(Share::ONE)
}
#[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
fn is_certain(probability: &Share) -> bool {
    *probability == certain()
}

impl Marking {
    /// Marking of a port with this rate, if the thresholds depend on it.
    pub(crate) fn at(&self, rate: Rate) -> Option<Marking> {
        let given = self.at_rate.filter(|given| given.0 > 0)?;
        let scaled = |size: Size| {
            let bytes = u128::from(size.0) * u128::from(rate.0) / u128::from(given.0);
            Size(u64::try_from(bytes).unwrap_or(u64::MAX))
        };
        Some(Marking {
            threshold: scaled(self.threshold),
            max_threshold: self.max_threshold.map(scaled),
            at_rate: None,
            ..self.clone()
        })
    }

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
                let marker = RampMarker {
                    low_bytes: self.threshold.0,
                    high_bytes: max.unwrap_or(self.threshold).0,
                    max_probability: self.max_probability.scaled(ramp::ONE),
                };
                Some(Box::new(RampMarking::new(marker, when, site)))
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

/// Checks the marking at `key` for ports with the buffer `room` and the rate `link`, packets of at most
/// `mtu` bytes and the given number of queues.
pub(super) fn check(
    key: &str,
    marking: &Marking,
    (room, link): (Buffer, Rate),
    (mtu, queues): (u64, usize),
) -> Result<(), Problem> {
    require(
        marking.on != MarkOn::Sent || queues > 1,
        &format!("{key}.on"),
        "\"sent\"",
        "\"enqueue\" or \"dequeue\" at ports of one queue; switch.trimming and switch.priorities make several",
    )?;
    if let Some(given) = marking.at_rate {
        rate(&format!("{key}.at_rate"), given)?;
    }
    let probability = marking.max_probability;
    require(
        (1..=Share::ONE).contains(&probability.0)
            && (marking.max_threshold.is_some() || is_certain(&probability)),
        &format!("{key}.max_probability"),
        quoted(probability),
        "more than 0% to 100%, and 100% without max_threshold",
    )?;
    let of_link = marking.at(link);
    let marking = of_link.as_ref().unwrap_or(marking);
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
