//! Flow association against a plain map, both meanings of T_i by hand, and the association probability
//! p_a.

use std::collections::BTreeMap;

use hull_core::flow_association::{FlowAssociation, FlowAssociationConfig, WhenFull};
use proptest::prelude::*;

fn steps() -> impl Strategy<Value = Vec<(u64, u32, u32)>> {
    prop::collection::vec((0_u64..200, 0_u32..100, any::<u32>()), 1..500)
}

proptest! {
    #[test]
    fn matches_a_plain_map(
        steps in steps(),
        entries in 1_usize..=64,
        probability in prop_oneof![Just(0), Just(u32::MAX), any::<u32>()],
        timeout_ps in 0_u64..5_000,
        evict: bool,
        packets_restart: bool,
    ) {
        let when_full = if evict { WhenFull::EvictOldest } else { WhenFull::Ignore };
        let mut table = FlowAssociation::new(&FlowAssociationConfig {
            entries, probability, timeout_ps, when_full,
        });
        // Expiry of the association and number of the timer's start, by flow.
        let mut map: BTreeMap<u32, (u64, usize)> = BTreeMap::new();
        let mut now_ps = 0;
        for (number, (gap_ps, flow, random)) in steps.into_iter().enumerate() {
            now_ps += gap_ps;
            map.retain(|_, &mut (expires_ps, _)| expires_ps > now_ps);
            let found = if packets_restart {
                map.entry(flow).and_modify(|entry| *entry = (now_ps + timeout_ps, 2 * number));
                table.on_packet(now_ps, flow)
            } else {
                table.is_associated(now_ps, flow)
            };
            prop_assert_eq!(found, map.contains_key(&flow));

            let drawn = probability == u32::MAX || random < probability;
            let room = map.len() < entries || map.contains_key(&flow);
            let expected = drawn && (room || evict);
            if expected && !room {
                let (&oldest, _) = map.iter().min_by_key(|(_, entry)| **entry).expect("full");
                map.remove(&oldest);
            }
            if expected {
                map.insert(flow, (now_ps + timeout_ps, 2 * number + 1));
            }
            prop_assert_eq!(table.on_ece(now_ps, flow, random), expected);

            let live = map.values().filter(|entry| entry.0 > now_ps).count();
            prop_assert_eq!(table.len(now_ps), live);
            prop_assert_eq!(table.is_empty(now_ps), live == 0);
            prop_assert!(table.len(now_ps) <= entries);
        }
    }

    /// The entry of a forgotten flow takes up its place until it expires, and is no flow's.
    #[test]
    fn forgotten_flow_keeps_its_entry(gap_ps in 0_u64..2_000, when in 0_u64..999) {
        let mut table = FlowAssociation::new(&FlowAssociationConfig {
            entries: 2, probability: u32::MAX, timeout_ps: 1_000, when_full: WhenFull::Ignore,
        });
        prop_assert!(table.on_ece(0, 5, 0) && table.on_ece(0, 6, 0));
        table.forget(5);
        table.forget(7);
        prop_assert!(!table.is_associated(when, 5) && table.is_associated(when, 6));
        prop_assert_eq!(table.len(when), 2);
        // The flow that takes the number finds the table full until then.
        let later_ps = when + gap_ps;
        prop_assert_eq!(table.on_ece(later_ps, 5, 0), later_ps >= 1_000);
    }

    #[test]
    fn expires_exactly(start_ps in 0_u64..1 << 60, timeout_ps in 1_u64..1 << 60) {
        let mut table = FlowAssociation::new(&FlowAssociationConfig {
            entries: 64, probability: u32::MAX, timeout_ps, when_full: WhenFull::Ignore,
        });
        prop_assert!(table.on_ece(start_ps, 5, u32::MAX));
        prop_assert!(table.is_associated(start_ps + timeout_ps - 1, 5));
        prop_assert!(!table.is_associated(start_ps + timeout_ps, 5));
    }

    /// Random bits spread evenly over their range associate exactly the share p_a of the ACKs.
    #[test]
    fn associates_with_the_probability(probability in 0_u32..u32::MAX) {
        let config = FlowAssociationConfig {
            entries: 1, probability, timeout_ps: 1, when_full: WhenFull::Ignore,
        };
        let mut table = FlowAssociation::new(&config);
        let draws = 1_u64 << 16;
        let associated = (0..draws)
            .filter(|draw| table.on_ece(2 * draw, 0, (draw << 16) as u32))
            .count() as u64;
        prop_assert_eq!(associated, u64::from(probability).div_ceil(1 << 16));
    }
}

/// By hand, T_i = 10 and the largest probability. Form of the report: associated at 0 and drawn again at
/// 4, the flow is paced before 14, with or without packets. Thesis: its packets at 9 and 18 restart the timer,
/// so it is paced before 28; a packet at 28 finds it idle for T_i and restarts nothing.
#[test]
fn both_meanings_of_the_timeout() {
    const DRAWS: [u64; 2] = [0, 4];
    const PACKETS: [u64; 6] = [9, 13, 14, 18, 27, 28];
    for (inactivity, paced) in [
        (false, [true, true, false, false, false, false]),
        (true, [true; 6]),
    ] {
        let mut table = table_of(2, 10);
        for now_ps in DRAWS {
            assert!(table.on_ece(now_ps, 7, 0));
        }
        let found = PACKETS.map(|now_ps| match inactivity {
            true => table.on_packet(now_ps, 7),
            false => table.is_associated(now_ps, 7),
        });
        assert_eq!(found, paced);
    }
    let mut table = table_of(2, 10);
    assert!(!table.on_packet(0, 7) && table.is_empty(0));
    assert!(table.on_ece(0, 7, 0) && table.on_packet(9, 7) && table.on_packet(18, 7));
    assert!(!table.on_packet(28, 7) && !table.on_packet(29, 7));
}

/// By hand, two entries: flow 5 is associated before flow 6, and its packet restarts its timer, so the
/// entry that would expire first, and that flow 7 replaces, is flow 6's.
#[test]
fn packet_moves_its_flow_behind_the_others() {
    let mut table = table_of(2, 10);
    assert!(table.on_ece(0, 5, 0) && table.on_ece(1, 6, 0) && table.on_packet(2, 5));
    assert!(table.on_ece(3, 7, 0));
    assert!(table.is_associated(3, 5) && !table.is_associated(3, 6) && table.is_associated(3, 7));
}

/// A table with this number of entries and this T_i that associates at each draw.
fn table_of(entries: usize, timeout_ps: u64) -> FlowAssociation {
    FlowAssociation::new(&FlowAssociationConfig {
        entries,
        probability: u32::MAX,
        timeout_ps,
        when_full: WhenFull::EvictOldest,
    })
}
