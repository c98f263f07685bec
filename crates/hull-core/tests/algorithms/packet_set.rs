//! The receiver of a message transport: the packet set against a plain set of numbers, ACK
//! coalescing by hand and against recorded counts.

use std::collections::BTreeSet;

use hull_core::ack_coalescing::{AckCoalescing, AckedPacket, PUBLISHED_THRESHOLD_BYTES};
use hull_core::packet_set::{Arrival, PacketSet, Reordering};
use proptest::prelude::*;

proptest! {
    /// Matches a set of numbers: duplicates, first missing number, held packets, map from any base.
    #[test]
    fn is_a_set(
        numbers in prop::collection::vec((0_u64..40, 0_u64..300), 1..400),
        bases in prop::collection::vec(0_u64..400, 8),
    ) {
        let mut packets = PacketSet::new();
        let mut plain = BTreeSet::new();
        let (mut late, mut degrees, mut largest, mut held_max) = (0, 0, 0, 0);
        for (near, far) in numbers {
            // Mostly around the first missing one, so that it moves.
            let number = if far < 280 { packets.expected() / 2 * 2 + near } else { far };
            let highest = plain.last().copied();
            let new = plain.insert(number);
            prop_assert_eq!(packets.insert(number), if new { Arrival::New } else { Arrival::Duplicate });
            let expected = (0..).find(|one| !plain.contains(one)).unwrap();
            prop_assert_eq!(packets.expected(), expected);
            let held = plain.iter().filter(|&&one| one > expected).count() as u64;
            prop_assert_eq!(packets.held(), held);
            if let Some(highest) = highest.filter(|&highest| new && highest > number) {
                late += 1;
                degrees += highest - number;
                largest = largest.max(highest - number);
            }
            held_max = held_max.max(held);
        }
        let expected = Reordering { late, degree_sum: degrees, degree_max: largest, held_max };
        prop_assert_eq!(packets.reordering(), expected);
        for base in bases {
            let map = (0..64).filter(|bit| plain.contains(&(base + bit))).map(|bit| 1_u64 << bit).sum::<u64>();
            prop_assert_eq!(packets.map(base), map, "{}", base);
            prop_assert_eq!(packets.contains(base), plain.contains(&base));
        }
    }

    /// In-order packets are never late or held; blocks in reverse order have a known reordering
    /// degree.
    #[test]
    fn blocks_in_reverse_order(blocks in 1_u64..40, size in 1_u64..100) {
        let mut packets = PacketSet::new();
        for block in 0..blocks {
            for number in (0..size).rev() {
                packets.insert(block * size + number);
            }
        }
        let expected = Reordering {
            late: blocks * (size - 1),
            degree_sum: blocks * size * (size - 1) / 2,
            degree_max: size - 1,
            held_max: size - 1,
        };
        prop_assert_eq!(packets.reordering(), expected);
        prop_assert_eq!((packets.expected(), packets.held()), (blocks * size, 0));
    }
}

/// Packets 0, 1, 70, 130 have arrived; 2 is missing. The map for 130 begins at 67 and ends with
/// 130; the map for 1 begins after the missing packet.
#[test]
fn bitmap_ends_at_the_packet() {
    let mut packets = PacketSet::new();
    for number in [0, 1, 70, 130] {
        packets.insert(number);
    }
    assert_eq!(packets.map_base(130), 67);
    assert_eq!(packets.map(67), 1 << 63 | 1 << 3);
    assert_eq!(packets.map_base(1), 3);
    assert_eq!(packets.map(3), 0);
    assert_eq!(packets.map(0), 3);
}

fn packet(held: u64) -> AckedPacket {
    AckedPacket {
        bytes: 4150,
        duplicate: false,
        marked: false,
        request: false,
        held,
    }
}

/// uet-htsim, one uncontended flow of 2 MB: 490 packets, the last with a request, cause 124 ACKs.
#[test]
fn counts_of_the_recorded_run() {
    let mut coalescing = AckCoalescing::new(PUBLISHED_THRESHOLD_BYTES);
    let acks = (0..490)
        .filter(|&number| {
            let last = number == 489;
            coalescing.on_packet(&AckedPacket {
                bytes: if last { 1946 + 64 } else { 4150 },
                request: last,
                ..packet(0)
            })
        })
        .count();
    assert_eq!(acks, 124);
}

#[test]
fn immediate_acks() {
    let mut coalescing = AckCoalescing::new(PUBLISHED_THRESHOLD_BYTES);
    let mut due = |packet: AckedPacket| coalescing.on_packet(&packet);
    assert!(due(packet(0)), "the first");
    assert!(!due(packet(0)));
    assert!(due(AckedPacket {
        marked: true,
        ..packet(0)
    }));
    // 16,384 bytes, to the byte.
    assert!(!due(AckedPacket {
        bytes: 16_383,
        ..packet(0)
    }));
    assert!(due(AckedPacket {
        bytes: 1,
        ..packet(0)
    }));
    assert!(due(AckedPacket {
        duplicate: true,
        ..packet(0)
    }));
    // A request while packets are missing: an ACK now, and another when none is missing any more.
    assert!(due(AckedPacket {
        request: true,
        ..packet(2)
    }));
    assert!(!due(packet(3)));
    assert!(!due(packet(1)));
    assert!(due(packet(0)));
    assert!(!due(packet(0)));
    // Without missing packets the request is complete at once.
    assert!(due(AckedPacket {
        request: true,
        ..packet(0)
    }));
    assert!(!due(packet(0)));
}
