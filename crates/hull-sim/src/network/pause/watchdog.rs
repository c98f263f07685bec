//! Watchdog of pauses, as SONiC's pfcwd ("PFC Watchdog Design", wiki of sonic-net/SONiC; docs/pfcwd of
//! sonic-net/sonic-mgmt). A switch watches each of its ports and lossless classes. A class that was paused
//! for the whole detection time, while a packet waited in it, has a storm. Until no pause has stood for the
//! restoration time, the watchdog then discards the packets that wait and that come for this queue, or ignores
//! the pauses, or only counts ([`WatchdogAction`]). Times are ps.
//!
//! A pause stands from its frame to the frame to resume, or until it expires. SONiC polls its counters, so it
//! is late by up to an interval; here all times are exact. A failed link ends the storms of its ports.
//!
//! With a watchdog a deadlock of pauses ([`super::deadlock`]) does not end the run: the watchdog breaks it, or
//! reports it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Act, CLASSES, Deadlock, Guard, Pauses, Renewal};
use crate::network::Network;

/// Settings of the watchdog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WatchdogConfig {
    /// Time of a pause after which it is a storm, ps.
    pub detection_ps: u64,
    /// Time without a pause after which a storm is over, ps.
    pub restoration_ps: u64,
    /// What happens in a storm.
    pub action: WatchdogAction,
}

/// What a watchdog does in a storm, as SONiC's actions of these names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WatchdogAction {
    /// Discards the packets that wait in the queue and that come for it.
    #[default]
    Drop,
    /// Ignores the pauses: the packets are sent. The far end may lose them for lack of room.
    Forward,
    /// Counts the storm.
    Alert,
}

/// Storms of a class at a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Storms {
    /// Number of storms that were detected.
    pub detected: u64,
    /// Number of these that have ended.
    pub restored: u64,
    /// Number of packets that the watchdog discarded.
    pub discarded: u64,
}

/// Deadlocks that did not end the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Locks {
    /// Number of deadlocks that the checks found.
    pub found: u64,
    /// Sum of their times, from the last pause of each to the check that did not find it any more, ps.
    pub locked_ps: u64,
}

/// A class of a port that is watched.
#[derive(Clone, Copy, Debug, Default)]
struct Watched {
    /// Whether a look is due.
    is_due: bool,
    /// In a storm, the end of its last pause; [`u64::MAX`] if only a frame to resume ends it. `None` without a
    /// storm.
    stands_until_ps: Option<u64>,
    storms: Storms,
}

/// Watchdog of a network's switches.
#[derive(Debug)]
pub(super) struct Watchdog {
    config: WatchdogConfig,
    /// By port and class; `None` at hosts and for lossy classes.
    watched: Vec<[Option<Watched>; CLASSES]>,
    /// Ports with discarded packets that have not been reported to their flows.
    discarding: Vec<u32>,
    locks: Locks,
    /// Beginning of the deadlock that the last check found, ps.
    locked_since_ps: Option<u64>,
}

impl Watchdog {
    /// Creates the watchdog of ports with these limits of lossless traffic, by port and class.
    pub fn new(config: WatchdogConfig, guards: &[Vec<Option<Guard>>]) -> Self {
        let watched = |port: &Vec<Option<Guard>>| {
            std::array::from_fn(|class| {
                let guard = port.get(class).copied().flatten();
                guard.map(|_| Watched::default())
            })
        };
        Watchdog {
            config,
            watched: guards.iter().map(watched).collect(),
            discarding: Vec::new(),
            locks: Locks::default(),
            locked_since_ps: None,
        }
    }

    fn of(&mut self, port: u32, class: u8) -> Option<&mut Watched> {
        let classes = self.watched.get_mut(port as usize)?;
        classes[usize::from(class)].as_mut()
    }

    /// Counts a deadlock that a check has found, or the end of the one before.
    pub fn note_deadlock(&mut self, now_ps: u64, found: Option<&Deadlock>) {
        match (self.locked_since_ps, found) {
            (None, Some(deadlock)) => {
                self.locks.found += 1;
                self.locked_since_ps = Some(deadlock.since_ps);
            }
            (Some(since_ps), None) => {
                self.locks.locked_ps += now_ps - since_ps;
                self.locked_since_ps = None;
            }
            (None, None) | (Some(_), Some(_)) => {}
        }
    }
}

impl Pauses {
    /// Schedules a look at a class whose pause has begun, unless one is due.
    pub(super) fn watch_later(&mut self, now_ps: u64, port: u32, class: u8) {
        let Some(watchdog) = self.watchdog.as_deref_mut() else {
            return;
        };
        let at_ps = now_ps + watchdog.config.detection_ps;
        if let Some(watched) = watchdog.of(port, class)
            && !watched.is_due
            && watched.stands_until_ps.is_none()
        {
            watched.is_due = true;
            self.schedule(at_ps, Act::Watch { port, class });
        }
    }

    /// Processes a frame after which a pause stands until `until_ps`; the present if it resumes. Returns whether
    /// the watchdog ignores it.
    pub(super) fn note_frame(&mut self, until_ps: u64, port: u32, class: u8) -> bool {
        let Some(watchdog) = self.watchdog.as_deref_mut() else {
            return false;
        };
        let (restoration_ps, action) = (watchdog.config.restoration_ps, watchdog.config.action);
        let watched = watchdog.of(port, class);
        let Some(stands) = watched.and_then(|watched| watched.stands_until_ps.as_mut()) else {
            return false;
        };
        *stands = until_ps;
        if until_ps < u64::MAX {
            self.schedule(until_ps + restoration_ps, Act::Restore { port, class });
        }
        action != WatchdogAction::Alert
    }

    /// Time until which a pause stands that would expire at `expires_ps`, ps.
    pub(super) fn stands_until_ps(&self, expires_ps: u64) -> u64 {
        match self.renewal {
            Renewal::Never => u64::MAX,
            Renewal::HalfTime | Renewal::Expiry | Renewal::EachPacket => expires_ps,
        }
    }

    /// Queues of a port with `classes` queues that a pause of `class` stops.
    fn queues(&self, class: u8, classes: usize) -> std::ops::Range<usize> {
        match self.whole_links {
            true => 0..classes,
            false => usize::from(class)..usize::from(class) + 1,
        }
    }
}

impl Network {
    /// Looks whether a class has been paused for the detection time while a packet waited in it.
    pub(super) fn watch(
        &mut self,
        now_ps: u64,
        (port, class): (u32, u8),
        resume: &mut impl FnMut(usize, Option<u64>),
    ) {
        let Some(pauses) = self.pauses.as_deref_mut() else {
            return;
        };
        let queues = pauses.queues(class, self.classes);
        let Some(watchdog) = pauses.watchdog.as_deref_mut() else {
            return;
        };
        let WatchdogConfig {
            detection_ps,
            action,
            ..
        } = watchdog.config;
        let Some(watched) = watchdog.of(port, class) else {
            return;
        };
        let paused = pauses.paused[port as usize][usize::from(class)];
        let Some(since_ps) = paused.since_ps else {
            watched.is_due = false;
            return;
        };
        let first_came_ps = self.ports[port as usize].first_came_ps(queues);
        let waits_since_ps = first_came_ps.map_or(now_ps, |at_ps| at_ps.max(since_ps));
        if waits_since_ps + detection_ps > now_ps {
            pauses.schedule(waits_since_ps + detection_ps, Act::Watch { port, class });
            return;
        }
        watched.is_due = false;
        watched.storms.detected += 1;
        watched.stands_until_ps = Some(now_ps);
        let until_ps = pauses.stands_until_ps(paused.until_ps);
        pauses.note_frame(until_ps, port, class);
        match action {
            WatchdogAction::Alert => return,
            WatchdogAction::Forward => {}
            WatchdogAction::Drop => self.discard_waiting(now_ps, port, class),
        }
        self.end_pause(now_ps, port, class, resume);
    }

    /// Discards the packets that wait in the queues of a class, and those that will come.
    fn discard_waiting(&mut self, now_ps: u64, port: u32, class: u8) {
        let Some(pauses) = self.pauses.as_deref_mut() else {
            return;
        };
        let Some(&Some(place)) = self.places.get(port as usize) else {
            return;
        };
        let mut discarded = 0;
        for queue in pauses.queues(class, self.classes) {
            let packets = self.ports[port as usize].discard(now_ps, queue);
            let memory = &mut self.memories[place.memory as usize];
            memory.discard_last(now_ps, place.queue as usize + queue, packets);
            memory.set_open(place.queue as usize + queue, false);
            discarded += packets as u64;
        }
        if let Some(watchdog) = pauses.watchdog.as_deref_mut() {
            watchdog.discarding.push(port);
            if let Some(watched) = watchdog.of(port, class) {
                watched.storms.discarded += discarded;
            }
        }
        self.note_departures(now_ps, place.memory);
    }

    /// Counts a packet of a class that the watchdog discards.
    pub(in crate::network) fn count_discard(&mut self, port: usize, class: usize) {
        let Some(pauses) = self.pauses.as_deref_mut() else {
            return;
        };
        let class = if pauses.whole_links { 0 } else { class as u8 };
        let watchdog = pauses.watchdog.as_deref_mut();
        if let Some(watched) = watchdog.and_then(|watchdog| watchdog.of(port as u32, class)) {
            watched.storms.discarded += 1;
        }
    }

    /// Takes a port with packets that the watchdog has discarded.
    #[inline]
    pub fn next_discarding(&mut self) -> Option<usize> {
        let watchdog = self.pauses.as_deref_mut()?.watchdog.as_deref_mut()?;
        watchdog.discarding.pop().map(|port| port as usize)
    }

    /// Ends a storm if no pause has stood for the restoration time.
    pub(super) fn restore_if_quiet(&mut self, now_ps: u64, port: u32, class: u8) {
        let pauses = self.pauses.as_deref_mut();
        let Some(watchdog) = pauses.and_then(|pauses| pauses.watchdog.as_deref_mut()) else {
            return;
        };
        let restoration_ps = watchdog.config.restoration_ps;
        let watched = watchdog.of(port, class);
        let stands_until_ps = watched.and_then(|watched| watched.stands_until_ps);
        if stands_until_ps
            .is_some_and(|until_ps| until_ps.checked_add(restoration_ps) == Some(now_ps))
        {
            self.restore(port, class);
        }
    }

    /// Ends a storm, if there is one.
    pub(super) fn restore(&mut self, port: u32, class: u8) {
        let Some(pauses) = self.pauses.as_deref_mut() else {
            return;
        };
        let queues = pauses.queues(class, self.classes);
        let watchdog = pauses.watchdog.as_deref_mut();
        let Some(watched) = watchdog.and_then(|watchdog| watchdog.of(port, class)) else {
            return;
        };
        if watched.stands_until_ps.take().is_none() {
            return;
        }
        watched.storms.restored += 1;
        if let Some(&Some(place)) = self.places.get(port as usize) {
            for queue in queues {
                let memory = &mut self.memories[place.memory as usize];
                memory.set_open(place.queue as usize + queue, true);
            }
        }
    }

    /// Storms of a class at a port; `None` without a watchdog.
    pub fn storms(&self, port: usize, class: usize) -> Option<Storms> {
        let watchdog = self.pauses.as_deref()?.watchdog.as_deref()?;
        let watched = watchdog.watched.get(port)?[class];
        Some(watched.map_or_else(Storms::default, |watched| watched.storms))
    }

    /// Number of the port's dropped packets that the watchdog discarded; `None` without one.
    pub fn discarded(&self, port: usize) -> Option<u64> {
        let of_class = |class: usize| Some(self.storms(port, class)?.discarded);
        (0..CLASSES).map(of_class).sum()
    }

    /// Deadlocks until `now_ps`; `None` without a watchdog.
    pub fn locks(&self, now_ps: u64) -> Option<Locks> {
        let watchdog = self.pauses.as_deref()?.watchdog.as_deref()?;
        let since_ps = watchdog.locked_since_ps;
        let going_on_ps = since_ps.map_or(0, |since_ps| now_ps - since_ps);
        let locks = watchdog.locks;
        Some(Locks {
            locked_ps: locks.locked_ps + going_on_ps,
            ..locks
        })
    }
}
