//! Switches: buffers, marking (thesis 2.2.1), phantom queues (paper 2.1), priorities (paper 6.2.2).

use hull_core::phantom_queue::{Drain, PhantomQueue as VirtualBacklog, PhantomQueueConfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::default;
use super::dscp::Dscp;
use super::dwrr::Dwrr;
use super::marking::{MarkOn, Marking, check as marking};
use super::memory::{self, Memory};
use super::pfc::Pfc;
use super::phantom_queue::{self, PhantomQueue, Placement};
use super::queue_rules;
use super::uno_phantom_queue::UnoPhantomQueue;
use crate::network::rules::{
    Avq, AvqMarking, CongestionPoint, OfferedRate, Pi, PiMarking, Pie, PieMarking, RandomLoss, Rcp,
    Red, RedMarking, Rule, SampledQueue, Site, Telemetry, VirtualQueue, WritesRecords,
};
use crate::network::{DualPi2, FqCodel};
use crate::problem::{Problem, buffer, delay, loss, quoted, rate, refuse, require};
use crate::topology::{Graph, Kind};
use crate::units::{Buffer, Rate, Share, Size, Tick, Time};

/// The switches and their links, to hosts and to each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Switch {
    /// Rate of the links out of a switch.
    pub rate: Rate,
    /// Propagation delay of those links.
    pub delay: Time,
    /// Latency of a packet in a switch without queueing and transmission.
    #[serde(default)]
    pub latency: Time,
    /// Bytes of a packet after which a switch starts to forward it (cut-through); unset: store and forward.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_through: Option<Size>,
    /// Share of the packets that each link out of a switch loses at random.
    #[serde(default)]
    pub loss: Share,
    /// Size of each output port's drop-tail buffer. Each class of `priorities` has its own; the
    /// queues of `fq_codel` or `dualpi2` share one.
    #[serde(default = "default::unlimited")]
    pub buffer: Buffer,
    /// Memory that the ports of a switch share; without this table each port has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Memory>,
    /// Priority flow control, which loses no packet of its classes; without this table switches drop
    /// packets that find no room.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pfc: Option<Pfc>,
    /// Queues of each port, the first for messages of high priority (workload.high_priority_below); served in
    /// strict priority unless switch.dwrr is set.
    #[serde(default = "default::one_u32")]
    pub priorities: u32,
    /// Classes of packets by their code point (transport.dscp); others are in the class of transport.priority and
    /// counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dscp: Vec<Dscp>,
    /// Deficit round robin among the classes; without this table they are served in strict priority.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dwrr: Option<Dwrr>,
    /// Bytes left to send, framing included, at which a port with priorities selects its next
    /// packet: the content of the transmitter behind the scheduler. Unset: it selects when the link
    /// is free.
    #[serde(default)]
    pub commit: Size,
    /// Whether the packet being sent still occupies the buffer and counts for marking.
    #[serde(default)]
    pub count_in_service: bool,
    /// ECN marking by queue length; without this table there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marking: Option<Marking>,
    /// ECN marking by RED; without this table there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub red: Option<Red>,
    /// ECN marking by PI; without this table there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pi: Option<Pi>,
    /// DualPI2, two coupled queues for L4S and classic traffic; without this table there is one queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dualpi2: Option<DualPi2>,
    /// FQ-CoDel, a queue for each flow; without this table there is one queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fq_codel: Option<FqCodel>,
    /// Marks and drops by PIE; without this table there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pie: Option<Pie>,
    /// QCN's congestion point; without this table there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub qcn: Option<CongestionPoint>,
    /// RCP, which offers each flow a rate; without this table there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rcp: Option<Rcp>,
    /// In-band telemetry: records of the ports in the data of senders that ask; without this table there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub telemetry: Option<Telemetry>,
    /// Trimming: data that finds no room in the buffer loses its payload and continues as a header,
    /// in a queue that is served first; without this table it is dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trimming: Option<Trimming>,
    /// Phantom queue of each port; without this table there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phantom_queue: Option<PhantomQueue>,
    /// ECN marking by an adaptive virtual queue; without this table there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub avq: Option<Avq>,
    /// Uno's phantom queue of each port; without this table there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uno_phantom_queue: Option<UnoPhantomQueue>,
    /// Ports with their own settings; the last matching entry applies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<PortSettings>,
}

/// Ports of switches that differ from the others. All given ones of `rate`, `tier` and `node` must
/// match; omitted settings are as for the other ports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PortSettings {
    /// Ports with links of this rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Ports of this tier, such as `tor-host` or `agg-core`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    /// Ports of the switch of this name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Their buffer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<Buffer>,
    /// Their marking.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marking: Option<Marking>,
    /// Their phantom queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phantom_queue: Option<PhantomQueue>,
    /// Share of the packets that their links lose at random.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<Share>,
}

impl PortSettings {
    /// Does the same as [`Switch::is_divisible`] for the settings of these ports.
    fn is_divisible(&self) -> bool {
        let PortSettings {
            rate: _,
            tier: _,
            node: _,
            buffer: _,
            marking,
            phantom_queue: _,
            loss: _,
        } = self;
        marking
            .as_ref()
            .is_none_or(|marking| marking.on == MarkOn::Enqueue)
    }

    /// Whether these settings apply to this switch port.
    pub(crate) fn fits(&self, graph: &Graph, port: usize) -> bool {
        let is_owner = |node: &String| graph.node_named(node) == Some(graph.port_owner(port));
        self.rate
            .is_none_or(|rate| rate.0 == graph.wire(port).rate_bps)
            && self
                .tier
                .as_ref()
                .is_none_or(|of| *of == graph.port_tiers(port))
            && self.node.as_ref().is_none_or(is_owner)
    }
}

/// Checks that each entry of `switch.ports` matches a port of this network and changes a setting.
pub(super) fn check_ports(switch: &Switch, graph: &Graph) -> Result<(), Problem> {
    if switch.ports.is_empty() {
        return Ok(());
    }
    let of_switches =
        (0..graph.ports()).filter(|&port| graph.nodes[graph.port_owner(port)].kind == Kind::Switch);
    let of_switches = Vec::from_iter(of_switches);
    for (i, entry) in switch.ports.iter().enumerate() {
        let key = format!("switch.ports[{i}]");
        let PortSettings {
            rate: _,
            tier: _,
            node: _,
            buffer,
            marking,
            phantom_queue,
            loss,
        } = entry;
        let differs = buffer.is_some() || marking.is_some();
        if !differs && phantom_queue.is_none() && loss.is_none() {
            let allowed = "at least one of buffer, marking, phantom_queue, loss";
            return refuse(&key, "nothing that differs", allowed);
        }
        if !of_switches.iter().any(|&port| entry.fits(graph, port)) {
            let mut tiers: Vec<_> = of_switches.iter().map(|&p| graph.port_tiers(p)).collect();
            tiers.sort_unstable();
            tiers.dedup();
            let told = format!(
                "no port of a switch has this rate, tier and node, as far as they are given; tiers \
                 here are {}",
                tiers.join(", ")
            );
            return Err((key, told).into());
        }
    }
    Ok(())
}

impl Switch {
    /// Rules of a port besides its threshold marker and the phantom queue in series, in the order
    /// in which they see a packet.
    pub(crate) fn rules(&self, site: &Site) -> Vec<Box<dyn Rule>> {
        let mut rules: Vec<Box<dyn Rule>> = Vec::new();
        rules.extend(RandomLoss::rule(self.loss, site));
        if let Some(settings) = &self.qcn {
            rules.push(Box::new(SampledQueue::new(settings, site)));
        }
        if let Some(settings) = &self.marking {
            rules.extend(settings.rule(site));
        }
        if let Some(settings) = &self.red {
            rules.push(Box::new(RedMarking::new(settings, site)));
        }
        if let Some(settings) = &self.pi {
            rules.push(Box::new(PiMarking::new(settings, site)));
        }
        if let Some(settings) = &self.pie {
            rules.push(Box::new(PieMarking::new(settings, site)));
        }
        if let Some(queue) = self.phantom_queue_at(Placement::Parallel, site.rate) {
            rules.push(Box::new(VirtualQueue(queue)));
        }
        if let Some(settings) = &self.avq {
            rules.push(Box::new(AvqMarking::new(settings, site)));
        }
        rules.extend(self.uno_phantom_queue.iter().map(|queue| queue.rule(site)));
        if let Some(settings) = &self.rcp {
            rules.push(Box::new(OfferedRate::new(settings, site)));
        }
        rules
    }

    /// Writer of a port's telemetry records.
    pub(crate) fn records(&self, site: &Site) -> Option<WritesRecords> {
        let settings = self.telemetry.as_ref()?;
        Some(WritesRecords::new(settings, site))
    }

    /// Whether a network of such switches may be simulated in parts: each port must decide before a
    /// packet's transmission starts, using only the state of its switch. The exhaustive pattern
    /// makes a new key fail to compile until its author has decided.
    pub(crate) fn is_divisible(&self) -> bool {
        let Switch {
            rate,
            delay: _,
            latency: _,
            cut_through: _, // shortens the time ahead, which is taken from the ports
            buffer: _,
            memory: _,     // is judged with what flows and ports share
            pfc: _,        // as memory
            priorities: _, // the next packet is chosen when the link is free
            dscp: _,       // gives packets their class
            dwrr: _,       // as with priorities, which it needs
            dualpi2: _,    // as with priorities
            fq_codel: _,   // as memory
            commit: _,     // chosen earlier
            trimming: _,   // decides when a packet comes
            count_in_service: _,
            ports,
            // The rules decide for themselves.
            loss: _,
            marking: _,
            red: _,
            pi: _,
            pie: _,
            qcn: _,
            rcp: _,
            telemetry,
            phantom_queue: _,
            avq: _,
            uno_phantom_queue: _,
        } = self;
        let site = Site {
            rate: *rate,
            mtu: 1500,
            seed: 0,
            port: 0,
        };
        let rules = self.rules(&site);
        rules.iter().all(|rule| rule.decides_on_arrival())
            && telemetry.is_none() // a record shows the queue when a transmission starts
            && ports.iter().all(PortSettings::is_divisible)
    }

    /// Phantom queue of a port with this link, if it has one with this placement.
    pub(crate) fn phantom_queue_at(
        &self,
        placement: Placement,
        link: Rate,
    ) -> Option<VirtualBacklog> {
        let config = self.phantom_queue_config(placement, link)?;
        Some(VirtualBacklog::new(&config))
    }

    /// Settings of that phantom queue.
    pub(crate) fn phantom_queue_config(
        &self,
        placement: Placement,
        link: Rate,
    ) -> Option<PhantomQueueConfig> {
        let queue = self.phantom_queue.as_ref()?;
        let config = PhantomQueueConfig {
            drain_bps: queue.drain.of(link).0,
            threshold_bytes: queue.threshold.0 as u32,
            count_arriving: queue.count_arriving,
            drain: match queue.tick {
                Tick::Continuous => Drain::Continuous,
                Tick::Every(tick) => Drain::Ticks { tick_ps: tick.0 },
            },
        };
        (queue.placement == placement).then_some(config)
    }
}

/// Packet trimming, for transports that understand it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Trimming {
    /// Probability that a packet which arrives at a full queue is trimmed itself; otherwise the last packet
    /// of the queue is trimmed, and the newcomer takes its place.
    #[serde(default = "half")]
    pub newcomer: Share,
}

const fn half() -> Share {
    Share(Share::ONE / 2)
}

/// Checks each key of the switches of a network with packets of at most `mtu` bytes; `None` if the
/// scenario's is invalid.
pub(super) fn check(switch: &Switch, mtu: Option<u64>) -> Vec<Result<(), Problem>> {
    let classes = switch.priorities;
    // Without a size, buffers in packets have none in bytes.
    let in_bytes = |buffer: Buffer| match (buffer, mtu) {
        (Buffer::Packets(_), None) => Buffer::Unlimited,
        _ => buffer,
    };
    let mtu = mtu.unwrap_or(1);
    let (link, room) = (
        rate("switch.rate", switch.rate),
        buffer("switch.buffer", switch.buffer, mtu),
    );
    // An invalid limit is replaced by a harmless one, so that it does not cause further mistakes.
    let of_link = link.as_ref().map_or(Rate(u64::MAX), |()| switch.rate);
    let of_room = in_bytes(room.as_ref().map_or(Buffer::Unlimited, |()| switch.buffer));
    let mut found = vec![
        link,
        room,
        delay("switch.delay", switch.delay),
        delay("switch.latency", switch.latency),
        loss("switch.loss", Some(switch.loss)),
        require(
            (1..=8).contains(&classes),
            "switch.priorities",
            classes,
            "1 to 8",
        ),
        require(
            switch.commit.0 <= 9000,
            "switch.commit",
            quoted(switch.commit),
            "at most 9000B",
        ),
        require(
            switch.commit.0 == 0 || classes > 1,
            "switch.commit",
            quoted(switch.commit),
            "0B with switch.priorities = 1, where nothing is chosen",
        ),
    ];
    if let Some(bytes) = switch.cut_through {
        found.push(require(
            (14..=9000).contains(&bytes.0),
            "switch.cut_through",
            quoted(bytes),
            "14B to 9000B",
        ));
    }
    if let Some(dwrr) = &switch.dwrr {
        found.push(dwrr.check(classes));
    }
    found.extend(switch.telemetry.map(|telemetry| telemetry.check(mtu)));
    found.extend(switch.pfc.iter().flat_map(|pfc| pfc.check(switch)));
    if switch.trimming.is_some() {
        found.push(require(
            switch.buffer != Buffer::Unlimited,
            "switch.buffer",
            quoted(switch.buffer),
            "a limit with switch.trimming",
        ));
    }
    found.extend(marks(switch, of_link, of_room, mtu));
    for (i, ports) in switch.ports.iter().enumerate() {
        let key = |name: &str| format!("switch.ports[{i}].{name}");
        let room = ports.buffer.map_or(of_room, in_bytes);
        found.extend(ports.buffer.map(|own| buffer(&key("buffer"), own, mtu)));
        found.push(loss(&key("loss"), ports.loss));
        if let Some(at) = &ports.marking {
            let port = (room, ports.rate.unwrap_or(of_link));
            found.push(marking(&key("marking"), at, port, (mtu, switch.classes())));
        }
        if let Some(queue) = &ports.phantom_queue {
            let rate = ports.rate.unwrap_or(of_link);
            found.extend(phantom_queue::check(&key("phantom_queue"), queue, rate));
        }
    }
    let of_some = switch.ports.iter().any(|ports| ports.marking.is_some());
    let of_all = switch.marking.is_some()
        || switch.red.is_some()
        || switch.pi.is_some()
        || switch.avq.is_some();
    if let Some(memory) = &switch.memory {
        found.push(memory::check(
            memory,
            switch.priorities,
            of_all || of_some,
            mtu,
        ));
    }
    found
}

/// Checks the marking settings common to all ports, whose links have the rate `link` and whose
/// buffers are `room`.
fn marks(switch: &Switch, link: Rate, room: Buffer, mtu: u64) -> Vec<Result<(), Problem>> {
    let mut found = Vec::new();
    if let Some(at) = &switch.marking {
        let classes = switch.classes();
        found.push(marking("switch.marking", at, (room, link), (mtu, classes)));
    }
    if let Some(red) = &switch.red {
        found.push(red.check());
        found.push(require(
            switch.pi.is_none(),
            "switch.pi",
            "a table beside switch.red",
            "one of red, pi",
        ));
    }
    found.extend(switch.pi.iter().map(Pi::check));
    found.push(queue_rules::check(switch));
    found.extend(switch.avq.iter().map(Avq::check));
    found.extend(switch.uno_phantom_queue.iter().map(UnoPhantomQueue::check));
    if let Some(queue) = &switch.phantom_queue {
        found.extend(phantom_queue::check("switch.phantom_queue", queue, link));
    }
    found
}
