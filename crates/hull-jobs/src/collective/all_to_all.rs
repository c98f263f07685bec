//! Each member has a part for each other one. Its part for itself takes no message.

use super::exchange::{Done, Exchange, Waits};
use super::{Group, part};
use crate::program::Program;

/// Adds the steps of which each has the messages from members to those some places after them.
fn shifts(program: &mut Program, exchange: &mut Exchange<'_>, group: &Group<'_>, together: usize) {
    let n = group.ranks.len();
    let shifts: Vec<usize> = (1..n).collect();
    for shifts in shifts.chunks(together.max(1)) {
        let messages = shifts.iter().flat_map(|shift| {
            (0..n).map(move |member| {
                let to = (member + shift) % n;
                (member, to, part(group.bytes, to as u64, n as u64))
            })
        });
        exchange.step(program, messages);
    }
}

pub(super) fn flat(program: &mut Program, group: &Group<'_>) -> Done {
    let mut exchange = Exchange::new(group, Waits::Done);
    shifts(program, &mut exchange, group, group.ranks.len());
    exchange.done()
}

pub(super) fn pairwise(program: &mut Program, group: &Group<'_>) -> Done {
    let mut exchange = Exchange::new(group, Waits::Done);
    shifts(program, &mut exchange, group, 1);
    exchange.done()
}

pub(super) fn hierarchical(program: &mut Program, group: &Group<'_>, places: usize) -> Done {
    let n = group.ranks.len();
    let servers = n / places;
    let of =
        |server: usize, place: usize| part(group.bytes, (server * places + place) as u64, n as u64);
    let to_place = |place: usize| (0..servers).map(|server| of(server, place)).sum::<u64>();
    let mut exchange = Exchange::new(group, Waits::Received);
    let in_servers = (1..places).flat_map(|shift| {
        (0..n).map(move |member| {
            let (server, place) = (member / places, member % places);
            (member, server, (place + shift) % places)
        })
    });
    let in_servers =
        in_servers.map(|(from, server, place)| (from, server * places + place, to_place(place)));
    exchange.step(program, in_servers);
    let on_rails = (1..servers).flat_map(|shift| {
        (0..n).map(move |member| {
            let (server, place) = (member / places, member % places);
            (member, (server + shift) % servers, place)
        })
    });
    let on_rails = on_rails.map(|(from, server, place)| {
        (
            from,
            server * places + place,
            places as u64 * of(server, place),
        )
    });
    exchange.step(program, on_rails);
    exchange.done()
}
