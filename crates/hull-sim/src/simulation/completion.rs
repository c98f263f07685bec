//! When the workload of a divided run was complete. Times are ps.
//!
//! A run checks whether its workload is done after each arrival of a measured message and each
//! acknowledgment of one. Parts that have hosts each know their own flows only. A part whose flows are all
//! complete tells the others since when, and whether the run would have checked then; the latest of these
//! times is that of the run.

/// Times of a part's last change and last check.
#[derive(Clone, Copy, Debug, Default)]
pub struct Completion {
    changed_ps: u64,
    checked_ps: u64,
    /// Time at which a check has ended the run, if one part has all flows.
    pub ended_ps: Option<u64>,
}

/// Time of the last change, and whether the run checks then, as one number: the largest one of all
/// parts is that of the run. [`NOT_YET`] if the part has open flows.
pub type Since = u64;

/// The part has open flows.
pub const NOT_YET: Since = u64::MAX;

/// The part has no flows, or the run does not check when they are complete.
pub const UNCHECKED: Since = 0;

impl Completion {
    /// Records that a message has arrived or was acknowledged at this time.
    pub fn change(&mut self, at_ps: u64) {
        self.changed_ps = self.changed_ps.max(at_ps);
    }

    /// Records that the run checks at this time.
    pub fn check(&mut self, at_ps: u64) {
        self.checked_ps = self.checked_ps.max(at_ps);
    }

    /// Time of the last change.
    pub fn since(&self) -> Since {
        2 * self.changed_ps + u64::from(self.checked_ps >= self.changed_ps)
    }

    /// Time at which a check has ended the run.
    pub fn end(&self) -> Since {
        self.ended_ps.map_or(UNCHECKED, |at_ps| 2 * at_ps + 1)
    }
}

/// Time at which a run is done whose parts are complete since these times; `None` if one is not, or
/// the run does not check after the last change.
pub fn done_ps(parts: impl Iterator<Item = Since>) -> Option<u64> {
    let last = parts.max()?;
    (last != NOT_YET && last % 2 == 1).then_some(last / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_part_decides() {
        let mut part = Completion::default();
        part.change(5);
        part.check(5);
        part.change(4);
        let first = part.since();
        assert_eq!(done_ps([first, 0].into_iter()), Some(5));
        part.change(9);
        let unchecked = part.since();
        assert_eq!(done_ps([first, unchecked].into_iter()), None);
        part.change(12);
        part.check(12);
        assert_eq!(
            done_ps([first, unchecked, part.since()].into_iter()),
            Some(12)
        );
        assert_eq!(done_ps([first, NOT_YET].into_iter()), None);
    }
}
