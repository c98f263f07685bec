//! Memory that a port's settings determine, without packets.

use super::Port;
use super::extras::Extras;
use crate::memory::{block, block_of};
use crate::network::queues::Queues;
use crate::network::rules::WritesRecords;

impl Port {
    /// Memory of the port without its queues, beyond its place in the list of ports, bytes.
    pub fn extra_bytes(&self) -> u64 {
        let Some(extras) = &self.extras else {
            return 0;
        };
        let queued = extras.queued.as_ref();
        let sent_rules = queued.map(|queued| &queued.sent_rules);
        let lists = [Some(&extras.rules), sent_rules].into_iter().flatten();
        let of_rules = lists.map(|rules| {
            let of_each = rules.iter().map(|rule| block(size_of_val(&**rule)));
            block_of::<[usize; 2]>(rules.capacity()) + of_each.sum::<u64>()
        });
        let trimming = queued.and_then(|queued| queued.trimming.as_deref());
        let of_trimming = block(trimming.map_or(0, size_of_val));
        let of_records = extras.records.as_ref().map_or(0, WritesRecords::heap_bytes);
        block_of::<Extras>(1) + of_records + of_rules.sum::<u64>() + of_trimming
    }

    /// Memory of the port's queues and their scheduler, bytes.
    pub fn queues_bytes(&self) -> u64 {
        self.queues().map_or(0, Queues::heap_bytes)
    }
}
