//! PIE at a FIFO port: a controller of the queueing delay marks or drops arriving packets (RFC 8033;
//! [`hull_core::pie`] has the source and the rule).
//!
//! The controller is updated every interval from the start of the run. Updates during a time without
//! arrivals and departures are computed at the next one, with the queue at that time. Bytes, ps.

use hull_core::pie::{self, PieConfig};
use hull_core::signal::Signal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Arrival, Decision, Departure, Rule, Site};
use crate::network::{OptionTable, Packet};
use crate::problem::{Problem, quoted, require};
use crate::random::{Purpose, Stream};
use crate::units::{Share, Time};

/// PIE: marks packets with ECT and drops others to keep the queueing delay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pie {
    /// Target delay.
    #[serde(default = "fifteen_ms")]
    pub target: Time,
    /// Time between two updates of the probability.
    #[serde(default = "fifteen_ms")]
    pub interval: Time,
    /// Integral gain, per second.
    #[serde(default = "eighth")]
    pub alpha: Share,
    /// Proportional gain, per second.
    #[serde(default = "five_quarters")]
    pub beta: Share,
    /// Time after an idle queue during which bursts are admitted.
    #[serde(default = "burst")]
    pub burst: Time,
}

const fn fifteen_ms() -> Time {
    Time(15_000_000_000)
}
const fn burst() -> Time {
    Time(150_000_000_000)
}
const fn eighth() -> Share {
    Share(Share::ONE / 8)
}
const fn five_quarters() -> Share {
    Share(Share::ONE / 4 * 5)
}

impl Pie {
    /// Checks the settings.
    pub(crate) fn check(&self) -> Result<(), Problem> {
        for (key, time, least, allowed) in [
            ("target", self.target, 1, "a time above 0, at most 10s"),
            ("interval", self.interval, 1_000_000, "1us to 10s"),
            ("burst", self.burst, 0, "at most 10s"),
        ] {
            require(
                (least..=10_000_000_000_000).contains(&time.0),
                &format!("switch.pie.{key}"),
                quoted(time),
                allowed,
            )?;
        }
        for (key, gain) in [("alpha", self.alpha), ("beta", self.beta)] {
            require(
                gain.0 <= 1_000_000 * Share::ONE,
                &format!("switch.pie.{key}"),
                quoted(gain),
                "0 to 1000000 (per second)",
            )?;
        }
        Ok(())
    }
}

/// PIE at one port.
#[derive(Debug)]
pub struct PieMarking {
    controller: pie::Pie,
    interval_ps: u64,
    next_update_ps: u64,
    /// Queue after the last arrival or departure, bytes.
    queue_bytes: u64,
    random: Stream,
}

impl PieMarking {
    /// Creates the rule with these settings at one port.
    pub fn new(settings: &Pie, site: &Site) -> Self {
        PieMarking {
            controller: pie::Pie::new(&PieConfig {
                target_ps: settings.target.0,
                alpha: settings.alpha.value(),
                beta: settings.beta.value(),
                burst_ps: settings.burst.0,
                mtu_bytes: site.mtu,
            }),
            interval_ps: settings.interval.0,
            next_update_ps: settings.interval.0,
            queue_bytes: 0,
            random: site.random(Purpose::Marking),
        }
    }

    /// Performs the updates that are due by `now_ps`.
    fn pass_time(&mut self, now_ps: u64) {
        while self.next_update_ps <= now_ps {
            self.controller.update(self.queue_bytes);
            self.next_update_ps += self.interval_ps;
        }
    }
}

impl Rule for PieMarking {
    fn on_arrival(
        &mut self,
        arrival: &Arrival,
        packet: &Packet,
        _options: &OptionTable,
    ) -> Decision {
        self.pass_time(arrival.now_ps);
        let (ect, random) = (packet.is_ecn_capable(), self.random.bits());
        let signal = self.controller.on_arrival(arrival.queue_bytes, ect, random);
        if signal != Signal::Drop {
            self.queue_bytes = arrival.queue_bytes + u64::from(packet.wire_bytes);
        }
        Decision::from(signal)
    }

    fn on_departure(
        &mut self,
        departure: &Departure,
        _packet: &Packet,
        _options: &mut OptionTable,
    ) -> Decision {
        self.pass_time(departure.at_ps);
        self.queue_bytes = departure.queue_bytes;
        (self.controller).on_departure(
            departure.at_ps,
            departure.sojourn_ps,
            departure.queue_bytes,
        );
        Decision::Pass
    }

    fn on_failure(&mut self, _now_ps: u64) {
        self.queue_bytes = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::flags;
    use crate::units::Rate;

    /// Decisions on packets with these ECN bits, at 50 Mbps behind 100 packets that wait 24 ms.
    fn decisions(ecn: u16) -> Vec<Decision> {
        let site = Site {
            rate: Rate(50_000_000),
            mtu: 1500,
            seed: 1,
            port: 0,
        };
        let settings: Pie = toml::from_str("burst = \"0s\"").expect("has defaults");
        let mut pie = PieMarking::new(&settings, &site);
        let packet = Packet::with_flags(flags::DATA | ecn);
        let mut decide = |n: u64| {
            let (now_ps, queue_bytes) = (n * 240_000_000, 150_000);
            let sent = Departure {
                at_ps: now_ps,
                sojourn_ps: 24_000_000_000,
                queue_bytes,
                port_bytes: queue_bytes,
            };
            pie.on_departure(&sent, &packet, &mut OptionTable::default());
            let arrival = Arrival {
                now_ps,
                queue_bytes,
                queue_packets: 100,
                framed_bytes: 1500,
                waits: true,
            };
            pie.on_arrival(&arrival, &packet, &OptionTable::default())
        };
        (1..4000).map(&mut decide).collect()
    }

    /// A packet marked by an earlier port is ECN-capable: it is marked like ECT(0), not dropped.
    #[test]
    fn packets_with_ce_are_not_dropped() {
        let marked = decisions(flags::ECT0);
        assert!(marked.contains(&Decision::Mark) && !marked.contains(&Decision::Drop));
        assert_eq!(decisions(flags::CE), marked);
        assert!(decisions(0).contains(&Decision::Drop));
    }
}
