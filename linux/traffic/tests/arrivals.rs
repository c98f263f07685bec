//! The sequence of requests: the simulator's, and the same for a seed.

use hull_sim::scenario::{Pick, Requests, expand};
use hull_sim::simulation::{self, Control};
use hull_sim::units::Rate;
use hull_traffic::arrivals::{Arrival, Arrivals};

const SCENARIO: &str = r#"
    name = "small"
    run = { duration = "200ms", seed = 3 }
    topology.star.hosts = 5
    host = { rate = "1Gbps", delay = "1us" }
    switch = { rate = "1Gbps", delay = "1us", buffer = "unlimited" }
    [workload.requests]
    load = "40%"
    connections_per_server = 4
    service = { exponential = "65us" }
    classes = [{ size = "1KB", share = "80%" }, { size = "50KB", share = "20%" }]
"#;

fn requests(settings: &[&str]) -> Requests {
    let settings: Vec<String> = settings.iter().map(|&text| text.to_owned()).collect();
    let cells = expand(SCENARIO, "small.toml", &settings).expect("good");
    cells[0].scenario.workload.requests.clone().expect("given")
}

fn arrivals(settings: &[&str], seed: u64) -> Vec<Arrival> {
    let requests = requests(settings);
    let arrivals = Arrivals::new(&requests, 4, Rate(1_000_000_000), seed).expect("good");
    arrivals
        .take_while(|arrival| arrival.at_ps < 200_000_000_000)
        .collect()
}

/// hull-sim itself runs the scenario; its flows began when and where the generator's do.
#[test]
fn requests_match_the_simulator() {
    for pick in ["random", "round_robin"] {
        let pick = format!("workload.requests.pick={pick}");
        let settings = [pick.clone()];
        let cell = expand(SCENARIO, "small.toml", &settings)
            .expect("good")
            .remove(0);
        let simulation = simulation::build(&cell.scenario, 3, None).expect("good");
        let outcome = simulation.run(&Control::default()).expect("runs");
        let mut simulated: Vec<(u64, u16, usize)> = outcome
            .flows
            .rows()
            .iter()
            .map(|flow| (flow.start_ps, flow.class, flow.connection as usize))
            .collect();
        simulated.sort_unstable();
        let mut made: Vec<(u64, u16, usize)> = arrivals(&[&pick], 3)
            .iter()
            .map(|arrival| (arrival.at_ps, arrival.class, arrival.group))
            .collect();
        made.sort_unstable();
        assert!(simulated.len() > 500, "{}", simulated.len());
        assert_eq!(made, simulated, "{pick}");
    }
}

#[test]
fn a_seed_gives_one_sequence() {
    let one = arrivals(&[], 1);
    assert_eq!(one, arrivals(&[], 1));
    assert_ne!(one, arrivals(&[], 2));
    assert!(one.is_sorted_by_key(|arrival| arrival.at_ps));
    assert!(one.iter().any(|arrival| arrival.service_ns > 0));
}

/// Times, classes, servers and service times have streams of their own: another way to choose
/// connections changes nothing else.
#[test]
fn connection_choice_does_not_affect_times() {
    let but_group = |pick: &str| -> Vec<Arrival> {
        let mut made = arrivals(&[&format!("workload.requests.pick={pick}")], 1);
        made.iter_mut().for_each(|arrival| arrival.group = 0);
        made
    };
    assert_eq!(but_group("random"), but_group("random_idle"));
    assert_eq!(but_group("random"), but_group("round_robin"));
}

#[test]
fn idle_connections_are_grouped_by_server_and_class() {
    let groups = |settings: &[&str]| {
        let requests = requests(settings);
        let mut arrivals = Arrivals::new(&requests, 4, Rate(1_000_000_000), 1).expect("good");
        let groups = arrivals.groups();
        let servers: Vec<usize> = (0..groups.iter().map(Vec::len).sum())
            .map(|connection| arrivals.server_of(connection))
            .collect();
        for arrival in arrivals.by_ref().take(1000) {
            let half = groups.len() / 2;
            if requests.separate_classes {
                assert_eq!(arrival.group >= half, arrival.class == 1);
            }
        }
        (groups, servers)
    };
    let (groups_all, servers) = groups(&["workload.requests.pick=random_idle"]);
    assert_eq!(groups_all[1], [4, 5, 6, 7]);
    assert_eq!((groups_all.len(), servers[7], servers[8]), (4, 1, 2));
    let separate = [
        "workload.requests.pick=random_idle",
        "workload.requests.separate_classes=true",
    ];
    let (groups_each, servers) = groups(&separate);
    assert_eq!((groups_each.len(), servers.len()), (8, 32));
    assert_eq!(servers[16..21], [0, 0, 0, 0, 1]);
    let (groups_one, _) = groups(&[]);
    assert_eq!(requests(&[]).pick, Pick::Random);
    assert_eq!(groups_one.len(), 16);
}

#[test]
fn the_requests_carry_the_load() {
    let bytes: u64 = {
        let requests = requests(&[]);
        let arrivals = Arrivals::new(&requests, 4, Rate(1_000_000_000), 5).expect("good");
        let within = arrivals.take_while(|arrival| arrival.at_ps < 60_000_000_000_000);
        within.map(|arrival| arrival.bytes).sum()
    };
    let load = bytes as f64 * 8.0 / 60.0 / 1e9;
    assert!((load / 0.4 - 1.0).abs() < 0.01, "{load}");
    assert!(arrivals(&["workload.requests.load=0%"], 1).is_empty());
}
