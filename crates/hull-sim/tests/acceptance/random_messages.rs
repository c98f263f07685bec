//! Settings of the message transport for random scenarios.

use proptest::prelude::*;
use proptest::sample::select;

/// Message transport in place of TCP, with its paths and timers.
pub fn messages() -> impl Strategy<Value = Vec<String>> {
    let control = select(vec!["nscc", "rccc", "nscc+rccc"]);
    let balancing = select(vec![
        "ecmp",
        "per_packet",
        "oblivious",
        "bitmap",
        "reps",
        "mixed",
    ]);
    (control, balancing, 0_u32..6, 1_u32..40_000, 1_u32..40).prop_map(
        |(control, balancing, paths, ack_bytes, window)| {
            let paths = 1 << paths;
            vec![
                format!("transport.congestion_control={control}"),
                "transport.ecn=true".to_owned(),
                format!(
                    "transport.message={{paths={paths},load_balancing=\"{balancing}\",\
                     ack_bytes=\"{ack_bytes}B\",initial_window={window},timeout=\"1ms\"}}"
                ),
            ]
        },
    )
}
