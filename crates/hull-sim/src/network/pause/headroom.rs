//! Headroom of a lossless class at a port: the memory for what still arrives after the port has asked
//! its peer to pause (IEEE 802.1Q, annex on buffer requirements of priority-based flow control). Sizes
//! are bytes, times ps.
//!
//! The packet that crosses the threshold has arrived at time 0 and lies in the headroom. From then on
//! the peer may fill the link for
//!
//! 1. the packet that this port is sending when the pause is due: `commit + MTU + framing` of this side,
//! 2. the pause frame: 64 bytes and framing,
//! 3. the link's delay, for the frame,
//! 4. the peer's reaction time,
//! 5. the packet that the peer has begun or selected just before: `commit + MTU + framing` of its side,
//! 6. the link's delay, for the peer's last packet; it includes what the model adds to the link behind
//!    the peer's transmitter (a switch's latency, a host's stack).
//!
//! The sum, times the rate, is what the link carries, with framing. Packets of one size occupy the
//! largest share of it as memory: without cells the largest packets, with cells those that just begin a
//! cell. Added to the first packet, that is the headroom. No packet is lost with it; in the worst case,
//! with the largest packets back to back and each step as long as it can be, the headroom is filled but
//! for less than one packet.

use serde::Serialize;

use crate::network::ps_per_byte_q16;

/// Size of a pause frame, bytes: Ethernet's smallest frame.
pub const FRAME_BYTES: u64 = 64;

/// A link over which a port may ask its peer to pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PauseLoop {
    /// Rate of the link to the peer, bit/s.
    pub rate_bps: u64,
    /// Rate of the link from the peer, bit/s.
    pub peer_rate_bps: u64,
    /// Framing of each packet on the link, bytes.
    pub framing_bytes: u64,
    /// Largest packet that this side sends.
    pub mtu_bytes: u64,
    /// Bytes left to send at which this side selects its next packet.
    pub commit_bytes: u64,
    /// Smallest packet that the peer sends.
    pub peer_least_bytes: u64,
    /// Largest packet that the peer sends.
    pub peer_mtu_bytes: u64,
    /// Bytes left to send at which the peer selects its next packet.
    pub peer_commit_bytes: u64,
    /// Delay of the link for the pause frame, ps.
    pub frame_delay_ps: u64,
    /// Delay of the link for the peer's packets, ps.
    pub data_delay_ps: u64,
    /// Reaction time of the peer, ps.
    pub reaction_ps: u64,
    /// Size of a memory cell, bytes; 1 if packets occupy their own size.
    pub cell_bytes: u64,
}

/// Times that follow each other between the packet that crosses a threshold and the last one from the peer, ps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PauseTerms {
    /// Rest of the packet that this side is sending.
    pub wait_ps: u64,
    /// Transmission of the pause frame.
    pub frame_ps: u64,
    /// Delay of the link for the pause frame.
    pub frame_delay_ps: u64,
    /// Reaction of the peer.
    pub reaction_ps: u64,
    /// Packet that the peer has just begun.
    pub peer_packet_ps: u64,
    /// Delay of the link for the peer's packet.
    pub data_delay_ps: u64,
}

impl PauseTerms {
    /// Sum, ps.
    pub fn total_ps(&self) -> u64 {
        let before = self.wait_ps + self.frame_ps + self.frame_delay_ps;
        before + self.reaction_ps + self.peer_packet_ps + self.data_delay_ps
    }
}

impl PauseLoop {
    fn occupied(&self, bytes: u64) -> u64 {
        bytes.div_ceil(self.cell_bytes) * self.cell_bytes
    }

    /// Longest time for which a frame waits for the packet that this side is sending, ps.
    pub fn longest_wait_ps(&self) -> u64 {
        let bytes = self.commit_bytes + self.mtu_bytes + self.framing_bytes;
        sending_ps(bytes, self.rate_bps)
    }

    /// Times from the pause's cause to the peer's last bit, each as long as it can be.
    pub fn terms(&self) -> PauseTerms {
        let framing = self.framing_bytes;
        let there = self.peer_commit_bytes + self.peer_mtu_bytes + framing;
        PauseTerms {
            wait_ps: self.longest_wait_ps(),
            frame_ps: sending_ps(FRAME_BYTES + framing, self.rate_bps),
            frame_delay_ps: self.frame_delay_ps,
            reaction_ps: self.reaction_ps,
            peer_packet_ps: sending_ps(there, self.peer_rate_bps),
            data_delay_ps: self.data_delay_ps,
        }
    }

    /// Longest time from the pause's cause to the peer's last bit, ps.
    pub fn longest_ps(&self) -> u64 {
        self.terms().total_ps()
    }

    /// Bytes that the peer's link carries in the longest time.
    fn carried_bytes(&self) -> u128 {
        let bits = u128::from(self.longest_ps()) * u128::from(self.peer_rate_bps);
        // One more for what times in whole ps cut off.
        bits.div_ceil(8_000_000_000_000) + 1
    }

    /// Largest number of packets that arrive in the longest time, after the one that crosses a threshold.
    pub fn headroom_packets(&self) -> u64 {
        let least = u128::from(self.peer_least_bytes.min(self.peer_mtu_bytes).max(1));
        let framed = least + u128::from(self.framing_bytes);
        self.carried_bytes().div_ceil(framed) as u64
    }

    /// Headroom that loses no packet, bytes.
    pub fn headroom_bytes(&self) -> u64 {
        let carried = self.carried_bytes();
        let of_size = |bytes: u64| {
            let framed = u128::from(bytes + self.framing_bytes);
            (carried * u128::from(self.occupied(bytes))).div_ceil(framed) as u64
        };
        // Of all sizes in as many cells the smallest occupies the largest share.
        let (least, mtu, cell) = (self.peer_least_bytes, self.peer_mtu_bytes, self.cell_bytes);
        let cells = (1..mtu.div_ceil(cell)).map(|cells| cells * cell + 1);
        let sizes = cells
            .filter(|&size| cell > 1 && size >= least)
            .chain([least.min(mtu), mtu]);
        sizes.map(of_size).max().unwrap_or(0) + self.occupied(mtu)
    }
}

fn sending_ps(bytes: u64, rate_bps: u64) -> u64 {
    ((u128::from(bytes) * u128::from(ps_per_byte_q16(rate_bps))) >> 16) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand, at 8 Gbps (1 ns a byte): 1,500 + 38 and 64 + 38 bytes here, 1,000 ns, 600 ns, 9,000 + 38
    /// at the peer, 2,000 ns: 14,278 ns. The largest packets occupy 9,000 of 9,038 bytes, and one more
    /// came before.
    #[test]
    fn headroom_by_hand() {
        let link = PauseLoop {
            rate_bps: 8_000_000_000,
            peer_rate_bps: 8_000_000_000,
            framing_bytes: 38,
            mtu_bytes: 1_500,
            commit_bytes: 0,
            peer_least_bytes: 64,
            peer_mtu_bytes: 9_000,
            peer_commit_bytes: 0,
            frame_delay_ps: 1_000_000,
            data_delay_ps: 2_000_000,
            reaction_ps: 600_000,
            cell_bytes: 1,
        };
        assert_eq!(link.longest_ps(), 14_278_000);
        assert_eq!(link.headroom_bytes(), 14_219 + 9_000);
        // Packets of 64 + 38 bytes: 14,279 bytes on the link are 139.99 of them.
        assert_eq!(link.headroom_packets(), 140);
        // Packets of 1,001 bytes occupy two cells of 1,000: 14,279 bytes on the link take 28,530.
        let cells = PauseLoop {
            cell_bytes: 1_000,
            framing_bytes: 0,
            peer_least_bytes: 1_001,
            peer_mtu_bytes: 1_200,
            reaction_ps: 8_514_000,
            ..link
        };
        assert_eq!(cells.longest_ps(), 14_278_000);
        assert_eq!(cells.headroom_bytes(), 28_530 + 2_000);
    }
}
