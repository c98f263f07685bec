//! Priority flow control (IEEE 802.1Q, clause 36; first as 802.1Qbb) and PAUSE of a whole link (IEEE
//! 802.3, annex 31B). A switch counts lossless packets by the port through which they came and their
//! class ([`guard`]). Above a threshold it asks the port at the other end of that link, its peer, to
//! pause; when the headroom is empty and the rest below the threshold by the hysteresis, to resume.
//! [`headroom`] is the memory for what arrives in between. Times are ps, sizes bytes.
//!
//! A pause frame is not a packet of the run: it uses no capacity and is never lost. It leaves after the
//! packet that its port is sending, takes the time of 64 bytes with framing, the link's delay and the
//! peer's reaction time, and then the peer selects no packet of the class any more. A pause ends with
//! the frame to resume, which travels likewise, or after its time. A switch that still needs one asks
//! again ([`Renewal`]). A host's NIC may ask for pauses, too ([`receivers`]).
//!
//! A failed link loses the frames on it and ends the pauses of its ports. When it is restored, a switch
//! that still needs a pause asks again. Each pause has a cause ([`causes`]), and pauses may lock each other
//! ([`deadlock`]); a watchdog breaks pauses that last too long ([`watchdog`]).

mod asking;
mod causes;
mod counts;
mod deadlock;
mod events;
mod guard;
mod headroom;
mod receivers;
mod watchdog;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::packet::CLASSES;
use super::{Network, Port};

use asking::Asking;
use causes::Causes;
use deadlock::Checks;
use receivers::Receivers;
use watchdog::Watchdog;

pub use causes::{Cause, Caused};
pub use counts::ClassPauses;
pub use deadlock::Deadlock;
pub use events::{PauseEvent, PauseStep};
pub use guard::{Guard, Guarded, Room, Threshold};
pub use headroom::{FRAME_BYTES, PauseLoop, PauseTerms};
pub use watchdog::{Locks, Storms, WatchdogAction, WatchdogConfig};

/// A port's link, for the pauses that the port asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PauseLink {
    /// Delay of a frame on the link, with the peer's reaction time, ps.
    pub delay_ps: u64,
    /// Time of a pause, ps.
    pub lasts_ps: u64,
}

/// Settings of the pauses of a network.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PauseConfig {
    /// Links by port; a host's own is not used.
    pub links: Vec<PauseLink>,
    /// Limits of lossless traffic by port and class; none for other classes and for hosts' ports.
    pub guards: Vec<Vec<Option<Guard>>>,
    /// Whether all classes of a port count and pause together; the guard is the first class's.
    pub whole_links: bool,
    /// When a pause that is still needed is asked for again.
    pub renewal: Renewal,
    /// Watchdog of the switches, if they have one.
    pub watchdog: Option<WatchdogConfig>,
}

/// When a switch asks again for a pause that it still needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Renewal {
    /// After half of the pause's time.
    #[default]
    HalfTime,
    /// With the next packet that finds no room below the threshold after the pause has expired.
    Expiry,
    /// With each packet that finds no room below the threshold.
    EachPacket,
    /// Not at all: a pause lasts until the frame to resume.
    Never,
}

/// What is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Act {
    /// A frame reaches a port: a class pauses.
    Pause { port: u32, class: u8, cause: u32 },
    /// A frame reaches a port: a class resumes.
    Resume { port: u32, class: u8 },
    /// The time of a pause is over.
    Expire { port: u32, class: u8 },
    /// A pause that is still needed is refreshed.
    Refresh { memory: u32, from: u32 },
    /// A packet has left a memory.
    Look { memory: u32 },
    /// Ports may wait for each other for ever.
    Check,
    /// A pause may be a storm.
    Watch { port: u32, class: u8 },
    /// A storm may be over.
    Restore { port: u32, class: u8 },
}

/// Pause of a class at a port.
#[derive(Clone, Copy, Debug, Default)]
struct Paused {
    /// Time of its beginning, ps; `None` if the class is not paused.
    since_ps: Option<u64>,
    /// Time at which it expires, ps.
    until_ps: u64,
    /// Number of its cause.
    cause: u32,
}

/// Pauses of a network.
#[derive(Debug)]
pub(super) struct Pauses {
    links: Vec<PauseLink>,
    whole_links: bool,
    renewal: Renewal,
    /// Whether a packet may cause a pause although it found room below the threshold.
    pauses_early: bool,
    memories: Vec<Asking>,
    /// By port and class.
    paused: Vec<[Paused; CLASSES]>,
    /// By port and class.
    counts: Vec<[ClassPauses; CLASSES]>,
    causes: Causes,
    checks: Checks,
    receivers: Receivers,
    watchdog: Option<Box<Watchdog>>,
    /// Events that were not taken yet, if the run asks for them.
    events: Option<Vec<PauseEvent>>,
    /// Time (ps), number for the order, and what is due.
    due: BinaryHeap<Reverse<(u64, u64, Act)>>,
    number: u64,
    /// Times for which no event is scheduled yet, ps.
    wakes: Vec<u64>,
}

impl Pauses {
    fn schedule(&mut self, at_ps: u64, act: Act) {
        self.number += 1;
        self.due.push(Reverse((at_ps, self.number, act)));
        self.wakes.push(at_ps);
    }

    /// Sends a frame of a port and class over the port's link.
    fn send(&mut self, now_ps: u64, link: &Port, memory: usize, from: u32, pauses: bool) {
        let asking = &mut self.memories[memory];
        let classes = asking.classes();
        let own = asking.ports[from as usize / classes];
        let settings = self.links[own as usize];
        asking.asked_ps[from as usize] = now_ps;
        let cause = asking.causes[from as usize];
        if pauses && self.renewal == Renewal::HalfTime {
            let at_ps = now_ps + settings.lasts_ps / 2;
            let memory = memory as u32;
            self.schedule(at_ps, Act::Refresh { memory, from });
        }
        if link.is_down() {
            return;
        }
        let (port, class) = (own ^ 1, (from as usize % classes) as u8);
        let sending_ps = link.serialization_ps(FRAME_BYTES as u16);
        let at_ps = now_ps.max(link.busy_until_ps()) + sending_ps + settings.delay_ps;
        if pauses {
            self.counts[port as usize][usize::from(class)].sent += 1;
            self.causes.count(cause);
            self.schedule(at_ps, Act::Pause { port, class, cause });
        } else {
            self.schedule(at_ps, Act::Resume { port, class });
        }
    }

    /// Whether a packet above the threshold repeats the frame of a pause that is on.
    fn repeats(&self, now_ps: u64, memory: usize, from: u32) -> bool {
        let asking = &self.memories[memory];
        let own = asking.ports[from as usize / asking.classes()] as usize;
        let expires_ps = asking.asked_ps[from as usize] + self.links[own].lasts_ps;
        match self.renewal {
            Renewal::HalfTime | Renewal::Never => false,
            Renewal::Expiry => expires_ps <= now_ps,
            Renewal::EachPacket => true,
        }
    }

    /// Classes of packets that a pause of `class` stops, of a port with `classes` queues.
    fn stopped(&self, class: u8, classes: usize) -> std::ops::Range<usize> {
        let class = usize::from(class);
        match self.whole_links || class + 1 == classes {
            true => class..CLASSES,
            false => class..class + 1,
        }
    }

    /// Ends a pause for the statistics. Returns whether there was one.
    fn end(&mut self, now_ps: u64, port: u32, class: u8) -> bool {
        let paused = &mut self.paused[port as usize][usize::from(class)];
        let since_ps = paused.since_ps.take();
        let lasted_ps = since_ps.map_or(0, |since_ps| now_ps - since_ps);
        self.counts[port as usize][usize::from(class)].paused_ps += lasted_ps;
        if since_ps.is_some() {
            self.causes.add_time(paused.cause, lasted_ps);
            self.record(now_ps, port, class, PauseStep::End);
        }
        since_ps.is_some()
    }
}

impl Network {
    /// Makes the traffic that the settings name lossless. All switches must share memory
    /// ([`Network::share`]).
    pub fn pause_links(&mut self, config: PauseConfig) {
        self.count_ingress();
        let mut guards = vec![Vec::new(); self.memories.len()];
        for (port, place) in self.places.iter().enumerate() {
            if let Some(place) = place {
                guards[place.memory as usize].push((place.queue, port));
            }
        }
        let memories = guards.iter_mut().map(|of_ports| {
            of_ports.sort_unstable();
            let ports = of_ports.iter().map(|&(_, port)| port as u32).collect();
            Asking::new(ports, self.classes)
        });
        let memories = Vec::from_iter(memories);
        for (memory, of_ports) in self.memories.iter_mut().zip(&guards) {
            let of_ports = of_ports.iter().flat_map(|&(_, port)| &config.guards[port]);
            memory.guard(&Vec::from_iter(of_ports.copied()), config.whole_links);
        }
        let all = config.guards.iter().flatten().flatten();
        let pauses_early = all.into_iter().any(|guard| guard.pauses_at_threshold);
        let watchdog = (config.watchdog).map(|own| Box::new(Watchdog::new(own, &config.guards)));
        self.pauses = Some(Box::new(Pauses {
            links: config.links,
            whole_links: config.whole_links,
            renewal: config.renewal,
            pauses_early,
            memories,
            paused: vec![Default::default(); self.ports.len()],
            counts: vec![Default::default(); self.ports.len()],
            causes: Causes::default(),
            checks: Checks::new(&self.ports),
            receivers: Receivers::default(),
            watchdog,
            events: None,
            due: BinaryHeap::new(),
            number: 0,
            wakes: Vec::new(),
        }));
    }

    /// Takes a time at which [`Network::serve_pauses`] must be called, ps.
    #[inline]
    pub fn next_pause_wake(&mut self) -> Option<u64> {
        self.pauses.as_mut()?.wakes.pop()
    }

    /// Whether a packet may cause a pause although it found room below the threshold.
    #[inline]
    pub(super) fn pauses_early(&self) -> bool {
        (self.pauses.as_ref()).is_some_and(|pauses| pauses.pauses_early)
    }

    /// Processes a packet that went to the headroom, or reached the threshold.
    pub(super) fn note_headroom(&mut self, now_ps: u64, memory: u32, origin: (usize, usize)) {
        let held = &mut self.memories[memory as usize];
        held.advance(now_ps); // a packet that is sent at once has left
        let Some(from) = held.lossless(origin.0, origin.1) else {
            return;
        };
        let free = held.free_bytes();
        let is_over = |ingress: &Guarded| ingress.is_over(free);
        if held.guarded(from).is_some_and(is_over) {
            self.ask(now_ps, memory, from as u32, origin.0);
        }
    }

    /// Processes a packet that found no room.
    pub(super) fn note_full(&mut self, now_ps: u64, memory: u32, origin: (usize, usize)) {
        let held = &mut self.memories[memory as usize];
        if let Some(from) = held.lossless(origin.0, origin.1) {
            held.count_drop(from);
            self.ask(now_ps, memory, from as u32, origin.0);
        }
    }

    /// Asks for a pause because of a packet to `queue`, unless one is on.
    fn ask(&mut self, now_ps: u64, memory: u32, from: u32, queue: usize) {
        let Some(pauses) = self.pauses.as_deref_mut() else {
            return;
        };
        let asking = &mut pauses.memories[memory as usize];
        let own = asking.ports[from as usize / self.classes] as usize;
        if asking.asking.contains(&from) {
            if !pauses.repeats(now_ps, memory as usize, from) {
                return;
            }
        } else {
            self.memories[memory as usize].wait(from as usize);
            let busiest = self.memories[memory as usize].busiest(from as usize);
            let cause = asking.ports[busiest.unwrap_or(queue / self.classes)];
            let class = from as usize % self.classes;
            let above = pauses.paused[cause as usize][class];
            let above = above.since_ps.map(|_| above.cause);
            let paused = (own as u32 ^ 1, class as u8);
            let cause = pauses.causes.number(cause, paused, above);
            pauses.memories[memory as usize].begin(from, cause);
        }
        pauses.send(now_ps, &self.ports[own], memory as usize, from, true);
        self.look_after(now_ps, memory);
    }

    /// Processes packets that have left a memory: peers may resume.
    #[inline]
    pub(super) fn note_departures(&mut self, now_ps: u64, memory: u32) {
        if let Some(pauses) = &self.pauses
            && !pauses.memories[memory as usize].asking.is_empty()
        {
            self.let_resume(now_ps, memory);
        }
    }

    fn let_resume(&mut self, now_ps: u64, memory: u32) {
        let Some(pauses) = self.pauses.as_deref_mut() else {
            return;
        };
        let held = &mut self.memories[memory as usize];
        held.advance(now_ps);
        let mut at = 0;
        while let Some(&from) = pauses.memories[memory as usize].asking.get(at) {
            if !held.may_resume(from as usize) {
                at += 1;
                continue;
            }
            let asking = &mut pauses.memories[memory as usize];
            asking.asking.remove(at);
            let own = asking.ports[from as usize / self.classes] as usize;
            pauses.send(now_ps, &self.ports[own], memory as usize, from, false);
        }
        self.look_after(now_ps, memory);
    }

    /// Schedules a look at a memory whose ports ask for pauses when the next packet leaves it, if that
    /// is not an event of its own.
    fn look_after(&mut self, now_ps: u64, memory: u32) {
        let Some(pauses) = self.pauses.as_deref_mut() else {
            return;
        };
        let asking = &mut pauses.memories[memory as usize];
        let next_ps = self.memories[memory as usize].next_departure_ps();
        let Some(at_ps) = next_ps.filter(|&at_ps| at_ps > now_ps) else {
            return;
        };
        if !asking.asking.is_empty() && asking.look_ps != at_ps {
            asking.look_ps = at_ps;
            pauses.schedule(at_ps, Act::Look { memory });
        }
    }

    /// Whether links may pause.
    #[inline(always)]
    pub fn has_pauses(&self) -> bool {
        self.pauses.is_some()
    }

    /// Serves what is due by `now_ps`. Calls `resume` with each port of which a pause ends, and the time of
    /// its next selection if it must be scheduled, ps.
    pub fn serve_pauses(&mut self, now_ps: u64, mut resume: impl FnMut(usize, Option<u64>)) {
        while let Some(pauses) = self.pauses.as_deref_mut()
            && let Some(&Reverse((at_ps, _, act))) = pauses.due.peek()
            && at_ps <= now_ps
        {
            pauses.due.pop();
            match act {
                Act::Pause { port, class, cause } => {
                    self.begin_pause(now_ps, (port, class), cause);
                }
                Act::Resume { port, class } => {
                    pauses.counts[port as usize][usize::from(class)].resumes += 1;
                    pauses.note_frame(now_ps, port, class);
                    self.end_pause(now_ps, port, class, &mut resume);
                }
                Act::Expire { port, class } => {
                    let paused = pauses.paused[port as usize][usize::from(class)];
                    if paused.until_ps == now_ps {
                        self.end_pause(now_ps, port, class, &mut resume);
                    }
                }
                Act::Refresh { memory, from } => {
                    let asking = &pauses.memories[memory as usize];
                    let own = asking.ports[from as usize / self.classes] as usize;
                    let sent_ps = asking.asked_ps[from as usize];
                    let is_last = sent_ps + pauses.links[own].lasts_ps / 2 == now_ps;
                    if is_last && asking.asking.contains(&from) {
                        pauses.send(now_ps, &self.ports[own], memory as usize, from, true);
                    }
                }
                Act::Look { memory } => self.let_resume(now_ps, memory),
                Act::Check => self.check_deadlock(now_ps),
                Act::Watch { port, class } => self.watch(now_ps, (port, class), &mut resume),
                Act::Restore { port, class } => self.restore_if_quiet(now_ps, port, class),
            }
        }
    }

    fn begin_pause(&mut self, now_ps: u64, (port, class): (u32, u8), cause: u32) {
        let Some(pauses) = self.pauses.as_deref_mut() else {
            return;
        };
        let lasts_ps = pauses.links[port as usize ^ 1].lasts_ps;
        pauses.counts[port as usize][usize::from(class)].received += 1;
        let until_ps = pauses.stands_until_ps(now_ps + lasts_ps);
        if pauses.note_frame(until_ps, port, class) {
            pauses.record(now_ps, port, class, PauseStep::Ignored);
            return;
        }
        let paused = &mut pauses.paused[port as usize][usize::from(class)];
        paused.until_ps = now_ps + lasts_ps;
        let mut step = PauseStep::Renewal;
        if paused.since_ps.is_none() {
            (paused.since_ps, paused.cause) = (Some(now_ps), cause);
            step = PauseStep::Begin;
        }
        pauses.record(now_ps, port, class, step);
        pauses.check_later(now_ps);
        pauses.watch_later(now_ps, port, class);
        if pauses.renewal != Renewal::Never {
            pauses.schedule(now_ps + lasts_ps, Act::Expire { port, class });
        }
        for class in pauses.stopped(class, self.classes) {
            self.ports[port as usize].pause(class);
        }
    }

    fn end_pause(
        &mut self,
        now_ps: u64,
        port: u32,
        class: u8,
        resume: &mut impl FnMut(usize, Option<u64>),
    ) {
        let Some(pauses) = self.pauses.as_deref_mut() else {
            return;
        };
        if pauses.end(now_ps, port, class) {
            for class in pauses.stopped(class, self.classes) {
                let next_ps = self.ports[port as usize].resume(now_ps, class);
                resume(port as usize, next_ps);
            }
        }
    }

    /// Ends the pauses of a port whose link has failed, and loses the frames to it.
    pub(super) fn end_pauses(&mut self, now_ps: u64, port: usize) {
        let Some(pauses) = self.pauses.as_deref_mut() else {
            return;
        };
        (0..self.classes).for_each(|class| {
            pauses.end(now_ps, port as u32, class as u8);
        });
        pauses.due.retain(|Reverse((_, _, act))| match act {
            Act::Pause { port: to, .. } | Act::Resume { port: to, .. } => *to as usize != port,
            Act::Expire { .. } | Act::Refresh { .. } | Act::Look { .. } | Act::Check => true,
            Act::Watch { .. } | Act::Restore { .. } => true,
        });
        (0..self.classes).for_each(|class| self.restore(port as u32, class as u8));
    }

    /// Asks again for the pauses that a switch or a host still needs when a port's link is restored.
    pub fn repeat_pauses(&mut self, now_ps: u64, port: usize) {
        let Some(pauses) = self.pauses.as_deref_mut() else {
            return;
        };
        let (memory, first) = match self.places.get(port) {
            Some(&Some(place)) => (place.memory as usize, place.queue),
            Some(None) | None => match pauses.receiver_at(port as u32) {
                Some(receiver) => receiver,
                None => return,
            },
        };
        let own = first..first + self.classes as u32;
        let asking = &pauses.memories[memory].asking;
        for from in Vec::from_iter(asking.iter().copied().filter(|from| own.contains(from))) {
            pauses.send(now_ps, &self.ports[port], memory, from, true);
        }
    }
}
