//! DualPI2 at a port: an L queue for packets with ECT(1) or CE, a C queue for the rest, coupled marking and
//! weighted round robin (RFC 9332; [`hull_core::dualpi2`] has the source and the rules).
//!
//! Queue 0 is L, queue 1 is C. Packets are marked and dropped at departure. The controller is updated
//! every interval from the start of the run, with the packets at the heads then. Updates during a time
//! without arrivals and departures are computed at the next one. Linux updates by a timer that starts
//! with the port. Times are ps, sizes bytes, gains 1/s.

use std::collections::VecDeque;

use hull_core::dualpi2::{self, DualPi2Config, DualPi2Credit, HERTZ, Queue};
use hull_core::phantom_queue::{Drain, PhantomQueue, PhantomQueueConfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Leaving, Scheduler};
use crate::network::packet::{Packet, flags};
use crate::network::queue::Heads;
use crate::network::rules::{Decision, Site};
use crate::problem::{MIN_RATE, Problem, quoted, require};
use crate::random::{Purpose, Stream};
use crate::units::{Rate, RelativeRate, Share, Time};

/// Number of queues of a port.
pub const QUEUES: usize = 2;
const L4S: usize = 0;
const CLASSIC: usize = 1;

/// Number of typical round trips in the largest one (iproute2), as inputs of
/// [`DualPi2Config::from_rtt`].
const TYPICAL_TO_MAX: u64 = 6;

/// DualPI2: two coupled queues at each port, one for L4S packets (ECT(1), CE) and one for the rest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DualPi2 {
    /// Typical round trip, from which target, interval, alpha and beta follow. Without it and
    /// max_rtt, Linux's values apply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub typical_rtt: Option<Time>,
    /// Largest round trip (default: 6 typical ones).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_rtt: Option<Time>,
    /// Target delay (Linux: 15 ms).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Time>,
    /// Time between two updates of the probability (Linux: 16 ms).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Time>,
    /// Integral gain, per second (Linux: 0.16015625).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alpha: Option<Share>,
    /// Proportional gain, per second (Linux: 3.19921875).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beta: Option<Share>,
    /// Wait above which an L4S packet is marked (default: 1 ms, at most the target).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<Time>,
    /// Packets that an L4S packet must find in its queue for the step to apply: 0 in Linux, 2 in
    /// L4STeam's kernel of 2020.
    #[serde(default)]
    pub step_after: u32,
    /// k: L4S packets are marked with k p, classic ones with p^2.
    #[serde(default = "two")]
    pub coupling: u32,
    /// Share of the link for the classic queue while both hold packets.
    #[serde(default = "tenth")]
    pub classic_share: Share,
    /// Whether overload (k p above 1) drops L4S packets too, rather than let the queues grow.
    #[serde(default = "yes")]
    pub drop_on_overload: bool,
    /// Rate of a virtual queue of L4S packets: the step is compared with the time that it takes to drain, in
    /// place of the time that the packet waited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub virtual_queue: Option<RelativeRate>,
}

const fn two() -> u32 {
    2
}
const fn tenth() -> Share {
    Share(Share::ONE / 10)
}
const fn yes() -> bool {
    true
}

/// Converts a gain of [`DualPi2Config`] to a share that yields the same gain when converted back.
fn share(gain: u64) -> Share {
    let scaled = u128::from(gain) * u128::from(Share::ONE);
    Share(scaled.div_ceil(u128::from(HERTZ)) as u64)
}

impl DualPi2 {
    /// Fills in settings that follow from the round trips, or Linux's values.
    pub(crate) fn resolve(&mut self) {
        let (typical_ps, max_ps) = match (self.typical_rtt, self.max_rtt) {
            (Some(typical), max) => {
                let longest = Time(typical.0.saturating_mul(TYPICAL_TO_MAX));
                (typical.0, max.unwrap_or(longest).0)
            }
            (None, Some(max)) => (max.0.div_ceil(TYPICAL_TO_MAX), max.0),
            (None, None) => (0, 0),
        };
        let config = match typical_ps.min(max_ps) {
            0 => DualPi2Config::linux(0),
            _ => DualPi2Config::from_rtt(typical_ps, max_ps, 0),
        };
        let target = *self.target.get_or_insert(Time(config.target_ps));
        self.interval.get_or_insert(Time(config.interval_ps));
        self.alpha.get_or_insert(share(config.alpha));
        self.beta.get_or_insert(share(config.beta));
        self.step.get_or_insert(Time(config.step_ps).min(target));
    }

    /// Checks the settings for links of this rate.
    pub(crate) fn check(&self, link: Rate) -> Result<(), Problem> {
        for (key, time) in [
            ("typical_rtt", self.typical_rtt),
            ("max_rtt", self.max_rtt),
            ("target", self.target),
            ("interval", self.interval),
            ("step", self.step),
        ] {
            let time = time.unwrap_or(Time(1_000_000));
            let least = if key == "interval" { 1_000_000 } else { 1 };
            require(
                (least..=10_000_000_000_000).contains(&time.0),
                &format!("switch.dualpi2.{key}"),
                quoted(time),
                if key == "interval" {
                    "1us to 10s"
                } else {
                    "a time above 0, at most 10s"
                },
            )?;
        }
        for (key, gain) in [("alpha", self.alpha), ("beta", self.beta)] {
            let gain = gain.unwrap_or_default();
            require(
                gain.0 <= 1_000_000 * Share::ONE,
                &format!("switch.dualpi2.{key}"),
                quoted(gain),
                "0 to 1000000 (per second)",
            )?;
        }
        require(
            self.step_after <= 1000,
            "switch.dualpi2.step_after",
            self.step_after,
            "0 to 1000 packets",
        )?;
        require(
            (1..=16).contains(&self.coupling),
            "switch.dualpi2.coupling",
            self.coupling,
            "1 to 16",
        )?;
        require(
            self.classic_share.0 <= Share::ONE,
            "switch.dualpi2.classic_share",
            quoted(self.classic_share),
            "0 to 100%",
        )?;
        let Some(drain) = self.virtual_queue else {
            return Ok(());
        };
        require(
            (MIN_RATE..=link).contains(&drain.of(link)),
            "switch.dualpi2.virtual_queue",
            quoted(drain),
            &format!("from 1Mbps to the link's rate, \"{link}\""),
        )
    }

    /// Settings of the controller, after [`Self::resolve`].
    fn config(&self, mtu: u32) -> DualPi2Config {
        let linux = DualPi2Config::linux(mtu);
        let gain = |of: Option<Share>, or: u64| of.map_or(or, |gain| gain.scaled(HERTZ));
        let time = |of: Option<Time>, or: u64| of.map_or(or, |time| time.0);
        DualPi2Config {
            target_ps: time(self.target, linux.target_ps),
            interval_ps: time(self.interval, linux.interval_ps),
            alpha: gain(self.alpha, linux.alpha),
            beta: gain(self.beta, linux.beta),
            coupling: self.coupling,
            step_ps: time(self.step, linux.step_ps),
            drop_on_overload: self.drop_on_overload,
            quiet_bytes: linux.quiet_bytes,
        }
    }
}

/// Virtual queue whose delay replaces the packets' waiting time in the step.
#[derive(Debug)]
struct VirtualDelay {
    queue: PhantomQueue,
    drain_bps: u64,
}

impl VirtualDelay {
    /// Adds a packet of `bytes`. Returns the time to drain the virtual queue before it, ps.
    fn on_packet(&mut self, now_ps: u64, bytes: u32) -> u64 {
        let bits = u128::from(self.queue.backlog_bytes(now_ps)) * 8_000_000_000_000;
        self.queue.on_packet(now_ps, bytes);
        (bits / u128::from(self.drain_bps)) as u64
    }
}

/// DualPI2 at one port.
#[derive(Debug)]
pub struct CoupledQueues {
    controller: dualpi2::DualPi2,
    interval_ps: u64,
    next_update_ps: u64,
    credit: DualPi2Credit,
    step_after: usize,
    /// Whether the step applies, for each packet of the L queue in order.
    steps: VecDeque<bool>,
    virtual_delay: Option<VirtualDelay>,
    random: Stream,
}

impl CoupledQueues {
    /// Creates DualPI2 with these settings at one port.
    pub fn new(settings: &DualPi2, site: &Site) -> Self {
        let config = settings.config(site.mtu);
        let classic_pct = settings.classic_share.scaled(100) as u32;
        CoupledQueues {
            controller: dualpi2::DualPi2::new(&config),
            interval_ps: config.interval_ps,
            next_update_ps: config.interval_ps,
            credit: DualPi2Credit::new(classic_pct, site.mtu),
            step_after: settings.step_after as usize,
            steps: VecDeque::new(),
            virtual_delay: settings.virtual_queue.map(|drain| {
                let drain_bps = drain.of(site.rate).0;
                VirtualDelay {
                    queue: PhantomQueue::new(&PhantomQueueConfig {
                        drain_bps,
                        threshold_bytes: u32::MAX,
                        count_arriving: false,
                        drain: Drain::Continuous,
                    }),
                    drain_bps,
                }
            }),
            random: site.random(Purpose::Marking),
        }
    }
}

impl Scheduler for CoupledQueues {
    fn queue_of(&self, packet: &Packet, _count: usize) -> usize {
        match packet.has(flags::ECT1) {
            true => L4S, // of CE too, which has both bits
            false => CLASSIC,
        }
    }

    fn queue_name(&self, queue: usize) -> Option<String> {
        let name = if queue == L4S { "l4s" } else { "classic" };
        Some(name.to_owned())
    }

    fn on_time(&mut self, now_ps: u64, first_came_ps: &dyn Fn(usize) -> Option<u64>) {
        while self.next_update_ps <= now_ps {
            let at_ps = self.next_update_ps;
            let waited_ps =
                |queue| first_came_ps(queue).map_or(0, |came_ps| at_ps.saturating_sub(came_ps));
            self.controller.update(waited_ps(L4S), waited_ps(CLASSIC));
            self.next_update_ps += self.interval_ps;
        }
    }

    fn on_added(&mut self, queue: usize, found: usize) {
        if queue == L4S {
            self.steps.push_back(found >= self.step_after);
        }
    }

    fn next(&mut self, heads: &Heads<'_>) -> Option<usize> {
        let waits = |queue| heads.bytes(queue).is_some();
        match self.credit.next(waits(L4S), waits(CLASSIC))? {
            Queue::L4s => Some(L4S),
            Queue::Classic => Some(CLASSIC),
        }
    }

    fn on_leaving(&mut self, leaving: &Leaving, packet: &Packet) -> Decision {
        let random = u64::from(self.random.bits()) << 32 | u64::from(self.random.bits());
        let bytes = u32::from(packet.wire_bytes);
        let (queue, signal) = if leaving.queue == L4S {
            let delay_ps = match &mut self.virtual_delay {
                Some(of_virtual) => of_virtual.on_packet(leaving.now_ps, bytes),
                None => leaving.waited_ps,
            };
            let applies = self.steps.pop_front().unwrap_or(true);
            let delay_ps = if applies { delay_ps } else { 0 };
            let signal = self.controller.l4s(leaving.all_bytes, delay_ps, random);
            (Queue::L4s, signal)
        } else {
            let ect = packet.is_markable();
            let signal = self.controller.classic(leaving.all_bytes, ect, random);
            (Queue::Classic, signal)
        };
        let decision = Decision::from(signal);
        if decision != Decision::Drop {
            self.credit.on_sent(queue, bytes, leaving.others_wait);
        }
        decision
    }

    fn on_failure(&mut self, now_ps: u64) {
        if let Some(of_virtual) = &mut self.virtual_delay {
            of_virtual.queue.clear(now_ps);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::queue::Waiting;
    use crate::network::queues::Queues;
    use crate::network::schedulers::Order;

    const MS: u64 = 1_000_000_000;

    fn site() -> Site {
        Site {
            rate: Rate(50_000_000),
            mtu: 1500,
            seed: 1,
            port: 0,
        }
    }

    fn settings(change: impl Fn(&mut DualPi2)) -> DualPi2 {
        let mut settings: DualPi2 = toml::from_str("").expect("has defaults");
        change(&mut settings);
        settings.resolve();
        settings
    }

    /// L packets arrive at 3, 40 and 41 ms, C packets at 10 and 20 ms, and one packet leaves at 30
    /// ms; updates are at 16, 32 and 48 ms. Delays of the older head, by hand: 13 ms at 16 ms (L,
    /// from 3), 22 ms at 32 ms (C, from 10: the L packet has left), 38 ms at 48 ms.
    #[test]
    fn the_probability_follows_its_recursion() {
        let mut port = CoupledQueues::new(&settings(|_| {}), &site());
        let heads: [(u64, [Option<u64>; 2]); 4] = [
            (10 * MS, [Some(3 * MS), None]),
            (30 * MS, [Some(3 * MS), Some(10 * MS)]),
            (40 * MS, [None, Some(10 * MS)]),
            (50 * MS, [Some(40 * MS), Some(10 * MS)]),
        ];
        for (now_ps, came_ps) in heads {
            port.on_time(now_ps, &|queue| came_ps[queue]);
        }
        let (alpha, beta) = (0.16015625, 3.19921875);
        let (mut p, mut before) = (0.0_f64, 0.0);
        for delay in [0.013, 0.022, 0.038] {
            p += alpha * (delay - 0.015) + beta * (delay - before);
            p = p.clamp(0.0, 1.0);
            before = delay;
        }
        let found = port.controller.probability() as f64 / dualpi2::ONE as f64;
        assert!((found - p).abs() < 1e-8, "{found} {p}");
    }

    /// Four L4S packets arrive together and leave 2 ms later, above the step of 1 ms. All are
    /// marked; under the rule of 2020, only those that found two packets in the queue.
    #[test]
    fn step_can_require_a_queue() {
        for (step_after, marks) in [(0, [true; 4]), (2, [false, false, true, true])] {
            let settings = settings(|of| of.step_after = step_after);
            let mut queues = Queues::new(QUEUES, &Order::DualPi2(settings, site()), 0);
            for _ in marks {
                let waiting = Waiting {
                    arrived_ps: 0,
                    earliest_ps: 0,
                    packet: Packet::with_flags(flags::ECT1),
                };
                queues.push(L4S, waiting, 0);
            }
            let found = marks.map(|_| queues.pop(2 * MS).expect("waits").1 == Decision::Mark);
            assert_eq!(found, marks);
        }
    }

    /// ECT(1) and CE packets are L4S; ECT(0) and Not-ECT packets are classic.
    #[test]
    fn the_codepoint_decides() {
        let port = CoupledQueues::new(&settings(|_| {}), &site());
        let queues = [flags::ECT1, flags::CE, flags::ECT0, 0]
            .map(|f| port.queue_of(&Packet::with_flags(f), 2));
        assert_eq!(queues, [L4S, L4S, CLASSIC, CLASSIC]);
    }

    /// With both queues backlogged, C sends a tenth of the packets, or a quarter at a share of 25%.
    #[test]
    fn the_classic_queue_has_its_share() {
        for (classic_share, expected) in [(10, 200), (25, 500)] {
            let settings = settings(|of| {
                of.classic_share = Share(Share::ONE / 100 * classic_share);
                of.target = Some(Time(1000 * MS));
                of.step = Some(Time(1000 * MS));
            });
            let mut queues = Queues::new(QUEUES, &Order::DualPi2(settings, site()), 0);
            let mut sent = [0, 0];
            for n in 0..2000 {
                for ecn in [flags::ECT1, flags::ECT0] {
                    let packet = Packet::with_flags(ecn);
                    let waiting = Waiting {
                        arrived_ps: n,
                        earliest_ps: n,
                        packet,
                    };
                    queues.push(queues.queue_of(&packet), waiting, 0);
                }
                let (waiting, _) = queues.pop(n).expect("waits");
                sent[queues.queue_of(&waiting.packet)] += 1;
            }
            assert!((sent[CLASSIC] - expected as i64).abs() <= 1, "{sent:?}");
        }
    }

    /// The step of 1 ms marks a packet that waits 2 ms. With a virtual queue it marks only once
    /// that queue's delay exceeds the step: 1500 bytes at 1 Mbps take 12 ms.
    #[test]
    fn virtual_queue_replaces_the_sojourn_time() {
        for (virtual_queue, marks) in [(None, [true, true]), (Some("1Mbps"), [false, true])] {
            let settings = settings(|of| {
                of.virtual_queue = virtual_queue.map(|rate| {
                    RelativeRate::deserialize(toml::Value::from(rate)).expect("a rate")
                });
            });
            let mut queues = Queues::new(QUEUES, &Order::DualPi2(settings, site()), 0);
            let found = [0, 3].map(|at_ms| {
                let packet = Packet::with_flags(flags::ECT1);
                let waiting = Waiting {
                    arrived_ps: at_ms * MS,
                    earliest_ps: 0,
                    packet,
                };
                queues.push(L4S, waiting, 0);
                let (_, decision) = queues.pop((at_ms + 2) * MS).expect("waits");
                decision == Decision::Mark
            });
            assert_eq!(found, marks);
        }
    }
}
