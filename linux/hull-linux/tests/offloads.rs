//! Real TCP through a phantom queue that marks nearly all: IPv4 and IPv6, plain and in a VLAN, segments joined
//! and not (GSO, GRO). All that was sent arrives, what the kernel counts as CE is what was marked, and
//! packets without ECN stay as they are.

mod common;
#[path = "common/link.rs"]
mod link;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;

use common::harness::Tried;
use common::{able, skip};
use link::{Link, call, inside, send_packets};
use serde_json::Value;

const BYTES: usize = 400_000;
/// From linux/ethtool.h and linux/sockios.h.
const SIOCETHTOOL: libc::c_ulong = 0x8946;
const ETHTOOL_STSO: u32 = 0x1f;
const ETHTOOL_SGSO: u32 = 0x24;
const ETHTOOL_SGRO: u32 = 0x2c;

/// Switches segmentation and joining of a device in the present namespace.
fn offload(device: &str, on: bool) {
    #[repr(C)]
    struct EthtoolValue {
        command: u32,
        data: u32,
    }
    #[repr(C)]
    struct Request {
        name: [u8; 16],
        value: *mut EthtoolValue,
        padding: [u64; 2],
    }
    // SAFETY: plain system calls, with structures of our own that outlive them.
    #[allow(unsafe_code)]
    unsafe {
        let socket = libc::socket(libc::AF_INET, libc::SOCK_DGRAM, 0);
        for command in [ETHTOOL_STSO, ETHTOOL_SGSO, ETHTOOL_SGRO] {
            let mut value = EthtoolValue {
                command,
                data: u32::from(on),
            };
            let mut request = Request {
                name: [0; 16],
                value: &mut value,
                padding: [0; 2],
            };
            request.name[..device.len()].copy_from_slice(device.as_bytes());
            let done = libc::ioctl(socket, SIOCETHTOOL, &mut request);
            assert_eq!(done, 0, "{device}: {}", std::io::Error::last_os_error());
        }
        libc::close(socket);
    }
}

/// Packets that came in by their ECN field (not capable, ECT(0), CE), and those with a wrong checksum.
#[derive(Clone, Copy, Debug)]
struct Came {
    without: u64,
    capable: u64,
    ce: u64,
    broken: u64,
}

/// Counts of the kernel in the current namespace.
fn came(ipv6: bool) -> Came {
    let netstat = std::fs::read_to_string("/proc/thread-self/net/netstat").expect("readable");
    let snmp = std::fs::read_to_string("/proc/thread-self/net/snmp").expect("readable");
    let snmp6 = std::fs::read_to_string("/proc/thread-self/net/snmp6").expect("readable");
    let two_lines = |text: &str, group: &str, name: &str| {
        let mut lines = text.lines().filter(|line| line.starts_with(group));
        let names = lines.next()?.split_whitespace();
        let values: Vec<&str> = lines.next()?.split_whitespace().collect();
        let at = names.into_iter().position(|found| found == name)?;
        values[at].parse::<u64>().ok()
    };
    let one_line = |name: &str| {
        let line = snmp6
            .lines()
            .find(|line| line.split_whitespace().next() == Some(name))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok()
    };
    let by_field = |name: &str| match ipv6 {
        true => one_line(&format!("Ip6{name}")).expect("counted"),
        false => two_lines(&netstat, "IpExt:", name).expect("counted"),
    };
    let broken = [
        two_lines(&snmp, "Ip:", "InHdrErrors"),
        two_lines(&snmp, "Tcp:", "InCsumErrors"),
        one_line("Ip6InHdrErrors"),
    ];
    Came {
        without: by_field("InNoECTPkts"),
        capable: by_field("InECT0Pkts"),
        ce: by_field("InCEPkts"),
        broken: broken.iter().flatten().sum(),
    }
}

/// Sends `BYTES` over TCP from the first namespace to the second.
fn transfer(link: &Link, address: &str) {
    let (from, to) = (link.names[0].clone(), link.names[1].clone());
    let listener = {
        let address = address.to_owned();
        inside(&to, move || TcpListener::bind(address).expect("bound"))
            .join()
            .expect("bound")
    };
    let sender = {
        let address = address.to_owned();
        inside(&from, move || {
            let mut stream = TcpStream::connect(address).expect("connected");
            let bytes: Vec<u8> = (0..BYTES).map(|at| (at % 251) as u8).collect();
            stream.write_all(&bytes).expect("sent");
        })
    };
    let (mut stream, _) = listener.accept().expect("a connection");
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).expect("all of it");
    sender.join().expect("sent");
    assert_eq!(bytes.len(), BYTES);
    assert!(
        bytes
            .iter()
            .enumerate()
            .all(|(at, &byte)| byte == (at % 251) as u8)
    );
}

fn queue(link: &Link) -> Value {
    let status: Value =
        serde_json::from_str(&link.ok(1, &["status", "--format", "json"])).expect("JSON");
    status[0]["phantom_queue"].clone()
}

fn number(value: &Value, key: &str) -> u64 {
    value[key]
        .as_u64()
        .unwrap_or_else(|| panic!("{key} in {value}"))
}

/// One device, one version of IP, with and without offloads.
fn marks_where_it_may(link: &Link, device: &str, address: &str, datagrams: &'static str) {
    let ipv6 = address.starts_with('[');
    let look = || {
        inside(&link.names[1], move || came(ipv6))
            .join()
            .expect("counted")
    };
    for on in [true, false] {
        for (name, end) in link.names.iter().zip(["e0", "e1"]) {
            inside(name, move || offload(end, on))
                .join()
                .expect("switched");
        }
        let drain = [
            "--rate",
            "1Gbps",
            "--drain",
            "10Mbps",
            "--threshold",
            "1KB",
            "--pacer",
            "off",
        ];
        link.ok(1, &[&["attach", device][..], &drain].concat());
        let name = format!("{device} {address} offloads {on}");
        let before = look();
        transfer(link, address);
        let (after, counts) = (look(), queue(link));
        let marked = number(&counts, "marked");
        let ce = after.ce - before.ce;
        assert!(
            marked > 0 && after.capable > before.capable,
            "{name}: {counts}"
        );
        // A joined packet is marked once and counted by its segments.
        assert!(
            if on { ce >= marked } else { ce == marked },
            "{name}: {ce} {counts}"
        );
        assert!(number(&counts, "bytes") > BYTES as u64, "{name}: {counts}");
        // Datagrams without ECN, while the counter is far above the threshold.
        send_packets(&link.names[0], datagrams);
        let last = look();
        assert!(last.without >= after.without + 5, "{name}: {last:?}");
        assert_eq!((last.ce, last.broken), (after.ce, before.broken), "{name}");
        link.ok(1, &["detach", device]);
    }
}

/// Addresses on a device of each end, and ECN at both.
fn addresses(link: &Link, suffix: &str, net: u8) {
    for (at, name) in link.names.iter().enumerate() {
        let device = format!("e{at}{suffix}");
        let four = format!("10.79.{net}.{}/24", at + 1);
        let six = format!("fd79:{net}::{}/64", at + 1);
        call("ip", &["-n", name, "addr", "add", &four, "dev", &device]);
        call(
            "ip",
            &["-n", name, "addr", "add", &six, "dev", &device, "nodad"],
        );
        call("ip", &["-n", name, "link", "set", "dev", &device, "up"]);
        let ecn = inside(name, || std::fs::write("/proc/sys/net/ipv4/tcp_ecn", "1"));
        ecn.join().expect("ran").expect("written");
    }
}

fn ipv4_and_ipv6_are_marked() -> Tried {
    able()?;
    let link = Link::new("ip");
    addresses(&link, "", 1);
    marks_where_it_may(&link, "e1", "10.79.1.2:7000", "10.79.1.2:9");
    marks_where_it_may(&link, "e1", "[fd79:1::2]:7000", "[fd79:1::2]:9");
    Ok(())
}

/// At the VLAN's own device, and at the one below it.
fn tagged_packets_are_marked() -> Tried {
    able()?;
    let link = Link::new("vlan");
    for (at, name) in link.names.iter().enumerate() {
        let (below, device) = (format!("e{at}"), format!("e{at}.7"));
        let output = Command::new("ip")
            .args(["-n", name, "link", "add", "link", &below, "name", &device])
            .args(["type", "vlan", "id", "7"])
            .output()
            .expect("iproute2 installed");
        if !output.status.success() {
            return skip("this kernel has no VLAN devices (8021q)");
        }
    }
    addresses(&link, ".7", 2);
    for device in ["e1", "e1.7"] {
        marks_where_it_may(&link, device, "10.79.2.2:7000", "10.79.2.2:9");
        marks_where_it_may(&link, device, "[fd79:2::2]:7000", "[fd79:2::2]:9");
    }
    Ok(())
}

tests!(ipv4_and_ipv6_are_marked, tagged_packets_are_marked,);
