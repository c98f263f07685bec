//! Processor time of the current thread, s.

/// Processor time used by the current thread, s.
pub fn thread_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}
