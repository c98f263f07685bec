//! Defaults of omitted keys of workloads.

use crate::units::{Share, Size};

pub(super) const fn one_u32() -> u32 {
    1
}
pub(super) const fn connections() -> u32 {
    16
}
pub(super) const fn request_size() -> Size {
    Size(100)
}
pub(super) const fn incast_total() -> Size {
    Size(1_000_000)
}
pub(super) const fn query_size() -> Size {
    Size(1600)
}
pub(super) const fn response_size() -> Size {
    Size(2000)
}
pub(super) const fn outside_share() -> Share {
    Share(Share::ONE / 5)
}
pub(super) fn production() -> String {
    "production".to_owned()
}
/// Thesis table 4.6.
pub(super) fn class_bounds() -> Vec<Size> {
    [10_000, 100_000, 10_000_000].map(Size).to_vec()
}
/// Thesis figure 2.23.
pub(super) fn production_bounds() -> Vec<Size> {
    [10_000, 100_000, 1_000_000, 10_000_000].map(Size).to_vec()
}
