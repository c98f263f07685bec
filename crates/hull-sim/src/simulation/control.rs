//! A run seen from another thread: how far it is, and the wish that it stop.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Shared between a run and whoever watches it.
#[derive(Debug, Default)]
pub struct Control {
    cancelled: AtomicBool,
    simulated_ps: AtomicU64,
    packet_hops: AtomicU64,
}

impl Control {
    /// Asks the run to stop.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether the run was asked to stop.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Simulated time (ps) and packet-hops so far.
    pub fn progress(&self) -> (u64, u64) {
        (
            self.simulated_ps.load(Ordering::Relaxed),
            self.packet_hops.load(Ordering::Relaxed),
        )
    }

    pub(super) fn report(&self, simulated_ps: u64, packet_hops: u64) {
        self.simulated_ps.store(simulated_ps, Ordering::Relaxed);
        self.packet_hops.store(packet_hops, Ordering::Relaxed);
    }
}
