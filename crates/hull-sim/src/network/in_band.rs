//! In-band fields: what data asks of the switches on its path, what they write into it, and what an
//! acknowledgment returns to the sender. A flow's data carries either the rate that the path offers
//! (RCP) or telemetry, a record of each hop.
//!
//! Telemetry is [`hull_core::telemetry`]'s. A switch writes into data only. Bytes are those on the wire
//! without framing, times ps, rates bit/s.

pub use hull_core::telemetry::{HopRecord, HopRecords};

use crate::units::Rate;

/// Fields of one packet. The records of telemetry are in a table of their own
/// ([`OptionTable`](super::OptionTable)), because they are large.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InBand {
    /// None.
    #[default]
    Nothing,
    /// Rate offered by the path.
    Rate(PathRate),
    /// A record of each hop.
    Telemetry,
}

/// Fields of the most recent data, which an acknowledgment returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Answer<'a> {
    /// None.
    #[default]
    Nothing,
    /// Rate offered by the path.
    Rate(PathRate),
    /// Records of the hops.
    Telemetry(&'a HopRecords),
}

/// Rate that data collects from the ports of its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathRate {
    /// Lowest rate offered by a port of the path (RCP), kbit/s.
    pub rate_kbps: u64,
    /// Sender's smoothed round-trip time, which switches read, ns; 0 before the first sample.
    pub round_trip_ns: u32,
}

impl Default for PathRate {
    /// Fields before any switch has written.
    fn default() -> Self {
        PathRate {
            rate_kbps: kbps(Rate::MOST.0),
            round_trip_ns: 0,
        }
    }
}

impl PathRate {
    /// Initial fields of a sender whose smoothed round-trip time is `srtt_ps`.
    pub fn asking(srtt_ps: u64) -> Self {
        PathRate {
            round_trip_ns: u32::try_from(srtt_ps / 1000).unwrap_or(u32::MAX),
            ..PathRate::default()
        }
    }

    /// Lowers the rate to that offered by a port: the lowest on the path counts.
    #[inline]
    pub fn lower_rate_to(&mut self, rate_bps: u64) {
        self.rate_kbps = self.rate_kbps.min(kbps(rate_bps));
    }
}

/// Converts a rate to the unit of packets: kbit/s, at least 1.
pub fn kbps(rate_bps: u64) -> u64 {
    (rate_bps / 1000).max(1)
}
