//! Liveness of every transport: each flow that starts ends, regardless of which packets are lost.
//! Random networks, queues, losses up to 30% on every port of a switch, links that fail for a
//! while, and all controls, load balancers and workloads. A flow has 60 s; one that has not ended
//! then would never end.

use hull_sim::scenario::{Scenario, expand};
use hull_sim::simulation::{self, Outcome};

use super::star::{self, run};

const BASE: &str = r#"
name = "liveness"
[run]
duration = "1ms"
drain = "60s"
[host]
queue = "fifo"
rate = "10Gbps"
delay = "500ns"
[switch]
rate = "10Gbps"
delay = "500ns"
[transport]
mtu = "1500B"
"#;

/// Pseudorandom choices (splitmix64).
struct Choice(u64);

impl Choice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) % bound
    }

    fn one_of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len() as u64) as usize]
    }
}

/// Settings of a random scenario.
fn settings(seed: u64) -> Vec<String> {
    let mut choice = Choice(seed);
    let network = match choice.below(3) {
        0 => "star={hosts=5}",
        1 => "star={hosts=3},links=[{link=\"h0--switch\",rate=\"1Gbps\"}]",
        _ => {
            "leaf_spine={leaves=2,spines=2,hosts_per_leaf=2},\
             failures=[{link=\"leaf0--spine0\",at=\"30us\",until=\"900us\"}]"
        }
    };
    let (size, flows) = (1 + choice.below(60_000), 1 + choice.below(6));
    let workload = match choice.below(5) {
        0 => format!("bulk={{flows={flows},size=\"{size}B\",start_interval=\"3us\"}}"),
        1 => format!("bulk={{flows={flows},size=\"1B\"}}"),
        2 => format!("all_to_all={{size=\"{size}B\"}}"),
        3 => format!("permutation={{size=\"{size}B\"}}"),
        _ => format!(
            "requests={{load=\"20%\",connections_per_server=1,classes=[{{size=\"{size}B\",share=\"100%\"}}]}}"
        ),
    };
    let mut all = vec![
        format!("topology={{{network}}}"),
        format!("workload={{{workload}}}"),
        format!("switch.loss={}%", choice.below(31)),
        format!(
            "switch.buffer={}",
            choice.one_of(&["20pkts", "100pkts", "unlimited"])
        ),
    ];
    let queues = [
        "switch.priorities=1",
        "switch.priorities=2",
        "switch.dwrr.weights=[3,1]",
        "switch.fq_codel={}",
        "switch.dualpi2={}",
    ];
    all.push(choice.one_of(&queues).to_owned());
    let control = choice.one_of(&[
        "nscc",
        "rccc",
        "nscc+rccc",
        "unocc",
        "dcqcn",
        "dctcp-rate",
        "timely",
        "line-rate",
        "swift",
        "newreno",
        "cubic",
        "bbr",
        "dctcp",
        "prague",
        "vegas",
    ]);
    all.push(format!("transport.congestion_control={control}"));
    let is_tcp = ["newreno", "cubic", "bbr", "dctcp", "prague", "vegas"].contains(&control);
    all.push(format!(
        "transport.ecn={}",
        !["newreno", "cubic", "bbr", "vegas", "rccc", "swift"].contains(&control)
    ));
    if is_tcp {
        // The timer doubles with each loss in a row: without a limit 60 s would be too short.
        all.extend(
            [
                "initial_rto=1ms",
                "min_rto=1ms",
                "max_rto=50ms",
                "delayed_ack=200us",
                choice.one_of(&["handshake=true", "handshake=false"]),
            ]
            .map(|setting| format!("transport.{setting}")),
        );
        return all;
    }
    let paths = 1 << choice.below(6);
    let balancing = choice.one_of(&[
        "ecmp",
        "per_packet",
        "oblivious",
        "bitmap",
        "reps",
        "mixed",
        "subflows",
        "plb",
        "flowlet",
    ]);
    // A group's packets may arrive in any order, so erasure coding excludes go-back-N.
    let recovery = choice.one_of(&[
        "recovery=\"timeout\"",
        "recovery=\"timeout\",erasure={}",
        "recovery=\"selective\"",
        "recovery=\"go_back_n\"",
    ]);
    all.push(format!(
        "transport.message={{paths={paths},subflows=1,load_balancing=\"{balancing}\",ack_bytes=\"{}B\",{recovery}}}",
        1 + choice.below(40_000),
    ));
    // Trimmed headers have a class of their own.
    if choice.below(2) == 0 {
        all.push("switch.trimming={}".to_owned());
    }
    // A receiver that grants credit admits already.
    if !control.ends_with("rccc") && choice.below(3) == 0 {
        let chunk = 1 + choice.below(20_000);
        all.push(format!(
            "transport.message.admission={{chunk=\"{chunk}B\"}}"
        ));
    }
    all
}

fn scenario(settings: &[String]) -> Result<Scenario, String> {
    let cells = expand(BASE, "liveness.toml", settings).map_err(|error| error.to_string())?;
    simulation::verify(&cells[0].scenario).map_err(|problem| problem.to_string())?;
    Ok(Scenario::clone(&cells[0].scenario))
}

/// Number of completed and of unfinished flows.
fn counts(outcome: &Outcome) -> (usize, u64) {
    let classes = outcome.flows.summary();
    let completed = classes.iter().map(|class| class.count).sum();
    (
        completed,
        classes.iter().map(|class| class.unfinished).sum(),
    )
}

#[test]
fn every_flow_that_starts_ends() {
    let (mut ran, mut flows) = (0, 0);
    for seed in 0..400 {
        let settings = settings(seed);
        let Ok(scenario) = scenario(&settings) else {
            continue; // such keys exclude each other
        };
        let outcome = run(&scenario, seed);
        let (completed, unfinished) = counts(&outcome);
        assert_eq!(unfinished, 0, "seed {seed}: {settings:?}");
        ran += 1;
        flows += completed;
    }
    assert!(ran > 250 && flows > 1000, "{flows} flows in {ran} runs");
}

/// A byte whose packet, whose credit request or whose pull is lost.
#[test]
fn lost_requests_for_credit_are_repeated() {
    for control in ["rccc", "nscc+rccc"] {
        let settings = [
            "topology={star={hosts=2}}",
            "workload={bulk={flows=1,size=\"1B\"}}",
            "switch.loss=20%",
            "transport.ecn=true",
            &format!("transport.congestion_control={control}"),
        ];
        let scenario = scenario(&settings.map(str::to_owned)).expect("good");
        for seed in 0..200 {
            assert_eq!(
                counts(&run(&scenario, seed)),
                (1, 0),
                "{control}, seed {seed}"
            );
        }
    }
}

/// Packets that wait longer in an unlimited buffer than any fixed timeout. The default timeout follows the
/// measured round trip, and not into the past when that becomes shorter.
#[test]
fn what_waits_in_an_unlimited_buffer_is_not_sent_for_ever() {
    for loss in ["0%", "20%"] {
        let settings = [
            "topology={star={hosts=9}}",
            "workload={bulk={flows=24,size=\"250KB\"}}",
            "switch={rate=\"300Mbps\",delay=\"500ns\",buffer=\"unlimited\"}",
            "transport.ecn=true",
            "transport.congestion_control=unocc",
            &format!("switch.loss={loss}"),
        ];
        let scenario = scenario(&settings.map(str::to_owned)).expect("good");
        assert_eq!(counts(&run(&scenario, 1)), (24, 0), "{loss}");
    }
}

/// Flows that have not ended when the run does are counted, in total, by class, transport and group;
/// of those without a size none.
#[test]
fn unfinished_flows_are_counted() {
    let workload = r#"
[[workload.long_lived.flows]]
src = 1
dst = 0
size = "10MB"
[[workload.long_lived.flows]]
src = 2
dst = 0
size = "10MB"
transport = "other"
[[workload.long_lived.flows]]
src = 3
dst = 0
size = "1KB"
[[workload.long_lived.flows]]
src = 3
dst = 0
"#;
    let settings = [
        "topology.star.hosts=4",
        "run.duration=5ms",
        "run.drain=5ms",
        "transports={other={}}",
        "groups={first=\"src:1\",second=\"src:2\"}",
    ];
    let outcome = run(&star::scenario(workload, &settings), 1);
    let of = |classes: Vec<hull_sim::measure::ClassSummary>| {
        let classes = classes.into_iter();
        Vec::from_iter(classes.map(|class| (class.class, class.count, class.unfinished)))
    };
    let expected = |large| {
        vec![
            ("10MB".to_owned(), 0, large),
            ("1KB".to_owned(), usize::from(large != 1), 0),
        ]
    };
    assert_eq!(of(outcome.flows.summary()), expected(2));
    let transports = outcome.flows.by_transport();
    let of_transports = transports.iter().map(|log| of(log.summary()));
    assert_eq!(
        Vec::from_iter(of_transports),
        [
            vec![("10MB".to_owned(), 0, 1), ("1KB".to_owned(), 1, 0)],
            expected(1)
        ]
    );
    let groups = outcome.flows.groups();
    for (group, large, small) in [("other", 0, 1), ("first", 1, 0), ("second", 1, 0)] {
        let found = of(groups[group].fct.clone());
        let expected = [("10MB".to_owned(), 0, large), ("1KB".to_owned(), small, 0)];
        assert_eq!(found, expected, "{group}");
    }
}
