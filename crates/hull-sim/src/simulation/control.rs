//! Control of a run from another thread: its progress, and a request to stop.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Control shared between a run and its observer.
#[derive(Debug, Default)]
pub struct Control {
    cancelled: Arc<AtomicBool>,
    simulated_ps: AtomicU64,
    packet_hops: AtomicU64,
    /// Share of the workload that has started, in millionths; 0 if unknown.
    started: AtomicU64,
    /// Controls of the other parts, if the run is simulated in parts.
    others: Mutex<Vec<Arc<Control>>>,
}

impl Control {
    /// Requests the run to stop.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether the run has been requested to stop.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Simulated time (ps), packet-hops so far, and the share of the workload that has started, if
    /// known.
    pub fn progress(&self) -> (u64, u64, Option<f64>) {
        let started = self.started.load(Ordering::Relaxed);
        let others = self.others();
        let others = others
            .iter()
            .map(|other| other.packet_hops.load(Ordering::Relaxed));
        (
            self.simulated_ps.load(Ordering::Relaxed),
            self.packet_hops.load(Ordering::Relaxed) + others.sum::<u64>(),
            (started > 0).then_some(started as f64 * 1e-6),
        )
    }

    pub(super) fn report(&self, simulated_ps: u64, packet_hops: u64, started: Option<f64>) {
        let millionths = (started.unwrap_or(0.0) * 1e6) as u64;
        self.started.store(millionths, Ordering::Relaxed);
        self.simulated_ps.store(simulated_ps, Ordering::Relaxed);
        self.packet_hops.store(packet_hops, Ordering::Relaxed);
    }

    /// Creates the control of another part of the run, which stops when this one does.
    pub(super) fn of_another_part(&self) -> Arc<Control> {
        let other = Arc::new(Control {
            cancelled: Arc::clone(&self.cancelled),
            ..Control::default()
        });
        self.others().push(Arc::clone(&other));
        other
    }

    /// Removes the controls of the other parts, whose work is counted here from now on.
    pub(super) fn forget_others(&self) {
        self.others().clear();
    }

    fn others(&self) -> MutexGuard<'_, Vec<Arc<Control>>> {
        self.others.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
