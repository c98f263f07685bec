//! Attaching and detaching, in namespaces of our own: all or nothing, and nothing left behind.

mod common;

use std::os::fd::AsRawFd;
use std::process::{Command, Output};

use common::able;
use serde_json::Value;

/// A pair of namespaces with a link, gone at the end.
struct Link {
    names: [String; 2],
}

impl Link {
    fn new(name: &str) -> Self {
        let names = [0, 1].map(|end| format!("hulltest-{name}{end}-{}", std::process::id()));
        for name in &names {
            call("ip", &["netns", "add", name]);
        }
        let [left, right] = &names;
        call(
            "ip",
            &[
                "link", "add", "e0", "netns", left, "type", "veth", "peer", "name", "e1", "netns",
                right,
            ],
        );
        for (at, name) in names.iter().enumerate() {
            let device = format!("e{at}");
            call(
                "ip",
                &[
                    "-n",
                    name,
                    "addr",
                    "add",
                    &format!("10.78.0.{}/24", at + 1),
                    "dev",
                    &device,
                ],
            );
            call("ip", &["-n", name, "link", "set", "dev", &device, "up"]);
        }
        Link { names }
    }

    fn hull(&self, end: usize, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hull-linux"));
        command.args(["--netns", &self.names[end]]).args(arguments);
        command.output().expect("it runs")
    }

    fn ok(&self, end: usize, arguments: &[&str]) -> String {
        let output = self.hull(end, arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).expect("text")
    }

    fn refused(&self, end: usize, arguments: &[&str], words: &[&str]) {
        let output = self.hull(end, arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
        let text = String::from_utf8(output.stderr).expect("text");
        assert_eq!(text.trim().lines().count(), 1, "{text}");
        for word in words {
            assert!(
                text.contains(word),
                "{arguments:?}: {word} is not in {text}"
            );
        }
    }

    /// Queues and filters, as tc shows them.
    fn traffic_control(&self, end: usize) -> String {
        let device = format!("e{end}");
        let show = |what: &[&str]| {
            call(
                "tc",
                &[&["-n", &self.names[end]], what, &["dev", &device]].concat(),
            )
        };
        [
            show(&["qdisc", "show"]),
            show(&["filter", "show", "ingress"].map(|word| word)),
        ]
        .concat()
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        for name in &self.names {
            let _ = Command::new("ip").args(["netns", "del", name]).output();
        }
    }
}

/// Sends a few packets from a namespace; this thread alone goes there.
fn send_packets(namespace: &str, to: &'static str) {
    let namespace = std::fs::File::open(format!("/run/netns/{namespace}")).expect("it is there");
    let sender = std::thread::spawn(move || {
        // SAFETY: the descriptor is open.
        let entered = unsafe { libc::setns(namespace.as_raw_fd(), libc::CLONE_NEWNET) };
        assert_eq!(entered, 0);
        let socket = std::net::UdpSocket::bind("0.0.0.0:0").expect("a socket");
        for _ in 0..5 {
            socket.send_to(b"probe", to).expect("sent");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    });
    sender.join().expect("sent");
}

fn call(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .expect("iproute2 is there");
    assert!(
        output.status.success(),
        "{program} {arguments:?}: {output:?}"
    );
    String::from_utf8(output.stdout).expect("text")
}

const PHANTOM: [&str; 6] = ["attach", "e1", "--rate", "1Gbps", "--pacer", "off"];

#[test]
fn what_was_attached_is_taken_off_without_a_trace() {
    if !able() {
        return;
    }
    let link = Link::new("trace");
    let before = link.traffic_control(1);
    for phantom in ["ingress", "egress"] {
        link.ok(1, &[&PHANTOM[..], &["--phantom", phantom]].concat());
        assert_ne!(link.traffic_control(1), before);
        send_packets(&link.names[0], "10.78.0.2:9");
        let status: Value =
            serde_json::from_str(&link.ok(1, &["status", "--format", "json"])).expect("JSON");
        let packets = status[0]["phantom_queue"]["packets"]
            .as_u64()
            .expect("a count");
        assert!(packets >= 1, "{status}");
        let metrics = link.ok(1, &["stats", "e1", "--format", "prometheus"]);
        assert!(
            metrics.contains("hull_phantom_packets_total{device=\"e1\"}"),
            "{metrics}"
        );
        link.ok(1, &["detach", "e1"]);
        assert_eq!(link.traffic_control(1), before);
        assert_eq!(
            link.ok(1, &["status"]),
            "nothing is attached in this network namespace\n"
        );
    }
}

#[test]
fn it_is_safe_to_repeat_and_says_what_is_there() {
    if !able() {
        return;
    }
    let link = Link::new("again");
    link.ok(1, &PHANTOM);
    let once = link.traffic_control(1);
    assert!(link.ok(1, &PHANTOM).contains("already"));
    assert_eq!(link.traffic_control(1), once);
    link.refused(
        1,
        &[&PHANTOM[..], &["--drain", "800Mbps"]].concat(),
        &["e1", "other settings", "set"],
    );
    link.ok(
        1,
        &[
            "set", "e1", "--rate", "1Gbps", "--pacer", "off", "--drain", "800Mbps",
        ],
    );
    let status: Value =
        serde_json::from_str(&link.ok(1, &["status", "--format", "json"])).expect("JSON");
    assert_eq!(status[0]["settings"]["drain_bps"], 800_000_000);
    link.ok(1, &["detach", "e1"]);
    link.refused(1, &["detach", "e1"], &["e1", "not attached"]);
    link.refused(
        1,
        &["set", "e1", "--rate", "1Gbps"],
        &["e1", "not attached"],
    );
}

#[test]
fn bad_input_changes_nothing() {
    if !able() {
        return;
    }
    let link = Link::new("bad");
    let before = link.traffic_control(1);
    link.refused(1, &["attach", "nosuch"], &["nosuch", "e1"]);
    link.refused(
        1,
        &[&PHANTOM[..], &["--drain", "2Gbps"]].concat(),
        &["--drain", "2Gbps", "1Gbps"],
    );
    link.refused(
        1,
        &[&PHANTOM[..], &["--phantom", "off"]].concat(),
        &["nothing to attach"],
    );
    link.refused(1, &["stats", "e1"], &["e1", "not attached"]);
    let inside = Command::new("ip")
        .args([
            "netns",
            "exec",
            &link.names[1],
            env!("CARGO_BIN_EXE_hull-linux"),
            "status",
        ])
        .output()
        .expect("it runs");
    // Refused only where no file system of ours was mounted before.
    if !inside.status.success() {
        assert!(
            String::from_utf8_lossy(&inside.stderr).contains("--netns"),
            "{inside:?}"
        );
    }
    link.ok(1, &PHANTOM);
    let theirs = link.traffic_control(1);
    let status: Value =
        serde_json::from_str(&link.ok(1, &["status", "--format", "json"])).expect("JSON");
    assert_eq!(status[0]["device"], "e1");
    link.refused(
        1,
        &[&PHANTOM[..], &["--phantom", "egress"]].concat(),
        &["other settings"],
    );
    assert_eq!(link.traffic_control(1), theirs);
    link.ok(1, &["detach", "e1"]);
    assert_eq!(link.traffic_control(1), before);
}

/// With `fq` the pacer attaches and goes; without it one line says what is missing.
#[test]
fn the_pacer_needs_fq() {
    if !able() {
        return;
    }
    let link = Link::new("fq");
    let before = link.traffic_control(1);
    let output = link.hull(1, &["attach", "e1", "--rate", "1Gbps"]);
    if output.status.success() {
        assert!(link.traffic_control(1).contains("fq"));
        let status: Value =
            serde_json::from_str(&link.ok(1, &["status", "--format", "json"])).expect("JSON");
        assert!(status[0]["pacer_state"].is_object(), "{status}");
        link.ok(1, &["detach", "e1"]);
    } else {
        link.refused(
            1,
            &["attach", "e1", "--rate", "1Gbps"],
            &["fq", "sch_fq", "--pacer off"],
        );
    }
    assert_eq!(link.traffic_control(1), before);
}

#[test]
fn a_device_may_go_away() {
    if !able() {
        return;
    }
    let link = Link::new("gone");
    link.ok(1, &PHANTOM);
    call("ip", &["-n", &link.names[1], "link", "del", "e1"]);
    assert!(link.ok(1, &["status"]).contains("has gone"));
    assert!(link.ok(1, &["detach", "e1"]).contains("had gone"));
    assert_eq!(
        link.ok(1, &["status"]),
        "nothing is attached in this network namespace\n"
    );
}
