//! A time that varies: how long a server works on a request (report III-B), or what a stack's
//! delay varies by.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::problem::{Problem, quoted, refuse, require};
use crate::units::Time;

/// A time that is drawn anew each time: `offset` and at most one distribution.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Service {
    /// The part that is always the same.
    #[serde(default)]
    pub offset: Time,
    /// Mean of an exponential part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exponential: Option<Time>,
    /// A gamma-distributed part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gamma: Option<Gamma>,
}

/// A gamma distribution: mean `shape * scale`, variance `shape * scale^2`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gamma {
    /// Shape (kappa).
    pub shape: f64,
    /// Scale; the report's 180 gamma(kappa, theta) ns has the scale 180 theta ns.
    pub scale: Time,
}

/// Checks a time at `key`.
pub(super) fn check(key: &str, service: &Service) -> Result<(), Problem> {
    if service.exponential.is_some() && service.gamma.is_some() {
        refuse(key, "exponential and gamma", "one of exponential, gamma")?;
    }
    let longest = Time(1_000_000_000_000_000);
    let scale = service.gamma.as_ref().map(|gamma| gamma.scale);
    for (name, time) in [
        ("offset", Some(service.offset)),
        ("exponential", service.exponential),
        ("gamma.scale", scale),
    ] {
        let time = time.unwrap_or_default();
        let key = format!("{key}.{name}");
        require(time <= longest, &key, quoted(time), "at most 1000s")?;
    }
    let Some(gamma) = &service.gamma else {
        return Ok(());
    };
    require(
        gamma.shape > 0.0 && gamma.shape <= 1e6,
        &format!("{key}.gamma.shape"),
        gamma.shape,
        "above 0 and at most 1e6",
    )?;
    require(
        gamma.scale.0 > 0,
        &format!("{key}.gamma.scale"),
        quoted(gamma.scale),
        "a time above 0",
    )
}
