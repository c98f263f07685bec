//! The eBPF programs on the shared vectors (`tests/vectors` at the root): what hull-core decides for
//! each packet, the programs decide too, with the vectors' times injected.

mod common;

use std::mem::MaybeUninit;
use std::path::Path;

use bytemuck::{Zeroable, bytes_of, pod_read_unaligned};
use common::harness::Tried;
use common::loaded::{self, get, put};
use common::{ACK, ECE, Injected, Segment, able, ecn, run};
use hull_core::departure_pacer::{DeparturePacerConfig, WhenFifoFull};
use hull_core::phantom_queue::{Drain, PhantomQueueConfig};
use hull_linux::maps;
use libbpf_rs::{MapCore, MapFlags};
use serde_json::Value;

const ALWAYS: u32 = u32::MAX;

fn vectors(name: &str) -> Vec<Value> {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../tests/vectors/{name}.json"));
    let text = std::fs::read_to_string(&path).expect("vector file");
    let file: Value = serde_json::from_str(&text).expect("a vector file is JSON");
    file["vectors"].as_array().expect("a list").clone()
}

fn number(value: &Value, key: &str) -> u64 {
    value[key]
        .as_u64()
        .unwrap_or_else(|| panic!("{key} in {value}"))
}

fn phantom_queues_match_hull_core() -> Tried {
    able()?;
    let mut storage = MaybeUninit::uninit();
    let skel = loaded::phantom_queue(&mut storage, true);
    let mut packets = 0;
    for (at, vector) in vectors("phantom_queue").iter().enumerate() {
        // IPv4 and IPv6 by turns.
        let segment = Segment {
            ipv6: at % 3 == 1,
            ..Segment::default()
        };
        let config = &vector["config"];
        let settings = maps::PhantomSettings::from(&PhantomQueueConfig {
            drain_bps: number(config, "drain_bps"),
            threshold_bytes: number(config, "threshold_bytes") as u32,
            count_arriving: config["count_arriving"].as_bool().expect("a boolean"),
            drain: match number(config, "tick_ps") {
                0 => Drain::Continuous,
                tick_ps => Drain::Ticks { tick_ps },
            },
        });
        let empty = maps::PhantomQueue::zeroed();
        put(&skel.maps.phantom_settings, bytes_of(&settings));
        put(&skel.maps.phantom_queues, bytes_of(&empty));
        for (step, case) in vector["steps"]
            .as_array()
            .expect("steps")
            .iter()
            .enumerate()
        {
            let injected = Injected {
                time: number(&case["in"], "t_ps"),
                bytes: number(&case["in"], "bytes") as u32,
                ..Injected::default()
            };
            let ran = run(&skel.progs.phantom, &segment.frame(), injected, 1);
            let name = format!("{} step {step}", vector["name"]);
            let marked = ecn(&ran.frame, segment.network()) == 3;
            assert_eq!(
                marked,
                case["out"]["mark"].as_bool().expect("a boolean"),
                "{name}"
            );
            let state: maps::PhantomQueue = get(&skel.maps.phantom_queues);
            let backlog =
                state.backlog_units.saturating_add(settings.byte_units / 2) / settings.byte_units;
            assert_eq!(backlog, number(&case["out"], "backlog_bytes"), "{name}");
            packets += 1;
        }
    }
    println!("{packets} packets");
    assert!(packets > 100);
    Ok(())
}

fn pacer_config(config: &Value) -> DeparturePacerConfig {
    DeparturePacerConfig {
        max_rate_bps: number(config, "max_rate_bps"),
        min_rate_bps: number(config, "min_rate_bps"),
        initial_rate_bps: number(config, "initial_rate_bps"),
        bucket_bytes: number(config, "bucket_bytes") as u32,
        fifo_bytes: number(config, "fifo_bytes") as u32,
        update_interval_ns: number(config, "update_interval_ns"),
        eta: number(config, "eta") as u32,
        beta: number(config, "beta") as u32,
        when_full: match config["when_full"].as_str() {
            Some("drop") => WhenFifoFull::Drop,
            _ => WhenFifoFull::Bypass,
        },
    }
}

fn departures_match_hull_core() -> Tried {
    able()?;
    let mut storage = MaybeUninit::uninit();
    let skel = loaded::pacer(&mut storage, 4096);
    let associated = Segment::default();
    let other = Segment {
        ports: (1000, 2001),
        ..Segment::default()
    };
    let forever = u64::MAX - 1;
    let flow = flow_of(&associated);
    skel.maps
        .associations
        .update(bytes_of(&flow), &forever.to_ne_bytes(), MapFlags::ANY)
        .expect("fits");
    let mut packets = 0;
    for vector in vectors("departure_pacer") {
        let settings = maps::PacerSettings::new(&pacer_config(&vector["config"]), 0);
        put(&skel.maps.pacer_settings, bytes_of(&settings));
        let empty = maps::Pacer::zeroed();
        put(&skel.maps.pacers, bytes_of(&empty));
        for (step, case) in vector["steps"]
            .as_array()
            .expect("steps")
            .iter()
            .enumerate()
        {
            let (input, output) = (&case["in"], &case["out"]);
            let t_ns = number(input, "t_ns");
            let paced = input["paced"].as_bool().expect("a boolean");
            let frame = if paced {
                associated.frame()
            } else {
                other.frame()
            };
            let injected = Injected {
                time: t_ns,
                bytes: number(input, "bytes") as u32,
                ..Injected::default()
            };
            let ran = run(&skel.progs.pacer_egress, &frame, injected, 1);
            let name = format!("{} step {step}", vector["name"]);
            // TC_ACT_SHOT is 2, TC_ACT_UNSPEC is -1.
            let departure = (ran.verdict != 2).then_some(ran.tstamp);
            assert_eq!(departure, output["departure_ns"].as_u64(), "{name}");
            let state: maps::Pacer = get(&skel.maps.pacers);
            assert_eq!(state.rate_bps(), number(output, "rate_bps"), "{name}");
            assert_eq!(
                state.backlog_bytes(t_ns),
                number(output, "backlog_bytes"),
                "{name}"
            );
            packets += 1;
        }
    }
    println!("{packets} packets");
    assert!(packets > 400);
    Ok(())
}

/// The data flow whose segments are like `segment`.
fn flow_of(segment: &Segment) -> maps::Flow {
    let mut flow = maps::Flow::zeroed();
    flow.source[..4].copy_from_slice(&[10, 0, 0, 1]);
    flow.destination[..4].copy_from_slice(&[10, 0, 0, 2]);
    flow.source_port = segment.ports.0.to_be_bytes();
    flow.destination_port = segment.ports.1.to_be_bytes();
    flow
}

/// A data segment of flow `n`, and an ACK with ECN-Echo for it.
fn data_and_echo(n: u64) -> (Segment, Segment) {
    let ports = (10_000 + n as u16, 2000);
    let data = Segment {
        ipv6: true,
        ports,
        ..Segment::default()
    };
    let echo = Segment {
        ports: (ports.1, ports.0),
        flags: ACK | ECE,
        reply: true,
        ..data.clone()
    };
    (data, echo)
}

/// The vectors with a table of 64 flows or one that never fills; what a full table does differs (the
/// kernel's LRU map), and `a_full_table_forgets_old_flows` looks at it.
fn flows_are_associated_as_in_hull_core() -> Tried {
    able()?;
    let mut storage = MaybeUninit::uninit();
    let skel = loaded::pacer(&mut storage, 4096);
    let empty = maps::AssociationCounts::zeroed();
    put(&skel.maps.association_counts, bytes_of(&empty));
    // The egress program answers only where there is a pacer.
    let idle = DeparturePacerConfig {
        max_rate_bps: 1 << 39,
        min_rate_bps: 1 << 39,
        initial_rate_bps: 1 << 39,
        bucket_bytes: 1_000_000,
        fifo_bytes: 0,
        update_interval_ns: 1_000_000_000,
        eta: 0,
        beta: 0,
        when_full: WhenFifoFull::Bypass,
    };
    let idle = maps::PacerSettings::new(&idle, 0);
    put(&skel.maps.pacer_settings, bytes_of(&idle));
    put(&skel.maps.pacers, bytes_of(&maps::Pacer::zeroed()));
    let (mut steps, mut skipped) = (0, Vec::new());
    for vector in vectors("flow_association") {
        let (config, cases) = (
            &vector["config"],
            vector["steps"].as_array().expect("steps"),
        );
        let mut flows: Vec<u64> = cases
            .iter()
            .map(|case| number(&case["in"], "flow"))
            .collect();
        flows.sort_unstable();
        flows.dedup();
        if flows.len() as u64 > number(config, "entries") {
            skipped.push(vector["name"].to_string());
            continue;
        }
        // Times of the vectors are ps; the program only adds and compares.
        let settings = maps::AssociationSettings {
            timeout_ns: number(config, "timeout_ps"),
            probability: number(config, "probability") as u32,
            reserved: 0,
        };
        put(&skel.maps.association_settings, bytes_of(&settings));
        let old: Vec<Vec<u8>> = skel.maps.associations.keys().collect();
        for key in old {
            skel.maps.associations.delete(&key).expect("entry exists");
        }
        for (step, case) in cases.iter().enumerate() {
            let (input, output) = (&case["in"], &case["out"]);
            let t_ps = number(input, "t_ps");
            let (data, echo) = data_and_echo(number(input, "flow"));
            let random = input["random"].as_u64().unwrap_or(0) as u32;
            let injected = Injected {
                time: t_ps,
                bytes: 64,
                random,
            };
            let ran = match input["op"].as_str() {
                Some("ece") => run(&skel.progs.association_ingress, &echo.frame(), injected, 1),
                _ => run(&skel.progs.pacer_egress, &data.frame(), injected, 1),
            };
            let name = format!("{} step {step}", vector["name"]);
            assert_eq!(
                ran.associated,
                output["associated"].as_bool().expect("a boolean"),
                "{name}"
            );
            let live = skel.maps.associations.keys().filter(|key| {
                let value = skel
                    .maps
                    .associations
                    .lookup(key, MapFlags::ANY)
                    .expect("readable");
                value.is_some_and(|value| t_ps < pod_read_unaligned::<u64>(&value))
            });
            assert_eq!(live.count() as u64, number(output, "len"), "{name}");
            steps += 1;
        }
    }
    println!(
        "{steps} steps; the kernel's map does otherwise when it is full: {}",
        skipped.join(", ")
    );
    assert!(steps > 50);
    Ok(())
}

fn a_full_table_forgets_old_flows() -> Tried {
    able()?;
    let mut storage = MaybeUninit::uninit();
    let skel = loaded::pacer(&mut storage, 1024);
    let settings = maps::AssociationSettings {
        timeout_ns: 1 << 40,
        probability: ALWAYS,
        reserved: 0,
    };
    put(&skel.maps.association_settings, bytes_of(&settings));
    let counts = maps::AssociationCounts::zeroed();
    put(&skel.maps.association_counts, bytes_of(&counts));
    for n in 0..3000 {
        let (_, echo) = data_and_echo(n);
        let injected = Injected {
            time: n,
            ..Injected::default()
        };
        assert!(run(&skel.progs.association_ingress, &echo.frame(), injected, 1).associated);
    }
    let times: Vec<u64> = skel
        .maps
        .associations
        .keys()
        .filter_map(|key| {
            skel.maps
                .associations
                .lookup(&key, MapFlags::ANY)
                .expect("readable")
        })
        .map(|value| pod_read_unaligned::<u64>(&value) - (1 << 40))
        .collect();
    assert!(times.len() <= 1024 && times.len() > 256, "{}", times.len());
    // The last 128 are all there: the kernel forgets in batches, the oldest first.
    for n in 2872..3000 {
        assert!(times.contains(&n), "{n}");
    }
    Ok(())
}

tests!(
    phantom_queues_match_hull_core,
    departures_match_hull_core,
    flows_are_associated_as_in_hull_core,
    a_full_table_forgets_old_flows,
);
