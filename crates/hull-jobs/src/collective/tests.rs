//! Collectives against closed forms, and against what each is for.

use std::collections::HashMap;

use super::*;
use crate::alpha_beta::time_ns;
use crate::{Kind, Schedule};

const ALL: [Operation; 18] = [
    Operation::AllReduce(AllReduce::Ring),
    Operation::AllReduce(AllReduce::DoubleTree),
    Operation::AllReduce(AllReduce::HalvingDoubling),
    Operation::AllReduce(AllReduce::RecursiveDoubling),
    Operation::AllReduce(AllReduce::Hierarchical),
    Operation::ReduceScatter(Halves::Ring),
    Operation::ReduceScatter(Halves::Recursive),
    Operation::ReduceScatter(Halves::Hierarchical),
    Operation::AllGather(Halves::Ring),
    Operation::AllGather(Halves::Recursive),
    Operation::AllGather(Halves::Hierarchical),
    Operation::AllToAll(AllToAll::Flat),
    Operation::AllToAll(AllToAll::Pairwise),
    Operation::AllToAll(AllToAll::Hierarchical),
    Operation::Broadcast(Broadcast::Binomial),
    Operation::Broadcast(Broadcast::Chain),
    Operation::Reduce,
    Operation::SendReceive,
];

fn collective(operation: Operation, bytes: u64) -> Collective {
    Collective {
        operation,
        bytes,
        chunks: 1,
        channels: 1,
        per_server: 4,
    }
}

fn schedule(what: &Collective, n: u32) -> Schedule {
    let mut program = Program::new(n);
    let ranks = Vec::from_iter(0..n);
    program.collective("it", what, &ranks, &vec![None; n as usize]);
    let (schedule, stages) = program.finish().unwrap();
    assert_eq!(stages.len(), 1);
    schedule
}

/// Bytes that each rank sends.
fn sent(schedule: &mut Schedule) -> Vec<u64> {
    let ranks = 0..schedule.ranks();
    let of_rank = |rank: u32| {
        let ops = (0..schedule.len(rank)).map(|index| schedule.op(rank, index).unwrap());
        let sends = ops.filter(|op| op.kind == Kind::Send);
        sends.map(|op| op.size).sum()
    };
    ranks.map(of_rank).collect()
}

/// Alpha-beta times as the literature has them; a message of s bytes takes 1000 + s - 1 ns here.
#[test]
fn times_are_their_closed_forms() {
    let step = |bytes: u64| 1000 + bytes - 1;
    let (n, bytes) = (16_u64, 1_u64 << 20);
    let halves = |powers: u32| -> u64 { (1..=powers).map(|power| step(bytes >> power)).sum() };
    for (operation, closed) in [
        (Operation::AllReduce(AllReduce::Ring), 30 * step(bytes / n)),
        (
            Operation::AllReduce(AllReduce::HalvingDoubling),
            2 * halves(4),
        ),
        (
            Operation::AllReduce(AllReduce::RecursiveDoubling),
            4 * step(bytes),
        ),
        // 3 steps in the server of S/4, 6 on the rail of S/16, 3 in the server.
        (
            Operation::AllReduce(AllReduce::Hierarchical),
            6 * step(bytes / 4) + 6 * step(bytes / 16),
        ),
        (Operation::ReduceScatter(Halves::Ring), 15 * step(bytes / n)),
        (Operation::AllGather(Halves::Ring), 15 * step(bytes / n)),
        (Operation::ReduceScatter(Halves::Recursive), halves(4)),
        (Operation::AllGather(Halves::Recursive), halves(4)),
        (
            Operation::AllGather(Halves::Hierarchical),
            3 * step(bytes / 16) + 3 * step(bytes / 4),
        ),
        (
            Operation::AllToAll(AllToAll::Pairwise),
            15 * step(bytes / n),
        ),
        (Operation::Broadcast(Broadcast::Binomial), 4 * step(bytes)),
        (Operation::Broadcast(Broadcast::Chain), 15 * step(bytes)),
        (Operation::Reduce, 4 * step(bytes)),
        (Operation::SendReceive, step(bytes)),
    ] {
        assert_eq!(
            time_ns(schedule(&collective(operation, bytes), 16)),
            closed,
            "{operation:?}"
        );
    }
}

/// (n-1) (a + C b) + (S/C - 1) (a + C b)
#[test]
fn chunks_of_a_chain_follow_each_other() {
    let chain = Collective {
        chunks: 8,
        ..collective(Operation::Broadcast(Broadcast::Chain), 1 << 20)
    };
    assert_eq!(
        time_ns(schedule(&chain, 16)),
        (15 + 7) * (1000 + (1 << 17) - 1)
    );
}

/// Bytes that a rank sends, by the literature, for any number of chunks and channels.
#[test]
fn bytes_are_their_closed_forms() {
    let bytes = 10_000_019_u64;
    for (operation, n, closed) in [
        (Operation::AllReduce(AllReduce::Ring), 12, 2.0 * 11.0 / 12.0),
        (
            Operation::AllReduce(AllReduce::HalvingDoubling),
            16,
            2.0 * 15.0 / 16.0,
        ),
        (Operation::AllReduce(AllReduce::RecursiveDoubling), 16, 4.0),
        // Of four ranks in a server: 2 x 3/4, and of 3 servers 2 x 2/3 of a quarter.
        (
            Operation::AllReduce(AllReduce::Hierarchical),
            12,
            1.5 + 1.0 / 3.0,
        ),
        (Operation::ReduceScatter(Halves::Ring), 12, 11.0 / 12.0),
        (
            Operation::ReduceScatter(Halves::Hierarchical),
            12,
            11.0 / 12.0,
        ),
        (Operation::AllGather(Halves::Hierarchical), 12, 11.0 / 12.0),
        (Operation::AllGather(Halves::Recursive), 16, 15.0 / 16.0),
        (Operation::AllToAll(AllToAll::Flat), 12, 11.0 / 12.0),
        (Operation::AllToAll(AllToAll::Pairwise), 12, 11.0 / 12.0),
        // 3/4 to others of the server, 2/3 to other servers.
        (
            Operation::AllToAll(AllToAll::Hierarchical),
            12,
            0.75 + 2.0 / 3.0,
        ),
        (Operation::SendReceive, 12, 1.0),
    ] {
        for (chunks, channels) in [(1, 1), (3, 2)] {
            let what = Collective {
                chunks,
                channels,
                ..collective(operation, bytes)
            };
            for sent in sent(&mut schedule(&what, n)) {
                let share = sent as f64 / bytes as f64;
                assert!(
                    (share - closed).abs() < 1e-4,
                    "{operation:?} {share} {closed}"
                );
            }
        }
    }
}

/// A tree's member sends half of the data to its parent and to each child, in both trees: two times the data at most.
#[test]
fn double_tree_halves_what_a_rank_sends() {
    for n in [2, 3, 5, 8, 13, 16, 31, 32] {
        let tree = Operation::AllReduce(AllReduce::DoubleTree);
        let sent = sent(&mut schedule(&collective(tree, 1 << 20), n));
        assert_eq!(
            sent.iter().sum::<u64>(),
            (2 * u64::from(n - 1)) << 20,
            "{n}"
        );
        assert!(sent.iter().all(|&bytes| bytes <= 2 << 20), "{n}: {sent:?}");
    }
}

/// The ranks whose first operation the last one of each depends on.
fn known(schedule: &mut Schedule) -> Vec<u128> {
    let n = schedule.ranks();
    let mut set: HashMap<(u32, u32), u128> = HashMap::new();
    let mut missing: HashMap<(u32, u32), u32> = HashMap::new();
    let mut sends: HashMap<u32, ((u32, u32), u128)> = HashMap::new();
    let mut waiting: HashMap<u32, (u32, u32)> = HashMap::new();
    let mut ready: Vec<(u32, u32)> = Vec::new();
    for rank in 0..n {
        for root in schedule.roots(rank).unwrap() {
            set.insert((rank, root), 1 << rank);
            ready.push((rank, root));
        }
    }
    let mut last = vec![0; n as usize];
    while let Some((rank, index)) = ready.pop() {
        let op = schedule.op(rank, index).unwrap();
        let mine = set[&(rank, index)];
        let mut ended = vec![((rank, index), mine)];
        match op.kind {
            Kind::Compute => {}
            // A send may end at once: what is known here does not depend on when it does.
            Kind::Send => match waiting.remove(&op.tag) {
                Some(receive) => ended.push((receive, mine | set[&receive])),
                None => {
                    sends.insert(op.tag, ((rank, index), mine));
                }
            },
            Kind::Receive => match sends.remove(&op.tag) {
                Some((_, theirs)) => ended[0].1 |= theirs,
                None => {
                    waiting.insert(op.tag, (rank, index));
                    ended.clear();
                }
            },
        }
        for ((rank, index), mine) in ended {
            last[rank as usize] |= mine;
            for next in schedule.after_end(rank, index).unwrap() {
                *set.entry((rank, next)).or_default() |= mine;
                let needs = schedule.op(rank, next).unwrap().needs;
                let left = missing.entry((rank, next)).or_insert(needs);
                *left -= 1;
                if *left == 0 {
                    ready.push((rank, next));
                }
            }
        }
    }
    assert!(waiting.is_empty() && sends.is_empty());
    last
}

/// A collective is over at a rank when data of each other rank can have reached it.
#[test]
fn each_rank_hears_from_all_others() {
    for operation in ALL {
        for n in [4, 8, 12, 16, 64] {
            let is_recursive = matches!(
                operation,
                Operation::ReduceScatter(Halves::Recursive)
                    | Operation::AllGather(Halves::Recursive)
            );
            if is_recursive && n == 12 {
                continue;
            }
            let what = Collective {
                chunks: 2,
                channels: 2,
                ..collective(operation, 1 << 20)
            };
            let all = (1_u128 << n) - 1;
            for (rank, known) in (0..n).zip(known(&mut schedule(&what, n))) {
                let expected = match operation {
                    Operation::Broadcast(_) => 1 | known,
                    Operation::Reduce if rank > 0 => known,
                    Operation::SendReceive => known | 1 << ((rank + n - 1) % n),
                    _ => all,
                };
                assert_eq!(known, expected, "{operation:?}, rank {rank} of {n}");
            }
        }
    }
}

/// A long schedule is made rank by rank, in a file.
#[test]
fn parts_make_the_same_schedule() {
    let text = |operations: u64| {
        let what = collective(Operation::AllReduce(AllReduce::DoubleTree), 1 << 20);
        let (mut schedule, stages) = Program::make(12, operations, |program| {
            let ranks = Vec::from_iter(0..12);
            let last = program.collective("it", &what, &ranks, &[None; 12]);
            program.collective("again", &what, &ranks, &last);
        })
        .unwrap();
        assert_eq!(stages.len(), 2);
        let mut text = Vec::new();
        crate::write_goal_text(&mut schedule, &mut text).unwrap();
        text
    };
    assert_eq!(text(1000), text(u64::MAX));
    assert_eq!(text(1000), text(20_000_000));
}

/// Folding members beyond a power of two costs two more messages of all data.
#[test]
fn halving_takes_any_number_of_ranks() {
    let what = collective(Operation::AllReduce(AllReduce::HalvingDoubling), 1 << 20);
    let of_eight = time_ns(schedule(&what, 8));
    assert_eq!(
        time_ns(schedule(&what, 11)),
        of_eight + 2 * (1000 + (1 << 20) - 1)
    );
}
