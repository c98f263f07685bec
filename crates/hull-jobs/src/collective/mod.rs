//! Collectives: what each rank sends and receives, and after which of its operations. Sizes follow NCCL's
//! definitions, in bytes: of one rank's vector (all-reduce, broadcast), of the whole input (reduce-scatter), of the
//! whole output (all-gather), of all that one rank sends, its own part included (all-to-all).
//!
//! A message has a tag of its own, so that ranks need no order of arrival. Receives are posted when the collective begins at a rank,
//! which ends there when it has all that it needs and its sends are done.

mod all_to_all;
mod broadcast;
mod exchange;
mod hierarchical;
mod recursive;
mod ring;
mod tree;

#[cfg(test)]
mod tests;

use crate::program::{After, Program, Stage};
use exchange::Done;

/// What a collective does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Each rank gets the sum of all vectors.
    AllReduce(AllReduce),
    /// Each rank gets a part of the sum.
    ReduceScatter(Halves),
    /// Each rank gets the parts of all.
    AllGather(Halves),
    /// Each rank gets a part of its own from each.
    AllToAll(AllToAll),
    /// All ranks get the first one's data.
    Broadcast(Broadcast),
    /// The first rank gets the sum of all vectors, each of the size, up a binomial tree.
    Reduce,
    /// Each rank sends to the next one.
    SendReceive,
}

/// Algorithm of an all-reduce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllReduce {
    /// Reduce-scatter and all-gather around a ring: 2 (n-1) steps of S/n.
    Ring,
    /// Two binary trees, half of the data on each (NCCL).
    DoubleTree,
    /// Halves, then doubles, the data exchanged with partners at growing distances: 2 log2 n steps, as many bytes as a ring.
    HalvingDoubling,
    /// Exchanges all data with partners at growing distances: log2 n steps of S.
    RecursiveDoubling,
    /// Reduce-scatter in each server, rings between the ranks of one place in it, all-gather in each server.
    Hierarchical,
}

/// Algorithm of a reduce-scatter or an all-gather.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halves {
    /// Around a ring: n-1 steps of S/n.
    Ring,
    /// With partners at distances of powers of two: log2 n steps.
    Recursive,
    /// In each server, and around rings of ranks of one place in it.
    Hierarchical,
}

/// Algorithm of an all-to-all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllToAll {
    /// All messages at once.
    Flat,
    /// Step t with the ranks t before and after: one message at a time in each direction.
    Pairwise,
    /// First in each server to the rank with the receiver's place, then between the ranks of one place.
    Hierarchical,
}

/// Algorithm of a broadcast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broadcast {
    /// Down a binomial tree: log2 n steps.
    Binomial,
    /// From each rank to the next, in chunks.
    Chain,
}

/// A collective of some ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collective {
    /// What it does, and how.
    pub operation: Operation,
    /// Its size, bytes.
    pub bytes: u64,
    /// Pieces of the data that pass one after the other.
    pub chunks: u32,
    /// Equal shares of the data whose messages are separate, as NCCL's channels or several queue pairs are.
    pub channels: u32,
    /// Ranks of a server, of equal numbers and one after the other; for hierarchical algorithms.
    pub per_server: u32,
}

impl Operation {
    /// Name, as keys have it.
    pub fn name(self) -> &'static str {
        match self {
            Operation::AllReduce(_) => "all_reduce",
            Operation::ReduceScatter(_) => "reduce_scatter",
            Operation::AllGather(_) => "all_gather",
            Operation::AllToAll(_) => "all_to_all",
            Operation::Broadcast(_) => "broadcast",
            Operation::Reduce => "reduce",
            Operation::SendReceive => "send_receive",
        }
    }

    /// Whether it needs to know the ranks of a server.
    pub fn is_hierarchical(self) -> bool {
        match self {
            Operation::AllReduce(algorithm) => algorithm == AllReduce::Hierarchical,
            Operation::ReduceScatter(algorithm) | Operation::AllGather(algorithm) => {
                algorithm == Halves::Hierarchical
            }
            Operation::AllToAll(algorithm) => algorithm == AllToAll::Hierarchical,
            Operation::Broadcast(_) | Operation::Reduce | Operation::SendReceive => false,
        }
    }

    /// Bus bandwidth over algorithm bandwidth of n ranks (NCCL's tests), as numerator and denominator.
    pub fn bus_factor(self, n: u32) -> (u32, u32) {
        match self {
            Operation::AllReduce(_) => (2 * (n - 1), n),
            Operation::ReduceScatter(_) | Operation::AllGather(_) | Operation::AllToAll(_) => {
                (n - 1, n)
            }
            Operation::Broadcast(_) | Operation::Reduce | Operation::SendReceive => (1, 1),
        }
    }
}

impl Program {
    /// Adds a collective of `ranks`, on each after the given operation. Returns its last operation on each.
    pub fn collective(
        &mut self,
        name: &str,
        what: &Collective,
        ranks: &[u32],
        after: &[After],
    ) -> Vec<After> {
        let stage = Stage {
            name: name.to_owned(),
            ranks: ranks.len() as u32,
            bytes: what.bytes,
            bus_factor: what.operation.bus_factor(ranks.len() as u32),
        };
        let (number, first) = self.begin(stage, ranks, after);
        let mut last = vec![Vec::new(); ranks.len()];
        // Both trees of a double tree run at once, as channels do.
        let trees = match what.operation {
            Operation::AllReduce(AllReduce::DoubleTree) => 2,
            _ => 1,
        };
        let tracks = what.channels * trees;
        let pieces = u64::from(what.chunks) * u64::from(tracks);
        for track in 0..tracks {
            let mut sent = vec![Vec::new(); ranks.len()];
            for chunk in 0..what.chunks {
                let piece = u64::from(track) * u64::from(what.chunks) + u64::from(chunk);
                let group = Group {
                    ranks,
                    first: &first,
                    bytes: part(what.bytes, piece, pieces),
                    sent_before: &sent,
                };
                let done = self.piece(what, &group, track % 2 == 1);
                for (last, done) in last.iter_mut().zip(done.all) {
                    last.extend(done);
                }
                sent = done.sent;
            }
        }
        self.end(number, ranks, &last)
    }

    /// Adds a piece of the data; of a double tree, on one of its trees.
    fn piece(&mut self, what: &Collective, group: &Group<'_>, on_second: bool) -> Done {
        let per_server = what.per_server as usize;
        match what.operation {
            Operation::AllReduce(AllReduce::Ring) => ring::all_reduce(self, group),
            Operation::AllReduce(AllReduce::DoubleTree) => tree::all_reduce(self, group, on_second),
            Operation::AllReduce(AllReduce::HalvingDoubling) => {
                recursive::all_reduce_by_halves(self, group)
            }
            Operation::AllReduce(AllReduce::RecursiveDoubling) => {
                recursive::all_reduce(self, group)
            }
            Operation::AllReduce(AllReduce::Hierarchical) => {
                hierarchical::all_reduce(self, group, per_server)
            }
            Operation::ReduceScatter(Halves::Ring) => ring::reduce_scatter(self, group),
            Operation::ReduceScatter(Halves::Recursive) => recursive::reduce_scatter(self, group),
            Operation::ReduceScatter(Halves::Hierarchical) => {
                hierarchical::reduce_scatter(self, group, per_server)
            }
            Operation::AllGather(Halves::Ring) => ring::all_gather(self, group),
            Operation::AllGather(Halves::Recursive) => recursive::all_gather(self, group),
            Operation::AllGather(Halves::Hierarchical) => {
                hierarchical::all_gather(self, group, per_server)
            }
            Operation::AllToAll(AllToAll::Flat) => all_to_all::flat(self, group),
            Operation::AllToAll(AllToAll::Pairwise) => all_to_all::pairwise(self, group),
            Operation::AllToAll(AllToAll::Hierarchical) => {
                all_to_all::hierarchical(self, group, per_server)
            }
            Operation::Broadcast(Broadcast::Binomial) => broadcast::binomial(self, group),
            Operation::Broadcast(Broadcast::Chain) => broadcast::chain(self, group),
            Operation::Reduce => broadcast::reduce(self, group),
            Operation::SendReceive => broadcast::to_the_next(self, group),
        }
    }
}

/// The ranks of a piece of a collective, by member.
struct Group<'a> {
    ranks: &'a [u32],
    /// The operation after which each begins.
    first: &'a [After],
    /// Size of the piece.
    bytes: u64,
    /// Sends of the piece before of the same channel, which have the same order: one is under way at a time.
    sent_before: &'a [Vec<u32>],
}

/// Bytes of part `index` of `parts` parts that differ by at most one byte.
fn part(bytes: u64, index: u64, parts: u64) -> u64 {
    range(bytes, (index, index + 1), parts)
}

/// Bytes of the parts from `first` to before `end`.
fn range(bytes: u64, (first, end): (u64, u64), parts: u64) -> u64 {
    let until = |index: u64| (u128::from(bytes) * u128::from(index) / u128::from(parts)) as u64;
    until(end) - until(first)
}
