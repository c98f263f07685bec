//! What is measured.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::{Problem, quoted, require};
use super::default;
use crate::units::{Size, Time};

/// What is measured; flow completion times and the queue of the client's port always are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// Time between two samples of the queue in `latency.parquet`.
    #[serde(default = "default::sample_interval")]
    pub sample_interval: Time,
    /// The latency probe of paper 5.2; without this table there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<Probe>,
}

/// A ping from host 1 to the client, timed across the switch (paper 5.2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    /// Time between two probes.
    #[serde(default = "default::sample_interval")]
    pub interval: Time,
    /// Bytes on the wire.
    #[serde(default = "default::mtu")]
    pub size: Size,
}

/// Checks the measurements.
pub(super) fn check(measure: &Measure) -> Result<(), Problem> {
    let step = Time(1_000_000);
    let sample = measure.sample_interval;
    require(
        sample >= step,
        "measure.sample_interval",
        quoted(sample),
        "at least 1us",
    )?;
    if let Some(probe) = &measure.probe {
        let key = "measure.probe.interval";
        require(
            probe.interval >= step,
            key,
            quoted(probe.interval),
            "at least 1us",
        )?;
        let size = probe.size.0;
        require(
            (40..=9000).contains(&size),
            "measure.probe.size",
            quoted(probe.size),
            "40B to 9000B",
        )?;
    }
    Ok(())
}
