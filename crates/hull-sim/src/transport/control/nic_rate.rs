//! What the rate controls of RoCE NICs share: rates that depend on the sender's link, and the optional
//! window that follows a rate ([`Path::window_of_rate_bytes`]). Bit/s, bytes on the wire.

use super::Path;
use crate::problem::{Problem, quoted, rate};
use crate::units::{Rate, RelativeRate, Share};

/// Checks a rate or share of a link.
pub(super) fn check(key: &str, found: Option<RelativeRate>) -> Result<(), Problem> {
    match found {
        None => Ok(()),
        Some(RelativeRate::Absolute(absolute)) => rate(key, absolute),
        Some(RelativeRate::Share(share)) if (1..=Share::ONE).contains(&share.0) => Ok(()),
        Some(RelativeRate::Share(share)) => Err(Problem::of_value(
            key,
            quoted(share),
            "a rate such as \"1Gbps\", or more than 0% to 100% of the link's rate",
        )),
    }
}

/// Rate on the sender's link, 1 bit/s to the link's rate; unset, the link's rate over `divisor`.
pub(super) fn of(found: Option<RelativeRate>, path: &Path, divisor: u64) -> u64 {
    let link = Rate(path.link_bps);
    let rate_bps = found.map_or(link.0 / divisor, |found| found.of(link).0);
    rate_bps.clamp(1, link.0)
}

/// Window of a flow: what its rate carries in the unloaded round trip, or unlimited.
#[derive(Clone, Debug)]
pub(super) struct RateWindow {
    rate_bps: u64,
    bytes: u64,
}

impl RateWindow {
    /// Creates the window of a flow that starts at `rate_bps`, unlimited without `path`.
    pub(super) fn new(path: Option<&Path>, rate_bps: u64) -> Self {
        RateWindow {
            rate_bps,
            bytes: path.map_or(u64::MAX, |path| path.window_of_rate_bytes(rate_bps)),
        }
    }

    /// Follows the rate.
    #[inline]
    pub(super) fn follow(&mut self, path: Option<&Path>, rate_bps: u64) {
        if rate_bps != self.rate_bps {
            *self = RateWindow::new(path, rate_bps);
        }
    }

    /// Window, bytes.
    #[inline]
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
}
