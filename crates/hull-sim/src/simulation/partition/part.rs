//! One part of a run: it serves its events as far as its neighbours permit, and exchanges messages with
//! them. It never waits; the thread that serves it does (`worker`). Times are ps.
//!
//! The event loop is the same as in every run ([`Simulation::serve_before`]), up to a bound.
//! Nothing can arrive from another part before the bound: it is the minimum, over all neighbours,
//! of the neighbour's clock plus the lookahead from there.

use super::board::Board;
use super::ledger::Ledger;
use super::neighbour::Neighbour;
use crate::simulation::measured::Measured;
use crate::simulation::{Control, Failure, Simulation};

/// Number of events above which a stride is too long: they are tens of microseconds of work in a
/// large network, for which another part may wait; and number below which the next stride may be
/// longer.
const MANY_EVENTS: u64 = 256;
const FEW_EVENTS: u64 = 64;

/// Number of idle steps between two checks whether all parts wait: a check fetches what busy threads
/// write.
const SILENCE_EVERY: u32 = 1 << 4;

/// Number of steps between two looks at the control, besides those by the number of events: some ten
/// microseconds of steps without events.
const LOOK_EVERY: u64 = 1 << 8;

/// Phase of a part: the phases of every run ([`Simulation::run_phases`]), in step with the other
/// parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Serves the events of the warm-up and of the measured time.
    Measuring,
    /// Waits until it is known whether the run continues (`ending`).
    Deciding,
    /// Completes the started flows.
    Draining,
    /// Has served all its events, and receives messages until all parts have, so that a full
    /// channel blocks no other part.
    Ending,
    /// All parts are done.
    Over,
}

/// Result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Events were served or messages received.
    Ahead,
    /// Only clocks were received or sent: nothing has happened in the simulated network.
    Told,
    /// Another part must act first.
    Stuck,
    /// All parts are done.
    Over,
}

/// One part. Two threads never share its cache lines (two are fetched together).
#[derive(Debug)]
#[repr(align(128))]
pub struct Part<'a> {
    pub(super) number: usize,
    pub(super) simulation: &'a mut Simulation,
    control: &'a Control,
    /// All other parts in order.
    pub(super) neighbours: Vec<Neighbour>,
    /// Order of the reports of all parts, in the first part.
    pub(super) ledger: Option<Ledger>,
    /// Longest time by which a report may be late, ps.
    pub(super) late_ps: u64,
    /// Whether the part has gone on after the measured time.
    pub(super) drains: bool,
    /// Whether the measured time is over and all messages of its events were received.
    pub(super) is_measured: bool,
    pub(super) board: &'a Board,
    /// Shortest time from each part to this one, ps.
    distances_ps: Vec<u64>,
    /// Simulated time after which this part sends its clock again, current and largest value, ps.
    stride_ps: u64,
    longest_stride_ps: u64,
    pub(super) phase: Phase,
    /// Time before which all events were served, ps.
    pub(super) served_ps: u64,
    /// Number of steps, and of consecutive ones in which nothing happened.
    pub(super) steps: u64,
    in_vain: u32,
    /// Time before which nothing arrives, as determined by the board, ps.
    silence_ps: u64,
    /// Whether the others can read this part's last clock, which also tells since when its flows are
    /// complete.
    has_told: bool,
    /// Whether this part's post is on the board.
    pub(super) is_posted: bool,
    versions: Vec<u64>,
    /// Whether the others know that this part has served all its events.
    pub(super) is_done: bool,
    /// Readings at the end of the measured time.
    pub(super) measured: Option<Measured>,
}

impl<'a> Part<'a> {
    /// Creates the part `number`, which has not begun; `distances_ps` are the shortest times to it.
    pub fn new(
        number: usize,
        simulation: &'a mut Simulation,
        control: &'a Control,
        neighbours: Vec<Neighbour>,
        board: &'a Board,
        distances_ps: Vec<u64>,
    ) -> Part<'a> {
        simulation.clock.aim_at_end();
        let halves = simulation.endpoints.table.halves.as_ref();
        let late_ps = halves.map_or(0, |halves| halves.late_ps());
        let strides = neighbours.iter().map(Neighbour::stride_ps);
        let longest_stride_ps = strides.min().unwrap_or(1);
        let mut part = Part {
            number,
            simulation,
            control,
            stride_ps: longest_stride_ps,
            longest_stride_ps,
            ledger: (number == 0).then(Ledger::default),
            late_ps,
            drains: false,
            is_measured: false,
            neighbours,
            board,
            distances_ps,
            phase: Phase::Measuring,
            served_ps: 0,
            steps: 0,
            in_vain: 0,
            silence_ps: 0,
            has_told: false,
            is_posted: false,
            versions: Vec::new(),
            is_done: false,
            measured: None,
        };
        // Packets that left at time 0, before the first event; a bound that ignored them would be
        // too late.
        part.send_all();
        part
    }

    /// Number of events that this part has served so far.
    #[inline]
    pub(super) fn events(&self) -> u64 {
        self.simulation.clock.served
    }

    /// Does what is possible without waiting for another part.
    #[inline]
    pub fn step(&mut self) -> Result<Step, Failure> {
        let step = match self.phase {
            Phase::Measuring | Phase::Draining => self.advance()?,
            Phase::Deciding => self.decide(),
            Phase::Ending => self.end(),
            Phase::Over => Step::Over,
        };
        match step {
            Step::Ahead | Step::Over => self.in_vain = 0,
            Step::Told | Step::Stuck if self.neighbours.len() > 1 => {
                self.in_vain = self.in_vain.wrapping_add(1);
                self.seek_silence();
            }
            Step::Told | Step::Stuck => {}
        }
        self.steps += 1;
        if self.steps.is_multiple_of(LOOK_EVERY) {
            self.simulation.look_at(self.control)?;
        }
        Ok(step)
    }

    /// Whether another part has sent messages that have not been received.
    pub fn has_new(&self) -> bool {
        self.neighbours.iter().any(Neighbour::has_new)
    }

    /// Serves the events before the limit, as far as the other parts permit.
    fn advance(&mut self) -> Result<Step, Failure> {
        let received = self.receive();
        self.take_end();
        let bound_ps = self.bound_ps();
        let limit_ps = self.simulation.clock.limit_ps;
        let goal_ps = bound_ps.min(limit_ps);
        let is_stuck = self.served_ps >= goal_ps;
        if self.next_ps() < goal_ps {
            self.take_back();
        }
        let events = self.events();
        self.serve_strides(goal_ps, bound_ps)?;
        self.log_rows();
        if self.served_ps >= self.simulation.clock.limit_ps && !self.is_behind() {
            self.reach_limit();
            return Ok(Step::Ahead);
        }
        Ok(match received {
            _ if self.events() > events => Step::Ahead,
            Step::Stuck if !is_stuck => Step::Told,
            received => received,
        })
    }

    /// Processes that all events before the limit were served.
    fn reach_limit(&mut self) {
        if self.phase == Phase::Measuring {
            let end_ps = self.simulation.clock.advance_to_limit();
            self.measured = Some(self.simulation.measure(end_ps));
            self.phase = Phase::Deciding;
        } else {
            self.simulation.end_drain();
            self.phase = Phase::Ending;
        }
    }

    /// Serves the events before `goal_ps` and sends the clock after each stride. Messages that
    /// arrive meanwhile wait: receiving costs more than sending.
    fn serve_strides(&mut self, mut goal_ps: u64, bound_ps: u64) -> Result<(), Failure> {
        loop {
            let from_ps = self.next_ps();
            let to_ps = goal_ps.min(from_ps.saturating_add(self.stride_ps));
            self.served_ps = self.served_ps.max(to_ps);
            let before = self.simulation.clock.served;
            (self.simulation).serve_before(self.served_ps, self.control)?;
            self.tell(bound_ps);
            let events = self.simulation.clock.served - before;
            if events > MANY_EVENTS {
                self.stride_ps = self.stride_ps.div_ceil(2);
            } else if events < FEW_EVENTS {
                self.stride_ps = self.longest_stride_ps.min(2 * self.stride_ps);
            }
            // The end of the run may have become known.
            self.take_end();
            let limit_ps = self.simulation.clock.limit_ps;
            goal_ps = goal_ps.min(limit_ps);
            self.served_ps = self.served_ps.min(limit_ps);
            if self.served_ps >= goal_ps {
                return Ok(());
            }
        }
    }

    /// Time before which nothing further can arrive, ps.
    #[inline]
    fn bound_ps(&self) -> u64 {
        if let [only] = &self.neighbours[..] {
            return only.bound_of_two_ps(self.next_ps());
        }
        let bounds = self.neighbours.iter().map(Neighbour::bound_ps);
        bounds.min().unwrap_or(u64::MAX).max(self.silence_ps)
    }

    /// Time before which nothing is served if nothing arrives, ps. The limit is the latest one: this
    /// part goes on from there if another one does, and the other may end the run first.
    #[inline]
    pub(super) fn next_ps(&self) -> u64 {
        let clock = &self.simulation.clock;
        let next_ps = clock.events.next_not_before_ps();
        next_ps.max(self.served_ps).min(clock.limit_ps)
    }

    pub(super) fn is_behind(&self) -> bool {
        self.neighbours.iter().any(Neighbour::is_behind)
    }

    /// Sends changes and the clock to the other parts. At the end of the measured time the clock is
    /// withheld until it is decided whether the run continues.
    #[inline]
    pub(super) fn tell(&mut self, bound_ps: u64) {
        self.send_all();
        let complete = self.complete();
        let next_ps = self.next_ps();
        let limit_ps = self.simulation.clock.limit_ps;
        // Only the clock of a part that has served all events before the limit is next to it.
        let before_ps = if self.served_ps < limit_ps { 2 } else { 1 };
        let clock_ps = next_ps
            .min(bound_ps.max(self.served_ps))
            .min(limit_ps.saturating_sub(before_ps));
        if let [only] = &mut self.neighbours[..] {
            only.send_clock(clock_ps, next_ps, complete);
            self.board.call(only.part);
            return;
        }
        self.neighbours.iter_mut().for_each(Neighbour::publish);
        self.has_told = false;
        if self.is_behind() {
            return; // no clock before everything that it speaks of
        }
        for neighbour in &mut self.neighbours {
            neighbour.send_clock_alone(clock_ps, complete);
            self.board.call(neighbour.part);
        }
        self.has_told = !self.is_behind();
    }

    /// Withdraws the post, if it is on the board.
    #[inline]
    pub(super) fn take_back(&mut self) {
        if self.is_posted {
            self.is_posted = false;
            self.board.take_back(self.number);
        }
    }

    /// Checks every so many idle steps whether all parts wait, and how far they can then advance. A
    /// part waits only after its clock: the others must know of its complete flows before they
    /// advance, because the run may end with them.
    fn seek_silence(&mut self) {
        if !self.is_posted {
            if !self.has_told {
                return;
            }
            self.is_posted = true;
            let next_ps = self.next_ps();
            let sent = self.neighbours.iter().map(|other| other.sent).sum();
            let taken = self.neighbours.iter().map(|other| other.taken).sum();
            self.board.post(self.number, next_ps, sent, taken);
        } else if self.in_vain.is_multiple_of(SILENCE_EVERY) {
            let silence_ps = self
                .board
                .silence_ps(&self.distances_ps, &mut self.versions);
            self.silence_ps = self.silence_ps.max(silence_ps.unwrap_or(0));
        }
    }
}
