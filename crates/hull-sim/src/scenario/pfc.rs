//! Priority flow control of the switches: its settings, and what they cannot be combined with. Which
//! headroom fits into a memory is checked where the ports are known (`simulation::build`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use super::pfc_watchdog::{self, PfcWatchdog};
use super::{Scenario, Switch, Transport};
use crate::network::Renewal;
use crate::problem::{Problem, need, quoted, require};
use crate::topology::NicRule;
use crate::units::{Buffer, Share, Size, Time};

/// Priority flow control (IEEE 802.1Q), or PAUSE of whole links (IEEE 802.3): a switch that holds too many
/// packets from a link asks the other end to pause (docs/pauses.md).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pfc {
    /// Lossless classes. Unset: all of `switch.priorities`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classes: Option<Vec<u8>>,
    /// Whether all classes of a link count and pause together (PAUSE), not each by itself.
    #[serde(default)]
    pub whole_link: bool,
    /// Fixed threshold of a port and class, from which its peer pauses. Unset: `alpha`, or without
    /// `switch.memory` the headroom and `hysteresis`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-packets" = true))]
    pub xoff: Option<Size>,
    /// Dynamic threshold, as a multiple of the free part of the shared pool. Unset: 12.5% with
    /// `switch.memory` and without `xoff`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alpha: Option<Share>,
    /// Bytes below the threshold at which the peer resumes. Unset: two packets of
    /// `transport.mtu`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-packets" = true))]
    pub hysteresis: Option<Size>,
    /// Memory of a port and class before the shared pool.
    #[serde(default)]
    #[schemars(extend("x-packets" = true))]
    pub reserve: Size,
    /// Memory of a port and class for what arrives after its peer was asked to pause. Unset: what loses no
    /// packet, from the link's rate and delay, the MTU and `reaction`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-packets" = true))]
    pub headroom: Option<Size>,
    /// Whether `headroom = "0B"` is meant: packets that find no room are lost and counted.
    #[serde(default)]
    pub allow_loss: bool,
    /// Time from a pause frame's arrival to its effect. The default is 12 quanta at 10 Gbps and from no standard that
    /// could be read here; limits of 1 to 3 us are in use for NICs (docs/pauses.md).
    #[serde(default = "reaction")]
    pub reaction: Time,
    /// Time of a pause, in quanta of 512 bits at the link's rate.
    #[serde(default = "quanta")]
    pub quanta: u32,
    /// When a switch asks again for a pause that it still needs.
    #[serde(default)]
    pub renewal: Renewal,
    /// Whether the peer pauses when the class reaches the threshold, not with the first packet above it.
    #[serde(default)]
    pub pause_at_threshold: bool,
    /// Bytes of a port and class below which its peer resumes in any case.
    #[serde(default)]
    #[schemars(extend("x-packets" = true))]
    pub resume_below: Size,
    /// Whether the headroom is beside `switch.memory`, not a part of it.
    #[serde(default)]
    pub headroom_outside: bool,
    /// Whether a packet that finds room below the threshold goes to the shared pool while the headroom is in use;
    /// false: all packets go to the headroom until it is empty.
    #[serde(default)]
    pub refill_pool: bool,
    /// Whether a switch looks whether the peer may resume only when a packet that came from it leaves; false: when
    /// any packet leaves the memory.
    #[serde(default)]
    pub resume_on_own_departure: bool,
    /// Watchdog of the switches' pauses. Unset: there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watchdog: Option<PfcWatchdog>,
    /// Rules whose values the unset keys have: IEEE 802.1Q's, or a simulator's.
    #[serde(default)]
    pub rules: PfcRules,
}

/// Rules of a switch's memory for lossless traffic. The simulators are ns-3 forks, at the revisions of
/// docs/pauses.md.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum PfcRules {
    /// Headroom computed from the link, the MTU and the reaction.
    #[default]
    #[serde(rename = "802.1q")]
    Ieee,
    /// ns3-datacenter (PowerTCP).
    #[serde(rename = "ns3-datacenter")]
    Ns3Datacenter,
    /// HPCC's simulator.
    #[serde(rename = "hpcc")]
    Hpcc,
    /// ConWeave's simulator.
    #[serde(rename = "conweave")]
    Conweave,
}

impl PfcRules {
    /// Values of the keys of `switch.pfc` that a scenario does not set, as in TOML.
    pub(super) fn values(self) -> &'static [(&'static str, &'static str)] {
        match self {
            PfcRules::Ieee => &[],
            PfcRules::Ns3Datacenter => &[
                ("reaction", "\"0s\""),
                ("renewal", "\"never\""),
                ("hysteresis", "\"2496B\""),
                ("resume_below", "\"1248B\""),
                ("headroom_outside", "true"),
                ("resume_on_own_departure", "true"),
            ],
            PfcRules::Hpcc => &[
                ("reaction", "\"0s\""),
                ("renewal", "\"never\""),
                ("hysteresis", "\"3072B\""),
                ("reserve", "\"4096B\""),
                ("pause_at_threshold", "true"),
                ("refill_pool", "true"),
                ("resume_on_own_departure", "true"),
            ],
            // Its pauses take 5 us at any rate; these are the quanta at 100 Gbps.
            PfcRules::Conweave => &[
                ("reaction", "\"0s\""),
                ("renewal", "\"each_packet\""),
                ("quanta", "977"),
                ("hysteresis", "\"1B\""),
                ("reserve", "\"2096B\""),
                ("alpha", "\"6.25%\""),
                ("resume_on_own_departure", "true"),
            ],
        }
    }

    /// Headroom of a link, bytes, for its rate (bit/s) and delay (ps); `None` if it is computed.
    pub(crate) fn headroom_bytes(self, rate_bps: u64, delay_ps: u64) -> Option<u64> {
        let bits = u128::from(rate_bps) * u128::from(delay_ps);
        let in_delays = |delays: u128| (delays * bits / 8_000_000_000_000) as u64;
        match self {
            PfcRules::Ieee => None,
            PfcRules::Ns3Datacenter | PfcRules::Hpcc => Some(in_delays(3)),
            PfcRules::Conweave => Some(in_delays(2) + 2096),
        }
    }
}

/// Sets the keys of `switch.pfc` whose values follow from its rules. Returns them.
pub(super) fn derive(table: &mut Table) -> Vec<String> {
    let Some(Value::Table(switch)) = table.get_mut("switch") else {
        return Vec::new();
    };
    let has_pool = switch.contains_key("memory");
    let Some(Value::Table(pfc)) = switch.get_mut("pfc") else {
        return Vec::new();
    };
    let is_dynamic = has_pool && !pfc.contains_key("xoff");
    let rules = pfc
        .get("rules")
        .and_then(|rules| rules.clone().try_into().ok());
    let mut derived = Vec::new();
    for (key, value) in rules.map_or(&[][..], PfcRules::values) {
        let value = toml::from_str::<Table>(&format!("value = {value}"));
        if let Some(value) = value.ok().and_then(|mut table| table.remove("value"))
            && !pfc.contains_key(*key)
            && (is_dynamic || *key != "alpha")
        {
            pfc.insert((*key).to_owned(), value);
            derived.push(format!("switch.pfc.{key}"));
        }
    }
    derived.extend(pfc_watchdog::derive(pfc));
    derived
}

const fn reaction() -> Time {
    Time(614_400)
}

const fn quanta() -> u32 {
    MOST_QUANTA
}

/// Largest time of a pause, of 16 bits.
const MOST_QUANTA: u32 = 65_535;

impl Pfc {
    /// Whether a class of packets is lossless.
    pub(crate) fn is_lossless(&self, class: u8) -> bool {
        let classes = self.classes.as_ref();
        classes.is_none_or(|classes| classes.contains(&class))
    }

    /// Whether a sender with ECN sends data in a lossless class.
    pub(crate) fn marks_matter(&self, s: &Scenario) -> bool {
        let mut senders = s.all_transports().filter(|one| one.ecn);
        let classes = 0..s.switch.priorities as u8;
        senders.any(|one| {
            let sends = |class: u8| self.is_lossless(class) && sends_data_in(s, one, class);
            classes.clone().any(sends)
        })
    }

    /// Checks each key of switches with `priorities` classes.
    pub(super) fn check(&self, switch: &Switch) -> Vec<Result<(), Problem>> {
        let priorities = switch.priorities;
        let mut found = Vec::new();
        if let Some(classes) = &self.classes {
            let shown = format!("{classes:?}");
            let known = |class: &u8| u32::from(*class) < priorities;
            let mut sorted = classes.clone();
            sorted.sort_unstable();
            sorted.dedup();
            found.push(require(
                !classes.is_empty() && classes.iter().all(known),
                "switch.pfc.classes",
                &shown,
                &format!(
                    "one class or more from 0 to {}, with switch.priorities = {priorities}",
                    priorities.saturating_sub(1)
                ),
            ));
            found.push(require(
                sorted.len() == classes.len(),
                "switch.pfc.classes",
                &shown,
                "each class once",
            ));
            found.push(require(
                !self.whole_link || sorted.len() == priorities as usize,
                "switch.pfc.classes",
                &shown,
                "all classes with switch.pfc.whole_link",
            ));
        }
        if let Some(alpha) = self.alpha {
            found.push(require(
                alpha.0 > 0 && alpha.0 <= 1000 * Share::ONE,
                "switch.pfc.alpha",
                quoted(alpha),
                "above 0 and at most 1000",
            ));
            found.push(require(
                self.xoff.is_none(),
                "switch.pfc.alpha",
                quoted(alpha),
                "one of xoff, alpha",
            ));
            found.push(require(
                switch.memory.is_some(),
                "switch.pfc.alpha",
                quoted(alpha),
                "switch.pfc.xoff without switch.memory: only a memory has a shared pool",
            ));
        }
        if let Some(headroom) = self.headroom {
            found.push(require(
                headroom.0 > 0 || self.allow_loss,
                "switch.pfc.headroom",
                quoted(headroom),
                "more than 0B, or switch.pfc.allow_loss = true: without headroom a lossless class loses \
                 packets",
            ));
        }
        found.push(require(
            self.reaction <= Time(1_000_000_000),
            "switch.pfc.reaction",
            quoted(self.reaction),
            "at most 1ms",
        ));
        found.push(require(
            (1..=MOST_QUANTA).contains(&self.quanta),
            "switch.pfc.quanta",
            self.quanta,
            "1 to 65535",
        ));
        found.extend(self.watchdog.iter().flat_map(PfcWatchdog::check));
        found
    }
}

/// Whether data of a transport may be of a class.
fn sends_data_in(s: &Scenario, transport: &Transport, class: u8) -> bool {
    match s.class_of(transport) {
        Some(own) => own == class,
        None => {
            let is_high = class == 0 && s.workload.high_priority_below.is_some();
            is_high || u32::from(class) == (s.switch.priorities - 1).min(1)
        }
    }
}

/// Checks the thresholds of receive rings.
fn check_ring(s: &Scenario) -> Result<(), Problem> {
    let Some(receive) = &s.host.receive else {
        return Ok(());
    };
    let pauses = s.switch.pfc.is_some() && receive.ring.is_some();
    for (key, packets) in [("xoff", receive.xoff), ("xon", receive.xon)] {
        need(
            pauses || packets.is_none(),
            &format!("host.receive.{key}"),
            "a number",
            "no such key without switch.pfc and host.receive.ring: only a ring that fills asks for pauses",
        )?;
    }
    if let (Some(ring), Some(xoff)) = (receive.ring, receive.xoff) {
        let key = "host.receive.xoff";
        let allowed = format!("1 to {}, below host.receive.ring", ring.saturating_sub(1));
        require((1..ring).contains(&xoff), key, xoff, &allowed)?;
    }
    if let (Some(xoff), Some(xon)) = (receive.xoff, receive.xon) {
        let allowed = format!("0 to {}, below host.receive.xoff", xoff - 1);
        require(xon < xoff, "host.receive.xon", xon, &allowed)?;
    }
    Ok(())
}

/// Checks the constraints with other keys.
pub(super) fn check(s: &Scenario) -> Result<(), Problem> {
    check_ring(s)?;
    let Some(pfc) = &s.switch.pfc else {
        return Ok(());
    };
    let switch = &s.switch;
    let others = [
        ("switch.cut_through", switch.cut_through.is_some()),
        ("switch.dualpi2", switch.dualpi2.is_some()),
        ("switch.fq_codel", switch.fq_codel.is_some()),
        ("switch.pie", switch.pie.is_some()),
        ("switch.trimming", switch.trimming.is_some()),
        ("measure.probe", s.measure.probe.is_some()),
    ];
    for (other, is) in others {
        need(
            !is,
            other,
            "a value beside switch.pfc",
            &format!("one of switch.pfc and {other}: they are not modelled together"),
        )?;
    }
    need(
        s.host.nic_choice() != NicRule::PerPacket,
        "host.nic_choice",
        "\"per_packet\" beside switch.pfc",
        "\"hash\" or \"rail\": a NIC that shares its packets with others does not pause",
    )?;
    let limited = switch.ports.iter().find_map(|ports| ports.buffer);
    let limited = Some(limited.unwrap_or(switch.buffer)).filter(|room| *room != Buffer::Unlimited);
    if let Some(room) = limited {
        let allowed = "\"unlimited\" with switch.pfc: switch.memory limits what a switch holds";
        require(false, "switch.buffer", quoted(room), allowed)?;
    }
    let last = switch.priorities - 1;
    let used = |class: u8| {
        s.all_transports().any(|one| {
            let message = &one.message;
            let is_of_answers = [message.ack_priority, message.cnp_priority].contains(&class);
            sends_data_in(s, one, class) || (one.sends_messages() && is_of_answers)
        })
    };
    let unused = pfc.classes.iter().flatten().find(|&&class| !used(class));
    match unused {
        Some(class) => require(
            false,
            "switch.pfc.classes",
            format!("{:?}", pfc.classes.as_deref().unwrap_or_default()),
            &format!(
                "classes with traffic: no transport has priority = {class} \
                 (workload.high_priority_below gives 0, otherwise it is {})",
                last.min(1)
            ),
        ),
        None => Ok(()),
    }
}
