//! Numbers with few digits, for what is sent to the lab many times a second.

/// Converts ps to the nearest number of seconds, which has few digits.
pub(super) fn seconds(ps: u64) -> f64 {
    ps as f64 / 1e12
}

/// Rounds to a number of `parts` of one.
pub(super) fn rounded(value: f64, parts: f64) -> f64 {
    (value * parts).round() / parts
}
