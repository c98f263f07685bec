//! Whether processors are free for the threads of a run, by trial.

use std::thread;
use std::time::{Duration, Instant};

use crate::measure::thread_seconds;

/// Time after its start during which a thread may miss its processor: new threads share one until
/// the operating system moves them.
pub const SETTLING: Duration = Duration::from_millis(10);

/// Duration of the trial after that: two or three time slices.
const TRIAL: Duration = Duration::from_millis(8);

/// Longest time without a processor in a trial, much less than a time slice.
const MISSED: Duration = Duration::from_micros(500);

/// Lets this number of threads work for some milliseconds. Returns whether each had a processor of
/// its own.
pub fn are_free(threads: usize) -> bool {
    thread::scope(|scope| {
        let spawn = |_| thread::Builder::new().spawn_scoped(scope, has_processor);
        let others: Vec<_> = (1..threads).map(spawn).collect();
        let own = has_processor();
        let join = |other: thread::ScopedJoinHandle<'_, bool>| other.join().unwrap_or(false);
        // All are joined, even if the first ones return false.
        let others = others.into_iter().map(|other| other.is_ok_and(join));
        others.fold(own, |all, one| all && one)
    })
}

/// Keeps this thread busy. Returns whether it always had a processor after settling.
fn has_processor() -> bool {
    work_for(SETTLING);
    let before = thread_seconds();
    let elapsed = work_for(TRIAL);
    let worked = Duration::from_secs_f64((thread_seconds() - before).max(0.0));
    elapsed < worked + MISSED
}

/// Keeps this thread busy for a time. Returns the time that it took.
fn work_for(time: Duration) -> Duration {
    let begin = Instant::now();
    loop {
        let elapsed = begin.elapsed();
        if elapsed >= time {
            return elapsed;
        }
        std::hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn two_threads_on_one_processor_are_not_free() {
        use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

        // Affinity applies to a thread and to the threads that it starts.
        let alone = thread::spawn(|| {
            let mut one = CpuSet::new();
            let all = sched_getaffinity(None).expect("affinity");
            let first = (0..CpuSet::MAX_CPU).find(|&processor| all.is_set(processor));
            one.set(first.expect("a processor"));
            sched_setaffinity(None, &one).expect("affinity");
            are_free(2)
        });
        assert!(!alone.join().expect("answer"));
    }

    #[test]
    fn answer_comes_after_settling_and_a_trial() {
        let begin = Instant::now();
        are_free(1);
        assert!(begin.elapsed() >= SETTLING + TRIAL);
    }
}
