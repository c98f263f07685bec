//! Single pauses, for a run that asks for them: each frame to pause that reached a port, and each end of a
//! pause. Times are ps.

use super::Pauses;
use crate::network::Network;

/// What happened to the pause of a class at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PauseStep {
    /// A frame began a pause.
    Begin,
    /// A frame came while the class was paused.
    Renewal,
    /// A frame came that the watchdog ignored.
    Ignored,
    /// A pause ended.
    End,
}

/// A pause that began, was renewed or ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PauseEvent {
    /// Time, ps.
    pub time_ps: u64,
    /// Port that pauses.
    pub port: u32,
    /// Class; 0 for all if links pause as a whole.
    pub class: u8,
    /// What happened.
    pub step: PauseStep,
}

impl Pauses {
    /// Records an event if the run asks for events.
    pub(super) fn record(&mut self, time_ps: u64, port: u32, class: u8, step: PauseStep) {
        if let Some(events) = &mut self.events {
            events.push(PauseEvent {
                time_ps,
                port,
                class,
                step,
            });
        }
    }
}

impl Network {
    /// Records the events of pauses from now on.
    pub fn record_pauses(&mut self) {
        if let Some(pauses) = self.pauses.as_deref_mut() {
            pauses.events = Some(Vec::new());
        }
    }

    /// Takes the events since the last call, in the order of time.
    pub fn take_pause_events(&mut self) -> Vec<PauseEvent> {
        let pauses = self.pauses.as_deref_mut();
        let events = pauses.and_then(|pauses| pauses.events.as_mut());
        events.map(std::mem::take).unwrap_or_default()
    }
}
