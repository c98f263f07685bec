//! Schedulers, which select the queue of a port to be served next; one file per scheduler. A port
//! with one queue is a FIFO and has none.

mod dualpi2;
mod dwrr;
mod fair;
mod flow_numbers;
mod fq;
mod fq_codel;
mod strict;
mod turns;

use std::fmt::Debug;

pub use dualpi2::{DualPi2, QUEUES as DUALPI2_QUEUES};
pub use dwrr::Dwrr;
pub use fair::Fair;
pub use fq::Fq;
pub use fq_codel::FqCodel;
pub use strict::Strict;
pub use turns::Turns;

use super::packet::Packet;
use super::queue::Heads;
use super::rules::{Decision, Site};
use dualpi2::CoupledQueues;
use fq_codel::FlowCodels;

/// Packet that was selected and leaves its queue.
#[derive(Clone, Copy, Debug)]
pub struct Leaving {
    /// Current time, ps.
    pub now_ps: u64,
    /// Time since its arrival, ps.
    pub waited_ps: u64,
    /// Queue of the packet.
    pub queue: usize,
    /// Bytes that remain in that queue.
    pub queue_bytes: u64,
    /// Bytes that remain in all queues.
    pub all_bytes: u64,
    /// Whether other queues hold packets.
    pub others_wait: bool,
}

/// Selection among the queues of a port, which are numbered from 0.
pub trait Scheduler: Debug + Send {
    /// Queue of a packet among `count` queues: its class, at most the last queue.
    fn queue_of(&self, packet: &Packet, count: usize) -> usize {
        packet.class().min(count - 1)
    }

    /// Name of a queue in results; none if each flow has a queue.
    fn queue_name(&self, queue: usize) -> Option<String> {
        Some(format!("class{queue}"))
    }

    /// Processes the arrival of `packet` at `queue`, which was empty.
    fn on_filled(&mut self, _queue: usize, _packet: &Packet) {}

    /// Processes the arrival of a packet at `queue`, where `found` packets wait.
    fn on_added(&mut self, _queue: usize, _found: usize) {}

    /// Selects the next queue to be served among those whose first packet may be sent. If packets wait,
    /// there is one.
    fn next(&mut self, heads: &Heads<'_>) -> Option<usize>;

    /// Processes the selection of a further packet of `bytes` that the NIC has split off the piece which
    /// was selected last from `queue`: no other queue comes between them.
    fn on_continued(&mut self, _queue: usize, _bytes: u16) {}

    /// Processes the departure of the selected queue's packet; `empty` tells whether the queue is
    /// now empty.
    fn on_served(&mut self, _queue: usize, _empty: bool) {}

    /// Processes the removal of all packets of a queue, whichever queue is next. Only at a switch.
    fn on_emptied(&mut self, _queue: usize) {}

    /// Advances to `now_ps`; no packet has arrived or left since the last call. `first_came_ps`
    /// returns the arrival time of a queue's first packet. Only for schedulers that
    /// [manage](Order::manages).
    fn on_time(&mut self, _now_ps: u64, _first_came_ps: &dyn Fn(usize) -> Option<u64>) {}

    /// Decides whether the selected packet passes, is marked or is dropped; called before
    /// [`Scheduler::on_served`]. Only for schedulers that [manage](Order::manages).
    fn on_leaving(&mut self, _leaving: &Leaving, _packet: &Packet) -> Decision {
        Decision::Pass
    }

    /// Forgets a flow that has no packets any more: its slot is given to another one.
    fn forget(&mut self, _flow: u32) {}

    /// Processes a failure of the link at `now_ps`; the queues are then empty.
    fn on_failure(&mut self, _now_ps: u64) {}

    /// Memory of tables per queue, bytes.
    fn heap_bytes(&self) -> u64 {
        0
    }
}

/// Order in which the queues of a port are served.
#[derive(Clone, Debug)]
pub enum Order {
    /// Strict priority.
    Strict,
    /// Round robin by packets, with queues selected by flow.
    Turns,
    /// Deficit weighted round robin, with the bytes of each queue's turn.
    Dwrr(Vec<u32>),
    /// [`DualPi2`] at a port.
    DualPi2(DualPi2, Site),
    /// [`FqCodel`] at a port.
    FqCodel(FqCodel, Site),
    /// A queue for each flow, served in turn by bytes ([`Fair`]), with the bytes of a turn.
    Fair(u32),
    /// A queue for each flow as in Linux's sch_fq ([`Fq`]), with the largest packet.
    Fq(u32),
    /// A queue with CoDel for each flow of a host.
    HostFqCodel(FqCodel, Site),
}

impl Order {
    /// Whether the scheduler marks and drops departing packets. All packets then pass through it,
    /// even with one queue or an idle link, and the queues share the port's buffer.
    pub(super) fn manages(&self) -> bool {
        matches!(
            self,
            Order::DualPi2(..) | Order::FqCodel(..) | Order::HostFqCodel(..)
        )
    }

    /// Whether each flow has a queue, which it gets with its first packet.
    pub(super) fn is_per_flow(&self) -> bool {
        matches!(self, Order::Fair(_) | Order::Fq(_) | Order::HostFqCodel(..))
    }

    /// Creates the scheduler of `count` queues.
    pub(super) fn scheduler(&self, count: usize) -> Box<dyn Scheduler> {
        match self {
            Order::Strict => Box::new(Strict::new(count)),
            Order::Turns => Box::<Turns>::default(),
            Order::Dwrr(quanta) => Box::new(Dwrr::new(quanta.clone())),
            Order::DualPi2(settings, site) => Box::new(CoupledQueues::new(settings, site)),
            Order::FqCodel(settings, site) => Box::new(FlowCodels::new(settings, site)),
            Order::Fair(quantum) => Box::new(Fair::new(*quantum)),
            Order::Fq(mtu) => Box::new(Fq::new(*mtu)),
            Order::HostFqCodel(settings, site) => Box::new(FlowCodels::of_host(settings, site)),
        }
    }
}
