//! Settings of the watchdog of pauses, with the defaults of SONiC's pfcwd (sonic-net/sonic-utilities,
//! pfcwd/main.py): `start_default` has 200 ms for both times and the action drop, on a switch of up to 32
//! ports; `start` with a detection time alone restores after twice that time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::network::WatchdogAction;
use crate::problem::{Problem, quoted, require};
use crate::units::Time;

/// Watchdog of a switch: a class of a port that is paused too long is a storm (docs/pauses.md).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PfcWatchdog {
    /// Time for which a class is paused, while a packet waits in it, until it is a storm. SONiC's
    /// `pfcwd start_default` has the default.
    #[serde(default = "of_start_default")]
    pub detection: Time,
    /// Time without a pause after which a storm is over. Unset: twice `detection`, as SONiC's
    /// `pfcwd start`; 200 ms if that is unset, too, as `pfcwd start_default`.
    #[serde(default = "of_start_default")]
    pub restoration: Time,
    /// What a switch does in a storm: discard the packets of the queue, ignore the pauses, or count the storm.
    #[serde(default)]
    pub action: WatchdogAction,
}

const fn of_start_default() -> Time {
    Time(200_000_000_000)
}

/// Longest times that SONiC's `config pfcwd start` takes.
const LONGEST_DETECTION: Time = Time(5_000_000_000_000);
const LONGEST_RESTORATION: Time = Time(60_000_000_000_000);

/// Sets the restoration time of `switch.pfc`'s watchdog if it follows from the detection time. Returns its
/// key.
pub(super) fn derive(pfc: &mut Table) -> Option<String> {
    let Some(Value::Table(watchdog)) = pfc.get_mut("watchdog") else {
        return None;
    };
    let detection: Time = watchdog.get("detection")?.clone().try_into().ok()?;
    if watchdog.contains_key("restoration") || detection > LONGEST_DETECTION {
        return None;
    }
    let twice = Time(detection.0.saturating_mul(2));
    let value = Value::String(twice.to_string());
    watchdog.insert("restoration".to_owned(), value);
    Some("switch.pfc.watchdog.restoration".to_owned())
}

impl PfcWatchdog {
    /// Checks each key.
    pub(super) fn check(&self) -> [Result<(), Problem>; 2] {
        [
            require(
                self.detection > Time(0) && self.detection <= LONGEST_DETECTION,
                "switch.pfc.watchdog.detection",
                quoted(self.detection),
                "above 0s and at most 5s",
            ),
            require(
                self.restoration > Time(0) && self.restoration <= LONGEST_RESTORATION,
                "switch.pfc.watchdog.restoration",
                quoted(self.restoration),
                "above 0s and at most 60s",
            ),
        ]
    }
}
