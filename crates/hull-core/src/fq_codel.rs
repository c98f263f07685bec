//! FQ-CoDel's scheduler: deficit round robin over flows, new flows first (RFC 8290). Each flow's queue
//! is a [`Codel`](crate::codel).
//!
//! Source: RFC 8290 as implemented by Linux (torvalds/linux at 010e85f, net/sched/sch_fq_codel.c): 1024
//! flows, a quantum of a full packet.
//!
//! A flow whose first packet arrives joins the end of the list of new flows with a quantum of credit.
//! New flows are served before old ones. The head of a list sends while its credit is above zero, and
//! each packet costs its size. A head without credit gets a quantum and moves to the end of the old
//! list. A new head without packets moves there too if old flows exist, so that it cannot overtake
//! them; otherwise it leaves the scheduler. An old head without packets always leaves.
//!
//! The caller classifies packets into flows, and chooses the flow to drop from when all buffers are
//! full.
//!
//! Units: bytes.

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

/// State of a flow in the lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    credit: i64,
    listed: bool,
}

impl Flow {
    const UNLISTED: Self = Self {
        credit: 0,
        listed: false,
    };
}

/// Lists of new and old flows with their credits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowQueues {
    quantum: i64,
    /// Credit of a flow that joins the new flows.
    initial: i64,
    flows: Vec<Flow>,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
}

impl FlowQueues {
    /// Creates the lists for `flows` flows without packets.
    ///
    /// # Panics
    /// Panics if the quantum is zero.
    pub fn new(flows: u32, quantum_bytes: u32) -> Self {
        assert!(quantum_bytes > 0, "quantum_bytes must be above zero");
        Self {
            quantum: i64::from(quantum_bytes),
            initial: i64::from(quantum_bytes),
            flows: vec![Flow::UNLISTED; flows as usize],
            new: VecDeque::new(),
            old: VecDeque::new(),
        }
    }

    /// Gives flows that join the new ones `bytes` of credit instead of a quantum (Linux's sch_fq).
    #[must_use]
    pub fn with_initial(mut self, bytes: u32) -> Self {
        self.initial = i64::from(bytes);
        self
    }

    /// Adds a flow without packets; its number is the next one.
    pub fn add(&mut self) {
        self.flows.push(Flow::UNLISTED);
    }

    /// Records that a packet of `flow` joined its queue.
    pub fn on_arrival(&mut self, flow: u32) {
        let entry = &mut self.flows[flow as usize];
        if !entry.listed {
            entry.listed = true;
            entry.credit = self.initial;
            self.new.push_back(flow);
        }
    }

    /// Selects the flow that sends next; `None` if no flow holds packets. `waits` tells whether a
    /// flow does; `left` is called for each flow that leaves the lists.
    pub fn next(&mut self, waits: impl Fn(u32) -> bool, mut left: impl FnMut(u32)) -> Option<u32> {
        loop {
            let of_new = !self.new.is_empty();
            let leaves = !of_new || self.old.is_empty();
            let list = if of_new { &mut self.new } else { &mut self.old };
            let flow = *list.front()?;
            let entry = &mut self.flows[flow as usize];
            if entry.credit <= 0 {
                entry.credit += self.quantum;
            } else if waits(flow) {
                return Some(flow);
            } else if leaves {
                entry.listed = false;
                list.pop_front();
                left(flow);
                continue;
            }
            list.pop_front();
            self.old.push_back(flow);
        }
    }

    /// Moves the flow that `next` returned to the end of the old flows, because it may not send now.
    pub fn defer(&mut self, flow: u32) {
        let is_new = self.new.front() == Some(&flow);
        let list = if is_new { &mut self.new } else { &mut self.old };
        list.pop_front();
        self.old.push_back(flow);
    }

    /// Charges a packet of `bytes` sent by the flow that `next` returned. A packet that CoDel
    /// dropped is not charged.
    pub fn on_sent(&mut self, flow: u32, bytes: u32) {
        self.flows[flow as usize].credit -= i64::from(bytes);
    }
}
