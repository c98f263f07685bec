//! Schedulers: which of a port's queues is served next, one file per scheduler. A port with one queue
//! is a FIFO and has none.

mod dualpi2;
mod dwrr;
mod fq_codel;
mod strict;
mod turns;

use std::fmt::Debug;

pub use dualpi2::{DualPi2, QUEUES as DUALPI2_QUEUES};
pub use dwrr::Dwrr;
pub use fq_codel::FqCodel;
pub use strict::Strict;
pub use turns::Turns;

use super::packet::Packet;
use super::rules::{Decision, Site};
use dualpi2::CoupledQueues;
use fq_codel::FlowCodels;

/// A packet that was chosen and leaves its queue. Times are ps.
#[derive(Clone, Copy, Debug)]
pub struct Leaving {
    /// Now.
    pub now_ps: u64,
    /// Time since its arrival.
    pub waited_ps: u64,
    /// Its queue.
    pub queue: usize,
    /// Bytes behind it in that queue.
    pub queue_bytes: u64,
    /// Bytes behind it in all queues.
    pub all_bytes: u64,
    /// Whether other queues hold packets.
    pub others_wait: bool,
}

/// Chooses among the queues of a port, which are numbered from 0.
pub trait Scheduler: Debug + Send {
    /// The queue that a packet belongs to, of `count`: its class, or the last one there is.
    fn queue_of(&self, packet: &Packet, count: usize) -> usize {
        packet.class().min(count - 1)
    }

    /// A packet has come to `queue`, which was empty before.
    fn on_filled(&mut self, _queue: usize) {}

    /// A packet has come to `queue`, in which `found` wait.
    fn on_added(&mut self, _queue: usize, _found: usize) {}

    /// The queue to be served next, of those that are not empty; `first_bytes` has the size of each
    /// queue's first packet, none of an empty one.
    fn next(&mut self, first_bytes: &dyn Fn(usize) -> Option<u16>) -> Option<usize>;

    /// The packet of the queue that was chosen has left; it is `empty` now or not.
    fn on_served(&mut self, _queue: usize, _empty: bool) {}

    /// It is `now_ps`; since the last call nothing has come or left. `first_came_ps` has the arrival of each
    /// queue's first packet. For schedulers that [manage](Order::manages).
    fn on_time(&mut self, _now_ps: u64, _first_came_ps: &dyn Fn(usize) -> Option<u64>) {}

    /// What becomes of the packet that was chosen, which is told before [`Scheduler::on_served`]. For schedulers
    /// that [manage](Order::manages).
    fn on_leaving(&mut self, _leaving: &Leaving, _packet: &Packet) -> Decision {
        Decision::Pass
    }

    /// The link has failed at `now_ps`, and the queues are empty.
    fn on_failure(&mut self, _now_ps: u64) {}
}

/// How the queues of a port are served.
#[derive(Clone, Debug)]
pub enum Order {
    /// [`Strict`] priority.
    Strict,
    /// In [`Turns`], by flow.
    Turns,
    /// [`Dwrr`] with the bytes of each queue's turn.
    Dwrr(Vec<u32>),
    /// [`DualPi2`] at a port.
    DualPi2(DualPi2, Site),
    /// [`FqCodel`] at a port.
    FqCodel(FqCodel, Site),
}

impl Order {
    /// Whether its scheduler marks and drops packets that leave, of one queue too. Then all packets pass
    /// through it, those that find an idle link too, and the port's buffer is one for all queues.
    pub(super) fn manages(&self) -> bool {
        matches!(self, Order::DualPi2(..) | Order::FqCodel(..))
    }

    /// The scheduler of `count` queues.
    pub(super) fn scheduler(&self, count: usize) -> Box<dyn Scheduler> {
        match self {
            Order::Strict => Box::new(Strict::new(count)),
            Order::Turns => Box::<Turns>::default(),
            Order::Dwrr(quanta) => Box::new(Dwrr::new(quanta.clone())),
            Order::DualPi2(settings, site) => Box::new(CoupledQueues::new(settings, site)),
            Order::FqCodel(settings, site) => Box::new(FlowCodels::new(settings, site)),
        }
    }
}
