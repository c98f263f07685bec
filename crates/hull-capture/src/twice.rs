//! Packets that a capture has twice: taken at two interfaces, or mirrored by two ports of a switch.
//!
//! Both have the same bytes from the IP header on, except where a hop or a network card changes them
//! (type of service, hop limit, checksums), and follow each other within a millisecond. A retransmission
//! has another identification in IPv4. In IPv6 it looks like a repeated packet, so the caller decides by
//! the share of repeated packets.

use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hasher};

/// Longest time between both, ns.
const NEAR_NS: i64 = 1_000_000;
/// Bytes from the IP header on that are compared.
const COMPARED: usize = 128;
/// Fewest bytes of UDP's data that are compared, unless the packet has fewer.
const DATA: usize = 16;

/// One packet of this many repeats an earlier one if a capture has packets twice; fewer may be
/// retransmissions.
const REPEATED_OF: u64 = 10;

/// Packets of the last millisecond, and counts of all with data.
#[derive(Debug, Default)]
pub(crate) struct Twice {
    seen: HashMap<u64, i64>,
    order: VecDeque<(i64, u64)>,
    packets: u64,
    /// Packets that repeat an earlier one, and their bytes.
    repeated: (u64, u64),
}

impl Twice {
    /// Whether a packet of `length` bytes was captured before, at about this time, ns.
    pub fn repeats(&mut self, digest: Option<u64>, time: i64, length: u32) -> bool {
        self.packets += 1;
        let repeats = digest.is_some_and(|digest| self.is_known(digest, time));
        if repeats {
            self.repeated.0 += 1;
            self.repeated.1 += u64::from(length);
        }
        repeats
    }

    /// Number and bytes of the repeated packets, if so many that the capture has packets twice.
    pub fn repeated(&self) -> Option<(u64, u64)> {
        let (packets, _) = self.repeated;
        (packets > 0 && REPEATED_OF * packets >= self.packets).then_some(self.repeated)
    }

    fn is_known(&mut self, digest: u64, time: i64) -> bool {
        while let Some(&(oldest, of)) = self.order.front() {
            if time.saturating_sub(oldest) <= NEAR_NS {
                break;
            }
            self.order.pop_front();
            if self.seen.get(&of) == Some(&oldest) {
                self.seen.remove(&of);
            }
        }
        let before = self.seen.get(&digest);
        if before.is_some_and(|&then| time.abs_diff(then) <= NEAR_NS as u64) {
            return true;
        }
        self.seen.insert(digest, time);
        self.order.push_back((time, digest));
        false
    }
}

/// Digest of a packet from its IP header on. Its TCP or UDP header is at `transport`, its data at `data`,
/// with `whole` bytes on the wire. `None` if too little of it was captured.
pub(crate) fn digest(packet: &[u8], transport: usize, data: usize, whole: u64) -> Option<u64> {
    let is_tcp = data - transport >= 20;
    let captured = packet.len().saturating_sub(data) as u64;
    // A sequence number distinguishes the packets of a TCP connection; a UDP header does not.
    if !is_tcp && captured < whole.min(DATA as u64) {
        return None;
    }
    // Type of service, hop limit, checksum of the header.
    let hops: &[usize] = match packet.first()? >> 4 {
        4 => &[1, 8, 10, 11],
        _ => &[0, 1, 7],
    };
    let checksum = transport + if is_tcp { 16 } else { 6 };
    let compared = packet.iter().take(COMPARED.max(data + DATA)).enumerate();
    let mut hasher = DefaultHasher::new();
    for (place, byte) in compared {
        if !hops.contains(&place) && place != checksum && place != checksum + 1 {
            hasher.write_u8(*byte);
        }
    }
    Some(hasher.finish())
}

#[cfg(test)]
mod tests {
    use etherparse::PacketBuilder;

    use super::*;

    fn packet(hops: u8, sequence: u32, data: u8) -> Vec<u8> {
        let mut packet = Vec::new();
        PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], hops)
            .tcp(1, 2, sequence, 9)
            .write(&mut packet, &[data; 100])
            .expect("a packet");
        packet
    }

    fn of(packet: &[u8]) -> Option<u64> {
        digest(packet, 20, 40, 100)
    }

    #[test]
    fn what_a_hop_changes_is_not_compared() {
        let here = packet(64, 5, 7);
        let mut there = packet(63, 5, 7);
        there[36] ^= 1; // checksum of TCP
        there[1] = 3; // CE
        assert_eq!(of(&here), of(&there));
        for other in [packet(64, 6, 7), packet(64, 5, 8)] {
            assert_ne!(of(&here), of(&other));
        }
        let mut again = here.clone();
        again[5] ^= 1; // identification of IPv4
        assert_ne!(of(&here), of(&again));
        assert!(of(&here[..40]).is_some(), "the headers of TCP");
        assert_eq!(digest(&here[..30], 20, 28, 100), None, "2 bytes of UDP");
    }

    #[test]
    fn twice_within_a_millisecond() {
        let mut twice = Twice::default();
        let mut repeats = |digest, time| twice.repeats(Some(digest), time, 100);
        assert!(!repeats(1, 0));
        assert!(!repeats(2, 10));
        assert!(repeats(1, NEAR_NS));
        assert!(!repeats(1, 2 * NEAR_NS));
        assert!(repeats(1, 2 * NEAR_NS - 100), "out of order");
        assert!(!repeats(3, 9 * NEAR_NS));
        assert_eq!((twice.seen.len(), twice.order.len()), (1, 1));
        assert_eq!(twice.repeated(), Some((2, 200)));
        for _ in 0..14 {
            assert!(!twice.repeats(None, 0, 100));
        }
        assert_eq!(twice.repeated(), Some((2, 200)), "2 of 20");
        assert!(!twice.repeats(None, 0, 100));
        assert_eq!(twice.repeated(), None, "2 of 21");
    }

    /// A pcap of IP packets with their times, us.
    fn pcap(packets: &[(u32, Vec<u8>)]) -> Vec<u8> {
        let head = [0xa1b2_c3d4, 0x0004_0002, 0, 0, 65535, 101];
        let mut file = head.map(u32::to_le_bytes).concat();
        for (us, packet) in packets {
            let length = packet.len() as u32;
            file.extend([1, *us, length, length].map(u32::to_le_bytes).concat());
            file.extend(packet);
        }
        file
    }

    /// 20 packets of 100 bytes, the first `twice` of them also a hop later.
    fn bytes_of(twice: usize) -> (u64, (u64, u64)) {
        let mut packets = Vec::new();
        for place in 0..20 {
            packets.push((place * 100, packet(64, place * 100, 7)));
            if (place as usize) < twice {
                packets.push((place * 100 + 50, packet(63, place * 100, 7)));
            }
        }
        let limits = crate::Limits {
            idle_ns: 1_000_000_000,
            flows: 10,
        };
        let capture = crate::records::read(&pcap(&packets)[..], limits).expect("a capture");
        let bytes = capture.flows.iter().map(|flow| flow.bytes).sum();
        (bytes, capture.counts.repeated)
    }

    #[test]
    fn packets_that_a_capture_has_twice_count_once() {
        assert_eq!(bytes_of(0), (2000, (0, 0)));
        assert_eq!(bytes_of(20), (2000, (20, 20 * 140)));
        assert_eq!(bytes_of(3), (2000, (3, 3 * 140)));
        assert_eq!(
            bytes_of(2),
            (2200, (0, 0)),
            "2 of 22 may be retransmissions"
        );
    }
}
