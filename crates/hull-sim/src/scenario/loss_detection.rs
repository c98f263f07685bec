//! How a stream's sender distinguishes losses from packets that others have overtaken.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CongestionControl, Transport};
use crate::problem::{Problem, quoted, require};

/// Duplicate acknowledgments that prove a loss (RFC 5681).
pub(super) const THRESHOLD: u32 = 3;
/// Largest such number.
const MOST_DUPLICATES: u32 = 100_000;

/// How a stream finds that a packet is lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LossDetection {
    /// By the number of packets that have overtaken it (RFC 6675).
    #[default]
    Duplicates,
    /// By time since a packet that was sent later has arrived (RFC 8985).
    Rack,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
pub(super) fn is_by_duplicates(rule: &LossDetection) -> bool {
    *rule == LossDetection::Duplicates
}
#[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
pub(super) const fn is_three(threshold: &u32) -> bool {
    *threshold == THRESHOLD
}

impl LossDetection {
    /// Whether the flows of a congestion control can detect losses by time.
    pub(super) fn applies_to(control: &CongestionControl) -> bool {
        let is_other = matches!(
            control,
            CongestionControl::Bbr | CongestionControl::ConstantRate
        );
        !is_other && !control.is_of_messages()
    }
}

/// Checks the keys of a transport.
pub(super) fn check(t: &Transport) -> [Result<(), Problem>; 2] {
    let is_rack = t.loss_detection == LossDetection::Rack;
    let control = &t.congestion_control;
    [
        require(
            !is_rack || (LossDetection::applies_to(control) && !t.messages),
            "transport.loss_detection",
            "\"rack\"",
            &format!(
                "\"duplicates\" with transport.congestion_control = {}: only streams with acknowledgments, but \
                 not BBR's, detect losses by time",
                quoted(control)
            ),
        ),
        require(
            (1..=MOST_DUPLICATES).contains(&t.duplicate_threshold),
            "transport.duplicate_threshold",
            t.duplicate_threshold,
            &format!("1 to {MOST_DUPLICATES} packets"),
        ),
    ]
}
