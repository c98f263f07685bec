//! QCN's congestion point at a port (thesis 5.2.1), with the port's random numbers, and the pending
//! feedback for the source of the last packet. Queues in bytes.

use hull_core::qcn_congestion_point::{self, CongestionPointConfig, Rounding, Sampling};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Arrival, Decision, Notice, Rule, Site};
use crate::network::{Packet, flags};
use crate::problem::{Problem, quoted, require};
use crate::random::{Purpose, Stream};
use crate::units::{Share, Size};

/// QCN's congestion point at each port (thesis 5.2.1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CongestionPoint {
    /// Target queue (Q_eq): 22 packets in the thesis.
    #[serde(default = "equilibrium")]
    #[schemars(extend("x-packets" = true))]
    pub equilibrium: Size,
    /// Weight w of the queue's change since the last sample.
    #[serde(default = "weight")]
    pub weight: Share,
    /// Share of the data packets that are sampled (p_s), at random, unless `interval` is given.
    #[serde(default = "sampling")]
    pub sampling: Share,
    /// Bytes between two samples, randomized by 15% (IEEE 802.1Qau: 150KB).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Size>,
    /// Size of each of the 63 steps of the feedback; 1500B is a packet, as in the fluid model.
    #[serde(default = "step")]
    pub step: Size,
    /// Rounding of a partial step.
    #[serde(default)]
    pub rounding: QcnRounding,
    /// Whether congestion makes samples more frequent, up to eight times at the largest feedback
    /// (IEEE 802.1Qau).
    #[serde(default)]
    pub adaptive: bool,
}

/// Rounding of a partial step of QCN's feedback.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum QcnRounding {
    /// A partial step counts as a full one: all congestion is reported.
    #[default]
    Up,
    /// A partial step is dropped: congestion below one step is not reported (IEEE 802.1Qau).
    Down,
}

const fn equilibrium() -> Size {
    Size(33_000)
}
const fn weight() -> Share {
    Share(2 * Share::ONE)
}
const fn sampling() -> Share {
    Share(Share::ONE / 100)
}
const fn step() -> Size {
    Size(1500)
}

impl CongestionPoint {
    /// Checks the settings.
    pub(crate) fn check(&self) -> Result<(), Problem> {
        let interval = self.interval.unwrap_or(Size(1));
        for (key, size, least) in [
            ("switch.qcn.equilibrium", self.equilibrium, 0),
            ("switch.qcn.step", self.step, 1),
            ("switch.qcn.interval", interval, 1),
        ] {
            require(
                (least..=1_000_000_000).contains(&size.0),
                key,
                quoted(size),
                &format!("{least}B to 1GB"),
            )?;
        }
        require(
            self.weight.0 <= 1000 * Share::ONE,
            "switch.qcn.weight",
            quoted(self.weight),
            "0 to 1000",
        )?;
        require(
            (1..=Share::ONE).contains(&self.sampling.0),
            "switch.qcn.sampling",
            quoted(self.sampling),
            "above 0 and at most 1",
        )
    }
}

/// Congestion point of one port.
#[derive(Debug)]
pub struct SampledQueue {
    point: qcn_congestion_point::CongestionPoint,
    random: Stream,
    feedback: Option<Notice>,
}

impl SampledQueue {
    /// Creates the congestion point with these settings at one port.
    pub fn new(settings: &CongestionPoint, site: &Site) -> Self {
        let point = qcn_congestion_point::CongestionPoint::new(&CongestionPointConfig {
            equilibrium_bytes: settings.equilibrium.0 as u32,
            weight: settings.weight.scaled(1 << 16) as u32,
            sampling: match settings.interval {
                Some(bytes) => Sampling::Every(bytes.0 as u32),
                None => {
                    let scaled = settings.sampling.scaled(1 << 32);
                    Sampling::Random(u32::try_from(scaled).unwrap_or(u32::MAX))
                }
            },
            step_bytes: settings.step.0 as u32,
            rounding: match settings.rounding {
                QcnRounding::Up => Rounding::Up,
                QcnRounding::Down => Rounding::Down,
            },
            adaptive: settings.adaptive,
        });
        SampledQueue {
            point,
            random: site.random(Purpose::Sampling),
            feedback: None,
        }
    }
}

impl Rule for SampledQueue {
    /// Samples arriving data packets, whether or not they are admitted.
    fn on_ingress(&mut self, arrival: &Arrival, packet: &Packet) -> Decision {
        if packet.has(flags::DATA) {
            let (bytes, random) = (u32::from(packet.wire_bytes), self.random.bits());
            self.feedback = self.point.on_arrival(arrival.queue_bytes, bytes, random);
        }
        Decision::Pass
    }

    fn take_notice(&mut self) -> Option<Notice> {
        self.feedback.take()
    }
}
