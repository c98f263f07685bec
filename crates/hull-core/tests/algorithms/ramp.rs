//! Ramp: the probability between the thresholds by counting all random values, the step above.

use hull_core::ramp::{ONE, RampMarker};

/// 100 to 400 KB with 0.2, as deployed at 25 Gbps: at 250 KB a tenth of the random values marks, at 400 KB
/// a fifth, one byte above all.
#[test]
fn probability_rises_to_the_largest_one_and_then_steps_to_one() {
    let marker = RampMarker {
        low_bytes: 100_000,
        high_bytes: 400_000,
        max_probability: ONE / 5,
    };
    let share = |queue_bytes| {
        let values = (0..100_000).map(|value| value * 42_949);
        let marked = values.filter(|random| marker.marks(queue_bytes, *random));
        marked.count() as f64 / 1e5
    };
    for (queue_bytes, expected) in [
        (0, 0.0),
        (100_000, 0.0),
        (175_000, 0.05),
        (250_000, 0.1),
        (400_000, 0.2),
        (400_001, 1.0),
    ] {
        let found = share(queue_bytes);
        assert!((found - expected).abs() < 1e-4, "{queue_bytes}: {found}");
    }
}
