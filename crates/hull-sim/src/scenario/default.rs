//! Defaults of omitted keys. Pacer settings that do not depend on the network are the paper's (table 3
//! and section 5.1; for the others see `pacer_rule`), and DCTCP's gain is the thesis's 1/16 (chapter 2).

use super::Measure;
use crate::units::{Buffer, Rate, Share, Size, Time};

impl Default for Measure {
    fn default() -> Self {
        Measure {
            sample_interval: sample_interval(),
            ports: Vec::new(),
            queue_changes: false,
            pauses: false,
            probe: None,
            flows: None,
            pacers: None,
            capture: None,
        }
    }
}

pub(super) const fn one_u64() -> u64 {
    1
}
pub(super) const fn one_u32() -> u32 {
    1
}
pub(super) const fn drain() -> Time {
    Time(10_000_000_000_000)
}
pub(super) const fn unlimited() -> Buffer {
    Buffer::Unlimited
}
pub(super) const fn mtu() -> Size {
    Size(1500)
}
pub(super) const fn delayed_ack() -> Time {
    Time(1_000_000_000)
}
pub(super) const fn eta() -> Share {
    Share(Share::ONE / 8)
}
pub(super) const fn table_entries() -> u32 {
    64
}
pub(super) const fn rate_step() -> Rate {
    Rate(500_000)
}
pub(super) const fn sample_interval() -> Time {
    Time(1_000_000_000)
}
pub(super) const fn followed_flows() -> u64 {
    100
}
pub(super) fn capture_file() -> String {
    "capture.pcapng".to_owned()
}
