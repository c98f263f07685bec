//! In each server, whose ranks follow each other, and between the ranks of one place in all servers (a rail): rings in both.

use super::exchange::{Done, Exchange, Waits};
use super::{Group, part};
use crate::program::Program;

/// Members as servers and places.
struct Rails<'a> {
    servers: usize,
    places: usize,
    bytes: u64,
    exchange: Exchange<'a>,
}

impl<'a> Rails<'a> {
    fn new(group: &'a Group<'a>, places: usize) -> Self {
        Rails {
            servers: group.ranks.len() / places,
            places,
            bytes: group.bytes,
            exchange: Exchange::new(group, Waits::Received),
        }
    }

    /// Part of the data that the member at a place has after a reduce-scatter in its server, bytes.
    fn of_place(&self, index: usize) -> u64 {
        part(self.bytes, (index % self.places) as u64, self.places as u64)
    }

    /// Steps around the rings in all servers. The member at place l begins with part l + `first`.
    fn in_servers(&mut self, program: &mut Program, first: usize) {
        let (places, servers) = (self.places, self.servers);
        for step in 0..places - 1 {
            let bytes: Vec<u64> = (0..places)
                .map(|place| self.of_place(place + first + places - step))
                .collect();
            let message = |member: usize| {
                let (server, place) = (member / places, member % places);
                (member, server * places + (place + 1) % places, bytes[place])
            };
            self.exchange
                .step(program, (0..servers * places).map(message));
        }
    }

    /// Steps around the rings of all places, of the part that a place has after the reduce-scatter in its server.
    fn on_rails(&mut self, program: &mut Program, steps: usize) {
        let (places, servers) = (self.places, self.servers);
        for step in 0..steps {
            let of_places: Vec<u64> = (0..places).map(|place| self.of_place(place + 1)).collect();
            let message = |member: usize| {
                let (server, place) = (member / places, member % places);
                let index = (server + 2 * servers - step) % servers;
                let bytes = part(of_places[place], index as u64, servers as u64);
                (member, (server + 1) % servers * places + place, bytes)
            };
            self.exchange
                .step(program, (0..servers * places).map(message));
        }
    }
}

pub(super) fn all_reduce(program: &mut Program, group: &Group<'_>, places: usize) -> Done {
    let mut rails = Rails::new(group, places);
    rails.in_servers(program, 0);
    rails.on_rails(program, 2 * (rails.servers - 1));
    rails.in_servers(program, 1);
    rails.exchange.done()
}

pub(super) fn reduce_scatter(program: &mut Program, group: &Group<'_>, places: usize) -> Done {
    let mut rails = Rails::new(group, places);
    rails.in_servers(program, 0);
    rails.on_rails(program, rails.servers - 1);
    rails.exchange.done()
}

pub(super) fn all_gather(program: &mut Program, group: &Group<'_>, places: usize) -> Done {
    let mut rails = Rails::new(group, places);
    rails.on_rails(program, rails.servers - 1);
    rails.in_servers(program, 1);
    rails.exchange.done()
}
