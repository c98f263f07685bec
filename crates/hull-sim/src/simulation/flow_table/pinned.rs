//! Flows of a list whose data must pass a given switch: their route is the first of a series of hashes
//! whose path does. Acknowledgments take any route. If no path passes the switch, as after a failure, the
//! flow takes the path of its hash and is counted.

use std::collections::HashSet;
use std::sync::Arc;

use super::FlowTable;
use crate::topology::{Graph, Routes, Sending, hash_that};

/// Number of no switch.
const NONE: u32 = u32::MAX;

/// Switches that flows must pass.
#[derive(Debug)]
pub struct Pinned {
    graph: Arc<Graph>,
    /// Switch of each slot's flow.
    of_slots: Vec<u32>,
    /// Switch of the flow that is opened next.
    next: u32,
    /// Ends and switches without a path.
    missed: HashSet<((u32, u32), u32)>,
    /// Number of times that a flow found no path through its switch.
    misses: u64,
}

impl Pinned {
    /// Notes the switch of the flow that has been opened in a slot.
    pub fn open(&mut self, slot: u32) {
        let slots = self.of_slots.len().max(slot as usize + 1);
        self.of_slots.resize(slots, NONE);
        self.of_slots[slot as usize] = std::mem::replace(&mut self.next, NONE);
    }

    /// Forgets which switches were missed, after a change of the network.
    pub fn forget_missed(&mut self) {
        self.missed.clear();
    }
}

impl FlowTable {
    /// Lets flows pass given switches of a network, if some flows `are_pinned`.
    pub fn pinning(mut self, graph: &Arc<Graph>, are_pinned: bool) -> Self {
        self.pinned = are_pinned.then(|| {
            Box::new(Pinned {
                graph: Arc::clone(graph),
                of_slots: Vec::new(),
                next: NONE,
                missed: HashSet::new(),
                misses: 0,
            })
        });
        self
    }

    /// Gives the flow that is opened next the switch that its data must pass, which `via` tells.
    #[inline]
    pub fn pin_next(&mut self, via: impl FnOnce() -> Option<u32>) {
        if let Some(pinned) = &mut self.pinned {
            pinned.next = via().unwrap_or(NONE);
        }
    }

    /// Number of times that a flow found no path through its switch.
    pub fn pin_misses(&self) -> u64 {
        self.pinned.as_ref().map_or(0, |pinned| pinned.misses)
    }

    /// Counts that the path of a flow misses its switch, if it has one.
    pub fn count_pin_miss(&mut self, slot: u32) {
        if let Some(pinned) = &mut self.pinned {
            let flow = &self.flows[slot as usize];
            let ends_and_switch = ((flow.src, flow.dst), pinned.of_slots[slot as usize]);
            pinned.misses += u64::from(pinned.missed.contains(&ends_and_switch));
        }
    }

    /// Data of a flow with the hash of a path through the flow's switch, if it has one.
    pub fn steered(&mut self, routes: &Routes, slot: u32, sending: Sending) -> Sending {
        let Some(mut pinned) = self.pinned.take() else {
            return sending;
        };
        let switch = pinned.of_slots[slot as usize];
        let ends_and_switch = (sending.ends, switch);
        let mut steered = sending;
        if switch != NONE && !pinned.missed.contains(&ends_and_switch) {
            let passes = |hash: u64| {
                let moved = hash.wrapping_sub(sending.path_hash);
                steered.path_hash = hash;
                steered.flow_hash = sending.flow_hash.wrapping_add(moved);
                let found = self.find_path(routes, &steered);
                found && pinned.graph.passes(&self.scratch, switch as usize)
            };
            if hash_that(sending.path_hash, passes).is_none() {
                pinned.missed.insert(ends_and_switch);
                steered = sending;
            }
        }
        self.pinned = Some(pinned);
        steered
    }
}
