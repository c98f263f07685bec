//! Sizes of flows: fixed, Pareto, or from a table.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::problem::{Problem, quoted, refuse, require};
use crate::units::Size;

/// Largest flow size that a scenario may set, bytes: 1 TB.
pub const MAX_FLOW_BYTES: u64 = 1_000_000_000_000;

/// The distribution of flow sizes; exactly one key.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sizes {
    /// All flows have this size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixed: Option<Size>,
    /// Pareto (paper 6.3: shape 1.05, mean 100 KB).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pareto: Option<Pareto>,
    /// A table by name (websearch, datamining, hadoop, production) or the path of a CSV file with
    /// the header `bytes,cdf`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub csv: Option<String>,
}

/// A Pareto distribution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pareto {
    /// Exponent of the tail, above 1.
    pub shape: f64,
    /// Mean of the untruncated distribution.
    pub mean: Size,
    /// Largest size; larger draws are repeated. Unset: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<Size>,
}

/// Checks the size of a message.
pub(super) fn message(key: &str, size: Size) -> Result<(), Problem> {
    let fits = (1..=MAX_FLOW_BYTES).contains(&size.0);
    require(fits, key, quoted(size), "1B to 1000GB")
}

/// Checks the distribution at `key`.
pub(super) fn check(key: &str, sizes: &Sizes) -> Result<(), Problem> {
    match (&sizes.fixed, &sizes.pareto, &sizes.csv) {
        (Some(size), None, None) => message(&format!("{key}.fixed"), *size),
        (None, Some(law), None) => pareto(&format!("{key}.pareto"), law),
        (None, None, Some(_)) => Ok(()), // the file is read with the hosts at hand
        (None, None, None) => refuse(key, "no distribution", "one of fixed, pareto, csv"),
        _ => refuse(
            key,
            "several distributions",
            "exactly one of fixed, pareto, csv",
        ),
    }
}

fn pareto(key: &str, law: &Pareto) -> Result<(), Problem> {
    require(
        law.shape > 1.0 && law.shape <= 100.0,
        &format!("{key}.shape"),
        law.shape,
        "above 1 (the mean is infinite else) and at most 100",
    )?;
    message(&format!("{key}.mean"), law.mean)?;
    match law.cut {
        Some(cut) => {
            message(&format!("{key}.cut"), cut)?;
            require(
                cut >= law.mean,
                &format!("{key}.cut"),
                quoted(cut),
                "at least the mean",
            )
        }
        None => Ok(()),
    }
}
