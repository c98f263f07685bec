//! Whether a rank's part of a schedule is sound: successors and peers exist, each operation has as many
//! dependencies as it says, its roots are the operations without any, and there is no cycle.

use super::layout::{Header, NODE_BYTES, read_node};
use super::store::Store;
use super::{Counts, Place};
use crate::op::{ANY, Kind, Op};
use crate::problem::Problem;

/// Checks one rank and adds what it holds to `counts`. Memory: 8 bytes for each of its operations.
pub fn check_rank(
    store: &mut Store,
    rank: usize,
    place: &Place,
    end: u64,
    header: &Header,
    counts: &mut Counts,
) -> Result<(), Problem> {
    let number = rank as u32;
    let entries = (end - place.appendix_at) / 4;
    let mut missing = vec![0_u32; place.nodes as usize];
    let mut incoming = vec![0_u32; place.nodes as usize];
    for index in 0..place.nodes {
        let at = node_at(place, index);
        let node = read_node(store, number, at)?;
        let wrong = |told: String| Err(Problem::new(format!("byte {at}"), told));
        if let Err(told) = check_op(&node.op, header) {
            return wrong(format!("rank {rank}, operation {index}: {told}"));
        }
        count(counts, &node.op);
        counts.requires += u64::from(node.requires);
        counts.irequires += u64::from(node.irequires);
        missing[index as usize] = node.op.needs;
        for (first, count) in [
            (node.requires_at, node.requires),
            (node.irequires_at, node.irequires),
        ] {
            if u64::from(first) + u64::from(count) > entries && count > 0 {
                return wrong(format!(
                    "rank {rank}, operation {index}: successors {first} to {} of {entries}",
                    u64::from(first) + u64::from(count)
                ));
            }
            for next in successors(store, number, place, first, count)? {
                match incoming.get_mut(next as usize) {
                    Some(count) => *count += 1,
                    None => {
                        return wrong(format!(
                            "rank {rank}, operation {index}: successor {next} of {} operations",
                            place.nodes
                        ));
                    }
                }
            }
        }
    }
    if let Some(index) = (0..missing.len()).find(|&index| missing[index] != incoming[index]) {
        let told = format!(
            "rank {rank}, operation {index}: needs {} others, and is the successor of {}",
            missing[index], incoming[index]
        );
        return Err(Problem::new(
            format!("byte {}", node_at(place, index as u32)),
            told,
        ));
    }
    let roots = store.numbers(number, place.roots_at, place.roots)?;
    let free = missing.iter().filter(|&&needs| needs == 0).count();
    let mut seen = vec![false; missing.len()];
    let are_roots = roots.iter().all(|&root| {
        missing.get(root as usize) == Some(&0) && !std::mem::replace(&mut seen[root as usize], true)
    });
    if !are_roots || roots.len() != free {
        let told = format!(
            "rank {rank}: its list of operations without dependencies is wrong; expected {free} of them"
        );
        return Err(Problem::new(format!("byte {}", place.roots_at), told));
    }
    check_cycles(store, rank, place, missing, roots)
}

fn node_at(place: &Place, index: u32) -> u64 {
    place.nodes_at + NODE_BYTES as u64 * u64::from(index)
}

fn successors(
    store: &mut Store,
    rank: u32,
    place: &Place,
    first: u32,
    count: u32,
) -> Result<Vec<u32>, Problem> {
    if count == 0 {
        return Ok(Vec::new());
    }
    store.numbers(rank, place.appendix_at + 4 * u64::from(first), count)
}

fn check_op(op: &Op, header: &Header) -> Result<(), String> {
    let ranks = header.places.len() as u64;
    if op.cpu > header.highest_cpu || op.nic > header.highest_nic {
        return Err(format!(
            "processor {} and interface {}, and the header says at most {} and {}",
            op.cpu, op.nic, header.highest_cpu, header.highest_nic
        ));
    }
    let is_known = match op.kind {
        Kind::Compute => true,
        Kind::Receive => op.peer == ANY || u64::from(op.peer) < ranks,
        Kind::Send => u64::from(op.peer) < ranks,
    };
    if is_known {
        return Ok(());
    }
    Err(format!(
        "rank {} as its peer; there are {ranks}, from 0",
        op.peer
    ))
}

fn count(counts: &mut Counts, op: &Op) {
    match op.kind {
        Kind::Send => {
            counts.sends += 1;
            counts.send_bytes += u128::from(op.size);
        }
        Kind::Receive => counts.receives += 1,
        Kind::Compute => counts.computations += 1,
    }
}

/// Removes operations whose dependencies are done, until none is left (Kahn, 1962).
fn check_cycles(
    store: &mut Store,
    rank: usize,
    place: &Place,
    mut missing: Vec<u32>,
    mut ready: Vec<u32>,
) -> Result<(), Problem> {
    let number = rank as u32;
    let mut done = 0;
    while let Some(index) = ready.pop() {
        done += 1;
        let node = read_node(store, number, node_at(place, index))?;
        for (first, count) in [
            (node.requires_at, node.requires),
            (node.irequires_at, node.irequires),
        ] {
            for next in successors(store, number, place, first, count)? {
                let needs = &mut missing[next as usize];
                *needs -= 1;
                if *needs == 0 {
                    ready.push(next);
                }
            }
        }
    }
    if done == place.nodes {
        return Ok(());
    }
    let cycle = find_cycle(store, number, place, &missing)?;
    let told = format!(
        "operations that wait for each other: {}; {} of {} could never start",
        cycle
            .iter()
            .map(|index| format!("{index}"))
            .collect::<Vec<_>>()
            .join(" -> "),
        place.nodes - done,
        place.nodes
    );
    Err(Problem::new(format!("rank {rank}"), told))
}

/// A cycle among the operations that miss something, from its first to the same again.
fn find_cycle(
    store: &mut Store,
    rank: u32,
    place: &Place,
    missing: &[u32],
) -> Result<Vec<u32>, Problem> {
    // Each stuck operation has a stuck one before it: going back from any must come round.
    let mut before = vec![u32::MAX; missing.len()];
    for index in 0..place.nodes {
        if missing[index as usize] == 0 {
            continue;
        }
        let node = read_node(store, rank, node_at(place, index))?;
        for (first, count) in [
            (node.requires_at, node.requires),
            (node.irequires_at, node.irequires),
        ] {
            for next in successors(store, rank, place, first, count)? {
                before[next as usize] = index;
            }
        }
    }
    let mut at = (0..place.nodes)
        .find(|&index| missing[index as usize] > 0)
        .unwrap_or_default();
    let mut seen = vec![false; missing.len()];
    while !std::mem::replace(&mut seen[at as usize], true) {
        at = before[at as usize];
    }
    let mut cycle = vec![at];
    let mut back = before[at as usize];
    while back != at {
        cycle.push(back);
        back = before[back as usize];
    }
    cycle.push(at);
    cycle.reverse();
    Ok(cycle)
}
