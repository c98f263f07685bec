//! AVQ under TCP with ECN and under DCTCP: for any number of flows, arrivals settle at the target, as the
//! fixed point of `dc/dt = alpha (gamma C - arrivals)` requires, unless the capacity reaches the link's.
//! With a phantom queue of the same rate in parallel the utilization is lower and depends on the flows.

use hull_sim::simulation::Outcome;

use super::star::{BULK, assert_near, run, scenario};

/// Long flows over one link of 10 Gbps and a round trip of 200 us.
fn long_flows(flows: u32, settings: &[&str]) -> Outcome {
    let count = format!("workload.bulk.flows={flows}");
    let hosts = format!("topology.star.hosts={}", flows + 1);
    let base = [
        count.as_str(),
        &hosts,
        "host.delay=50us",
        "switch.delay=50us",
        "switch.rate=10Gbps",
        "workload.bulk.start_interval=100us",
        "transport.ecn=true",
        "run.warmup=100ms",
        "run.duration=300ms",
    ];
    let settings: Vec<&str> = base.iter().chain(settings).copied().collect();
    run(&scenario(BULK, &settings), 1)
}

fn avq(target_percent: u32) -> String {
    format!("switch.avq={{target=\"{target_percent}%\",time_constant=\"5ms\",buffer=\"15KB\"}}")
}

/// Utilization by AVQ and by a phantom queue of the same rate in parallel.
fn utilizations(flows: u32, control: &str, target_percent: u32) -> [f64; 2] {
    let control = format!("transport.congestion_control={control}");
    let parallel = format!(
        "switch.phantom_queue={{drain=\"{target_percent}%\",threshold=\"15KB\",placement=\"parallel\"}}"
    );
    [avq(target_percent), parallel].map(|marking| {
        let outcome = long_flows(flows, &[&marking, &control]);
        assert_eq!(outcome.packets.dropped, 0);
        outcome.throughput.utilization
    })
}

#[test]
fn arrivals_settle_at_the_target() {
    for (flows, control, target_percent) in [
        (2, "dctcp", 90),
        (8, "dctcp", 98),
        (24, "dctcp", 80),
        (8, "newreno", 80),
        (24, "newreno", 95),
    ] {
        let target = f64::from(target_percent) / 100.0;
        let [adaptive, constant] = utilizations(flows, control, target_percent);
        println!("{flows} {control} flows, target {target}: {adaptive}, {constant}");
        assert_near(&format!("{flows} {control} flows"), adaptive, target, 0.005);
        assert!(constant < 0.975 * target, "{constant}");
    }
}

/// Two TCP flows that are cut together cannot reach 98%: the virtual capacity is the link's, beyond
/// which it does not rise, and their rates go from half of it to all of it, 75% on average.
#[test]
fn too_few_flows_take_the_whole_virtual_capacity() {
    let [adaptive, _] = utilizations(2, "newreno", 98);
    assert_near("two flows", adaptive, 0.75, 0.08);
}
