//! Connections that last as long as the job: the messages between two hosts take theirs in turn, as over several queue
//! pairs. Without them each message has a connection of its own.

use std::collections::HashMap;

use hull_jobs::{Kind, Problem, Schedule};

use crate::workload::Channel;

/// Connections between two hosts.
#[derive(Clone, Copy, Debug)]
struct Pair {
    first: u32,
    next: u32,
}

/// The connections of a job.
#[derive(Debug, Default)]
pub(super) struct QueuePairs {
    per_pair: u32,
    /// By the pair's hosts, the lower number first.
    pairs: HashMap<(u32, u32), Pair>,
    ends: Vec<(u32, u32)>,
}

impl QueuePairs {
    /// Connections between the hosts of which one sends to the other: `ends` has the hosts of a send, or `None` if
    /// it does not use the network.
    pub(super) fn new(
        per_pair: u32,
        schedule: &mut Schedule,
        ends: impl Fn(u32, u32, u8) -> Option<(u32, u32)>,
    ) -> Result<Self, Problem> {
        let mut found = QueuePairs {
            per_pair,
            ..QueuePairs::default()
        };
        if per_pair == 0 {
            return Ok(found);
        }
        for rank in 0..schedule.ranks() {
            for index in 0..schedule.len(rank) {
                let op = schedule.op(rank, index)?;
                if op.kind == Kind::Send
                    && let Some((src, dst)) = ends(rank, op.peer, op.nic)
                {
                    found.add(src.min(dst), src.max(dst));
                }
            }
        }
        Ok(found)
    }

    fn add(&mut self, low: u32, high: u32) {
        let first = self.ends.len() as u32;
        self.pairs.entry((low, high)).or_insert_with(|| {
            let both = std::iter::repeat_n((low, high), self.per_pair as usize);
            self.ends.extend(both);
            Pair { first, next: 0 }
        });
    }

    /// Ends of the connections.
    pub(super) fn ends(&self) -> &[(u32, u32)] {
        &self.ends
    }

    /// The connection of the next message between two hosts.
    pub(super) fn take(&mut self, (src, dst): (u32, u32)) -> Channel {
        let pair = self.pairs.get_mut(&(src.min(dst), src.max(dst)));
        pair.map_or(Channel::New, |pair| {
            let connection = pair.first + pair.next;
            pair.next = (pair.next + 1) % self.per_pair;
            Channel::Connection(connection)
        })
    }
}
