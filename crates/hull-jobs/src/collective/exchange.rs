//! Messages between the members of a group, and what each member has then to wait for.

use super::Group;
use crate::program::{After, Program};

/// What a member's send waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waits {
    /// What it received in the last step in which it received.
    Received,
    /// All that it has received.
    ReceivedAll,
    /// What it sent and received in the last step in which it did either.
    Done,
}

/// What is done of a piece.
pub(super) struct Done {
    /// Operations of each member that must end.
    pub(super) all: Vec<Vec<After>>,
    /// Sends of each member, in order.
    pub(super) sent: Vec<Vec<u32>>,
}

/// What the members of a group have done so far.
pub(super) struct Exchange<'a> {
    group: &'a Group<'a>,
    waits: Waits,
    /// Per member, what its next send waits for.
    ready: Vec<Vec<After>>,
    done: Done,
}

impl<'a> Exchange<'a> {
    /// Begins; each member may send after its first operation.
    pub(super) fn new(group: &'a Group<'a>, waits: Waits) -> Self {
        Exchange {
            group,
            waits,
            ready: group.first.iter().map(|&first| vec![first]).collect(),
            done: Done {
                all: group.first.iter().map(|&first| vec![first]).collect(),
                sent: vec![Vec::new(); group.ranks.len()],
            },
        }
    }

    /// Adds the messages of a step: (from, to, bytes), by member. They depend on earlier steps only.
    pub(super) fn step(
        &mut self,
        program: &mut Program,
        messages: impl IntoIterator<Item = (usize, usize, u64)>,
    ) {
        let mut sends: Vec<(usize, u32)> = Vec::new();
        let mut receives: Vec<(usize, u32)> = Vec::new();
        for (from, to, bytes) in messages {
            let tag = program.tags(1);
            let (sender, receiver) = (self.group.ranks[from], self.group.ranks[to]);
            let number = self.done.sent[from].len();
            let before = self.group.sent_before[from].get(number).copied();
            let mut after = self.ready[from].clone();
            after.push(before);
            let sent = program.send((sender, receiver), bytes, tag, &after);
            let posted = &[self.group.first[to]];
            let received = program.receive((receiver, sender), bytes, tag, posted);
            self.done.sent[from].push(sent);
            sends.push((from, sent));
            receives.push((to, received));
        }
        if self.waits != Waits::ReceivedAll {
            for &(member, _) in &receives {
                self.ready[member].clear();
            }
        }
        if self.waits == Waits::Done {
            for &(member, _) in &sends {
                self.ready[member].clear();
            }
            for &(member, op) in &sends {
                self.ready[member].push(Some(op));
            }
        }
        for &(member, op) in &receives {
            self.ready[member].push(Some(op));
        }
        for (member, op) in sends.into_iter().chain(receives) {
            self.done.all[member].push(Some(op));
        }
    }

    /// What is done now.
    pub(super) fn done(self) -> Done {
        self.done
    }
}
