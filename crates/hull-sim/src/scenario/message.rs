//! The message transport's own settings, and their constraints with other keys.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Admission, CongestionControl, Erasure, Scenario, Transport, UnoCcSettings, admission};
use crate::problem::{Problem, need, quoted, require};
use crate::transport::message::{LoadBalancing, Recovery};
use crate::units::{Size, Time};

/// Settings of the message transport, whose congestion controls are RDMA's, such as DCQCN, HPCC, Swift and
/// Ultra Ethernet's, or a class of your own with transport.messages = true.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// Entropy values of a connection; the hash of each selects a path.
    #[serde(default = "paths")]
    pub paths: u16,
    /// Load balancing of packets over the paths.
    #[serde(default)]
    pub load_balancing: LoadBalancing,
    /// Paths at a time with load_balancing = "subflows".
    #[serde(default = "subflows")]
    pub subflows: u16,
    /// Pause after which a packet begins a flowlet, with load_balancing = "flowlet" (default: the
    /// round trip).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flowlet_gap: Option<Time>,
    /// Recovery of lost packets: by timeout and trimmed headers alone, go-back-N or selective repeat. Unset: go
    /// back with the controls of RoCE's adapters, selective with Swift, timeout with others.
    #[serde(default)]
    pub recovery: Recovery,
    /// Packets by which a packet may be overtaken before it counts as lost, with recovery = "selective".
    #[serde(default)]
    pub reordering: u32,
    /// Time after which a receiver repeats the request to go back to the same packet, with recovery =
    /// "go_back_n".
    #[serde(default = "gap_interval")]
    pub gap_interval: Time,
    /// Shortest time between two notifications of marks (CNP), which are packets of their own. Unset: the mark
    /// returns in the packet's acknowledgment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cnp_interval: Option<Time>,
    /// Largest number of bytes in flight, regardless of the control. IRN has a bandwidth-delay product.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-packets" = true))]
    pub max_in_flight: Option<Size>,
    /// Size of an acknowledgment and other control packets. Unset: `transport.header`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ack_size: Option<Size>,
    /// Priority class of acknowledgments and other control packets.
    #[serde(default)]
    pub ack_priority: u8,
    /// Priority class of notifications of marks.
    #[serde(default)]
    pub cnp_priority: u8,
    /// Received bytes after which the receiver must send an acknowledgment.
    #[serde(default = "ack_bytes")]
    pub ack_bytes: Size,
    /// Initial window and initial ungranted credit, full packets. Unset: 1.5 times the
    /// bandwidth-delay product of the sender's own link at the longest round trip. UnoCC starts
    /// with one bandwidth-delay product.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_window: Option<u32>,
    /// The round trip of the unloaded network, which sizes windows and targets. Unset: the round
    /// trip between the farthest hosts, over the slowest of their shortest paths. With two data
    /// centres the value applies inside a data centre; between them the farthest hosts always
    /// determine it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round_trip: Option<Time>,
    /// Time without acknowledgment after which a packet counts as lost. Unset: 15 us plus six times the drain
    /// time of a full port buffer at the rate of the slowest of both hosts' links and the tiers between switches
    /// (a tier counts as its fastest link), or six round trips if buffers are unlimited, and then at least
    /// twice the last measured round trip. With UnoCC: one round trip plus five times that drain time, and eight
    /// times between two data centres.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Time>,
    /// Erasure coding; without this table there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erasure: Option<Erasure>,
    /// Admission by the receiver; without this table a sender does not ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub admission: Option<Admission>,
    /// UnoCC's parameters.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unocc: UnoCcSettings,
}

const fn paths() -> u16 {
    64
}
const fn subflows() -> u16 {
    10
}
fn is_default(unocc: &UnoCcSettings) -> bool {
    *unocc == UnoCcSettings::default()
}
const fn ack_bytes() -> Size {
    Size(16_384)
}
const fn gap_interval() -> Time {
    Time(500_000_000)
}

impl Default for Message {
    fn default() -> Self {
        Message {
            paths: paths(),
            load_balancing: LoadBalancing::default(),
            subflows: subflows(),
            flowlet_gap: None,
            recovery: Recovery::default(),
            reordering: 0,
            gap_interval: gap_interval(),
            cnp_interval: None,
            max_in_flight: None,
            ack_size: None,
            ack_priority: 0,
            cnp_priority: 0,
            ack_bytes: ack_bytes(),
            initial_window: None,
            round_trip: None,
            timeout: None,
            erasure: None,
            admission: None,
            unocc: UnoCcSettings::default(),
        }
    }
}

/// Largest reordering that a connection may tolerate, packets.
const MOST_REORDERING: u32 = 100_000;

impl Message {
    /// Checks each key.
    pub(super) fn check(&self) -> Result<(), Problem> {
        let walks = self.load_balancing.walks();
        let fits = (1..=4096).contains(&self.paths) && (!walks || self.paths.is_power_of_two());
        let allowed = if walks {
            "a power of two from 1 to 4096, for this load_balancing"
        } else {
            "1 to 4096"
        };
        require(fits, "transport.message.paths", self.paths, allowed)?;
        require(
            (1..=100_000_000).contains(&self.ack_bytes.0),
            "transport.message.ack_bytes",
            quoted(self.ack_bytes),
            "1B to 100MB",
        )?;
        if let Some(packets) = self.initial_window {
            require(
                (1..=1_000_000).contains(&packets),
                "transport.message.initial_window",
                packets,
                "1 to 1000000 packets",
            )?;
        }
        if let Some(size) = self.ack_size {
            let allowed = "1B to 9KB";
            let fits = (1..=9000).contains(&size.0);
            require(fits, "transport.message.ack_size", quoted(size), allowed)?;
        }
        let selects = self.recovery == Recovery::Selective;
        require(
            self.reordering == 0 || (selects && self.reordering <= MOST_REORDERING),
            "transport.message.reordering",
            self.reordering,
            &match selects {
                true => format!("at most {MOST_REORDERING} packets"),
                false => "0 without transport.message.recovery = \"selective\"".to_owned(),
            },
        )?;
        require(
            self.recovery != Recovery::GoBackN || self.erasure.is_none(),
            "transport.message.recovery",
            "\"go_back_n\" beside transport.message.erasure",
            "\"timeout\" or \"selective\": a group's packets may arrive in any order",
        )?;
        require(
            (1..=self.paths).contains(&self.subflows)
                || self.load_balancing != LoadBalancing::Subflows,
            "transport.message.subflows",
            self.subflows,
            &format!("1 to {}, as paths", self.paths),
        )?;
        self.unocc.check()?;
        self.erasure.as_ref().map_or(Ok(()), Erasure::check)?;
        for (key, time) in [
            ("round_trip", self.round_trip),
            ("timeout", self.timeout),
            ("flowlet_gap", self.flowlet_gap),
            ("gap_interval", Some(self.gap_interval)),
            ("cnp_interval", self.cnp_interval),
        ] {
            require(
                time.is_none_or(|time| (Time(100_000)..=Time(10_000_000_000_000)).contains(&time)),
                &format!("transport.message.{key}"),
                quoted(time.unwrap_or_default()),
                "100ns to 10s",
            )?;
        }
        Ok(())
    }
}

/// Checks the constraints between the message transport and other sections.
pub(super) fn check(s: &Scenario) -> Result<(), Problem> {
    for (name, transport) in s.each_transport() {
        of_transport(&name, transport)?;
    }
    admission::check(s)?;
    let of_messages = s.all_transports().any(Transport::sends_messages);
    need(
        s.switch.trimming.is_none() || of_messages,
        "switch.trimming",
        "a table",
        &format!(
            "no such key: no transport of the scenario understands trimmed packets ({} do)",
            Vec::from_iter(
                CongestionControl::OF_MESSAGES
                    .iter()
                    .map(ToString::to_string)
            )
            .join(", ")
        ),
    )?;
    need(
        s.switch.trimming.is_none() || s.switch.memory.is_none(),
        "switch.trimming",
        "a table beside switch.memory",
        "one of the two: queues that trim have room of their own",
    )?;
    need(
        !s.sends_messages_only() || s.host.transmit.is_none(),
        "host.transmit",
        "a table",
        "no such key with the message transport, whose NIC sends without the host's processor",
    )?;
    need(
        !of_messages || s.measure.capture.is_none(),
        "measure.capture",
        "a table",
        "no such key with the message transport, which has no headers to write",
    )
}

/// Message about `message` at a transport that sends one stream.
pub(super) fn of_streams(control: &str) -> String {
    let others = CongestionControl::OF_MESSAGES
        .iter()
        .map(ToString::to_string);
    format!(
        "\"{control}\" sends a flow on one path, which the switches choose by its hash (ECMP), or on several with \
         spray; load_balancing and the other keys of message require congestion_control = {}",
        Vec::from_iter(others.map(|name| format!("\"{name}\""))).join(", ")
    )
}

fn of_transport(name: &str, transport: &Transport) -> Result<(), Problem> {
    let control = &transport.congestion_control;
    let is_default = transport.message == Message::default();
    if !transport.sends_messages() && !is_default {
        return Err(Problem::new(
            format!("{name}.message"),
            of_streams(&control.to_string()),
        ));
    }
    admission::of_transport(name, transport)?;
    let is_unocc = control == &CongestionControl::UnoCc;
    need(
        is_unocc || transport.message.unocc == UnoCcSettings::default(),
        &format!("{name}.message.unocc"),
        "a table",
        &format!(
            "no such key with {name}.congestion_control = {}",
            quoted(control)
        ),
    )?;
    need(
        !control.starts_at_rate() || transport.message.initial_window.is_none(),
        &format!("{name}.message.initial_window"),
        "a number",
        &format!(
            "no such key with {control}, which begins with what the link carries in a round trip"
        ),
    )?;
    let message = &transport.message;
    let balancing = message.load_balancing;
    need(
        !control.follows_path() || balancing.paths_of(message.paths, message.subflows) == 1,
        &format!("{name}.message.load_balancing"),
        "packets on several paths",
        &format!(
            "\"ecmp\", \"plb\" or \"flowlet\" with {name}.congestion_control = {}: it compares successive \
             packets of one path",
            quoted(control)
        ),
    )?;
    require(
        transport.ecn || !control.is_of_messages() || !control.keys().needs_ecn,
        &format!("{name}.ecn"),
        transport.ecn,
        &format!("true with {name}.congestion_control = {}", quoted(control)),
    )
}
