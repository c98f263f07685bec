//! The path of a connection of the message transport, as far as a control's constants depend on it.

use super::RoundTripLine;
use hull_core::telemetry::Fields;

/// Path of a connection without load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// Rate of the sender's link, bit/s.
    pub link_bps: u64,
    /// Round trip, ps.
    pub rtt_ps: u64,
    /// Round trip inside a data centre, ps.
    pub near_rtt_ps: u64,
    /// Size of a full packet, bytes.
    pub mtu_bytes: u16,
    /// Header of a packet, bytes.
    pub header_bytes: u16,
    /// Whether switches trim packets.
    pub trims: bool,
    /// Initial window, bytes, if the scenario sets it.
    pub initial_window_bytes: Option<u64>,
    /// Fields of telemetry records.
    pub fields: Fields,
    /// Number of links, the hosts' own included; 0 unless the control reads it.
    pub links: u16,
    /// Round trips of the network by the number of links.
    pub unloaded: RoundTripLine,
}

impl Path {
    /// Payload of a full packet, bytes.
    pub fn mss_bytes(&self) -> u32 {
        u32::from(self.mtu_bytes - self.header_bytes)
    }

    /// Bandwidth-delay product for this round trip, bytes.
    pub fn bdp_bytes(&self, rtt_ps: u64) -> u64 {
        bdp_bytes(self.link_bps, rtt_ps)
    }

    /// Window of a sender with this rate: what the rate carries in the round trip, counted in payload. A
    /// NIC begins a packet while less than that is in flight, so it is a whole number of packets, bytes.
    pub fn window_of_rate_bytes(&self, rate_bps: u64) -> u64 {
        self.whole_packets_bytes(bdp_bytes(rate_bps, self.rtt_ps))
    }

    /// Bytes of the packets that begin while less than this payload is in flight, at least one packet.
    pub fn whole_packets_bytes(&self, payload_bytes: u64) -> u64 {
        let packets = payload_bytes.div_ceil(u64::from(self.mss_bytes())).max(1);
        packets * u64::from(self.mtu_bytes)
    }

    /// Largest window, bytes.
    pub fn largest_window_bytes(&self) -> u64 {
        window_bytes(self.link_bps, self.rtt_ps, u64::from(self.mtu_bytes))
    }
}

/// Largest window: 1.5 bandwidth-delay products, at least a packet, bytes.
pub fn window_bytes(link_bps: u64, rtt_ps: u64, mtu_bytes: u64) -> u64 {
    (bdp_bytes(link_bps, rtt_ps) * 3 / 2).max(mtu_bytes)
}

fn bdp_bytes(link_bps: u64, rtt_ps: u64) -> u64 {
    (u128::from(link_bps) * u128::from(rtt_ps) / 8_000_000_000_000) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 100 Gbps carry 52,000 bytes in 4.16 us, 52 packets of 1,000 bytes of payload and 1,048
    /// on the wire; 52,001 bytes begin a 53rd packet.
    #[test]
    fn window_of_a_rate_is_whole_packets() {
        let path = Path {
            link_bps: 100_000_000_000,
            rtt_ps: 4_160_000,
            near_rtt_ps: 4_160_000,
            mtu_bytes: 1048,
            header_bytes: 48,
            trims: false,
            initial_window_bytes: None,
            fields: Fields::Exact,
            links: 0,
            unloaded: RoundTripLine::constant(4_160_000),
        };
        assert_eq!(path.window_of_rate_bytes(100_000_000_000), 52 * 1048);
        assert_eq!(path.window_of_rate_bytes(100_002_000_000), 53 * 1048);
        assert_eq!(path.window_of_rate_bytes(1), 1048);
    }
}
