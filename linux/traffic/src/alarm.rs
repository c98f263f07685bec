//! A timer with microsecond precision, from timerfd. (Tokio's own timer counts milliseconds, but a 1 KB
//! response of paper 6.2 takes a few hundred us.)

use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use tokio::io::unix::AsyncFd;

/// Alarm with microsecond precision.
#[derive(Debug)]
pub struct Alarm(AsyncFd<OwnedFd>);

impl Alarm {
    /// Creates an alarm. This requires a runtime with I/O.
    pub fn new() -> io::Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        // SAFETY: an OwnedFd keeps the same open descriptor for its lifetime, and nothing takes it
        // out.
        #[allow(unsafe_code)]
        let timer = unsafe { AsyncFd::register(timer) }?;
        Ok(Alarm(timer))
    }

    /// Waits until `at`; returns at once if it has passed.
    pub async fn until(&mut self, at: Instant) -> io::Result<()> {
        loop {
            let left = at.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            self.set(left)?;
            let mut ready = self.0.readable().await?;
            let mut count = [0; 8];
            // An abandoned alarm may have left the descriptor readable: the loop checks the clock
            // again.
            let _ = ready.try_io(|fd| Ok(rustix::io::read(fd.get_ref(), &mut count)?));
        }
    }

    /// Waits for `time`.
    pub async fn after(&mut self, time: Duration) -> io::Result<()> {
        self.until(Instant::now() + time).await
    }

    fn set(&self, left: Duration) -> io::Result<()> {
        let zero = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let time = Itimerspec {
            it_interval: zero,
            it_value: Timespec {
                tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: i64::from(left.subsec_nanos()),
            },
        };
        timerfd_settime(&self.0, TimerfdTimerFlags::empty(), &time)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn waits_only_for_future_times() {
        let mut alarm = Alarm::new().expect("a timer");
        let start = Instant::now();
        let at = start + Duration::from_micros(2500);
        // One that is abandoned before, with its time over.
        tokio::select! {
            biased;
            _ = alarm.after(Duration::from_micros(100)) => panic!("too early"),
            () = std::future::ready(()) => {}
        }
        alarm.until(at).await.expect("waits");
        assert!(Instant::now() >= at);
        alarm.until(start).await.expect("does not wait");
    }
}
