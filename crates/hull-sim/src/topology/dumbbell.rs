//! The dumbbell: senders at one switch, receivers at another, and one link between them, the bottleneck
//! that flows with different round-trip times share in thesis 3.4.1. Delays in ps.
//!
//! Hosts `sender0`, ..., then `receiver0`, ...; switches `left` and `right`. A requested round-trip
//! time of pair i is propagation only: the delays of the three links in both directions, without
//! transmission, stacks and queues. The sender's link gets the remainder after the other two, half in
//! each direction.

use super::Dumbbell;
use super::graph::Graph;
use super::parts::Parts;
use crate::problem::Problem;
use crate::units::Time;

/// Port of the bottleneck from left to right. Its link is the last one, after one link per host.
pub(super) fn bottleneck(dumbbell: &Dumbbell) -> usize {
    2 * (2 * dumbbell.pairs as usize)
}

pub(super) fn build(dumbbell: &Dumbbell, mut parts: Parts) -> Result<Graph, Problem> {
    let bottleneck = parts.between_switches(dumbbell.bottleneck_rate, dumbbell.bottleneck_delay);
    let receiver_ps = parts.out_of_switch.delay_ps + parts.out_of_host.delay_ps;
    let others_ps = 2 * bottleneck.delay_ps + receiver_ps;
    let left = parts.switch("left", 1);
    let right = parts.switch("right", 1);
    let pairs = dumbbell.pairs as usize;
    parts.hosts("sender", pairs, |_| left);
    parts.hosts("receiver", pairs, |_| right);
    for (pair, entry) in (0..pairs).zip((0..dumbbell.rtts.len()).cycle()) {
        let Time(rtt_ps) = dumbbell.rtts[entry];
        let Some(left_over_ps) = rtt_ps.checked_sub(others_ps) else {
            return Err(Problem::new(
                format!("topology.dumbbell.rtts[{entry}]"),
                format!(
                    "\"{}\" is invalid; expected at least \"{}\", the round trip over the other links",
                    Time(rtt_ps),
                    Time(others_ps)
                ),
            ));
        };
        let out_ps = left_over_ps / 2;
        parts.set_delays(pair, out_ps, left_over_ps - out_ps);
    }
    let bottleneck = parts.wire(bottleneck);
    parts.join(left, right, bottleneck);
    parts
        .graph(&["host", "switch"])
        .map_err(|problem| Problem::new("topology.dumbbell", problem))
}
