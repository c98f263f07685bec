//! A host and its link to the network.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Scenario, Transport, default};
use crate::problem::{Problem, buffer, delay, loss, quoted, rate, require};
use crate::service_time::{Service, check as check_service};
use crate::topology::{Graph, NicRule};
use crate::units::{Buffer, Rate, Share, Size, Time};

/// Queue of a host before its link (docs/host.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HostQueue {
    /// One queue for all flows, as in the experiments of 2012.
    Fifo,
    /// A queue for each flow, served in turn by bytes.
    Fair,
    /// Linux's sch_fq: a queue for each flow, those that were empty first; TCP with a window is paced at 2
    /// times its window per round trip in slow start, and at 1.2 times afterwards.
    Fq,
    /// Linux's fq_codel: a queue with CoDel for each flow, those that were empty first.
    FqCodel,
}

/// A host and its link to the switch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// Rate of the link from the host to the switch.
    pub rate: Rate,
    /// Propagation delay of that link.
    pub delay: Time,
    /// Share of the packets that that link loses at random.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<Share>,
    /// Queue of the host before its link. Unset: "fair", or "fifo" if nic_queues is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<HostQueue>,
    /// Size of that queue; of all flows together if each has one.
    #[serde(default = "default::unlimited")]
    pub nic_buffer: Buffer,
    /// With `queue = "fifo"`: transmit queues of the NIC, served round robin, one packet each; a flow's number
    /// selects its queue. `nic_buffer` is the size of each.
    #[serde(default = "default::one_u32")]
    pub nic_queues: u32,
    /// Rule that chooses the NIC of a flow, for hosts with several links. Unset: "hash".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nic_choice: Option<NicRule>,
    /// Delay of a packet in the host's stack and NIC, in each direction.
    #[serde(default)]
    pub stack_delay: Time,
    /// Random part of the stack's delay, drawn for each packet and direction; packets stay in
    /// order. Without this table the delay is constant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack_jitter: Option<Service>,
    /// Largest piece that TCP hands to the NIC (segmentation offload): the NIC splits it and sends the
    /// packets back to back. Unset: single packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offload: Option<Size>,
    /// Processor of the sending side; without this table packets cost nothing there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transmit: Option<Transmit>,
    /// Interrupts and processor of the receiving side; without this table packets cost nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receive: Option<Receive>,
    /// Time from the arrival of a message's last byte to the application's next step.
    #[serde(default)]
    pub application_delay: Time,
}

impl Host {
    /// Queue of the host; a default where it is unset.
    pub fn queue(&self) -> HostQueue {
        // Only a FIFO has several transmit queues; 0 is reported by itself.
        let default = if self.nic_queues == 1 {
            HostQueue::Fair
        } else {
            HostQueue::Fifo
        };
        self.queue.unwrap_or(default)
    }

    /// Rule that chooses the NIC of a flow.
    pub fn nic_choice(&self) -> NicRule {
        self.nic_choice.unwrap_or(NicRule::Hash)
    }
}

/// The sending side of a host: one processor with a cost per packet, which receiving does not share (paper
/// 4.1, remark 3).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Transmit {
    /// Processor time of a packet that the stack hands to the NIC; with host.offload of a whole piece.
    #[serde(default)]
    pub packet_cost: Time,
    /// Additional processor time of each packet on the wire, split off a piece or not.
    #[serde(default)]
    pub frame_cost: Time,
}

/// The receiving side of a host: interrupt coalescing with `ethtool`'s names, and the processor
/// time of interrupts and packets (paper 4.2 and table 2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Receive {
    /// Number of waiting packets that raises an interrupt (rx-frames).
    #[serde(default = "default::one_u32")]
    pub frames: u32,
    /// Packets that may wait for the processor (descriptors of the receive ring); others are dropped. Unset: no
    /// limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ring: Option<u32>,
    /// Packets in the ring above which the NIC asks its switch to pause, with switch.pfc. Unset: the ring
    /// without the packets that may still arrive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub xoff: Option<u32>,
    /// Packets in the ring down to which the NIC lets its switch resume, with switch.pfc. Unset: two less than
    /// xoff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub xon: Option<u32>,
    /// Longest wait of a packet for an interrupt (rx-usecs).
    #[serde(default)]
    pub wait: Time,
    /// Whether the wait applies only while packets arrive faster than one per wait (adaptive).
    #[serde(default)]
    pub adaptive: bool,
    /// Largest packet that receive offload builds from the packets of one interrupt; unset: no receive
    /// offload.
    #[serde(default)]
    pub join: Size,
    /// Processor time of an interrupt.
    #[serde(default)]
    pub interrupt_cost: Time,
    /// Processor time of a packet, single or joined.
    #[serde(default)]
    pub packet_cost: Time,
    /// Additional processor time of each packet on the wire, joined or not.
    #[serde(default)]
    pub frame_cost: Time,
    /// Whether interrupts stay enabled while the processor works, each for the packets that it announced;
    /// otherwise they are masked until no packet is left (NAPI).
    #[serde(default)]
    pub unmasked: bool,
}

/// Checks the rule that chooses NICs against transports and network.
pub(super) fn check_nics(s: &Scenario, graph: &Graph) -> Result<(), Problem> {
    let rule = s.host.nic_choice();
    require(
        rule != NicRule::PerPacket || s.all_transports().all(Transport::has_paths),
        "host.nic_choice",
        "\"per_packet\"",
        "\"hash\" or \"rail\" unless all transports send messages or have transport.spray: the paths of \
         a flow use the NICs in turn",
    )?;
    require(
        rule != NicRule::PerPacket || s.sends_messages_only() || s.pacer.is_none(),
        "host.nic_choice",
        "\"per_packet\" beside pacer",
        "\"hash\" or \"rail\" with paced streams: a flow is associated with the pacer of one NIC",
    )?;
    rule.check(graph)
}

/// Checks the hosts of a network with packets of at most `mtu` bytes.
pub(super) fn check(host: &Host, mtu: u64) -> Vec<Result<(), Problem>> {
    let mut found = Vec::new();
    found.push(rate("host.rate", host.rate));
    found.push(delay("host.delay", host.delay));
    found.push(loss("host.loss", host.loss));
    let queues = host.nic_queues;
    let allowed = "1 to 65536";
    found.push(require(
        (1..=65_536).contains(&queues),
        "host.nic_queues",
        queues,
        allowed,
    ));
    found.push(require(
        queues == 1 || host.queue() == HostQueue::Fifo,
        "host.nic_queues",
        queues,
        "1 unless host.queue = \"fifo\": each flow has a queue",
    ));
    found.push(delay("host.stack_delay", host.stack_delay));
    found.push(delay("host.application_delay", host.application_delay));
    if let Some(size) = host.offload {
        found.push(require(
            size.0 >= mtu && size.0 <= 65_535,
            "host.offload",
            quoted(size),
            "transport.mtu to 65535B",
        ));
    }
    if let Some(jitter) = &host.stack_jitter {
        found.push(check_service("host.stack_jitter", jitter));
    }
    if let Some(costs) = &host.transmit {
        found.push(delay("host.transmit.packet_cost", costs.packet_cost));
        found.push(delay("host.transmit.frame_cost", costs.frame_cost));
    }
    if let Some(receive) = &host.receive {
        let frames = receive.frames;
        let allowed = "1 to 4096";
        found.push(require(
            (1..=4096).contains(&frames),
            "host.receive.frames",
            frames,
            allowed,
        ));
        if let Some(ring) = receive.ring {
            found.push(require(
                (1..=65_536).contains(&ring),
                "host.receive.ring",
                ring,
                "1 to 65536",
            ));
        }
        found.push(delay("host.receive.wait", receive.wait));
        found.push(delay("host.receive.interrupt_cost", receive.interrupt_cost));
        found.push(delay("host.receive.packet_cost", receive.packet_cost));
        found.push(delay("host.receive.frame_cost", receive.frame_cost));
        found.push(require(
            receive.join.0 <= 65_535,
            "host.receive.join",
            quoted(receive.join),
            "at most 65535B",
        ));
    }
    found.push(buffer("host.nic_buffer", host.nic_buffer, mtu));
    found
}
