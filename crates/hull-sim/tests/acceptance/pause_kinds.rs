//! What `hull check` says about pauses: XOFF, XON, headroom and its terms by kind of port, counted by hand.

use hull_sim::scenario;
use hull_sim::simulation::{PauseKind, pause_kinds};

/// Four hosts at 10 Gbps; a packet takes 1,538 bytes of the link.
const STAR: &str = r#"
name = "checked"
[run]
duration = "1ms"
[topology.star]
hosts = 4
[host]
rate = "10Gbps"
delay = "1us"
[switch]
rate = "10Gbps"
delay = "1us"
pfc = {}
[transport]
congestion_control = "dcqcn"
ecn = true
framing = "38B"
[workload.long_lived]
flows = [{ src = 1, dst = 0 }]
"#;

fn kinds(text: &str, settings: &[&str]) -> Vec<PauseKind> {
    let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    match scenario::expand(text, "test.toml", &settings) {
        Ok(cells) => pause_kinds(&cells[0].scenario),
        Err(error) => panic!("{error}"),
    }
}

/// 1,230.4 ns for a packet here, 81.6 ns for the frame, 1 us, 614.4 ns, 1,230.4 ns for the peer's packet and 1
/// us are 6,446 bytes at 10 Gbps, one more for what whole ps cut off: 6,288 bytes of packets, and one packet.
#[test]
fn a_star_has_one_kind_of_port() {
    let found = kinds(STAR, &[]);
    let [kind] = &found[..] else {
        panic!("{found:?}");
    };
    assert_eq!((&*kind.tiers, kind.ports), ("host-switch", 4));
    let terms = &kind.terms;
    assert_eq!(terms.wait_ps, 1_230_400);
    assert_eq!(terms.frame_ps, 81_600);
    assert_eq!(terms.frame_delay_ps, 1_000_000);
    assert_eq!(terms.reaction_ps, 614_400);
    assert_eq!(terms.peer_packet_ps, 1_230_400);
    assert_eq!(terms.data_delay_ps, 1_000_000);
    assert_eq!(terms.total_ps(), 5_156_800);
    assert_eq!((kind.headroom_bytes, kind.computed_bytes), (7_788, 7_788));
    // The headroom and two packets, and two packets less.
    assert_eq!((kind.xoff_bytes, kind.xon_bytes), (10_788, 7_788));
    assert_eq!(kind.late_marks, None);
}

/// The pool of an empty switch is its memory without four ports' headroom and reserves; a port alone has a
/// ninth of it with alpha = 1/8, and two packets less are 3,000 / 1.125 bytes less.
#[test]
fn a_port_alone_has_its_share_of_the_pool() {
    let settings = ["switch.memory.size=1MB", "switch.pfc.reserve=1KB"];
    let kind = &kinds(STAR, &settings)[0];
    let pool: u64 = 1_000_000 - 4 * (7_788 + 1_000);
    assert_eq!(kind.xoff_bytes, 1_000 + pool / 9);
    assert_eq!(kind.xon_bytes, 1_000 + (pool - 24_000) / 9);
    let given = ["switch.pfc.headroom=5KB", "switch.pfc.xoff=20KB"];
    let kind = &kinds(STAR, &given)[0];
    assert_eq!((kind.headroom_bytes, kind.computed_bytes), (5_000, 7_788));
    assert_eq!((kind.xoff_bytes, kind.xon_bytes), (20_000, 17_000));
}

/// Each kind of port is compared with the other ports of its switches.
#[test]
fn late_marks_are_those_of_another_port_of_the_switch() {
    let leaf_spine = STAR.replace(
        "star]\nhosts = 4",
        "leaf_spine]\nleaves = 2\nhosts_per_leaf = 2\nspines = 1",
    );
    let rules = [
        "switch.pfc.xoff=30KB",
        "switch.marking={threshold=\"20KB\"}",
        "switch.ports=[{tier=\"leaf-spine\",marking={threshold=\"90KB\"}}]",
    ];
    let found = kinds(&leaf_spine, &rules);
    let late = |kind: &PauseKind| {
        let marks = kind.late_marks.as_ref();
        marks.map(|marks| (marks.port.clone(), marks.threshold_bytes))
    };
    let told: Vec<_> = (found.iter())
        .map(|kind| (&*kind.tiers, kind.ports, late(kind)))
        .collect();
    let uplink = Some(("leaf0->spine0".to_owned(), 90_000));
    // A leaf's port to its spine has no other port to a spine; a spine's ports mark at 20 KB.
    assert_eq!(
        told,
        [
            ("host-leaf", 4, uplink),
            ("leaf-spine", 2, None),
            ("spine-leaf", 2, None)
        ]
    );
}
