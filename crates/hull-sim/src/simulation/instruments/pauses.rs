//! Single pauses of a run that records them.

use super::Instruments;
use crate::measure::PauseEventRow;
use crate::simulation::fabric::Fabric;

impl Instruments {
    /// Records the pauses that have begun or ended since the last call.
    pub fn note_pauses(&mut self, fabric: &mut Fabric) {
        let Some(log) = &mut self.logs.pauses else {
            return;
        };
        for event in fabric.network.take_pause_events() {
            let port = event.port as usize;
            log.push(PauseEventRow {
                from: fabric.graph.port_owner(port) as u32,
                to: fabric.graph.port_far_end(port) as u32,
                event,
            });
        }
    }
}
