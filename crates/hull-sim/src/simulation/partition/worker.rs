//! A thread of a run: it serves consecutive parts from beginning to end. A part's results depend on the
//! content of the other parts' messages and not on their timing, so threads do not matter to them.

use std::hint;
use std::time::Duration;

use super::board::Board;
use super::part::{Part, Step};
use crate::measure::thread_seconds;
use crate::simulation::Failure;

/// Number of idle steps before a thread sleeps until a call, about 0.1 ms: waking it takes some 10
/// us.
const PATIENCE: u32 = 1 << 12;

/// Longest sleep of a thread, in case a call came in the moment when it fell asleep.
const NAP: Duration = Duration::from_micros(200);

/// Serves `parts` on the thread `number` until all parts are done or the run is aborted. If it fails or
/// panics, the other threads end too. Returns the thread's processor time, s.
pub fn work(number: usize, parts: &mut [Part<'_>], board: &Board) -> f64 {
    let mut guard = board.guard();
    board.register(number);
    if let Err(failure) = serve(number, parts, board) {
        board.fail(failure);
    }
    guard.release();
    thread_seconds()
}

fn serve(number: usize, parts: &mut [Part<'_>], board: &Board) -> Result<(), Failure> {
    let mut in_vain = 0;
    loop {
        let (mut is_over, mut is_stuck) = (true, true);
        for part in &mut *parts {
            let step = part.step()?;
            is_over &= step == Step::Over;
            is_stuck &= step == Step::Stuck;
        }
        if is_over {
            return Ok(());
        } else if !is_stuck {
            in_vain = 0;
        } else if in_vain < PATIENCE {
            in_vain += 1;
            hint::spin_loop();
        } else if board.is_broken() {
            return Ok(());
        } else {
            board.sleep(number, NAP, || parts.iter().any(Part::has_new));
        }
    }
}
