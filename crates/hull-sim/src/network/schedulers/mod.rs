//! Which of a port's queues is served next: one file per scheduler. A port with one queue is a FIFO and
//! has none.

mod dwrr;
mod strict;
mod turns;

use std::fmt::Debug;

pub use dwrr::Dwrr;
pub use strict::Strict;
pub use turns::Turns;

use super::packet::Packet;

/// Chooses among the queues of a port, which are numbered from 0.
pub trait Scheduler: Debug + Send {
    /// The queue that a packet belongs to, of `count`: its class, or the last one there is.
    fn queue_of(&self, packet: &Packet, count: usize) -> usize {
        packet.class().min(count - 1)
    }

    /// A packet has come to `queue`, which was empty before.
    fn on_filled(&mut self, _queue: usize) {}

    /// The queue to be served next, of those that are not empty; `first_bytes` has the size of each
    /// queue's first packet, none of an empty one.
    fn next(&mut self, first_bytes: &dyn Fn(usize) -> Option<u16>) -> Option<usize>;

    /// The packet of the queue that was chosen has left; it is `empty` now or not.
    fn on_served(&mut self, _queue: usize, _empty: bool) {}
}

/// How the queues of a port are served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// [`Strict`] priority.
    Strict,
    /// In [`Turns`], by flow.
    Turns,
    /// [`Dwrr`] with the bytes of each queue's turn.
    Dwrr(Vec<u32>),
}

impl Order {
    /// The scheduler of `count` queues.
    pub(super) fn scheduler(&self, count: usize) -> Box<dyn Scheduler> {
        match self {
            Order::Strict => Box::new(Strict::new(count)),
            Order::Turns => Box::<Turns>::default(),
            Order::Dwrr(quanta) => Box::new(Dwrr::new(quanta.clone())),
        }
    }
}
