//! Threshold marking.

use hull_core::marking::ThresholdMarker;
use proptest::prelude::*;

proptest! {
    #[test]
    fn marks_strictly_above_the_threshold(
        queue_bytes in 0_u64..100_000,
        packet_bytes in 0_u32..9000,
        threshold_bytes in 0_u32..100_000,
    ) {
        let above = |bytes: u64| bytes > u64::from(threshold_bytes);
        let marker = ThresholdMarker { threshold_bytes, count_arriving: false };
        prop_assert_eq!(marker.marks(queue_bytes, packet_bytes), above(queue_bytes));
        let marker = ThresholdMarker { threshold_bytes, count_arriving: true };
        let counted = queue_bytes + u64::from(packet_bytes);
        prop_assert_eq!(marker.marks(queue_bytes, packet_bytes), above(counted));
    }
}
