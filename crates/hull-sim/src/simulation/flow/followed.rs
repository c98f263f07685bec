//! Flows that are recorded over time: the first flows opened, up to a number.

use crate::measure::FlowReading;

/// Flows that are followed.
#[derive(Debug, Default)]
pub struct Followed {
    /// Number below which flows are followed.
    pub below: u64,
    /// Slots of followed flows that are open or have not been read since they ended.
    pub slots: Vec<u32>,
    /// Last readings of flows whose slot was reused since the last sample.
    pub ended: Vec<FlowReading>,
}
