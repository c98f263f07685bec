//! Deadlock of pauses: a set of paused ports of which each can only resume after a packet has left another
//! one of the set (a cyclic buffer dependency that has come to rest; Dally and Seitz, 1987). A paused port is
//! in the set if its switch holds packets that came over its link, and all of these wait for ports of the
//! set. The largest such set is a greatest fixed point.
//!
//! The check comes at intervals while ports are paused, and a set counts if it was there at the check
//! before, with the same pauses: packets that were on a link have then left. Only pauses that last until
//! the frame to resume can lock ports for ever; one that expires lets packets through, which are lost at
//! worst. Times are ps, sizes bytes.

use super::{Act, Pauses, Renewal};
use crate::network::{Network, Port};

/// Time between two checks, besides four times the longest packet's, ps.
const EVERY_PS: u64 = 100_000_000;
/// Largest packet, bytes.
const MOST_BYTES: u16 = 9_000;

/// Ports that wait for each other for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlock {
    /// Time of the last of their pauses, ps.
    pub since_ps: u64,
    /// Class; 0 if links pause as a whole.
    pub class: u8,
    /// Ports of which each waits for the next, and the last for the first.
    pub cycle: Vec<u32>,
    /// Bytes that the switches hold from these ports' links.
    pub bytes: u64,
}

/// Pause that may be part of a deadlock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Suspect {
    port: u32,
    class: u8,
    since_ps: u64,
}

/// What the checks know.
#[derive(Debug, Default)]
pub(super) struct Checks {
    /// Whether the next check is due.
    is_due: bool,
    interval_ps: u64,
    /// Pauses that could not end at the last check.
    suspects: Vec<Suspect>,
    /// Ports that wait for each other; none with a watchdog.
    found: Option<Deadlock>,
}

impl Checks {
    /// Creates the checks of a network with these ports.
    pub fn new(ports: &[Port]) -> Self {
        let longest_ps = ports.iter().map(|port| port.serialization_ps(MOST_BYTES));
        Checks {
            interval_ps: EVERY_PS + 4 * longest_ps.max().unwrap_or(0),
            ..Checks::default()
        }
    }
}

impl Pauses {
    /// Schedules a check after a pause has begun, unless one is due.
    pub(super) fn check_later(&mut self, now_ps: u64) {
        let lasts = matches!(self.renewal, Renewal::HalfTime | Renewal::Never);
        if lasts && !self.checks.is_due {
            self.checks.is_due = true;
            self.schedule(now_ps + self.checks.interval_ps, Act::Check);
        }
    }
}

impl Network {
    /// Ports that wait for each other for ever, once they have been found; none with a watchdog.
    pub fn deadlock(&self) -> Option<&Deadlock> {
        self.pauses.as_ref()?.checks.found.as_ref()
    }

    /// Whether pauses have locked ports for ever.
    #[inline]
    pub fn is_deadlocked(&self) -> bool {
        self.deadlock().is_some()
    }

    /// Ports, of the same class, for which the packets wait that keep a port paused, with their bytes; none if
    /// its switch does not ask for the pause.
    fn waits_for(&self, pauses: &Pauses, paused: &Suspect) -> Vec<(u32, u64)> {
        let own = paused.port as usize ^ 1;
        let Some(&Some(place)) = self.places.get(own) else {
            return Vec::new();
        };
        let asking = &pauses.memories[place.memory as usize];
        let from = place.queue as usize + usize::from(paused.class);
        if !asking.asking.contains(&(from as u32)) {
            return Vec::new();
        }
        let toward = self.memories[place.memory as usize].toward(from);
        let ports = asking.ports.iter().copied().zip(toward.iter().copied());
        ports.filter(|&(_, bytes)| bytes > 0).collect()
    }

    /// Checks whether ports wait for each other for ever.
    pub(super) fn check_deadlock(&mut self, now_ps: u64) {
        let Some(mut pauses) = self.pauses.take() else {
            return;
        };
        pauses.checks.is_due = false;
        let mut suspects = Vec::new();
        for (port, classes) in pauses.paused.iter().enumerate() {
            for (class, paused) in classes.iter().enumerate() {
                suspects.extend(paused.since_ps.map(|since_ps| Suspect {
                    port: port as u32,
                    class: class as u8,
                    since_ps,
                }));
            }
        }
        let is_paused = !suspects.is_empty();
        self.keep_locked(&pauses, &mut suspects);
        let mut locked = suspects.clone();
        locked.retain(|one| pauses.checks.suspects.contains(one));
        self.keep_locked(&pauses, &mut locked);
        pauses.checks.suspects = suspects;
        let found = self.cycle(&pauses, &locked);
        match pauses.watchdog.as_deref_mut() {
            Some(watchdog) => watchdog.note_deadlock(now_ps, found.as_ref()),
            None => pauses.checks.found = found,
        }
        if is_paused {
            pauses.check_later(now_ps);
        }
        self.pauses = Some(pauses);
    }

    /// Removes the pauses that can end without the others.
    fn keep_locked(&self, pauses: &Pauses, locked: &mut Vec<Suspect>) {
        loop {
            let before = locked.clone();
            locked.retain(|one| {
                let waits = self.waits_for(pauses, one);
                let is_locked = |&(port, _): &(u32, u64)| {
                    (before.iter()).any(|other| (other.port, other.class) == (port, one.class))
                };
                !waits.is_empty() && waits.iter().all(is_locked)
            });
            if locked.len() == before.len() {
                return;
            }
        }
    }

    /// A cycle among locked ports: each waits for the port with the most of its bytes.
    fn cycle(&self, pauses: &Pauses, locked: &[Suspect]) -> Option<Deadlock> {
        let mut path = vec![*locked.first()?];
        loop {
            let last = path[path.len() - 1];
            let waits = self.waits_for(pauses, &last);
            let (next, _) = waits
                .into_iter()
                .max_by_key(|&(port, bytes)| (bytes, !port))?;
            let is_next = |one: &&Suspect| (one.port, one.class) == (next, last.class);
            let next = *locked.iter().find(is_next)?;
            if let Some(first) = path.iter().position(|one| *one == next) {
                let cycle = &path[first..];
                let bytes = |one: &Suspect| -> u64 {
                    let waits = self.waits_for(pauses, one);
                    waits.iter().map(|&(_, bytes)| bytes).sum()
                };
                return Some(Deadlock {
                    since_ps: cycle.iter().map(|one| one.since_ps).max().unwrap_or(0),
                    class: last.class,
                    cycle: cycle.iter().map(|one| one.port).collect(),
                    bytes: cycle.iter().map(bytes).sum(),
                });
            }
            path.push(next);
        }
    }
}
