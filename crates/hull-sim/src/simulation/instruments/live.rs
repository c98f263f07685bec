//! A sample for the display of a live run.

use super::Instruments;
use super::look::Row;
use crate::network::Network;
use crate::simulation::flow_table::FlowTable;

impl Instruments {
    /// Records the display of a live run. Returns the time until the next call, ps, if the run
    /// is live.
    pub fn sample_live(
        &mut self,
        now_ps: u64,
        network: &mut Network,
        table: &FlowTable,
    ) -> Option<u64> {
        let look = self.live.as_mut()?;
        let (port, options) = (&mut network.ports[self.client_port], &mut network.options);
        let throughput_bps = look.throughput_bps(port.carried_bytes(now_ps, options));
        let mut flows = vec![None; (look.flows.end - look.flows.start) as usize];
        for slot in table.followed() {
            let number = table.flows[slot as usize].number;
            if look.flows.contains(&number) {
                flows[(number - look.flows.start) as usize] = Some(table.reading(slot));
            }
        }
        let queue_bytes = port.queue(now_ps, options).bytes;
        let phantom_bytes = port.phantom_bytes(now_ps, options);
        let pauses = network
            .has_pauses()
            .then(|| look.pauses(network.paused_times(now_ps), &flows));
        look.keep(Row {
            at_ps: now_ps,
            queue_bytes,
            phantom_bytes,
            throughput_bps,
            flows,
            pauses,
        });
        Some(look.interval_ps)
    }
}
