//! Telemetry: HPCC's fields by hand, differences against the exact values while fields wrap around, and
//! the room for records.

use hull_core::telemetry::{Fields, HopRecord, HopRecords, LINE_RATES_BPS, Passed};
use proptest::prelude::*;

const HPCC: Fields = Fields::Hpcc { unit_factor: 4 };

fn record(queue_bytes: u64, sent_bytes: u64, at_ps: u64, link_bps: u64) -> HopRecord {
    HopRecord {
        queue_bytes,
        sent_bytes,
        at_ps,
        link_bps,
    }
}

/// Units of 320 and 512 bytes and 1 ns; 17 bits of 320 bytes are 41,943,040 bytes, 20 bits of 512 bytes
/// 536,870,912, and 24 bits of 1 ns 16,777,216 ns.
#[test]
fn fields_by_hand() {
    let exact = record(1_000, 10_000, 1_234_567, 100_229_885_057);
    let held = record(960, 9_728, 1_234_000, 100_000_000_000);
    assert_eq!(HPCC.written(&exact), held);
    assert_eq!(Fields::Exact.written(&exact), exact);
    let wide = record(
        41_943_040 + 320,
        536_870_912 * 3 + 512,
        16_777_216_000 + 7_000,
        400_000_000_000,
    );
    assert_eq!(
        HPCC.written(&wide),
        record(320, 512, 7_000, 400_000_000_000)
    );
    for link_bps in LINE_RATES_BPS {
        let of = |bps| HPCC.written(&record(0, 0, 0, bps)).link_bps;
        assert_eq!(
            (of(link_bps), of(link_bps + link_bps / 100)),
            (link_bps, link_bps)
        );
    }
}

#[test]
fn exact_records_out_of_order_tell_nothing() {
    let (first, second) = (record(0, 0, 5, 1), record(0, 1500, 9, 1));
    let passed = Passed {
        elapsed_ps: 4,
        sent_bytes: 1500,
    };
    assert_eq!(Fields::Exact.between(&first, &second), Some(passed));
    assert_eq!(Fields::Exact.between(&second, &first), None);
    for fields in [Fields::Exact, HPCC] {
        assert_eq!(fields.between(&first, &first), None);
    }
}

/// The sixth and the seventh hop find no room in HPCC's header, the ninth and the tenth none in an exact
/// one. They count, and the records are then not whole.
#[test]
fn hops_beyond_the_room_are_counted() {
    for (fields, room, hops) in [(HPCC, 5, 7), (Fields::Exact, 8, 10)] {
        let mut records = HopRecords::default();
        assert_eq!(records.whole(), None);
        for hop in 0..hops {
            assert_eq!(records.have_room(fields), hop < room);
            records.add(
                fields,
                hop as u32,
                &record(0, 0, hop * 1000, 25_000_000_000),
            );
            assert_eq!(records.whole().is_some(), hop < room);
        }
        let times = records.as_slice().iter().map(|record| record.at_ps / 1000);
        assert_eq!(Vec::from_iter(times), Vec::from_iter(0..room));
        assert_eq!(u64::from(records.hops()), hops);
        records.clear();
        assert_eq!((records.as_slice(), records.hops()), (&[][..], 0));
    }
}

/// Ports in another order, other ports and fewer of them are another path.
#[test]
fn paths_differ() {
    let path = |ports: &[u32]| {
        let mut records = HopRecords::default();
        for &port in ports {
            records.add(Fields::Exact, port, &HopRecord::default());
        }
        records
    };
    let one = path(&[3, 70, 8]);
    assert!(one.are_of_path(&path(&[3, 70, 8])));
    for other in [&[70, 3, 8][..], &[3, 71, 8], &[3, 70], &[3, 70, 9], &[3, 8]] {
        assert!(!one.are_of_path(&path(other)), "{other:?}");
    }
}

proptest! {
    /// With less than a full turn of each field between two records, the difference is the exact one within
    /// a unit.
    #[test]
    fn differences_are_exact_within_a_unit(
        sent in 0_u64..1 << 40, at in 0_u64..1 << 50,
        more in 0_u64..536_870_912 - 512, later in 2_000_u64..16_777_215_000,
        factor in 1_u32..64) {
        let fields = Fields::Hpcc { unit_factor: factor };
        let unit = 128 * u64::from(factor);
        let more = more % ((1 << 20) * unit - unit);
        let before = fields.written(&record(0, sent, at, 1));
        let now = fields.written(&record(0, sent + more, at + later, 1));
        let passed = fields.between(&before, &now).expect("time has passed");
        prop_assert!(passed.sent_bytes.abs_diff(more) < unit);
        prop_assert!(passed.elapsed_ps.abs_diff(later) < 1000);
    }
}
