//! Values of keys that a scenario leaves out. Those of the pacer are the paper's (table 3 and
//! section 5.1), DCTCP's gain is the thesis's 1/16 (chapter 2), the floor of the RTO 10 ms.

use super::{CongestionControl, Dctcp, Measure, Transport};
use crate::units::{Buffer, Rate, Share, Size, Time};

impl Default for Transport {
    fn default() -> Self {
        Transport {
            congestion_control: CongestionControl::default(),
            ecn: false,
            mtu: mtu(),
            header: header(),
            initial_window: initial_window(),
            min_window: min_window(),
            max_window: max_window(),
            receive_window: max_window(),
            initial_rto: initial_rto(),
            min_rto: min_rto(),
            max_rto: max_rto(),
            ack_every: ack_every(),
            delayed_ack: delayed_ack(),
            idle_restart: false,
            cwnd_validation: false,
            byte_counting: false,
            dctcp: Dctcp::default(),
        }
    }
}

impl Default for Dctcp {
    fn default() -> Self {
        Dctcp {
            g: g(),
            initial_alpha: whole(),
        }
    }
}

impl Default for Measure {
    fn default() -> Self {
        Measure {
            sample_interval: sample_interval(),
            probe: None,
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
pub(super) const fn header() -> Size {
    Size(40)
}
pub(super) const fn initial_window() -> u32 {
    3
}
pub(super) const fn min_window() -> u32 {
    2
}
pub(super) const fn max_window() -> u32 {
    1000
}
pub(super) const fn initial_rto() -> Time {
    Time(1_000_000_000_000)
}
pub(super) const fn min_rto() -> Time {
    Time(10_000_000_000)
}
pub(super) const fn max_rto() -> Time {
    Time(60_000_000_000_000)
}
pub(super) const fn ack_every() -> u32 {
    2
}
pub(super) const fn delayed_ack() -> Time {
    Time(1_000_000_000)
}
pub(super) const fn g() -> Share {
    Share(Share::ONE / 16)
}
pub(super) const fn whole() -> Share {
    Share(Share::ONE)
}
pub(super) const fn update_interval() -> Time {
    Time(64_000_000)
}
pub(super) const fn eta() -> Share {
    Share(Share::ONE / 8)
}
pub(super) const fn beta() -> u32 {
    16
}
pub(super) const fn association_timeout() -> Time {
    Time(10_000_000_000)
}
pub(super) const fn table_entries() -> u32 {
    64
}
pub(super) const fn bucket() -> Size {
    Size(3000)
}
pub(super) const fn fifo() -> Size {
    Size(128_000)
}
pub(super) const fn rate_step() -> Rate {
    Rate(500_000)
}
pub(super) const fn connections() -> u32 {
    16
}
pub(super) const fn request_size() -> Size {
    Size(100)
}
pub(super) const fn sample_interval() -> Time {
    Time(1_000_000_000)
}
