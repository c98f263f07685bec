//! From one member to all, from all to one, and from each to the next.

use super::Group;
use super::exchange::{Done, Exchange, Waits};
use crate::program::Program;

pub(super) fn binomial(program: &mut Program, group: &Group<'_>) -> Done {
    let n = group.ranks.len();
    // One message after the other: at once they would share the sender's link, and all be late.
    let mut exchange = Exchange::new(group, Waits::Done);
    let mut have = 1;
    while have < n {
        let messages = (0..have.min(n - have)).map(|member| (member, member + have, group.bytes));
        exchange.step(program, messages);
        have *= 2;
    }
    exchange.done()
}

pub(super) fn reduce(program: &mut Program, group: &Group<'_>) -> Done {
    let n = group.ranks.len();
    let mut exchange = Exchange::new(group, Waits::ReceivedAll);
    let mut have = n.next_power_of_two() / 2;
    while have > 0 {
        let messages = (0..have.min(n - have)).map(|member| (member + have, member, group.bytes));
        exchange.step(program, messages);
        have /= 2;
    }
    exchange.done()
}

pub(super) fn chain(program: &mut Program, group: &Group<'_>) -> Done {
    let mut exchange = Exchange::new(group, Waits::Received);
    for member in 1..group.ranks.len() {
        exchange.step(program, [(member - 1, member, group.bytes)]);
    }
    exchange.done()
}

pub(super) fn to_the_next(program: &mut Program, group: &Group<'_>) -> Done {
    let n = group.ranks.len();
    let mut exchange = Exchange::new(group, Waits::Received);
    exchange.step(
        program,
        (0..n).map(|member| (member, (member + 1) % n, group.bytes)),
    );
    exchange.done()
}
