//! Pauses between ports against runs of others and laws. The runs: `P/pfc2` of the published RDMA runs, an
//! ns-3 simulator (two senders at 100 Gbps into one receiver, 1 us links, packets of 1,048 bytes), with the
//! same counts and use of headroom, and pause times within 0.05%. That simulator cuts the transmission of
//! a packet to 83 ns, so the links here have the rate at which it takes 83 ns. At 100 Gbps there is one
//! pause more, and the times differ by 1.2% at most. The law: with the computed headroom no lossless packet is lost, on random networks, rates,
//! delays, MTUs and thresholds; with a packet less some are.

use hull_sim::measure::{PauseCause, PauseCount};
use hull_sim::network::ClassPauses;
use hull_sim::random::{Purpose, Stream};
use hull_sim::scenario::{self, Scenario};
use hull_sim::simulation::Outcome;

use super::star::{assert_near, run};

/// Two senders of 2,000 packets and a receiver, with the rules of the recorded simulator: no reserve, a fixed headroom, an
/// immediate reaction.
const PFC2: &str = r#"
name = "pfc2"
[run]
duration = "1ms"
drain = "1ms"
[topology.star]
hosts = 3
[host]
rate = "100Gbps"
delay = "1us"
queue = "fifo"
[switch]
rate = "100Gbps"
delay = "1us"
pfc = { reaction = "0s", headroom = "37500B", hysteresis = "2496B", xoff = "50000B" }
[transport]
congestion_control = "constant_rate"
mtu = "1048B"
header = "48B"
framing = "0B"
constant_rate = { rate = "100Gbps" }
[workload.long_lived]
flows = [{ src = 0, dst = 2, stop = "167680ns" }, { src = 1, dst = 2, stop = "167680ns" }]
"#;

fn scenario(text: &str, settings: &[&str]) -> Scenario {
    let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    match scenario::expand(text, "test.toml", &settings) {
        Ok(cells) => Scenario::clone(&cells[0].scenario),
        Err(error) => panic!("{error}"),
    }
}

/// Pauses of class 0 of a host's link.
fn of_host(outcome: &Outcome, host: &str) -> ClassPauses {
    let is_its = |row: &&PauseCount| row.from == host && row.class == 0;
    let row = outcome.pauses.iter().find(is_its);
    row.expect("the link of the host").counts
}

/// Pauses, their time and the use of headroom as recorded.
#[test]
fn pauses_are_those_of_a_recorded_simulator() {
    // 2,000 packets of 83 ns.
    let text = PFC2
        .replace("100Gbps", "101012048193bps")
        .replace("167680ns", "166000ns");
    for (settings, pauses, paused_us) in [
        (&[][..], 36, [162.212, 162.378]),
        (&["switch.pfc.hysteresis=20000B"], 22, [162.2, 162.2]),
    ] {
        let outcome = run(&scenario(&text, settings), 1);
        let each = ["h0", "h1"].map(|host| of_host(&outcome, host));
        for (counts, paused_us) in each.into_iter().zip(paused_us) {
            assert_eq!(
                (counts.sent, counts.received, counts.resumes),
                (pauses, pauses, pauses)
            );
            assert_near("paused", counts.paused_ps as f64 * 1e-6, paused_us, 5e-4);
        }
        // The simulator records the headroom of both links together.
        let used: u64 = each
            .iter()
            .map(|counts| counts.most_in_headroom_bytes)
            .sum();
        assert_eq!(used, 27_248);
        assert_eq!(outcome.packets.dropped, 0);
    }
}

/// A 100 Gbps sender to a receiver at 1 Gbps, and traffic back to the sender, so that pause frames wait for
/// packets. The headroom by hand: 83.84 + 5.12 ns, 1 us, 83.84 ns and 1 us at 100 Gbps are 27,160 bytes,
/// one more for what whole ps cut off, and a packet of 1,048 bytes. 25 packets arrive within it, so less
/// than a packet is never used; with a packet less some are lost.
#[test]
fn the_worst_case_needs_the_computed_headroom() {
    let slow = [
        "topology.links=[{link=\"h2--switch\",rate=\"1Gbps\"}]",
        "workload.long_lived.flows=[{src=0,dst=2},{src=1,dst=0,transport=\"back\"}]",
        "transports.back={constant_rate={rate=\"99Gbps\"}}",
        "run.duration=10ms",
        "run.drain=0s",
        "switch.pfc.hysteresis=1048B",
    ];
    let text = PFC2.replace(", headroom = \"37500B\"", "");
    let with = |headroom: Option<&str>| {
        let headroom = headroom.map(|size| format!("switch.pfc.headroom={size}"));
        let settings = Vec::from_iter(slow.iter().copied().chain(headroom.as_deref()));
        let outcome = run(&scenario(&text, &settings), 1);
        (of_host(&outcome, "h0"), outcome.packets.dropped)
    };
    let (computed, dropped) = with(None);
    assert_eq!(computed.headroom_bytes, 28_209);
    assert_eq!(computed.most_in_headroom_bytes, 26 * 1_048);
    assert!(computed.sent > 20, "{}", computed.sent);
    assert_eq!((computed.drops, dropped), (0, 0));
    let (less, dropped) = with(Some("27160B"));
    assert!(less.drops > 0 && dropped == less.drops, "{}", less.drops);
}

/// The two switches of thesis 5.1.
const TWO_SWITCHES: &str = r#"
name = "victim"
[run]
duration = "10ms"
drain = "0s"
[topology.graph]
text = '''{
  "nodes": [
    {"id": "h0", "kind": "host"}, {"id": "h1", "kind": "host"}, {"id": "h2", "kind": "host"},
    {"id": "h3", "kind": "host"}, {"id": "h4", "kind": "host"},
    {"id": "s0", "kind": "switch"}, {"id": "s1", "kind": "switch"}
  ],
  "edges": [
    {"source": "h0", "target": "s0"}, {"source": "h1", "target": "s0"}, {"source": "s0", "target": "s1"},
    {"source": "h2", "target": "s1"}, {"source": "h3", "target": "s1"}, {"source": "h4", "target": "s1"}
  ]
}'''
[[topology.links]]
link = "s0--s1"
rate = "20Gbps"
[host]
rate = "10Gbps"
delay = "1us"
queue = "fifo"
[switch]
rate = "10Gbps"
delay = "1us"
[transport]
congestion_control = "constant_rate"
constant_rate = { rate = "10Gbps" }
[workload.long_lived]
flows = [{ src = 0, dst = 2 }, { src = 1, dst = 3 }, { src = 4, dst = 2 }]
"#;

/// Two switches (thesis 5.1): hosts 0 and 1 at the first send over its one link, of twice their rate, to hosts 2
/// and 3 at the second, where host 4 also sends to host 2. Only the port to host 2 is overloaded. Without
/// pauses host 1 reaches host 3 at its full rate. With them the link between the switches pauses for the
/// packets to host 2, half of those that it carries, and host 1 gets what host 0 gets: a half.
#[test]
fn a_pause_stops_a_flow_that_does_not_use_the_congested_port() {
    let bits = |settings: &[&str], to: &str| {
        let outcome = run(&scenario(TWO_SWITCHES, settings), 1);
        let link = outcome.links.iter().find(|link| link.to == to);
        let dropped = outcome.packets.dropped > 0;
        (link.map_or(0.0, |link| link.utilization), dropped)
    };
    let paused = ["switch.pfc={}"];
    assert_near("lossy", bits(&["switch.buffer=100pkts"], "h3").0, 1.0, 0.01);
    let (victim, dropped) = bits(&paused, "h3");
    assert_near("victim", victim, 0.5, 0.1);
    assert!(!dropped);
    assert_near("bottleneck", bits(&paused, "h2").0, 1.0, 0.01);
}

/// The tree of the same pauses by hand: the port to host 2 pauses host 4 and the link between the switches,
/// and the port of that link, which is paused, the two hosts behind it. Each pause and its time is in one row.
#[test]
fn the_root_of_all_pauses_is_the_congested_port() {
    let outcome = run(&scenario(TWO_SWITCHES, &["switch.pfc={}"]), 1);
    let rows = &outcome.pause_causes;
    let of = |row: &PauseCause| {
        let port = |ends: &[String; 2]| ends.join("->");
        (port(&row.cause), port(&row.paused), row.depth)
    };
    assert_eq!(
        Vec::from_iter(rows.iter().map(of)),
        [
            ("s0->s1", "h0->s0", 1),
            ("s0->s1", "h1->s0", 1),
            ("s1->h2", "s0->s1", 0),
            ("s1->h2", "h4->s1", 0),
        ]
        .map(|(cause, paused, depth)| (cause.to_owned(), paused.to_owned(), depth))
    );
    assert!(rows.iter().all(|row| row.root == ["s1", "h2"]));
    for port in &outcome.pauses {
        let is_its = |row: &&PauseCause| row.paused == [port.from.clone(), port.to.clone()];
        let own = || rows.iter().filter(is_its);
        let pauses: u64 = own().map(|row| row.pauses).sum();
        let paused_ps: u64 = own().map(|row| row.paused_ps).sum();
        assert_eq!(
            (pauses, paused_ps),
            (port.counts.sent, port.counts.paused_ps)
        );
    }
}

/// With the computed headroom no packet is lost, on random networks.
#[test]
fn no_lossless_packet_is_lost_on_random_networks() {
    let mut random = Stream::new(55, Purpose::Arrivals, 0);
    let mut pauses = 0;
    for _ in 0..24 {
        let mut one_of = |list: &[&str]| list[random.below(list.len())].to_owned();
        let topology = one_of(&[
            "star={hosts=6}",
            "dumbbell={pairs=3}",
            "leaf_spine={leaves=3,spines=2,hosts_per_leaf=2}",
        ]);
        let rates = ["10Gbps", "25Gbps", "40Gbps", "100Gbps"];
        let times = ["0s", "100ns", "1us", "3us"];
        let sizes = ["1500B", "4000B", "9000B"];
        let memory = one_of(&[
            "",
            "memory={size=\"40MB\",cell=\"208B\"}\n",
            "memory={size=\"40MB\"}\n",
        ]);
        let pfc = if memory.is_empty() {
            one_of(&[
                "",
                "xoff=\"0B\"",
                "xoff=\"30KB\"",
                "xoff=\"20KB\",whole_link=true",
            ])
        } else {
            one_of(&[
                "",
                "alpha=\"1%\"",
                "xoff=\"30KB\",reserve=\"10KB\"",
                "whole_link=true",
            ])
        };
        let text = format!(
            "name=\"random\"\n[run]\nduration=\"500us\"\ndrain=\"500us\"\n[topology]\n{topology}\n\
             [host]\nrate=\"{}\"\ndelay=\"{}\"\nstack_delay=\"{}\"\nqueue=\"{}\"\n\
             [switch]\nrate=\"{}\"\ndelay=\"{}\"\nlatency=\"{}\"\npriorities=2\ncommit=\"{}\"\n\
             count_in_service={}\n{memory}[switch.pfc]\n{}\n\
             [transport]\ncongestion_control=\"constant_rate\"\nframing=\"{}\"\nmtu=\"{}\"\n\
             constant_rate={{rate=\"100Gbps\"}}\n[transports.other]\npriority=0\n\
             constant_rate={{rate=\"7Gbps\"}}\n[transports.tcp]\ncongestion_control=\"cubic\"\n\
             [workload.long_lived]\nflows=[{{src=0,dst=5}},{{src=1,dst=5}},{{src=2,dst=5,transport=\"other\"}},\
             {{src=3,dst=5,transport=\"tcp\"}},{{src=5,dst=0}},{{src=4,dst=1,transport=\"other\"}}]\n",
            one_of(&rates),
            one_of(&times),
            one_of(&times),
            one_of(&["fifo", "fair", "fq"]),
            one_of(&rates),
            one_of(&times),
            one_of(&times),
            one_of(&["0B", "3KB"]),
            one_of(&["true", "false"]),
            format!("{pfc}{}", one_of(&["", ",reaction=\"0s\"", ",quanta=8000"]))
                .trim_start_matches(',')
                .replace(',', "\n"),
            one_of(&["0B", "38B"]),
            one_of(&sizes),
        );
        let outcome = run(&scenario(&text, &[]), 1);
        assert_eq!(outcome.packets.dropped, 0, "{text}");
        for row in &outcome.pauses {
            let counts = row.counts;
            pauses += counts.received;
            assert!(
                counts.most_in_headroom_bytes <= counts.headroom_bytes,
                "{text}"
            );
        }
    }
    assert!(pauses > 1_000, "{pauses}");
}

/// Errors name the key, the value and what is expected.
#[test]
fn bad_settings_are_refused() {
    for (settings, parts) in [
        (
            &["switch.pfc.headroom=0B"][..],
            &["switch.pfc.headroom", "allow_loss"][..],
        ),
        (
            &["switch.pfc.classes=[1]"],
            &["switch.pfc.classes", "0 to 0"],
        ),
        (
            &["switch.priorities=2", "switch.pfc.classes=[0]"],
            &["switch.pfc.classes", "priority = 0"],
        ),
        (&["switch.priorities=9"], &["switch.priorities", "1 to 8"]),
        (
            &["switch.pfc.alpha=50%"],
            &["switch.pfc.alpha", "one of xoff, alpha"],
        ),
        (&["switch.buffer=100pkts"], &["switch.buffer", "unlimited"]),
        (
            &["switch.pie={target=\"20us\",interval=\"1ms\"}"],
            &["switch.pie", "switch.pfc"],
        ),
        (
            &["switch.cut_through=64B"],
            &["switch.cut_through", "switch.pfc"],
        ),
        (&["switch.pfc.quanta=2"], &["switch.pfc.quanta", "refresh"]),
        (
            &["switch.memory={size=\"100KB\"}"],
            &["switch.pfc.headroom", "100KB"],
        ),
    ] {
        let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
        let verify = |scenario: &scenario::Resolved| hull_sim::simulation::verify(scenario);
        let own = scenario::ExternalControls::new();
        let found = scenario::expand_verified(PFC2, "test.toml", &settings, &own, &verify);
        let told = found.expect_err("refused").to_string();
        for part in parts {
            assert!(told.contains(part), "{settings:?}: {told}");
        }
    }
}

/// The rules of other simulators set what a scenario does not: by hand at 100 Gbps and 1 us, 3 and 2 times
/// 12,500 bytes of headroom, and what each says of thresholds.
#[test]
fn rules_of_simulators_fill_unset_keys() {
    let memory = "switch.memory={size=\"2MiB\",alpha=1}";
    let set = |rules: &str, more: &[&str]| {
        let plain = PFC2.replace(
            "pfc = { reaction = \"0s\", headroom = \"37500B\", hysteresis = \"2496B\", xoff = \"50000B\" }",
            &format!("pfc = {{ rules = \"{rules}\" }}"),
        );
        scenario(&plain, &[&[memory][..], more].concat())
    };
    for (rules, headroom, hysteresis, reserve) in [
        ("ns3-datacenter", 37_500, 2496, 0),
        ("hpcc", 37_500, 3072, 4096),
        ("conweave", 27_096, 1, 2096),
    ] {
        let one = set(rules, &[]);
        let pfc = one.switch.pfc.as_ref().expect("a table");
        assert_eq!(pfc.hysteresis.map(|size| size.0), Some(hysteresis));
        assert_eq!((pfc.reserve.0, pfc.reaction.0), (reserve, 0));
        let outcome = run(&one, 1);
        assert_eq!(of_host(&outcome, "h0").headroom_bytes, headroom, "{rules}");
        assert_eq!(outcome.packets.dropped, 0);
        let own = set(rules, &["switch.pfc.hysteresis=5KB"]);
        let pfc = own.switch.pfc.as_ref().expect("a table");
        assert_eq!(pfc.hysteresis.map(|size| size.0), Some(5000));
    }
}
