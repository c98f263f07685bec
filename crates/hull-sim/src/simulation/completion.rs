//! When the workload of a run was complete. Times are ps.
//!
//! A run checks whether its workload is done after each end of a flow: the arrival of its last byte, and
//! the acknowledgment if the flow is measured. The parts of a run each know their own flows only. A
//! part whose flows are all complete tells the others since when; the run is complete at the latest of
//! these times.

/// Time of a part's last change.
#[derive(Clone, Copy, Debug, Default)]
pub struct Completion {
    changed_ps: Since,
}

/// Time since when a part's flows are complete, ps: the time of its last change. The run is
/// complete at the largest time of all parts. [`NOT_YET`] if the part has open flows.
pub type Since = u64;

/// The part has open flows.
pub const NOT_YET: Since = u64::MAX;

/// No flow of the part has ended: a run does not end before one has.
const NEVER: Since = 0;

impl Completion {
    /// Records that a message has arrived or was acknowledged at this time.
    pub fn change(&mut self, at_ps: u64) {
        self.changed_ps = self.changed_ps.max(at_ps);
    }

    /// Time of the last change.
    pub fn since(&self) -> Since {
        self.changed_ps
    }
}

/// Time at which a run is done whose parts are complete since these times; `None` if one is not, or
/// nothing has ended.
pub fn done_ps(parts: impl Iterator<Item = Since>) -> Option<u64> {
    parts.max().filter(|&last| last != NOT_YET && last != NEVER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_part_decides() {
        let mut part = Completion::default();
        assert_eq!(done_ps([part.since(), NEVER].into_iter()), None);
        part.change(5);
        part.change(4);
        let first = part.since();
        assert_eq!(done_ps([first, NEVER].into_iter()), Some(5));
        part.change(9);
        assert_eq!(done_ps([first, part.since()].into_iter()), Some(9));
        assert_eq!(done_ps([first, NOT_YET].into_iter()), None);
    }
}
