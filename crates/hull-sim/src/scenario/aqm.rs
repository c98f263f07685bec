//! RED and PI with ECN (thesis 2.2.4, 2.3.1 and 3.4.1): the queue management that DCTCP is
//! compared with. Queues in packets (`"50pkts"`) or bytes (`"75KB"`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::{Problem, quoted, require};
use crate::units::{Buffer, Share, Time};

/// RED with ECN: packets are marked, not dropped early.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Red {
    /// Average queue above which packets begin to be marked (min_th).
    pub min: Buffer,
    /// Average queue from which on every packet is marked (max_th), in the unit of `min`.
    pub max: Buffer,
    /// Probability at `max` (max_p).
    #[serde(default = "tenth")]
    pub max_probability: Share,
    /// Weight of the queue that a packet finds in the average: 2 to the power of minus this.
    #[serde(default = "nine")]
    pub weight: u32,
    /// Whether the probability goes on growing, up to 1 at twice `max`.
    #[serde(default)]
    pub gentle: bool,
    /// Whether the probability is proportional to the packet's size.
    #[serde(default)]
    pub by_size: bool,
    /// Whether packets are dropped, instead of marked, from `max` on, with `gentle` from twice `max`
    /// (harddrop of Linux).
    #[serde(default)]
    pub hard_drop: bool,
}

/// PI with ECN (Hollot et al., "On Designing Improved Controllers for AQM Routers"), designed for a
/// number of flows and a round trip by that paper's Proposition 2.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pi {
    /// Queue that is to be kept (q_ref).
    pub reference: Buffer,
    /// Time between two samples of the queue (T).
    pub interval: Time,
    /// Fewest flows that it has to be stable with (N).
    pub flows: u32,
    /// Longest round trip that it has to be stable with (R).
    pub round_trip: Time,
}

const fn tenth() -> Share {
    Share(Share::ONE / 10)
}
const fn nine() -> u32 {
    9
}

/// A queue length in its unit, of at most 2^31.
fn length(key: &str, queue: Buffer) -> Result<(u64, bool), Problem> {
    let (length, packets) = match queue {
        Buffer::Unlimited => (0, false),
        Buffer::Bytes(bytes) => (bytes, false),
        Buffer::Packets(packets) => (packets, true),
    };
    let allowed = "a queue such as \"50pkts\" or \"75KB\", above 0";
    require((1..1 << 31).contains(&length), key, quoted(queue), allowed)?;
    Ok((length, packets))
}

/// Checks RED's settings.
pub(super) fn check_red(red: &Red) -> Result<(), Problem> {
    let (min, unit) = length("switch.red.min", red.min)?;
    let (max, unit_of_max) = length("switch.red.max", red.max)?;
    require(
        max > min && unit == unit_of_max,
        "switch.red.max",
        quoted(red.max),
        &format!(
            "more than switch.red.min, \"{}\", in the same unit",
            red.min
        ),
    )?;
    let probability = red.max_probability;
    require(
        (1..=Share::ONE).contains(&probability.0),
        "switch.red.max_probability",
        quoted(probability),
        "above 0 and at most 1",
    )?;
    require(
        (1..=24).contains(&red.weight),
        "switch.red.weight",
        red.weight,
        "1 to 24, for 2^-1 to 2^-24",
    )
}

/// Checks PI's settings.
pub(super) fn check_pi(pi: &Pi) -> Result<(), Problem> {
    length("switch.pi.reference", pi.reference)?;
    for (key, time) in [
        ("switch.pi.interval", pi.interval),
        ("switch.pi.round_trip", pi.round_trip),
    ] {
        let fits = (100_000..=1_000_000_000_000).contains(&time.0);
        require(fits, key, quoted(time), "100ns to 1s")?;
    }
    require(
        (1..=1_000_000).contains(&pi.flows),
        "switch.pi.flows",
        pi.flows,
        "1 to 1000000",
    )
}
