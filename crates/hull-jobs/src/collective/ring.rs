//! Around a ring: each member sends to the next one and receives from the one before, n-1 times for a reduce-scatter or an
//! all-gather, and one after the other for an all-reduce.

use super::exchange::{Done, Exchange, Waits};
use super::{Group, part};
use crate::program::Program;

/// Adds `steps` steps. Member i sends part i - t in step t, so it gets the sum of part i + 1 in step n - 2.
fn steps(program: &mut Program, group: &Group<'_>, steps: usize) -> Done {
    let n = group.ranks.len();
    let mut exchange = Exchange::new(group, Waits::Received);
    for step in 0..steps {
        let message = |member: usize| {
            let index = (member + 2 * n - step) % n;
            (
                member,
                (member + 1) % n,
                part(group.bytes, index as u64, n as u64),
            )
        };
        exchange.step(program, (0..n).map(message));
    }
    exchange.done()
}

pub(super) fn all_reduce(program: &mut Program, group: &Group<'_>) -> Done {
    steps(program, group, 2 * (group.ranks.len() - 1))
}

pub(super) fn reduce_scatter(program: &mut Program, group: &Group<'_>) -> Done {
    steps(program, group, group.ranks.len() - 1)
}

pub(super) fn all_gather(program: &mut Program, group: &Group<'_>) -> Done {
    steps(program, group, group.ranks.len() - 1)
}
