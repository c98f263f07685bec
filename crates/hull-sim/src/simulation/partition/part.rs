//! One part of a run at work on its thread: it serves its events as far as its neighbours let it go,
//! tells them what concerns them, and takes what they tell. Times are ps.
//!
//! The event loop is that of every run ([`Simulation::serve_before`]), up to a bound at a time. Before
//! the bound nothing more can come from another part: it is the least, over all neighbours, of a
//! neighbour's clock and the lookahead from there.
//!
//! Routes need care: a flow's first packet may come to a part by way of a third one, and the part has to
//! know the route by then. The edge is the only part that opens flows, and a neighbour of all others. It
//! shows a clock only when everything that it decided before is in the channels of all neighbours. A
//! part that passes the packet on has read such a clock from after the flow was opened (or all parts were
//! waiting then, and had taken all messages). So the route is in the channel before the packet is, and
//! whoever fetches from the edge last and reads what it tells first has the route in time.

use std::hint;
use std::thread;
use std::time::Duration;

use super::board::{Board, Guard};
use super::message::Message;
use super::neighbour::Neighbour;
use crate::measure::thread_seconds;
use crate::simulation::outcome::Measured;
use crate::simulation::{Control, Failure, Simulation};

/// Looks at the channels before the processor is offered to other threads: when each part may have a
/// processor, and when there are more parts than processors.
const PATIENCE: u32 = 1 << 12;
const SHORT_PATIENCE: u32 = 1 << 4;

/// How often a part then offers its processor to others before it sleeps between two looks: about
/// 100 us where nobody takes it.
const YIELDS: u32 = 1 << 8;
const NAP: Duration = Duration::from_micros(50);

/// Looks between two attempts to find out that all parts wait.
const SILENCE_EVERY: u32 = 1 << 4;

/// A part.
#[derive(Debug)]
pub struct Part<'a> {
    number: usize,
    simulation: &'a mut Simulation,
    /// In the order of their numbers: the edge, where this is another part, comes first.
    neighbours: Vec<Neighbour>,
    board: &'a Board,
    /// The least time from each part to this one, ps.
    distances_ps: Vec<u64>,
    /// How far this part goes before it tells again how far it is, ps.
    stride_ps: u64,
    /// Looks before the processor is offered, now and at most.
    patience: u32,
    most_patience: u32,
    /// The end of the run, once it is known, ps.
    stop_ps: u64,
    /// Nothing comes before then, as the board once said, ps.
    silence_ps: u64,
    /// Whether this part's post is on the board.
    is_posted: bool,
    versions: Vec<u64>,
}

/// What a part's thread leaves: what was measured, and its processor time, s.
pub type Leaves = (Result<Measured, Failure>, f64);

impl<'a> Part<'a> {
    /// The part `number`, which has not begun; `distances_ps` are the least times to it.
    pub fn new(
        number: usize,
        simulation: &'a mut Simulation,
        neighbours: Vec<Neighbour>,
        board: &'a Board,
        distances_ps: Vec<u64>,
    ) -> Part<'a> {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        let strides = neighbours.iter().map(Neighbour::stride_ps);
        let most_patience = match distances_ps.len() <= processors {
            true => PATIENCE,
            false => SHORT_PATIENCE,
        };
        Part {
            number,
            simulation,
            stride_ps: strides.min().unwrap_or(1),
            neighbours,
            board,
            patience: most_patience,
            most_patience,
            distances_ps,
            stop_ps: u64::MAX,
            silence_ps: 0,
            is_posted: false,
            versions: Vec::new(),
        }
    }

    /// Runs to the end; however it ends, the other parts do.
    pub fn run(mut self, control: &Control) -> Leaves {
        let mut guard = self.board.guard();
        let measured = self.run_phases(control).and_then(|measured| {
            self.await_others(&mut guard)?;
            Ok(measured)
        });
        (measured, thread_seconds())
    }

    /// The phases of every run ([`Simulation::run_phases`]), in step with the other parts.
    fn run_phases(&mut self, control: &Control) -> Result<Measured, Failure> {
        self.simulation.clock.aim_at_end();
        self.run_to_limit(control)?;
        let measured = self.simulation.end_measured_time();
        if !self.is_over()? {
            self.simulation.clock.aim_at_last();
            self.run_to_limit(control)?;
            self.simulation.end_drain();
        }
        Ok(measured)
    }

    /// Serves the events before the limit, as far as the other parts let it go at a time.
    fn run_to_limit(&mut self, control: &Control) -> Result<(), Failure> {
        let mut served_ps = 0;
        let mut waits = 0;
        loop {
            let received = self.receive();
            self.take_stop();
            let bound_ps = self.bound_ps();
            let goal_ps = bound_ps.min(self.simulation.clock.limit_ps);
            let is_stuck = served_ps >= goal_ps;
            if !is_stuck {
                self.take_back();
            }
            served_ps = self.serve_strides(served_ps, goal_ps, bound_ps, control)?;
            if served_ps >= self.simulation.clock.limit_ps && !self.is_behind() {
                return Ok(());
            }
            if received || !is_stuck {
                self.learn(waits);
                waits = 0;
            } else {
                self.wait(&mut waits)?;
            }
        }
    }

    /// Serves the events before `goal_ps` and tells the other parts now and then how far it is. What
    /// they tell meanwhile is left for later: to look costs more than to tell.
    fn serve_strides(
        &mut self,
        mut served_ps: u64,
        goal_ps: u64,
        bound_ps: u64,
        control: &Control,
    ) -> Result<u64, Failure> {
        loop {
            let from_ps = served_ps.max(self.simulation.clock.events.next_not_before_ps());
            served_ps = goal_ps.min(from_ps.saturating_add(self.stride_ps));
            self.simulation.serve_before(served_ps, control)?;
            self.tell(bound_ps);
            if served_ps >= goal_ps {
                return Ok(served_ps);
            }
        }
    }

    /// Before this time nothing more can come.
    #[inline]
    fn bound_ps(&self) -> u64 {
        if let [only] = &self.neighbours[..] {
            return only.bound_of_two_ps(self.simulation.clock.events.next_not_before_ps());
        }
        let bounds = self.neighbours.iter().map(Neighbour::bound_ps);
        bounds.min().unwrap_or(u64::MAX).max(self.silence_ps)
    }

    /// Whether this part is the edge.
    fn is_edge(&self) -> bool {
        self.number == 0
    }

    fn is_behind(&self) -> bool {
        self.neighbours.iter().any(Neighbour::is_behind)
    }

    /// The end of the run may have become known.
    #[inline]
    fn take_stop(&mut self) {
        for neighbour in &self.neighbours {
            let limit_ps = self.simulation.clock.limit_ps;
            self.simulation.clock.limit_ps = limit_ps.min(neighbour.theirs.stop_ps);
        }
    }

    /// Takes in what the other parts have sent; false when there is nothing. Fetches from the edge last
    /// and reads what it tells first.
    #[inline]
    fn receive(&mut self) -> bool {
        if self.is_posted {
            if !self.neighbours.iter().any(Neighbour::has_new) {
                return false;
            }
            self.take_back();
        }
        let mut received = false;
        for neighbour in self.neighbours.iter_mut().rev() {
            received |= neighbour.fetch();
        }
        if !received {
            return false;
        }
        let simulation = &mut *self.simulation;
        for neighbour in &mut self.neighbours {
            while let Some(message) = neighbour.next() {
                match message {
                    Message::Packet(scheduled) => {
                        let (at_ps, port, cargo) = simulation.fabric.network.land(scheduled);
                        simulation.clock.schedule_arrival(at_ps, port, cargo);
                    }
                    Message::Loss(loss) => {
                        simulation.endpoints.await_loss(loss, &mut simulation.clock);
                    }
                    Message::Route(at, count, entries) => {
                        let entries = &entries[..count];
                        simulation.fabric.network.set_route(at as usize, entries);
                    }
                    Message::Clock(_) => {}
                }
            }
        }
        true
    }

    /// Tells the other parts what concerns them and how far this one is. Before the end of the measured
    /// time they are not told that this was reached: first has to be decided whether the run goes on.
    #[inline]
    fn tell(&mut self, bound_ps: u64) {
        self.send_all();
        if self.simulation.workload.done {
            self.stop_ps = self.simulation.clock.limit_ps;
        }
        let next_ps = self.simulation.clock.events.next_not_before_ps();
        let clock_ps = next_ps
            .min(bound_ps)
            .min(self.simulation.clock.limit_ps - 1);
        if let [only] = &mut self.neighbours[..] {
            only.send_clock(clock_ps, next_ps, self.stop_ps);
            return;
        }
        self.neighbours.iter_mut().for_each(Neighbour::publish);
        if self.is_behind() {
            return; // no clock before everything that it speaks of
        }
        for neighbour in &mut self.neighbours {
            neighbour.send_clock_alone(clock_ps, self.stop_ps);
        }
    }

    /// Sends what has happened since the last time: new routes before the packets that may follow them.
    #[inline]
    fn send_all(&mut self) {
        let (simulation, neighbours) = (&mut *self.simulation, &mut self.neighbours);
        simulation.fabric.network.for_each_new_route(|at, entries| {
            for neighbour in neighbours.iter_mut() {
                Message::of_route(at, entries).for_each(|message| neighbour.send(message));
            }
        });
        simulation.fabric.network.for_each_departure(|departure| {
            let part = usize::from(departure.to);
            let mut others = neighbours.iter_mut();
            if let Some(neighbour) = others.find(|neighbour| neighbour.part == part) {
                neighbour.send(Message::Packet(departure.scheduled));
            }
        });
        if !simulation.endpoints.keeps_flows
            && let Some(edge) = neighbours.first_mut()
        {
            simulation
                .endpoints
                .take_losses(|loss| edge.send(Message::Loss(loss)));
        }
    }

    /// Whether the run is over at the end of the measured time: the edge decides and tells the others.
    fn is_over(&mut self) -> Result<bool, Failure> {
        if self.is_edge() {
            let simulation = &mut *self.simulation;
            let is_done = simulation.workload.is_over(&simulation.endpoints.table);
            if is_done {
                self.tell(self.simulation.clock.limit_ps);
            }
            return Ok(is_done);
        }
        let mut waits = 0;
        loop {
            let received = self.receive();
            let edge = self.neighbours[0].theirs;
            if edge.stop_ps <= self.simulation.clock.limit_ps {
                self.simulation.workload.done = true;
                return Ok(true);
            }
            if edge.clock_ps >= self.simulation.clock.limit_ps {
                return Ok(false);
            }
            if !received {
                self.wait(&mut waits)?;
            }
        }
    }

    /// This part has served all its events: it goes on taking in what comes until all parts have, so
    /// that no other one is held up by a full channel.
    fn await_others(&mut self, guard: &mut Guard<'_>) -> Result<(), Failure> {
        let mut waits = 0;
        let mut is_done = false;
        loop {
            let all_done = self.board.are_all_done();
            let received = self.receive();
            if all_done {
                return Ok(());
            }
            if !is_done {
                self.tell(self.simulation.clock.limit_ps);
                is_done = !self.is_behind();
                if is_done {
                    guard.set_done();
                }
            }
            if !received {
                self.wait(&mut waits)?;
            }
        }
    }

    /// Takes the post back, where it is on the board.
    #[inline]
    fn take_back(&mut self) {
        if self.is_posted {
            self.is_posted = false;
            self.board.take_back(self.number);
        }
    }

    /// Waits a moment for the other parts; `waits` counts how often in a row. Fails when the run was
    /// broken off.
    #[inline]
    fn wait(&mut self, waits: &mut u32) -> Result<(), Failure> {
        *waits += 1;
        if *waits < self.patience {
            hint::spin_loop();
        } else {
            if self.board.is_broken() {
                return Err(Failure::Cancelled);
            }
            // Whoever is waited for may not have a processor: leave it this one.
            if *waits < self.patience + YIELDS {
                thread::yield_now();
            } else {
                thread::sleep(NAP);
            }
        }
        if self.neighbours.len() > 1 {
            self.seek_silence(*waits);
        }
        Ok(())
    }

    /// After `waits` looks in a row: whoever is waited for may share this processor, so a part that had to
    /// offer it looks fewer times before it does so again.
    #[inline]
    fn learn(&mut self, waits: u32) {
        if waits >= self.patience {
            self.patience = (self.patience / 2).max(SHORT_PATIENCE);
        } else if waits > 0 {
            self.patience = (self.patience * 2).min(self.most_patience);
        }
    }

    /// Looks whether all parts wait, and how far they can go then.
    fn seek_silence(&mut self, waits: u32) {
        if !self.is_posted {
            self.is_posted = true;
            let next_ps = self.simulation.clock.events.next_not_before_ps();
            let sent = self.neighbours.iter().map(|other| other.sent).sum();
            let taken = self.neighbours.iter().map(|other| other.taken).sum();
            self.board.post(self.number, next_ps, sent, taken);
        } else if waits.is_multiple_of(SILENCE_EVERY) || waits > self.patience {
            let silence_ps = self
                .board
                .silence_ps(&self.distances_ps, &mut self.versions);
            self.silence_ps = self.silence_ps.max(silence_ps.unwrap_or(0));
        }
    }
}
