//! Duration and repetitions of a scenario.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::default;
use crate::limits;
use crate::problem::{Problem, quoted, require};
use crate::units::Time;

const LONGEST: Time = Time(limits::TIME_PS);

/// Duration and repetitions of a scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// Measured simulated time, after the warm-up.
    pub duration: Time,
    /// Simulated time before the measurement starts.
    #[serde(default)]
    pub warmup: Time,
    /// Longest simulated time after the measurement in which started requests may complete.
    #[serde(default = "default::drain")]
    pub drain: Time,
    /// First seed.
    #[serde(default = "default::one_u64")]
    pub seed: u64,
    /// Number of seeds: seed, seed + 1, ...
    #[serde(default = "default::one_u32")]
    pub seeds: u32,
    /// Processor threads of one run. A large fat tree, tree or leaf-spine network whose flows are
    /// independent is divided by its hosts; other runs take one thread. The results are the same.
    #[serde(default = "default::one_u32")]
    pub threads: u32,
}

/// Checks each key of the run.
pub(super) fn check(run: &Run) -> Vec<Result<(), Problem>> {
    let mut found = Vec::new();
    found.push(require(
        run.duration.0 > 0,
        "run.duration",
        quoted(run.duration),
        "a time above 0",
    ));
    for (key, time) in [
        ("run.duration", run.duration),
        ("run.warmup", run.warmup),
        ("run.drain", run.drain),
    ] {
        found.push(require(
            time <= LONGEST,
            key,
            quoted(time),
            "at most 1000000s",
        ));
    }
    let (seeds, most) = (run.seeds, limits::SEEDS);
    let fits = (1..=most).contains(&seeds);
    found.push(require(fits, "run.seeds", seeds, &format!("1 to {most}")));
    let (threads, most) = (run.threads, limits::THREADS);
    let fits = (1..=most).contains(&threads);
    found.push(require(
        fits,
        "run.threads",
        threads,
        &format!("1 to {most}"),
    ));
    found
}
