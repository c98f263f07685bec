//! With partners at distances of powers of two. A reduce-scatter halves the data at each step, an all-gather doubles it. For an
//! all-reduce of another number of ranks the members beyond the largest power of two give their data to others first, and
//! get the result last.

use super::exchange::{Done, Exchange, Waits};
use super::{Group, range};
use crate::program::Program;

/// Distances 1, 2, 4, .. below `members`.
fn distances(members: usize) -> impl DoubleEndedIterator<Item = usize> {
    (0..members.ilog2()).map(|power| 1 << power)
}

/// Largest power of two that is at most n.
fn power_below(n: usize) -> usize {
    1 << n.ilog2()
}

/// Bytes of the parts of the `distance` members that begin where this one's do.
fn around(bytes: u64, member: usize, distance: usize, members: usize) -> u64 {
    let first = member / distance * distance;
    range(
        bytes,
        (first as u64, (first + distance) as u64),
        members as u64,
    )
}

/// Adds the steps of a reduce-scatter of the first `members` members: each sends what its partner's half needs.
fn halve(exchange: &mut Exchange<'_>, program: &mut Program, bytes: u64, members: usize) {
    for distance in distances(members).rev() {
        let message = |member: usize| {
            let partner = member ^ distance;
            (member, partner, around(bytes, partner, distance, members))
        };
        exchange.step(program, (0..members).map(message));
    }
}

/// Adds the steps of an all-gather of the first `members` members: each sends what it has.
fn double(exchange: &mut Exchange<'_>, program: &mut Program, bytes: u64, members: usize) {
    for distance in distances(members) {
        let message = |member: usize| {
            (
                member,
                member ^ distance,
                around(bytes, member, distance, members),
            )
        };
        exchange.step(program, (0..members).map(message));
    }
}

/// Adds an all-reduce whose inner part is among a power of two of members.
fn folded(
    program: &mut Program,
    group: &Group<'_>,
    inner: impl FnOnce(&mut Exchange<'_>, &mut Program, usize),
) -> Done {
    let n = group.ranks.len();
    let members = power_below(n);
    let mut exchange = Exchange::new(group, Waits::ReceivedAll);
    exchange.step(
        program,
        (members..n).map(|member| (member, member - members, group.bytes)),
    );
    inner(&mut exchange, program, members);
    exchange.step(
        program,
        (members..n).map(|member| (member - members, member, group.bytes)),
    );
    exchange.done()
}

pub(super) fn all_reduce(program: &mut Program, group: &Group<'_>) -> Done {
    folded(program, group, |exchange, program, members| {
        for distance in distances(members) {
            let message = |member: usize| (member, member ^ distance, group.bytes);
            exchange.step(program, (0..members).map(message));
        }
    })
}

pub(super) fn all_reduce_by_halves(program: &mut Program, group: &Group<'_>) -> Done {
    folded(program, group, |exchange, program, members| {
        halve(exchange, program, group.bytes, members);
        double(exchange, program, group.bytes, members);
    })
}

pub(super) fn reduce_scatter(program: &mut Program, group: &Group<'_>) -> Done {
    let mut exchange = Exchange::new(group, Waits::ReceivedAll);
    halve(&mut exchange, program, group.bytes, group.ranks.len());
    exchange.done()
}

pub(super) fn all_gather(program: &mut Program, group: &Group<'_>) -> Done {
    let mut exchange = Exchange::new(group, Waits::ReceivedAll);
    double(&mut exchange, program, group.bytes, group.ranks.len());
    exchange.done()
}
