//! In-band fields: what data asks of the switches on its path, what they write into it, and what an
//! acknowledgment returns to the sender. A flow's data carries either the rate that the path offers
//! (RCP) or telemetry, a record of each hop.
//!
//! The source of telemetry is HPCC (INT; Li et al., SIGCOMM 2019), here with exact values: a switch writes
//! into data only, and counts the bytes that the port sent before the packet. Bytes are those on the wire without
//! framing, times ps, rates bit/s.

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

/// State of a port when the transmission of a packet starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HopRecord {
    /// Bytes that wait behind the packet, in all queues of the port.
    pub queue_bytes: u64,
    /// Bytes of all packets that the port has sent before this one.
    pub sent_bytes: u64,
    /// Start of the transmission, ps.
    pub at_ps: u64,
    /// Rate of the link, bit/s.
    pub link_bps: u64,
}

/// Records of the hops of one packet, in their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HopRecords {
    records: [HopRecord; HopRecords::MOST],
    hops: u16,
}

impl HopRecords {
    /// Number of hops for which a packet has room.
    pub const MOST: usize = 8;

    /// Records of a packet that has passed no hop.
    pub const NONE: HopRecords = HopRecords {
        records: [HopRecord {
            queue_bytes: 0,
            sent_bytes: 0,
            at_ps: 0,
            link_bps: 0,
        }; HopRecords::MOST],
        hops: 0,
    };

    /// Adds the record of the next hop; without room only counts the hop.
    pub fn add(&mut self, record: HopRecord) {
        if let Some(place) = self.records.get_mut(usize::from(self.hops)) {
            *place = record;
        }
        self.hops = self.hops.saturating_add(1);
    }

    /// Whether there is room for another record.
    pub fn have_room(&self) -> bool {
        usize::from(self.hops) < HopRecords::MOST
    }

    /// Records of the hops that found room.
    pub fn as_slice(&self) -> &[HopRecord] {
        &self.records[..usize::from(self.hops).min(HopRecords::MOST)]
    }

    /// Number of hops, including those without a record.
    pub fn hops(&self) -> u16 {
        self.hops
    }

    /// Removes all records.
    pub fn clear(&mut self) {
        self.hops = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ninth and the tenth hop find no room and count.
    #[test]
    fn hops_beyond_the_room_are_counted() {
        let mut records = HopRecords::default();
        for hop in 0..10 {
            assert_eq!(records.have_room(), hop < 8);
            records.add(HopRecord {
                at_ps: hop,
                ..HopRecord::default()
            });
        }
        let times = Vec::from_iter(records.as_slice().iter().map(|record| record.at_ps));
        assert_eq!(times, [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(records.hops(), 10);
        records.clear();
        assert_eq!((records.as_slice(), records.hops()), (&[][..], 0));
    }
}
