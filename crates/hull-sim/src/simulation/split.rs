//! One run on two threads: the edge (hosts, flows, workload) and the fabric (ports between
//! switches), cut as `cut` says and joined by `peer`. Times are ps.
//!
//! Both are a [`Simulation`] with all ports, of which each uses its own queues; a cut link has its
//! queue on one side and what is in flight on the other. Each side serves its events in the order in
//! which a single thread would, and nothing reaches across at once, so the results are the same to
//! the byte: flows, slots and random numbers are all the edge's.

use std::panic;
use std::thread;

use super::cut::Cut;
use super::outcome::Measured;
use super::peer::{News, Peer};
use super::{Control, Failure, Simulation};
use crate::engine::{Entity, Kind};
use crate::measure::thread_seconds;
use crate::network::Hop;

impl Simulation {
    /// Makes this run the edge and `fabric`, a run of the same network without traffic, the rest.
    pub(super) fn split(&mut self, mut fabric: Simulation, cut: &Cut) {
        let (of_edge, of_fabric) = Peer::pair(cut.lookahead);
        for &port in &cut.crossing {
            let owner = if cut.in_fabric[port] {
                &mut fabric
            } else {
                &mut *self
            };
            owner.network.ports[port].cut();
        }
        self.peer = Some(Box::new(of_edge));
        fabric.peer = Some(Box::new(of_fabric));
        self.fabric = Some(Box::new(fabric));
    }

    /// Runs the edge here and the fabric beside it.
    pub(super) fn run_beside(
        &mut self,
        mut fabric: Simulation,
        control: &Control,
    ) -> Result<Measured, Failure> {
        let (edge, fabric) = thread::scope(|scope| {
            let run_fabric = move || {
                let closing = fabric.peer.as_ref().map(|peer| peer.closing());
                let measured = fabric.run_phases(control);
                drop(closing);
                (fabric, measured, thread_seconds())
            };
            let closing = self.peer.as_ref().map(|peer| peer.closing());
            let thread = thread::Builder::new().spawn_scoped(scope, run_fabric);
            let Ok(thread) = thread else {
                return (Err(Failure::NoThread), None);
            };
            let measured = self.run_phases(control);
            drop(closing);
            match thread.join() {
                Ok(fabric) => (measured, Some(fabric)),
                Err(panic) => panic::resume_unwind(panic),
            }
        });
        let mut measured = edge?;
        if let Some((fabric, of_fabric, seconds)) = fabric {
            self.second_thread_seconds = Some(seconds);
            self.join(fabric, &mut measured, &of_fabric?);
            control.report_fabric(0); // they are the run's now
        }
        Ok(measured)
    }

    /// Serves the events before the limit, as far as the other part lets it go at a time.
    pub(super) fn serve_in_step(&mut self, control: &Control) -> Result<(), Failure> {
        let mut served_ps = 0;
        let mut waits = 0;
        loop {
            let alone = waits > 0 && self.is_alone();
            let heard = self.hear();
            let next_ps = self.events.next_not_before_ps();
            let Some(peer) = &self.peer else {
                return Ok(());
            };
            self.limit_ps = self.limit_ps.min(peer.theirs.stop_ps);
            let bound_ps = peer.bound_ps(next_ps);
            let goal_ps = bound_ps.min(self.limit_ps);
            let stuck = served_ps >= goal_ps;
            served_ps = self.serve_strides(served_ps, goal_ps, bound_ps, control)?;
            if served_ps >= self.limit_ps && !self.is_behind() {
                return Ok(());
            }
            if heard || !stuck {
                waits = 0;
            } else if alone {
                // It was cancelled or has panicked: who joins the threads will see.
                return Err(Failure::Cancelled);
            } else {
                self.wait(&mut waits);
            }
        }
    }

    /// Serves the events before `goal_ps` and tells the other part now and then how far it is. What
    /// that part says meanwhile is left for later: to look costs more than to tell.
    fn serve_strides(
        &mut self,
        mut served_ps: u64,
        goal_ps: u64,
        bound_ps: u64,
        control: &Control,
    ) -> Result<u64, Failure> {
        let stride_ps = self.peer.as_ref().map_or(1, |peer| peer.stride_ps);
        loop {
            let from_ps = served_ps.max(self.events.next_not_before_ps());
            served_ps = goal_ps.min(from_ps.saturating_add(stride_ps));
            self.serve_before(served_ps, control)?;
            self.tell(bound_ps);
            if served_ps >= goal_ps {
                return Ok(served_ps);
            }
        }
    }

    fn is_behind(&self) -> bool {
        self.peer.as_ref().is_some_and(|peer| peer.is_behind())
    }

    fn is_alone(&self) -> bool {
        self.peer.as_ref().is_none_or(|peer| peer.is_alone())
    }

    fn wait(&self, waits: &mut u32) {
        if let Some(peer) = &self.peer {
            peer.wait(waits);
        }
    }

    /// Takes in what the other part has said.
    #[inline]
    fn hear(&mut self) -> bool {
        if !self.peer.as_mut().is_some_and(|peer| peer.listen()) {
            return false;
        }
        while let Some(news) = self.peer.as_mut().and_then(|peer| peer.hear()) {
            match news {
                News::Packet(scheduled) => {
                    let Hop::Port(port) = self.network.hop(scheduled.packet.hop - 1) else {
                        unreachable!("a packet comes from a port")
                    };
                    let link = &mut self.network.ports[port];
                    if link.land(scheduled)
                        && let Some(at_ps) = link.next_delivery_ps()
                    {
                        self.events.push(at_ps, Entity::new(Kind::Link, port));
                    }
                }
                News::Loss(loss) => self.await_loss(loss),
                News::Route(at, count, entries) => {
                    self.network.set_route(at as usize, &entries[..count]);
                }
                News::Clock(_) => {}
            }
        }
        true
    }

    /// Tells the other part how far this one is. Before the end of the measured time it is not told
    /// that this was reached: first has to be decided whether the run goes on.
    #[inline]
    fn tell(&mut self, bound_ps: u64) {
        let Some(peer) = &mut self.peer else {
            return;
        };
        if self.done {
            peer.stop_ps = self.limit_ps;
        }
        let next_ps = self.events.next_not_before_ps();
        let clock_ps = next_ps.min(bound_ps).min(self.limit_ps - 1);
        peer.say_clock(clock_ps, next_ps);
    }

    /// Whether the run is over at the end of the measured time.
    pub(super) fn is_over(&mut self) -> Result<bool, Failure> {
        if self.peer.as_ref().is_some_and(|peer| peer.is_fabric()) {
            return self.hear_whether_over();
        }
        self.done |= self.is_complete();
        if self.done {
            self.tell(self.limit_ps);
        }
        Ok(self.done)
    }

    /// The fabric is told by the edge whether the run goes on.
    fn hear_whether_over(&mut self) -> Result<bool, Failure> {
        let mut waits = 0;
        loop {
            let alone = waits > 0 && self.is_alone();
            let heard = self.hear();
            let theirs = match &self.peer {
                Some(peer) => peer.theirs,
                None => return Ok(true),
            };
            if theirs.stop_ps <= self.limit_ps {
                return Ok(true);
            }
            if theirs.clock_ps >= self.limit_ps {
                return Ok(false);
            }
            if alone && !heard {
                return Err(Failure::Cancelled);
            }
            self.wait(&mut waits);
        }
    }

    /// A packet has been queued at a port whose link is cut: it stays here or is handed over.
    #[inline(never)]
    pub(super) fn cross(&mut self, port: usize) {
        let (Some(peer), Some(cut)) = (&mut self.peer, &self.cut) else {
            unreachable!("only the links of a split run are cut");
        };
        let link = &mut self.network.ports[port];
        let (last, first) = link.last_in_flight();
        let hop = last.packet.hop;
        let to_fabric = match self.network.hop(hop) {
            Hop::Port(next) => cut.in_fabric[next],
            Hop::Host(_) => false,
        };
        let link = &mut self.network.ports[port];
        if to_fabric != peer.is_fabric() {
            let scheduled = link.hand_over();
            peer.say_packet(scheduled);
        } else if first && let Some(at_ps) = link.next_delivery_ps() {
            self.events.push(at_ps, Entity::new(Kind::Link, port));
        }
    }

    /// Both parts have come to the end: their counts become one.
    fn join(&mut self, mut fabric: Simulation, measured: &mut Measured, of_fabric: &Measured) {
        self.hear();
        fabric.hear();
        self.now_ps = self.now_ps.max(fabric.now_ps);
        self.packet_hops += fabric.packet_hops;
        self.counts += fabric.counts;
        self.events_served += fabric.events_served;
        self.packets_dropped += fabric.packets_dropped;
        self.instruments
            .at_warmup
            .take_ports(&fabric.instruments.at_warmup, self.cut.as_ref());
        measured.take_ports(of_fabric, self.cut.as_ref());
        let in_fabric = self.cut.iter().flat_map(|cut| &cut.in_fabric);
        for (port, &in_fabric) in in_fabric.enumerate() {
            let (here, there) = (
                &mut self.network.ports[port],
                &mut fabric.network.ports[port],
            );
            if in_fabric {
                std::mem::swap(here, there);
            }
            here.gather(there);
        }
    }
}

impl Measured {
    /// Takes over what was read at the ports of the fabric.
    fn take_ports(&mut self, of_fabric: &Measured, cut: Option<&Cut>) {
        let in_fabric = cut.iter().flat_map(|cut| &cut.in_fabric);
        let bytes = self.sent_bytes.iter_mut().zip(&of_fabric.sent_bytes);
        let packets = self.sent_packets.iter_mut().zip(&of_fabric.sent_packets);
        let carried = self.carried_bytes.iter_mut().zip(&of_fabric.carried_bytes);
        let counts = bytes.zip(packets).zip(carried);
        for (&in_fabric, ((bytes, packets), carried)) in in_fabric.zip(counts) {
            if in_fabric {
                *bytes.0 = *bytes.1;
                *carried.0 = *carried.1;
                *packets.0 = *packets.1;
            }
        }
    }
}
