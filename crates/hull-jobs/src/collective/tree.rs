//! All-reduce on two binary trees, half of the data on each: sums go up to the root, the result down. The trees are NCCL's
//! (src/graph/trees.cc): a member that passes data on in one has no children in the other, but for the roots.

use super::Group;
use super::exchange::{Done, Exchange, Waits};
use crate::program::Program;

/// Member above `member` in the first tree of n; `None` for the root, which is 0.
fn parent(member: usize, n: usize) -> Option<usize> {
    if member == 0 {
        return None;
    }
    let bit = member & member.wrapping_neg();
    let up = (member & !bit) | (bit << 1);
    Some(if up >= n { member & !bit } else { up })
}

/// Member above `member` in the second tree: the first one's mirror for an even n, moved by one for an odd one.
fn parent_of_second(member: usize, n: usize) -> Option<usize> {
    if n.is_multiple_of(2) {
        parent(n - 1 - member, n).map(|above| n - 1 - above)
    } else {
        parent((member + n - 1) % n, n).map(|above| (above + 1) % n)
    }
}

/// Adds the messages of one of the two trees, which has all of the group's bytes.
pub(super) fn all_reduce(program: &mut Program, group: &Group<'_>, is_second: bool) -> Done {
    let (n, bytes) = (group.ranks.len(), group.bytes);
    let above = |member: usize| match is_second {
        false => parent(member, n),
        true => parent_of_second(member, n),
    };
    let mut levels: Vec<Vec<(usize, usize)>> = Vec::new();
    for member in 0..n {
        let depth = std::iter::successors(above(member), |&at| above(at)).count();
        if let Some(up) = above(member) {
            levels.resize(levels.len().max(depth), Vec::new());
            levels[depth - 1].push((member, up));
        }
    }
    let mut exchange = Exchange::new(group, Waits::ReceivedAll);
    for level in levels.iter().rev() {
        exchange.step(program, level.iter().map(|&(low, high)| (low, high, bytes)));
    }
    for level in &levels {
        exchange.step(program, level.iter().map(|&(low, high)| (high, low, bytes)));
    }
    exchange.done()
}
