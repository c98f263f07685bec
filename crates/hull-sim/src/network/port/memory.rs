//! Memory that a port's settings determine, without packets.

use super::Port;
use super::pipeline::Extras;
use crate::memory::{block, block_of};
use crate::network::queues::Queues;

impl Port {
    /// Memory of the port without its queues, beyond its place in the list of ports, bytes.
    pub fn extra_bytes(&self) -> u64 {
        let Some(extras) = &self.extras else {
            return 0;
        };
        let lists = [&extras.rules, &extras.sent_rules];
        let of_rules = lists.map(|rules| {
            let of_each = rules.iter().map(|rule| block(size_of_val(&**rule)));
            block_of::<[usize; 2]>(rules.capacity()) + of_each.sum::<u64>()
        });
        let of_trimming = extras.trimming.as_deref().map_or(0, size_of_val);
        block_of::<Extras>(1) + of_rules.iter().sum::<u64>() + block(of_trimming)
    }

    /// Memory of the port's queues and their scheduler, bytes.
    pub fn queues_bytes(&self) -> u64 {
        let extras = self.extras.as_ref();
        let queues = extras.and_then(|extras| extras.queues.as_ref());
        queues.map_or(0, Queues::heap_bytes)
    }
}
