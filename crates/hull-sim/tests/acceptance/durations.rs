//! Every time key at its longest permitted value and beyond: the scenario is rejected with the
//! key's name, or runs without a sum of times that overflows 64 bits (tests stop at every
//! overflow). Issue 17, 5: with `measure.sample_interval` near 2^64 ps time ran backwards.

use std::collections::BTreeSet;

use hull_sim::scenario::{Resolved, Scenario, expand, keys};
use hull_sim::simulation::{self, Control};

const BASE: &str = r#"
name = "durations"
[run]
duration = "1ms"
drain = "20ms"
[host]
queue = "fifo"
rate = "1Gbps"
delay = "1us"
[switch]
rate = "1Gbps"
delay = "1us"
"#;
const STAR: &str = "topology.star.hosts=4";
const BULK: &str = "workload.bulk={flows=2,size=\"20KB\"}";
const LOSS: &str = "switch.loss=20%";
const RCP: &str = "transport.congestion_control=rcp";
const QCN: [&str; 3] = [
    "transport.congestion_control=qcn",
    "switch.qcn.equilibrium=33KB",
    "transport.qcn.timer=10ms",
];
const REQUESTS: &str =
    "workload.requests={load=\"20%\",classes=[{size=\"1KB\",share=\"100%\"}],service={SERVICE}}";
const QUERIES: &str = "workload.partition_aggregate={interval=\"100us\",request_size=\"100B\",response_size=\"1KB\",service={SERVICE},deadline=\"1ms\"}";
const JOB: &str = "workload.job={collective={operation=\"all_reduce\",size=\"1KB\"}}";
const TREE: &str = "workload.aggregation_tree={interval=\"100us\",levels=[{hosts=\"1-3\",LEVEL}]}";

/// Settings of a scenario that has the table of `key`; the caller sets the key itself last.
fn around(key: &str) -> Vec<String> {
    let with = |settings: &[&str]| {
        let all = [STAR, BULK].iter().chain(settings);
        Vec::from_iter(all.map(|&setting| setting.to_owned()))
    };
    let network = |table: &str| vec![format!("topology.{table}"), BULK.to_owned()];
    let traffic = |workload: &str| vec![STAR.to_owned(), workload.to_owned()];
    let service = |workload: &str, key: &str| {
        let last = key.split(".service.").nth(1).unwrap_or_default();
        let service = match last {
            "gamma.scale" => "gamma={shape=3,scale=\"TIME\"}".to_owned(),
            "offset" => "offset=\"TIME\",exponential=\"1us\"".to_owned(),
            _ => format!("{last}=\"TIME\""),
        };
        traffic(&workload.replace("SERVICE", &service))
    };
    let section = key.rsplit_once('.').map_or(key, |(section, _)| section);
    match section {
        "run" => with(&["measure.sample_interval=1000000s"]),
        "topology.dumbbell" => network("dumbbell={pairs=2}"),
        "topology.multihop" => network("multihop={s1=1,s2=1,s3=1,r2=1}"),
        "topology.leaf_spine" => network("leaf_spine={leaves=2,spines=2,hosts_per_leaf=2}"),
        "topology.tree" => {
            network("tree={pods=2,tors_per_pod=2,hosts_per_tor=2,aggs_per_pod=2,cores=4}")
        }
        "topology.fat_tree" => network("fat_tree={k=4}"),
        "topology.two_datacentres" => {
            network("two_datacentres={k=2,border_links=1,border_delay=\"1us\"}")
        }
        "topology.rail_optimized" => {
            network("rail_optimized={groups=2,hosts_per_group=2,rails=2,spines=1}")
        }
        "topology.dual_tor" => network("dual_tor={racks=2,hosts_per_rack=2,spines=1}"),
        "topology.links[]" => with(&["topology.links=[{link=\"h1--switch\",delay=\"TIME\"}]"]),
        "topology.failures[]" if key.ends_with("at") => {
            with(&["topology.failures=[{link=\"h1--switch\",at=\"TIME\"}]"])
        }
        "topology.failures[]" => {
            with(&["topology.failures=[{link=\"h1--switch\",at=\"5us\",until=\"TIME\"}]"])
        }
        "host.stack_jitter" | "host.stack_jitter.gamma" => {
            let last = key.strip_prefix("host.stack_jitter.").unwrap_or_default();
            let table = match last {
                "gamma.scale" => "gamma={shape=3,scale=\"TIME\"}".to_owned(),
                "offset" => "offset=\"TIME\",exponential=\"1us\"".to_owned(),
                _ => format!("{last}=\"TIME\""),
            };
            with(&[&format!("host.stack_jitter={{{table}}}")])
        }
        "host.receive" => with(&["host.receive={frames=8,wait=\"10us\",adaptive=true}"]),
        "switch.pi" => with(&[
            "transport.ecn=true",
            "switch.pi={reference=\"20pkts\",interval=\"100us\",flows=2,round_trip=\"1ms\"}",
        ]),
        "switch.avq" => with(&["switch.avq={time_constant=\"1ms\",buffer=\"15KB\"}"]),
        "switch.rcp" => with(&[
            RCP,
            "switch.rcp={alpha=0.1,beta=1,interval=\"1ms\",round_trip=\"1ms\"}",
        ]),
        "transport" if key == "transport.delayed_ack" => with(&[LOSS]),
        "transport" => with(&[
            "transport.delayed_ack=50us",
            LOSS,
            "transport.min_rto=100us",
            "transport.initial_rto=150us",
            "transport.max_rto=3600s",
        ]),
        "transport.qcn" => with(&QCN),
        "transport.timely" => with(&["transport.congestion_control=timely"]),
        "transport.dcqcn" => with(&[
            "transport.congestion_control=dcqcn",
            "transport.ecn=true",
            "switch.marking.threshold=3KB",
        ]),
        "transport.message" | "transport.message.erasure" => with(&[
            "transport.congestion_control=nscc",
            "transport.ecn=true",
            "transport.message.erasure={}",
        ]),
        "transport.swift" => with(&[
            "transport.congestion_control=swift",
            "transport.swift.base_target=20us",
        ]),
        "transport.spray" => with(&["transport.spray={load_balancing=\"flowlet\"}"]),
        "pacer" => with(&["pacer={}"]),
        "workload.long_lived.flows[]" => {
            let last = key.rsplit_once('.').map_or(key, |(_, last)| last);
            let flow = match last {
                "stop_interval" => "stop=\"1us\",stop_interval=\"TIME\"".to_owned(),
                _ => format!("{last}=\"TIME\""),
            };
            traffic(&format!(
                "workload.long_lived.flows=[{{src=\"1-3\",dst=0,{flow}}}]"
            ))
        }
        "workload.incast" => traffic("workload.incast={total=\"30KB\",queries=3}"),
        "workload.all_to_all" => traffic("workload.all_to_all={size=\"1KB\"}"),
        "workload.permutation" => traffic("workload.permutation={size=\"1KB\"}"),
        "workload.job" => traffic(JOB),
        "workload.job.servers" => vec![
            STAR.to_owned(),
            JOB.to_owned(),
            "workload.job.servers={ranks=2,rate=\"1Gbps\"}".to_owned(),
        ],
        "workload.job.gap" => vec![
            STAR.to_owned(),
            JOB.to_owned(),
            "workload.job.gap={payload=\"1KB\",packet=\"TIME\"}".to_owned(),
        ],
        "workload.job.training" => traffic(
            "workload.job={training={layers=1,hidden=8,sequence=8,batch=4,data=4,flops=1e9}}",
        ),
        "workload.production" => traffic("workload.production={}"),
        "workload.partition_aggregate" => traffic(&QUERIES.replace("SERVICE", "")),
        "workload.aggregation_tree" => traffic(&TREE.replace(",LEVEL", "")),
        "workload.aggregation_tree.levels[]" => {
            traffic(&TREE.replace("LEVEL", "deadline=\"TIME\""))
        }
        _ if key.starts_with("workload.aggregation_tree.levels[].service") => {
            service(&TREE.replace("LEVEL", "service={SERVICE}"), key)
        }
        _ if key.starts_with("workload.requests.service") => service(REQUESTS, key),
        _ if key.starts_with("workload.partition_aggregate.service") => service(QUERIES, key),
        "measure.probe" | "measure.flows" | "measure.pacers" => with(&[
            "pacer={}",
            "measure.probe={}",
            "measure.flows={}",
            "measure.pacers={}",
        ]),
        "measure.capture" => with(&["measure.capture={ports=[\"host-switch\"]}"]),
        _ => with(&[]),
    }
}

/// The scenario with `time` at `key`; `None` if it is rejected, with an error that names the key.
fn resolved(key: &str, time: &str) -> Option<Scenario> {
    let mut settings = around(key);
    let mut placed = false;
    for setting in &mut settings {
        placed |= setting.contains("TIME");
        *setting = setting.replace("TIME", time);
    }
    if !placed {
        settings.push(format!("{key}={time}"));
    }
    let last = key.rsplit(['.', ']']).next().unwrap_or(key);
    match expand(BASE, "durations.toml", &settings) {
        Ok(cells) => Some(Scenario::clone(&cells[0].scenario)),
        Err(error) => {
            assert!(error.to_string().contains(last), "{key} = {time}: {error}");
            None
        }
    }
}

#[test]
fn every_duration_is_rejected_or_runs() {
    let times = keys();
    let times = times.iter().filter(|row| row["unit"] == "64us");
    let times: BTreeSet<&str> = times.filter_map(|row| row["key"].as_str()).collect();
    assert!(times.len() > 50, "{}", times.len());
    let mut taken = 0;
    for key in times {
        assert!(resolved(key, "200us").is_some(), "{key}: rejected at 200us");
        for time in ["18446744073709551615ps", "18446744s", "1000001s"] {
            assert!(resolved(key, time).is_none(), "{key}: accepted at {time}");
        }
        for time in ["1000000s", "100000s", "1s"] {
            let Some(scenario) = resolved(key, time) else {
                continue;
            };
            taken += 1;
            if Resolved::new(scenario.clone())
                .and_then(|one| simulation::verify(&one))
                .is_err()
            {
                continue;
            }
            let simulation = simulation::build(&scenario, 1, None);
            let simulation = simulation.unwrap_or_else(|why| panic!("{key} = {time}: {why:?}"));
            let control = Control::default();
            let ended = simulation.run(&control).map(|outcome| outcome.simulated_ps);
            assert!(ended.is_ok_and(|ps| ps > 0), "{key} = {time}");
        }
    }
    assert!(taken > 60, "{taken}");
}
