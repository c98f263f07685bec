//! Losses that their flows do not yet know: no sender sees a drop. Times are ps.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Loss that its flow does not yet know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Loss {
    /// Time at which the flow learns of it, ps.
    pub at_ps: u64,
    /// Slot of the flow.
    pub flow: u32,
    /// Entry of the packet's options.
    pub options: u32,
}

/// Losses by the time at which they become known.
pub type Losses = BinaryHeap<Reverse<Loss>>;
