//! The threads that serve the parts of a run: each serves its own part as long as all of them get a
//! processor; otherwise the first one serves all parts in turn, and the others sleep.
//!
//! Parts exchange work every few microseconds. A thread that loses its processor to another process for
//! a time slice of some milliseconds stalls the others for as long: two threads beside one busy process
//! took 2.2 to 2.5 times as long as one. A single thread that serves the parts in turn needs one
//! processor and never waits. A thread that was runnable without a processor for [`MISSED`] therefore
//! requests turns. After a while all threads serve their own parts again. That while grows each time
//! this proves slower than turns, so retries cost little on a busy processor, and a run soon returns to
//! all threads on a free one.
//!
//! A part's results depend on the content of the other parts' messages and not on their timing, so they
//! are the same.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{hint, thread};

use super::board::Board;
use super::part::{Part, Step};
use crate::measure::thread_seconds;
use crate::simulation::Failure;

/// Steps in vain before a thread sleeps until it is called, about 0.1 ms: waking it takes some 10 us.
const PATIENCE: u32 = 1 << 12;

/// A sleeping thread looks so often whether it was called in the moment when it fell asleep, and a
/// thread without a turn whether the run was broken off.
const NAP: Duration = Duration::from_micros(200);
const LONG_NAP: Duration = Duration::from_millis(20);

/// Steps between two readings of the clocks, fractions of a millisecond.
const READ_EVERY: u32 = 1 << 8;

/// So long without a processor between two readings asks for turns: less than a time slice.
const MISSED: Duration = Duration::from_millis(1);

/// How long the parts are served in turn: at first, and at most; and at least how many times as long as
/// a try that was slower.
const SHORT_TURNS: Duration = Duration::from_millis(10);
const LONG_TURNS: Duration = Duration::from_secs(1);
const OF_A_TRY: u32 = 16;

/// Steps of each part between two looks at the clock while they are served in turn.
const TURNS: u32 = 1 << 6;

/// Who serves the parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// Each thread its own, or the first one all in turn, whichever is faster.
    Adaptive,
    /// The first thread all, always: there are fewer processors than parts.
    InTurn,
    /// Each thread its own, always.
    #[cfg(test)]
    Apart,
    /// By turns of both, as short as can be.
    #[cfg(test)]
    Alternating,
    /// The first thread all, always, the edge last: the others have told their clocks before its first step.
    #[cfg(test)]
    EdgeLast,
}

impl Manner {
    /// For so many parts on this machine.
    pub fn of(parts: usize) -> Manner {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        match parts <= processors {
            true => Manner::Adaptive,
            false => Manner::InTurn,
        }
    }

    fn is_always_in_turn(self) -> bool {
        #[cfg(test)]
        if self == Manner::EdgeLast {
            return true;
        }
        self == Manner::InTurn
    }
}

/// What the threads share. A thread holds the lock of its part as long as it serves it.
#[derive(Debug)]
pub struct Workers<'a> {
    parts: Vec<Mutex<Part<'a>>>,
    board: &'a Board,
    manner: Manner,
    /// Whether the first thread serves all parts, or is to.
    in_turn: AtomicBool,
}

impl<'a> Workers<'a> {
    /// The threads of these parts.
    pub fn new(parts: Vec<Part<'a>>, board: &'a Board, manner: Manner) -> Workers<'a> {
        Workers {
            parts: parts.into_iter().map(Mutex::new).collect(),
            board,
            manner,
            in_turn: AtomicBool::new(manner.is_always_in_turn()),
        }
    }

    /// Serves the part `number` by this thread until all parts are done; however it ends, the other
    /// threads do. Returns the thread's processor time too, s.
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

    /// The parts, after the end.
    pub fn into_parts(self) -> impl Iterator<Item = Part<'a>> {
        let parts = self.parts.into_iter();
        parts.map(|part| part.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    fn part(&self, number: usize) -> MutexGuard<'_, Part<'a>> {
        let part = self.parts[number].lock();
        part.unwrap_or_else(PoisonError::into_inner)
    }

    /// The first thread: serves its part, or all.
    fn lead(&self) -> Result<(), Failure> {
        let mut turns = SHORT_TURNS;
        let mut speed_in_turn = 0.0;
        loop {
            let (begin, events) = (Instant::now(), self.part(0).load().events);
            if self.serve_own(0)? {
                return Ok(());
            }
            let tried = begin.elapsed();
            turns = match self.speed(events, tried) < speed_in_turn {
                true => (2 * turns).max(OF_A_TRY * tried).min(LONG_TURNS),
                false => SHORT_TURNS,
            };
            let (begin, events) = (Instant::now(), self.part(0).load().events);
            let is_over = self.serve_in_turn(turns)?;
            speed_in_turn = self.speed(events, begin.elapsed());
            self.in_turn.store(false, Ordering::SeqCst);
            (1..self.parts.len()).for_each(|number| self.board.wake(number));
            if is_over {
                return Ok(());
            }
        }
    }

    /// Events of the first part in a second, since it had served so many.
    fn speed(&self, events: u64, time: Duration) -> f64 {
        (self.part(0).load().events - events) as f64 / time.as_secs_f64().max(1e-9)
    }

    /// Any other thread: serves its part unless the first one does.
    fn follow(&self, number: usize) -> Result<(), Failure> {
        loop {
            if self.serve_own(number)? {
                return Ok(());
            }
            self.board.wake(0);
            while self.in_turn.load(Ordering::SeqCst) {
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

    /// Serves one part until all are done (true) or they are to be served in turn.
    fn serve_own(&self, number: usize) -> Result<bool, Failure> {
        let mut part = self.part(number);
        let mut meter = Meter::new(self.manner);
        let mut in_vain = 0;
        while !self.in_turn.load(Ordering::Relaxed) {
            match part.step(false)? {
                Step::Ahead => {
                    in_vain = 0;
                    if meter.is_due() && meter.asks_for_turns() {
                        self.in_turn.store(true, Ordering::SeqCst);
                    }
                }
                Step::Stuck if in_vain < PATIENCE => {
                    in_vain += 1;
                    hint::spin_loop();
                }
                Step::Stuck => {
                    if self.board.is_broken() {
                        return Err(Failure::Cancelled);
                    }
                    let begin = Instant::now();
                    self.board.sleep(number, NAP, || part.has_new());
                    meter.slept += begin.elapsed().min(NAP);
                    if meter.asks_for_turns() {
                        self.in_turn.store(true, Ordering::SeqCst);
                    }
                }
                Step::Over => return Ok(true),
            }
        }
        Ok(false)
    }

    /// Serves all parts for a while, each as far as it gets; true when all are done.
    fn serve_in_turn(&self, turns: Duration) -> Result<bool, Failure> {
        let numbers = 0..self.parts.len();
        let mut parts: Vec<_> = numbers.map(|number| self.part(number)).collect();
        #[cfg(test)]
        if self.manner == Manner::EdgeLast {
            parts.reverse();
        }
        let begin = Instant::now();
        loop {
            if self.board.is_broken() {
                return Err(Failure::Cancelled);
            }
            for _ in 0..TURNS {
                let mut is_over = true;
                for part in &mut parts {
                    is_over &= part.step(true)? == Step::Over;
                }
                if is_over {
                    return Ok(true);
                }
            }
            match self.manner {
                Manner::Adaptive if begin.elapsed() < turns => {}
                manner if manner.is_always_in_turn() => {}
                _ => return Ok(false),
            }
        }
    }
}

/// Whether a thread gets a processor when it has something to do.
#[derive(Debug)]
struct Meter {
    manner: Manner,
    steps: u32,
    read_at: Instant,
    processor_seconds: f64,
    /// How long the thread has slept since then, as it wanted to.
    slept: Duration,
}

impl Meter {
    fn new(manner: Manner) -> Meter {
        Meter {
            manner,
            steps: 0,
            read_at: Instant::now(),
            processor_seconds: thread_seconds(),
            slept: Duration::ZERO,
        }
    }

    /// After a step: whether it is time to read the clocks.
    #[inline]
    fn is_due(&mut self) -> bool {
        self.steps += 1;
        self.steps.is_multiple_of(READ_EVERY)
    }

    /// Whether the parts are to be served in turn, by the time since this was last asked.
    fn asks_for_turns(&mut self) -> bool {
        match self.manner {
            Manner::Adaptive => {
                let before = std::mem::replace(self, Meter::new(self.manner));
                let worked_seconds = self.processor_seconds - before.processor_seconds;
                let worked = Duration::from_secs_f64(worked_seconds.max(0.0));
                self.read_at - before.read_at > worked + before.slept + MISSED
            }
            Manner::InTurn => true,
            #[cfg(test)]
            Manner::Apart => false,
            #[cfg(test)]
            Manner::Alternating | Manner::EdgeLast => true,
        }
    }
}
