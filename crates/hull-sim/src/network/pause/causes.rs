//! The tree of a pause: which port's congestion paused whom. When a switch begins to ask for a pause of an
//! ingress, the cause is the egress port that holds most of the bytes that came through this ingress. If
//! that port is itself paused, the pause is a child of that port's pause, otherwise the port is the root.
//! A pause keeps its cause until it ends, however often it is renewed. Times are ps.

use std::collections::HashMap;

use crate::network::Network;

/// Root of a tree, the port whose queue caused a pause, the port that paused, its class, and the number of
/// pauses between the root and this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cause {
    /// Port at the root.
    pub root: u32,
    /// Port whose queue held most of the bytes.
    pub cause: u32,
    /// Port that was asked to pause.
    pub paused: u32,
    /// Class.
    pub class: u8,
    /// Number of pauses between the root and this one.
    pub depth: u8,
}

/// Pauses with one cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caused {
    /// The cause.
    pub by: Cause,
    /// Number of frames to pause that were sent, renewed pauses among them.
    pub pauses: u64,
    /// Time for which the port paused, ps.
    pub paused_ps: u64,
}

/// Causes of all pauses, numbered in the order of their first pause.
#[derive(Debug, Default)]
pub(super) struct Causes {
    numbers: HashMap<Cause, u32>,
    all: Vec<Caused>,
}

impl Causes {
    /// Number of the cause of a pause that `paused` is asked for because of the queue of the port `cause`,
    /// which is paused itself by `above`, if it is.
    pub fn number(&mut self, cause: u32, (paused, class): (u32, u8), above: Option<u32>) -> u32 {
        let above = above.map(|number| self.all[number as usize].by);
        let by = Cause {
            root: above.map_or(cause, |above| above.root),
            cause,
            paused,
            class,
            depth: above.map_or(0, |above| above.depth.saturating_add(1)),
        };
        *self.numbers.entry(by).or_insert_with(|| {
            self.all.push(Caused {
                by,
                pauses: 0,
                paused_ps: 0,
            });
            self.all.len() as u32 - 1
        })
    }

    /// Counts a frame.
    pub fn count(&mut self, number: u32) {
        self.all[number as usize].pauses += 1;
    }

    /// Counts the time of a pause that has ended, ps.
    pub fn add_time(&mut self, number: u32, paused_ps: u64) {
        self.all[number as usize].paused_ps += paused_ps;
    }
}

impl Network {
    /// Pauses until `now_ps` by cause, sorted by root; empty without pauses.
    pub fn caused_pauses(&self, now_ps: u64) -> Vec<Caused> {
        let Some(pauses) = self.pauses.as_deref() else {
            return Vec::new();
        };
        let mut all = pauses.causes.all.clone();
        for paused in pauses.paused.iter().flatten() {
            if let Some(since_ps) = paused.since_ps {
                all[paused.cause as usize].paused_ps += now_ps - since_ps;
            }
        }
        all.sort_unstable_by_key(|one| one.by);
        all
    }
}
