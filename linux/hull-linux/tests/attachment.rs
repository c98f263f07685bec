//! Attaching and detaching, in namespaces of our own: all or nothing, and nothing left behind.

mod common;
#[path = "common/link.rs"]
mod link;

use std::process::{Command, Stdio};

use common::able;
use common::harness::Tried;
use link::{Link, call, send_packets};
use serde_json::Value;

const PHANTOM: [&str; 6] = ["attach", "e1", "--rate", "1Gbps", "--pacer", "off"];

fn detach_leaves_no_trace() -> Tried {
    able()?;
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
    Ok(())
}

fn attach_is_idempotent_and_reports_the_state() -> Tried {
    able()?;
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
    Ok(())
}

fn bad_input_changes_nothing() -> Tried {
    able()?;
    let link = Link::new("bad");
    let before = link.traffic_control(1);
    link.refused(1, &["attach", "nosuch"], &["nosuch", "e1"]);
    link.refused(
        1,
        &[&PHANTOM[..], &["--drain", "2Gbps"]].concat(),
        &["--drain", "2Gbps", "1Gbps"],
    );
    // A veth says 10 Gbps of itself.
    link.refused(
        1,
        &["attach", "e1", "--rate", "40Gbps", "--pacer", "off"],
        &["--rate", "40Gbps", "10Gbps"],
    );
    // One of two cannot be: neither is.
    link.refused(1, &[&PHANTOM[..], &["nosuch"]].concat(), &["nosuch"]);
    link.refused(
        1,
        &[&PHANTOM[..], &["--phantom", "off"]].concat(),
        &["nothing to attach"],
    );
    link.refused(1, &["stats", "e1"], &["e1", "not attached"]);
    link.refused(
        1,
        &["stats", "--watch", "--interval", "0ms"],
        &["--interval", "10ms"],
    );
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
    Ok(())
}

/// `ip netns exec` has mounts of its own, which end with it: what was pinned there would be lost. The mount of
/// before is taken away inside, as on a machine where there was none.
fn temporary_mounts_are_rejected() -> Tried {
    able()?;
    let link = Link::new("exec");
    let program = env!("CARGO_BIN_EXE_hull-linux");
    let script = format!("umount -l /run/hull/bpf 2>/dev/null; {program} status");
    let output = Command::new("ip")
        .args(["netns", "exec", &link.names[1], "sh", "-c", &script])
        .output()
        .expect("runs");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let text = String::from_utf8(output.stderr).expect("text");
    let words = format!("hull linux --netns {}", link.names[1]);
    assert!(
        text.contains(&words) && text.trim().lines().count() == 1,
        "{text}"
    );
    Ok(())
}

/// Neither a user nor an unknown namespace gets anywhere.
fn a_user_is_refused() -> Tried {
    able()?;
    let link = Link::new("user");
    let before = link.traffic_control(1);
    // The program may lie where users do not look.
    let copy = std::env::temp_dir().join(format!("hull-linux-{}", std::process::id()));
    std::fs::copy(env!("CARGO_BIN_EXE_hull-linux"), &copy).expect("copied");
    for arguments in [
        &["attach", "lo"][..],
        &["status"],
        &["rack", "up"],
        &["dctcp", "on"],
    ] {
        use std::os::unix::process::CommandExt;
        let output = Command::new(&copy)
            .args(arguments)
            .uid(65534)
            .output()
            .expect("runs");
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let text = String::from_utf8(output.stderr).expect("text");
        assert!(
            text.contains("user 65534 is not permitted; expected root"),
            "{text}"
        );
        assert_eq!(text.trim().lines().count(), 1, "{text}");
    }
    std::fs::remove_file(&copy).expect("removed");
    let output = Command::new(env!("CARGO_BIN_EXE_hull-linux"))
        .args(["--netns", "nosuch", "status"])
        .output()
        .expect("runs");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("--netns nosuch"));
    assert_eq!(link.traffic_control(1), before);
    Ok(())
}

/// With `fq` the pacer attaches and goes; without it one line says what is missing.
fn the_pacer_needs_fq() -> Tried {
    able()?;
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
    Ok(())
}

/// `stats --watch | head`: no words when the reader has gone.
fn watch_ends_when_the_reader_closes() -> Tried {
    use std::io::BufRead;
    use std::os::unix::process::ExitStatusExt;
    able()?;
    let link = Link::new("watch");
    link.ok(1, &PHANTOM);
    let mut child = Command::new(env!("CARGO_BIN_EXE_hull-linux"))
        .args(["--netns", &link.names[1], "stats", "--watch"])
        .args(["--interval", "10ms", "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("runs");
    let mut lines = std::io::BufReader::new(child.stdout.take().expect("piped")).lines();
    for _ in 0..3 {
        let line = lines.next().expect("a line").expect("text");
        let status: Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!(status[0]["device"], "e1");
    }
    drop(lines);
    let output = child.wait_with_output().expect("exits");
    assert_eq!(output.status.signal(), Some(libc::SIGPIPE), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
    link.ok(1, &["detach", "e1"]);
    Ok(())
}

fn a_device_may_go_away() -> Tried {
    able()?;
    let link = Link::new("gone");
    link.ok(1, &PHANTOM);
    call("ip", &["-n", &link.names[1], "link", "del", "e1"]);
    assert!(
        link.ok(1, &["status"])
            .contains("the device no longer exists")
    );
    assert!(
        link.ok(1, &["detach", "e1"])
            .contains("the device no longer exists")
    );
    assert_eq!(
        link.ok(1, &["status"]),
        "nothing is attached in this network namespace\n"
    );
    Ok(())
}

tests!(
    detach_leaves_no_trace,
    attach_is_idempotent_and_reports_the_state,
    bad_input_changes_nothing,
    temporary_mounts_are_rejected,
    a_user_is_refused,
    the_pacer_needs_fq,
    watch_ends_when_the_reader_closes,
    a_device_may_go_away,
);
