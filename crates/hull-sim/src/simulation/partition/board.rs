//! State shared by all parts of a run: whether it was aborted and why, how many parts are done, which
//! thread sleeps, and how far all parts can advance when each waits for the others. Times are ps.
//!
//! With clocks alone, idle parts advance through a silence (a retransmission timeout) by one lookahead
//! at a time. A waiting part therefore posts its next event and the numbers of messages that it has
//! sent and received. If all parts wait at one moment and every sent message was received, no message
//! is in transit, and no part can be reached before the earliest sum of a part's next event and the
//! lookahead from there. Later events do not change this.
//!
//! All posts are read twice to detect that moment: a part that waited with the same post both times
//! waited in between. A part withdraws its post before it receives a message or serves an event. All
//! accesses are sequentially consistent, and outside the path of a busy part.

use std::sync::OnceLock;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::thread::{self, Thread};
use std::time::Duration;

use crate::simulation::Failure;

/// Post of one part, alone in its cache lines (two are fetched together).
#[derive(Debug, Default)]
#[repr(align(128))]
struct Post {
    /// Version of the post; odd while the part waits.
    version: AtomicU64,
    sent: AtomicU64,
    taken: AtomicU64,
    next_ps: AtomicU64,
}

/// A thread, and whether it sleeps; alone in its cache lines.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Sleeper {
    thread: OnceLock<Thread>,
    sleeps: AtomicBool,
}

impl Sleeper {
    #[cold]
    fn wake(&self) {
        self.sleeps.store(false, SeqCst);
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }
}

/// State shared by all parts.
#[derive(Debug)]
pub struct Board {
    posts: Box<[Post]>,
    sleepers: Box<[Sleeper]>,
    /// Thread of each part.
    of_parts: Box<[usize]>,
    broken: AtomicBool,
    /// The first failure.
    failure: OnceLock<Failure>,
    done: AtomicUsize,
}

/// Guard of a thread that aborts the run if it is dropped before its release: the thread has panicked.
#[derive(Debug)]
pub struct Guard<'a> {
    board: &'a Board,
    released: bool,
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if !self.released {
            self.board.break_off();
        }
    }
}

impl Guard<'_> {
    /// Releases the guard after the thread has completed its work.
    pub fn release(&mut self) {
        self.released = true;
    }
}

impl Board {
    /// Creates a board for these numbers of parts and of threads, each of which has consecutive parts.
    pub fn new(parts: usize, threads: usize) -> Board {
        Board {
            posts: (0..parts).map(|_| Post::default()).collect(),
            sleepers: (0..threads).map(|_| Sleeper::default()).collect(),
            of_parts: (0..parts).map(|part| part * threads / parts).collect(),
            broken: AtomicBool::new(false),
            failure: OnceLock::new(),
            done: AtomicUsize::new(0),
        }
    }

    /// Creates the guard of a thread.
    pub fn guard(&self) -> Guard<'_> {
        Guard {
            board: self,
            released: false,
        }
    }

    /// Aborts the run of all parts. The first failure counts.
    pub fn fail(&self, failure: Failure) {
        let _ = self.failure.set(failure);
        self.break_off();
    }

    /// The first failure.
    pub fn failure(&self) -> Option<Failure> {
        self.failure.get().cloned()
    }

    fn break_off(&self) {
        self.broken.store(true, SeqCst);
    }

    /// Whether the run was aborted.
    pub fn is_broken(&self) -> bool {
        self.broken.load(SeqCst)
    }

    /// Counts a part that has served all its events and published all its messages.
    pub fn count_done(&self) {
        self.done.fetch_add(1, SeqCst);
    }

    /// Whether all parts are done.
    pub fn are_all_done(&self) -> bool {
        self.done.load(SeqCst) == self.posts.len()
    }

    /// Whether the same thread serves two parts.
    pub fn share_thread(&self, one: usize, other: usize) -> bool {
        self.of_parts[one] == self.of_parts[other]
    }

    /// Registers the current thread with its number, to be woken by calls.
    pub fn register(&self, number: usize) {
        // Each number has one thread in a run.
        let _ = self.sleepers[number].thread.set(thread::current());
    }

    /// Puts the thread with this number to sleep until a call, at most for `longest`, unless it
    /// `is_called` already.
    pub fn sleep(&self, number: usize, longest: Duration, is_called: impl Fn() -> bool) {
        let sleeper = &self.sleepers[number];
        sleeper.sleeps.store(true, SeqCst);
        if !is_called() {
            thread::park_timeout(longest);
        }
        sleeper.sleeps.store(false, SeqCst);
    }

    /// Calls a part after a message. Its thread may miss the call if it falls asleep at this
    /// moment: preventing that would cost every caller, and the sleep is short.
    #[inline]
    pub fn call(&self, part: usize) {
        let sleeper = &self.sleepers[self.of_parts[part]];
        if sleeper.sleeps.load(Relaxed) {
            sleeper.wake();
        }
    }

    /// Posts that a part waits: its next event is at `next_ps` if nothing arrives, and it has sent
    /// and taken these numbers of messages.
    pub fn post(&self, part: usize, next_ps: u64, sent: u64, taken: u64) {
        let post = &self.posts[part];
        post.next_ps.store(next_ps, SeqCst);
        post.sent.store(sent, SeqCst);
        post.taken.store(taken, SeqCst);
        post.version.fetch_add(1, SeqCst);
    }

    /// Withdraws the post of a part that resumes.
    pub fn take_back(&self, part: usize) {
        self.posts[part].version.fetch_add(1, SeqCst);
    }

    /// Time before which nothing can reach a part, ps, if all parts wait and no message is in
    /// transit. `distances_ps` are the shortest times to the part from each part.
    pub fn silence_ps(&self, distances_ps: &[u64], versions: &mut Vec<u64>) -> Option<u64> {
        versions.clear();
        let (mut sent, mut taken, mut reached_ps) = (0, 0, u64::MAX);
        for (post, &distance_ps) in self.posts.iter().zip(distances_ps) {
            let version = post.version.load(SeqCst);
            if version.is_multiple_of(2) {
                return None;
            }
            versions.push(version);
            sent += post.sent.load(SeqCst);
            taken += post.taken.load(SeqCst);
            let next_ps = post.next_ps.load(SeqCst);
            reached_ps = reached_ps.min(next_ps.saturating_add(distance_ps));
        }
        let mut posts = self.posts.iter().zip(versions.iter());
        let is_moment = posts.all(|(post, &version)| post.version.load(SeqCst) == version);
        (is_moment && sent == taken).then_some(reached_ps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_when_all_wait_and_nothing_is_in_transit() {
        let board = Board::new(3, 2);
        let mut versions = Vec::new();
        let mut silence_ps = |board: &Board| board.silence_ps(&[10, 20, 30], &mut versions);
        board.post(0, 1000, 5, 2);
        board.post(1, 900, 0, 0);
        assert_eq!(silence_ps(&board), None, "part 2 is busy");
        board.post(2, u64::MAX, 1, 3);
        assert_eq!(silence_ps(&board), None, "one message of six was not taken");
        board.take_back(2);
        board.post(2, 2000, 1, 4);
        assert_eq!(silence_ps(&board), Some(920));
        board.take_back(1);
        assert_eq!(silence_ps(&board), None);
    }

    #[test]
    fn panic_or_failure_aborts_the_run() {
        let board = Board::new(2, 2);
        let mut first = board.guard();
        first.release();
        drop(first);
        assert!(!board.is_broken());
        drop(board.guard());
        assert!(board.is_broken() && board.failure().is_none());
        board.fail(Failure::TooManyFlows);
        board.fail(Failure::Cancelled);
        assert_eq!(board.failure(), Some(Failure::TooManyFlows));
        board.count_done();
        assert!(!board.are_all_done());
        board.count_done();
        assert!(board.are_all_done());
    }

    /// A call wakes a thread long before its timeout, whether or not it is asleep yet.
    #[test]
    fn call_wakes_the_sleeper() {
        let board = Board::new(1, 1);
        thread::scope(|scope| {
            let begin = std::time::Instant::now();
            let sleeper = scope.spawn(|| {
                board.register(0);
                board.sleep(0, Duration::from_secs(600), || false);
                board.sleep(0, Duration::from_secs(600), || true);
            });
            while !sleeper.is_finished() {
                board.call(0);
            }
            assert!(begin.elapsed() < Duration::from_secs(300));
        });
    }

    #[test]
    fn threads_have_consecutive_parts() {
        let board = Board::new(5, 2);
        let shared = [(0, 1), (1, 2), (2, 3), (3, 4)].map(|(a, b)| board.share_thread(a, b));
        assert_eq!(shared, [true, true, false, true]);
    }
}
