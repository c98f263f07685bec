//! The testbed of paper 5.2 (figure 7) on one machine, built from network namespaces.
//!
//! ```text
//! hull-h0 eth0 --- tohost hull-b0 toswitch --- p0 \
//! hull-h1 eth0 --- tohost hull-b1 toswitch --- p1  } br0 in hull-switch
//! ...                                             /
//! ```
//!
//! HTB shapes each switch port to the link's rate, with a FIFO of the buffer's size behind it. After a late
//! timer HTB sends a burst, which a real link does not and which a phantom queue marks; the rack limits its
//! size. Like the NetFPGAs, a box stands between host and switch. It is a bridge: packets that enter at
//! `toswitch` have left the switch's port, and there the phantom queue counts them. netem delays the packets
//! that leave at either side. Without a delay there are no boxes, and the phantom queue counts at the host's
//! `eth0`. Each packet is one segment, and one processor receives all packets of a device, so packets stay
//! in order. A host's own link to the switch is not shaped, so its bursts reach the switch at the machine's
//! speed.

pub mod command;
pub mod run;
pub mod scheme;
pub mod simulation;

use crate::machine::call;
use crate::problem::{Problem, input};
use crate::settings::bps;

/// Prefix of all namespaces.
const PREFIX: &str = "hull-";
/// Namespace of the switch.
pub const SWITCH: &str = "hull-switch";

/// Parameters of a rack.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize, PartialEq)]
pub struct Rack {
    /// Number of hosts, 2 to 64.
    pub hosts: u32,
    /// Rate of each switch port, bit/s.
    pub rate_bps: u64,
    /// Delay of each link in each direction, ns.
    pub delay_ns: u64,
    /// Buffer of each switch port, bytes.
    pub buffer_bytes: u32,
    /// Largest burst of a switch port after a late timer, bytes.
    pub burst_bytes: u32,
    /// Minimum retransmission timeout of the hosts, ns.
    pub min_rto_ns: u64,
}

/// Namespace of a host.
pub fn host(number: u32) -> String {
    format!("{PREFIX}h{number}")
}

/// Namespace of a box.
pub fn bump(number: u32) -> String {
    format!("{PREFIX}b{number}")
}

/// Address of a host.
pub fn address(number: u32) -> String {
    format!("10.77.0.{}", number + 1)
}

/// Existing namespaces of a rack.
pub fn namespaces() -> Result<Vec<String>, Problem> {
    let listed = call("ip", &["netns", "list"])?;
    let names = listed
        .lines()
        .filter_map(|line| line.split_whitespace().next());
    Ok(names
        .filter(|name| name.starts_with(PREFIX))
        .map(str::to_owned)
        .collect())
}

const RECORD: &str = "/run/hull/rack.json";

/// Parameters of the existing rack.
pub fn standing() -> Result<Rack, Problem> {
    match std::fs::read_to_string(RECORD) {
        Ok(text) => serde_json::from_str(&text)
            .map_err(|error| Problem::Failed(format!("{RECORD}: {error}"))),
        Err(_) => input("no rack exists; build one with hull linux rack up"),
    }
}

impl Rack {
    fn check(&self) -> Result<(), Problem> {
        if !(2..=64).contains(&self.hosts) {
            return input(format!(
                "--hosts: {} is invalid; expected 2 to 64",
                self.hosts
            ));
        }
        if !(1_000_000..=100_000_000_000).contains(&self.rate_bps) {
            return input(format!(
                "--rate: {} is invalid; expected 1Mbps to 100Gbps",
                bps(self.rate_bps)
            ));
        }
        if self.delay_ns > 1_000_000_000 {
            return input(format!(
                "--delay: {} ns is invalid; expected at most 1s",
                self.delay_ns
            ));
        }
        if self.buffer_bytes < 3_000 {
            return input(format!(
                "--buffer: {} B is invalid; expected 3KB or more",
                self.buffer_bytes
            ));
        }
        if !(1..=1_000_000).contains(&self.burst_bytes) {
            return input(format!(
                "--burst: {} B is invalid; expected 1B to 1MB",
                self.burst_bytes
            ));
        }
        if !(10_000_000..=1_000_000_000).contains(&self.min_rto_ns) {
            return input(format!(
                "--min-rto: {} ns is invalid; expected 10ms to 1s",
                self.min_rto_ns
            ));
        }
        Ok(())
    }

    /// Whether boxes stand between hosts and switch.
    pub fn has_boxes(&self) -> bool {
        self.delay_ns > 0
    }

    /// Builds the rack; if a step fails, everything is removed.
    pub fn up(&self) -> Result<(), Problem> {
        self.check()?;
        let there = namespaces()?;
        if !there.is_empty() {
            return input(format!(
                "a rack exists already ({}); remove it with hull linux rack down",
                there.join(", ")
            ));
        }
        self.build().inspect_err(|_| {
            let _ = down();
        })
    }

    fn build(&self) -> Result<(), Problem> {
        call("ip", &["netns", "add", SWITCH])?;
        bridge(SWITCH)?;
        for number in 0..self.hosts {
            self.add_host(number)?;
        }
        std::fs::create_dir_all("/run/hull")?;
        std::fs::write(
            RECORD,
            serde_json::to_string(self).expect("it is plain data"),
        )?;
        Ok(())
    }

    fn add_host(&self, number: u32) -> Result<(), Problem> {
        let (host, port) = (host(number), format!("p{number}"));
        call("ip", &["netns", "add", &host])?;
        if self.has_boxes() {
            let bump = bump(number);
            call("ip", &["netns", "add", &bump])?;
            pair(&host, "eth0", &bump, "tohost")?;
            pair(&bump, "toswitch", SWITCH, &port)?;
            bridge(&bump)?;
            for side in ["toswitch", "tohost"] {
                call(
                    "ip",
                    &["-n", &bump, "link", "set", "dev", side, "master", "br0"],
                )?;
                let delay = format!("{}us", self.delay_ns as f64 / 1e3);
                let arguments = [
                    "-n", &bump, "qdisc", "add", "dev", side, "root", "netem", "delay", &delay,
                    "limit", "20000",
                ];
                call("tc", &arguments).map_err(|problem| {
                    if !problem.to_string().contains("unknown") {
                        return problem;
                    }
                    Problem::Input(format!(
                        "--delay: found no netem in this kernel ({problem}); expected 0us, or load \
                         it with modprobe sch_netem (CONFIG_NET_SCH_NETEM)"
                    ))
                })?;
            }
        } else {
            pair(&host, "eth0", SWITCH, &port)?;
        }
        call(
            "ip",
            &["-n", SWITCH, "link", "set", "dev", &port, "master", "br0"],
        )?;
        call("ip", &["-n", &host, "link", "set", "dev", "lo", "up"])?;
        call(
            "ip",
            &[
                "-n",
                &host,
                "addr",
                "add",
                &format!("{}/24", address(number)),
                "dev",
                "eth0",
            ],
        )?;
        // IPv6 too, without the seconds of duplicate address detection.
        let six = format!("fd77::{}/64", number + 1);
        let _ = call(
            "ip",
            &["-n", &host, "addr", "add", &six, "dev", "eth0", "nodad"],
        );
        let rate = format!("{}bit", self.rate_bps);
        let burst = self.burst_bytes.to_string();
        let port = port.as_str();
        call(
            "tc",
            &[
                "-n", SWITCH, "qdisc", "add", "dev", port, "root", "handle", "1:", "htb",
                "default", "1",
            ],
        )?;
        call(
            "tc",
            &[
                "-n", SWITCH, "class", "add", "dev", port, "parent", "1:", "classid", "1:1", "htb",
                "rate", &rate, "burst", &burst, "cburst", &burst, "quantum", "1514",
            ],
        )?;
        self.plain_port(number)?;
        call(
            "ip",
            &[
                "netns",
                "exec",
                &host,
                "sysctl",
                "-qw",
                "net.ipv4.tcp_ecn=1",
            ],
        )?;
        let min_rto = format!("{}ms", self.min_rto_ns / 1_000_000);
        call(
            "ip",
            &[
                "-n",
                &host,
                "route",
                "change",
                "10.77.0.0/24",
                "dev",
                "eth0",
                "src",
                &address(number),
                "rto_min",
                &min_rto,
            ],
        )?;
        Ok(())
    }
}

impl Rack {
    /// Puts a FIFO of the buffer's size behind a switch port's shaper.
    fn plain_port(&self, number: u32) -> Result<(), Problem> {
        let (port, buffer) = (format!("p{number}"), self.buffer_bytes.to_string());
        let fifo = [
            "qdisc", "replace", "dev", &port, "parent", "1:1", "bfifo", "limit", &buffer,
        ];
        call("tc", &[&["-n", SWITCH], &fifo[..]].concat()).map(|_| ())
    }
}

/// Creates a bridge that forwards from the first packet on.
fn bridge(namespace: &str) -> Result<(), Problem> {
    let new = [
        "link",
        "add",
        "br0",
        "up",
        "type",
        "bridge",
        "stp_state",
        "0",
        "forward_delay",
        "0",
    ];
    call("ip", &[&["-n", namespace], &new[..]].concat()).map(|_| ())
}

/// Creates a pair of connected devices, up, with one segment per packet.
fn pair(left: &str, left_end: &str, right: &str, right_end: &str) -> Result<(), Problem> {
    call(
        "ip",
        &[
            "link", "add", left_end, "netns", left, "type", "veth", "peer", "name", right_end,
            "netns", right,
        ],
    )?;
    for (namespace, end) in [(left, left_end), (right, right_end)] {
        call(
            "ip",
            &[
                "-n",
                namespace,
                "link",
                "set",
                "dev",
                end,
                "gso_max_segs",
                "1",
                "up",
            ],
        )?;
        // If two processors receive packets of one device, they reorder them. A kernel without CONFIG_RPS
        // lacks this file: with several processors it reorders packets.
        let command = format!("echo 1 > /sys/class/net/{end}/queues/rx-0/rps_cpus");
        let _ = call("ip", &["netns", "exec", namespace, "sh", "-c", &command]);
    }
    Ok(())
}

/// Removes a rack completely: processes, namespaces, links, records.
pub fn down() -> Result<usize, Problem> {
    let there = namespaces()?;
    for name in &there {
        if let Ok(text) = call("ip", &["netns", "pids", name]) {
            for process in text.split_whitespace() {
                let _ = call("kill", &["-9", process]);
            }
        }
        crate::record::drop_namespace(name);
        call("ip", &["netns", "del", name])?;
    }
    let _ = std::fs::remove_file(RECORD);
    Ok(there.len())
}
