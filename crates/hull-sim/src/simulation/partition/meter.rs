//! Meter of a thread that serves its own part: whether it gets a processor when it has work, whether
//! its time is over, and how fast the parts are.

use std::time::{Duration, Instant};

use crate::measure::thread_seconds;

/// Numbers of steps and of events between two readings, whichever comes first: fractions of a
/// millisecond. A step in a large network has thousands of events.
const READ_EVERY: u32 = 1 << 8;
const READ_EVENTS: u64 = 1 << 13;

/// Time without a processor between two readings that is a miss: less than a time slice.
const MISSED: Duration = Duration::from_millis(1);

/// A reading of the clocks, and the number of the part's events at that time.
#[derive(Clone, Copy, Debug)]
struct Reading {
    at: Instant,
    /// Processor time of the thread.
    worked: Duration,
    events: u64,
}

impl Reading {
    fn take(events: u64) -> Reading {
        Reading {
            at: Instant::now(),
            worked: Duration::from_secs_f64(thread_seconds().max(0.0)),
            events,
        }
    }
}

/// Result of a reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// The thread had work and no processor.
    Missed,
    /// The time is over.
    Due,
}

/// The meter.
#[derive(Debug)]
pub struct Meter {
    /// Time for which the thread is to serve its part, if it is the one that decides.
    time: Option<Duration>,
    begin: Reading,
    /// First reading in the second half of the time.
    half: Option<Reading>,
    last: Reading,
    steps: u32,
    /// Time that the thread has slept voluntarily since the last reading.
    slept: Duration,
}

impl Meter {
    /// Creates a meter of a part that has served this number of events.
    pub fn new(time: Option<Duration>, events: u64) -> Meter {
        let begin = Reading::take(events);
        Meter {
            time,
            begin,
            half: None,
            last: begin,
            steps: 0,
            slept: Duration::ZERO,
        }
    }

    /// Whether a reading is due after a step. The part has served this number of events.
    #[inline]
    pub fn is_due(&mut self, events: u64) -> bool {
        self.steps += 1;
        self.steps.is_multiple_of(READ_EVERY) || events - self.last.events >= READ_EVENTS
    }

    /// Records that the thread has slept voluntarily.
    pub fn sleep(&mut self, time: Duration) {
        self.slept += time;
    }

    /// Reads the clocks.
    pub fn read(&mut self, events: u64) -> Option<Sign> {
        let last = Reading::take(events);
        let before = std::mem::replace(&mut self.last, last);
        let slept = std::mem::take(&mut self.slept);
        let elapsed = last.at - self.begin.at;
        if self.half.is_none() && self.time.is_some_and(|time| elapsed >= time / 2) {
            self.half = Some(last);
        }
        if last.at - before.at > (last.worked.saturating_sub(before.worked)) + slept + MISSED {
            return Some(Sign::Missed);
        }
        let is_over = self.time.is_some_and(|time| elapsed >= time);
        is_over.then_some(Sign::Due)
    }

    /// Events per second of all parts in the second half of the time, if they have served
    /// `of_all` events since the begin; since the begin if the second half was not reached.
    pub fn speed(&self, of_all: u64) -> f64 {
        let own = self.last.events - self.begin.events;
        let since = self.half.filter(|half| half.events < self.last.events);
        let since = since.unwrap_or(self.begin);
        let seconds = (self.last.at - since.at).as_secs_f64().max(1e-9);
        let own_speed = (self.last.events - since.events) as f64 / seconds;
        own_speed * of_all as f64 / own.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keeps a thread busy.
    fn work(time: Duration) {
        let begin = Instant::now();
        while begin.elapsed() < time {
            std::hint::spin_loop();
        }
    }

    #[test]
    fn speed_is_that_of_the_second_half() {
        let mut meter = Meter::new(Some(Duration::ZERO), 100);
        work(Duration::from_millis(20));
        meter.sleep(Duration::from_secs(1000));
        assert_eq!(meter.read(200), Some(Sign::Due));
        let half = meter.last.at;
        work(Duration::from_millis(2));
        meter.read(1200);
        // 1,000 of its own 1,100 events; all parts have twice as many.
        let seconds = (meter.last.at - half).as_secs_f64();
        assert!((meter.speed(2200) * seconds - 2000.0).abs() < 1e-6);
    }

    #[test]
    fn speed_of_a_short_time_is_that_of_all_of_it() {
        let mut meter = Meter::new(Some(Duration::from_secs(600)), 0);
        work(Duration::from_millis(1));
        meter.read(10);
        let seconds = (meter.last.at - meter.begin.at).as_secs_f64();
        assert!((meter.speed(30) * seconds - 30.0).abs() < 1e-6);
    }

    #[test]
    fn sleep_is_no_miss_unless_it_was_not_wanted() {
        let mut meter = Meter::new(None, 0);
        std::thread::sleep(Duration::from_millis(5));
        assert_eq!(meter.read(0), Some(Sign::Missed));
        std::thread::sleep(Duration::from_millis(5));
        meter.sleep(Duration::from_secs(1));
        assert_eq!(meter.read(0), None);
    }

    #[test]
    fn read_after_many_steps_or_events() {
        let mut meter = Meter::new(None, 0);
        assert!(!meter.is_due(READ_EVENTS - 1));
        assert!(meter.is_due(READ_EVENTS));
        meter.read(READ_EVENTS);
        assert!(!meter.is_due(READ_EVENTS));
        let due = (0..READ_EVERY).filter(|_| meter.is_due(READ_EVENTS));
        assert_eq!(due.count(), 1);
    }
}
