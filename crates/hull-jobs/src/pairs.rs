//! Whether sends and receives pair up, counted before a run: a receive without a send would wait for ever.

use std::collections::HashMap;

use crate::op::{ANY, Kind};
use crate::problem::Problem;
use crate::schedule::Schedule;

/// What does not pair up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pairs {
    /// Messages without a receive.
    pub unreceived: u64,
    /// Messages that do not use the network.
    pub local: u64,
}

#[derive(Debug, Default)]
struct Balance {
    sends: u64,
    receives: u64,
    /// First operation of either kind: of the sender, and of the receiver.
    receive: u32,
}

/// Number of a sender and a tag, spread over 64 bits: sums of equal lists are equal, and others hardly ever (SplitMix64).
fn spread(from: u32, tag: u32) -> u64 {
    let mut bits = (u64::from(from) << 32 | u64::from(tag)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// Compares sends and receives by receiver, sender and tag. `is_local` tells whether a message between two ranks does not
/// use the network. Memory holds a sum for each rank; only receivers whose sums differ, or that
/// take messages from any rank or of any tag, are counted one by one.
///
/// # Errors
/// A receive that no send can match.
pub fn check_pairs(
    schedule: &mut Schedule,
    is_local: impl Fn(u32, u32) -> bool,
) -> Result<Pairs, Problem> {
    let mut sums = vec![0_u64; schedule.ranks() as usize];
    let mut is_open = vec![false; schedule.ranks() as usize];
    let mut local = 0;
    for rank in 0..schedule.ranks() {
        for index in 0..schedule.len(rank) {
            let op = schedule.op(rank, index)?;
            match op.kind {
                Kind::Compute => {}
                Kind::Send => {
                    local += u64::from(is_local(rank, op.peer));
                    let sum = &mut sums[op.peer as usize];
                    *sum = sum.wrapping_add(spread(rank, op.tag));
                }
                Kind::Receive if op.peer == ANY || op.tag == ANY => is_open[rank as usize] = true,
                Kind::Receive => {
                    let sum = &mut sums[rank as usize];
                    *sum = sum.wrapping_sub(spread(op.peer, op.tag));
                }
            }
        }
    }
    let suspects: Vec<bool> = sums
        .iter()
        .zip(is_open)
        .map(|(&sum, open)| sum != 0 || open)
        .collect();
    let unreceived = if suspects.contains(&true) {
        count(schedule, &suspects)?
    } else {
        0
    };
    Ok(Pairs { unreceived, local })
}

/// Counts the messages of some receivers one by one; returns the number of messages without a receive.
fn count(schedule: &mut Schedule, receivers: &[bool]) -> Result<u64, Problem> {
    // By receiver, sender and tag; receives of any rank or tag separately.
    let mut exact: HashMap<(u32, u32, u32), Balance> = HashMap::new();
    let mut open: HashMap<u32, Balance> = HashMap::new();
    for rank in 0..schedule.ranks() {
        for index in 0..schedule.len(rank) {
            let op = schedule.op(rank, index)?;
            match op.kind {
                Kind::Send if receivers[op.peer as usize] => {
                    exact.entry((op.peer, rank, op.tag)).or_default().sends += 1;
                }
                Kind::Receive if receivers[rank as usize] => {
                    let is_open = op.peer == ANY || op.tag == ANY;
                    let balance = if is_open {
                        open.entry(rank).or_default()
                    } else {
                        exact.entry((rank, op.peer, op.tag)).or_default()
                    };
                    if balance.receives == 0 {
                        balance.receive = index;
                    }
                    balance.receives += 1;
                }
                Kind::Compute | Kind::Send | Kind::Receive => {}
            }
        }
    }
    let mut spare: HashMap<u32, u64> = HashMap::new();
    let mut worst: Option<((u32, u32, u32), u64, u32)> = None;
    for (&(to, from, tag), balance) in &exact {
        if balance.receives > balance.sends {
            let key = (to, from, tag);
            if worst.is_none_or(|(first, ..)| key < first) {
                worst = Some((key, balance.receives - balance.sends, balance.receive));
            }
        } else {
            *spare.entry(to).or_default() += balance.sends - balance.receives;
        }
    }
    if let Some(((to, from, tag), more, index)) = worst {
        let told = format!(
            "{more} {} from rank {from} with tag {tag} without a send, the first operation {index}",
            if more == 1 { "receive" } else { "receives" }
        );
        return Err(Problem::new(format!("rank {to}"), told));
    }
    let mut unreceived = 0;
    for (to, sends) in &spare {
        let receives = open.get(to).map_or(0, |balance| balance.receives);
        unreceived += sends.saturating_sub(receives);
    }
    let mut late: Vec<_> = open
        .iter()
        .filter(|&(to, balance)| balance.receives > spare.get(to).copied().unwrap_or_default())
        .collect();
    late.sort_by_key(|(to, _)| **to);
    if let Some((to, balance)) = late.first() {
        let told = format!(
            "{} receives from any rank or of any tag for {} messages; the first is operation {}",
            balance.receives,
            spare.get(to).copied().unwrap_or_default(),
            balance.receive
        );
        return Err(Problem::new(format!("rank {to}"), told));
    }
    Ok(unreceived)
}
