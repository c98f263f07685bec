//! The threads that serve the parts of a run: each serves its own part, or the first one serves all
//! of them, joined into one simulation (`joined`), while the others sleep. Parts with hosts are not
//! joined but served in turn.
//!
//! Parts exchange work every few microseconds. A thread that loses its processor to another process
//! for a time slice of some milliseconds stalls the others as long: two threads beside one busy
//! process took 2.2 to 2.5 times as long as one. If a network has little to do, messages cost more
//! than a second processor gains. A single thread needs one processor, never waits, and sends no
//! messages. Therefore the faster of the two modes, in events per second, runs for a while, and the
//! other one is tried for a short time in between. That while doubles each time the same mode
//! remains the faster one. A trial of all threads ends when one of them was runnable without a
//! processor for a millisecond.
//!
//! A part's results depend on the content of the other parts' messages and not on their timing, so
//! they are the same in both modes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{hint, thread};

use super::board::Board;
use super::joined;
use super::meter::{Meter, Sign};
use super::part::{Part, Step};
use super::plan::Plan;
use super::processors::SETTLING;
use crate::engine::Due;
use crate::measure::thread_seconds;
use crate::simulation::Failure;

/// Number of idle steps before a thread sleeps until a call, about 0.1 ms: waking it takes some 10
/// us.
const PATIENCE: u32 = 1 << 12;

/// Longest sleep of a thread, in case a call came in the moment when it fell asleep; and of a
/// thread without a part to serve, after which it checks whether the run was aborted.
const NAP: Duration = Duration::from_micros(200);
const LONG_NAP: Duration = Duration::from_millis(20);

/// Number of turns of all parts between two looks at the clock, if one thread serves them in turn.
const TURNS: u32 = 1 << 3;

/// Durations of a trial of the slower mode, and first duration of the faster one. The speed is
/// measured in the second half, because the first one fills the caches, of two processors if the
/// parts were joined before.
const TRY_APART: Duration = Duration::from_millis(8);
const TRY_JOINED: Duration = Duration::from_millis(4);
const SHORT_STAY: Duration = Duration::from_millis(30);

/// Longest duration of the faster mode. A trial of all threads costs more than one of the joined
/// parts: if processors are busy, the threads that wait for each other spin.
const LONGEST_APART: Duration = Duration::from_millis(200);
const LONGEST_JOINED: Duration = Duration::from_secs(1);

/// Assignment of threads to parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// Each thread serves its own part, or the first one serves all parts, joined, whichever is
    /// faster.
    Adaptive,
    /// The first thread serves all parts, joined, because there are fewer processors than parts.
    Joined,
    /// The first thread serves all parts in turn.
    InTurn,
    /// Each thread always serves its own part.
    #[cfg(test)]
    Apart,
    /// All modes alternate with the shortest possible durations.
    #[cfg(test)]
    Alternating,
    /// The first thread always serves all parts in turn, the edge last: the others have sent their
    /// clocks before its first step.
    #[cfg(test)]
    EdgeLast,
    /// The first thread serves one part for some steps, then another, in an order drawn from this
    /// seed: parts advance unevenly, as on busy processors, but each time in the same way.
    #[cfg(test)]
    Interleaved(u64),
}

impl Manner {
    /// Selects the assignment for this number of parts on this machine.
    pub fn of(parts: usize) -> Manner {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        match parts <= processors {
            true => Manner::Adaptive,
            false => Manner::Joined,
        }
    }

    /// Whether threads ever serve their own parts.
    pub fn has_threads(self) -> bool {
        self != Manner::Joined && !self.is_in_turn()
    }

    /// Whether the parts are never joined and have no threads of their own.
    fn is_in_turn(self) -> bool {
        #[cfg(test)]
        if matches!(self, Manner::EdgeLast | Manner::Interleaved(_)) {
            return true;
        }
        self == Manner::InTurn
    }
}

/// State shared by the threads. A thread holds the lock of its part while it serves it.
#[derive(Debug)]
pub struct Workers<'a> {
    plan: &'a Plan,
    parts: Vec<Mutex<Part<'a>>>,
    board: &'a Board,
    manner: Manner,
    /// Time from which on a thread must not miss its processor.
    settled_at: Instant,
    /// Whether the first thread serves all parts, or is about to.
    by_one: AtomicBool,
}

/// All parts, locked by one thread.
type All<'g, 'a> = Vec<MutexGuard<'g, Part<'a>>>;

impl<'a> Workers<'a> {
    /// Creates the shared state for these parts.
    pub fn new(
        plan: &'a Plan,
        parts: Vec<Part<'a>>,
        board: &'a Board,
        manner: Manner,
    ) -> Workers<'a> {
        Workers {
            plan,
            parts: parts.into_iter().map(Mutex::new).collect(),
            board,
            manner,
            settled_at: Instant::now() + SETTLING,
            by_one: AtomicBool::new(!manner.has_threads()),
        }
    }

    /// Serves the part `number` on this thread until all parts are done; if it ends for another
    /// reason, the other threads end too. Returns also the thread's processor time, s.
    pub fn work(&self, number: usize) -> (Result<(), Failure>, f64) {
        let mut guard = self.board.guard();
        self.board.register(number);
        let result = match number {
            0 => self.lead(),
            _ => self.follow(number),
        };
        if result.is_ok() {
            guard.release();
        }
        (result, thread_seconds())
    }

    /// Returns the parts after the end.
    pub fn into_parts(self) -> impl Iterator<Item = Part<'a>> {
        let parts = self.parts.into_iter();
        parts.map(|part| part.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    fn part(&self, number: usize) -> MutexGuard<'_, Part<'a>> {
        let part = self.parts[number].lock();
        part.unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs the first thread: serves its part, or all.
    fn lead(&self) -> Result<(), Failure> {
        let (mut apart, mut joined) = (SHORT_STAY, TRY_JOINED);
        let (mut events, mut moved) = (0, Vec::new());
        loop {
            let (meter, is_over) = self.serve_own(0, Some(apart))?;
            if is_over {
                return Ok(());
            }
            let mut all: All = (0..self.parts.len()).map(|n| self.part(n)).collect();
            let speed_apart = meter.speed(events_of(&all) - events);
            let (speed_joined, is_over) = self.serve_all(&mut all, &mut moved, joined)?;
            events = events_of(&all);
            drop(all);
            self.by_one.store(false, Ordering::SeqCst);
            (1..self.parts.len()).for_each(|number| self.board.wake(number));
            if is_over {
                return Ok(());
            }
            (apart, joined) = match speed_apart > speed_joined {
                true => (longer(apart, LONGEST_APART), TRY_JOINED),
                false => (TRY_APART, longer(joined, LONGEST_JOINED)),
            };
        }
    }

    /// Runs any other thread: serves its part unless the first one does.
    fn follow(&self, number: usize) -> Result<(), Failure> {
        loop {
            if self.serve_own(number, None)?.1 {
                return Ok(());
            }
            self.board.wake(0);
            while self.by_one.load(Ordering::SeqCst) {
                if self.board.is_broken() {
                    return Err(Failure::Cancelled);
                }
                if self.board.are_all_done() {
                    return Ok(());
                }
                thread::park_timeout(LONG_NAP);
            }
        }
    }

    /// Serves one part until all are done, for the given time, or until one thread is to serve all
    /// parts. Returns the thread's meter, and whether all parts are done.
    fn serve_own(&self, number: usize, time: Option<Duration>) -> Result<(Meter, bool), Failure> {
        let mut part = self.part(number);
        let mut meter = Meter::new(time, part.events());
        let mut in_vain = 0;
        while !self.by_one.load(Ordering::Relaxed) {
            match part.step(false)? {
                Step::Ahead | Step::Told => {
                    in_vain = 0;
                    if !meter.is_due(part.events()) {
                        continue;
                    }
                }
                Step::Stuck if in_vain < PATIENCE => {
                    in_vain += 1;
                    hint::spin_loop();
                    continue;
                }
                Step::Stuck => {
                    if self.board.is_broken() {
                        return Err(Failure::Cancelled);
                    }
                    let begin = Instant::now();
                    self.board.sleep(number, NAP, || part.has_new());
                    meter.sleep(begin.elapsed().min(NAP));
                }
                Step::Over => return Ok((meter, true)),
            }
            if self.is_pause(meter.read(part.events())) {
                self.by_one.store(true, Ordering::SeqCst);
            }
        }
        meter.read(part.events());
        Ok((meter, false))
    }

    /// Whether the threads are to pause after a reading of a meter.
    fn is_pause(&self, sign: Option<Sign>) -> bool {
        match self.manner {
            Manner::Adaptive => match sign {
                Some(Sign::Missed) => Instant::now() >= self.settled_at,
                Some(Sign::Due) => true,
                None => false,
            },
            #[cfg(test)]
            Manner::Apart => false,
            _ => true,
        }
    }

    /// Serves all parts for a while: joined, or in turn if they cannot be joined. Returns the
    /// events per second in the second half, and whether all parts are done. `moved` is empty
    /// before and after.
    fn serve_all(
        &self,
        all: &mut All<'_, 'a>,
        moved: &mut Vec<Due>,
        time: Duration,
    ) -> Result<(f64, bool), Failure> {
        let begin = Instant::now();
        let goes_on = || match self.manner {
            Manner::Adaptive => begin.elapsed() < time,
            manner => !manner.has_threads(),
        };
        let is_cold = || begin.elapsed() < time / 2;
        #[cfg(test)]
        if self.manner == Manner::EdgeLast {
            all.reverse();
        }
        let (mut events, mut joined) = (0, Duration::ZERO);
        #[cfg(test)]
        if let Manner::Interleaved(seed) = self.manner {
            return super::interleaved::serve(all, seed);
        }
        loop {
            if self.board.is_broken() {
                return Err(Failure::Cancelled);
            }
            let meeting_ps = match self.manner {
                manner if manner.is_in_turn() || self.plan.of_hosts.is_some() => None,
                _ => joined::meet(all)?,
            };
            if let Some(at_ps) = meeting_ps {
                joined::join(self.plan, all, moved);
                let edge = all[0].with_control();
                let served_ps = joined::serve(edge, at_ps, || goes_on() && is_cold())?;
                let (begin, before) = (Instant::now(), events_of(all));
                let served_ps = joined::serve(all[0].with_control(), served_ps, goes_on)?;
                joined += begin.elapsed();
                events += events_of(all) - before;
                joined::divide(self.plan, all, served_ps, moved);
            } else {
                let (begin, before) = (Instant::now(), events_of(all));
                for _ in 0..TURNS {
                    let mut is_over = true;
                    for part in &mut *all {
                        is_over &= part.step_in_turn()? == Step::Over;
                    }
                    if is_over {
                        return Ok((0.0, true));
                    }
                }
                if !is_cold() {
                    joined += begin.elapsed();
                    events += events_of(all) - before;
                }
            }
            if !goes_on() {
                return Ok((speed(events, joined), false));
            }
        }
    }
}

/// Number of events of all parts so far.
fn events_of(all: &All) -> u64 {
    all.iter().map(|part| part.load().events).sum()
}

/// Events per second.
fn speed(events: u64, time: Duration) -> f64 {
    events as f64 / time.as_secs_f64().max(1e-9)
}

/// Next duration of the faster mode, which ran for `time`.
fn longer(time: Duration, longest: Duration) -> Duration {
    (2 * time).clamp(SHORT_STAY, longest)
}
