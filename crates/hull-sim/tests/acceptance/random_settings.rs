//! Random settings: networks, workloads, switches, hosts and transports of one scenario.

use proptest::prelude::*;
use proptest::sample::select;

use super::random_managers::{EXCLUDED, managers};
use super::random_messages::messages;

/// `key=value` overrides of `BASE`.
pub type Settings = Vec<String>;

fn settings<const N: usize>(list: [String; N]) -> Settings {
    list.into_iter().filter(|text| !text.is_empty()).collect()
}

/// A network, its number of hosts and, where it names a link, a temporary failure of that link.
fn network() -> impl Strategy<Value = (u32, Settings)> {
    let graphs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/graphs");
    let shape = prop_oneof![
        (2_u32..7).prop_map(|n| (n, format!("star={{hosts={n}}}"), "h1--switch")),
        (1_u32..5, 0_u32..60).prop_map(|(n, rtt)| {
            let rtts = format!("rtts=[\"{}us\"]", 500 + rtt);
            (
                2 * n,
                format!("dumbbell={{pairs={n},{rtts}}}"),
                "left--right",
            )
        }),
        (1_u32..3, 1_u32..4).prop_map(|(a, b)| {
            let text = format!("multihop={{s1={a},s2={b},s3={a},r2={b}}}");
            (2 * a + 2 * b + 1, text, "")
        }),
        (1_u32..4, 1_u32..4, 2_u32..4).prop_map(|(leaves, spines, hosts)| {
            let counts = format!("leaves={leaves},spines={spines},hosts_per_leaf={hosts}");
            (
                leaves * hosts,
                format!("leaf_spine={{{counts}}}"),
                "leaf0--spine0",
            )
        }),
        (1_u32..3, 1_u32..3, 2_u32..4).prop_map(|(pods, aggs, hosts)| {
            let counts = format!("pods={pods},tors_per_pod=2,hosts_per_tor={hosts}");
            let switches = format!("aggs_per_pod={aggs},cores={}", 2 * aggs);
            (
                2 * pods * hosts,
                format!("tree={{{counts},{switches}}}"),
                "tor0_0--agg0_0",
            )
        }),
        select(vec![(2, 2), (4, 16)]).prop_map(|(k, n)| (n, format!("fat_tree={{k={k}}}"), "")),
        select(vec!["two_leaves.graphml", "two_leaves_links.json"]).prop_map(move |name| (
            4,
            format!("file={{path=\"{graphs}/{name}\"}}"),
            "leaf0--spine1"
        )),
    ];
    let rates = select(vec!["300Mbps", "1Gbps", "10Gbps"]);
    (
        shape,
        rates.clone(),
        rates,
        0_u32..40,
        0_u32..3000,
        any::<bool>(),
    )
        .prop_map(
            |((hosts, shape, link), host_rate, switch_rate, delay, failure, repaired)| {
                let failures = match failure {
                    0..=1500 if !link.is_empty() => {
                        let until = match repaired {
                            true => format!(",until=\"{}us\"", failure + 700),
                            false => String::new(),
                        };
                        format!(",failures=[{{link=\"{link}\",at=\"{failure}us\"{until}}}]")
                    }
                    _ => String::new(),
                };
                let list = settings([
                    format!("topology={{{shape}{failures}}}"),
                    format!("host.rate={host_rate}"),
                    format!("switch.rate={switch_rate}"),
                    format!("host.delay={delay}us"),
                    format!("switch.delay={}ns", 17 * delay),
                ]);
                (hosts, list)
            },
        )
}

/// The table of one kind of traffic among `hosts` hosts.
fn traffic(kind: usize, hosts: u32, size: u32, count: u32) -> String {
    let last = hosts - 1;
    // At least one byte from each host.
    let total = size + 100;
    match kind {
        0 => format!(
            "bulk={{flows={count},size=\"{size}B\",start_interval=\"{}us\"}}",
            size % 900
        ),
        1 => format!("bulk={{flows={count}}}"),
        2 => format!(
            "requests={{load=\"{}%\",client={last},classes=[{{size=\"{size}B\",share=\"70%\"}},{{size=\"1B\",share=\"30%\"}}]}}",
            1 + size % 98
        ),
        3 => format!(
            "flows={{flows_per_second={}.0,sizes={{pareto={{shape=1.3,mean=\"{size}B\",cut=\"1MB\"}}}}}}",
            500 * count
        ),
        4 => format!(
            "flows={{flows_per_second=5000.0,count={count},connections=\"persistent\",sizes={{csv=\"hadoop\"}}}}"
        ),
        5 => format!(
            "incast={{total=\"{total}B\",queries={count},jitter=\"{}us\",deadline=\"1ms\",all_to_all={}}}",
            size % 50,
            size.is_multiple_of(2)
        ),
        6 => format!(
            "partition_aggregate={{interval=\"{}us\",request_size=\"100B\",response_size=\"{size}B\",service={{gamma={{shape=0.7,scale=\"20us\"}}}}}}",
            50 + size % 1000
        ),
        7 => format!(
            "all_to_all={{size=\"{}B\",jitter=\"{}us\"}}",
            1 + size / 10,
            size % 90
        ),
        8 => format!(
            "long_lived={{flows=[{{src=0,dst={last},stop=\"{}us\"}},{{src={last},dst=0,start=\"300us\"}}]}}",
            1 + size % 4000
        ),
        _ => format!("production={{response_total=\"{total}B\",outside={last}}}"),
    }
}

fn switch() -> impl Strategy<Value = Settings> {
    let buffer = prop_oneof![
        Just("unlimited".to_owned()),
        (20_u32..60).prop_map(|packets| format!("{packets}pkts")),
        (100_u32..300).prop_map(|kb| format!("{kb}KB")),
    ];
    let memory = prop_oneof![
        Just(String::new()),
        (200_u32..900, 1_u32..300, 0_u32..400).prop_map(|(size, alpha, reserved)| {
            format!(
                "switch.memory={{size=\"{size}KB\",alpha=\"{alpha}%\",reserved=\"{reserved}B\"}}"
            )
        }),
    ];
    let marking = prop_oneof![
        Just(String::new()),
        (0_u32..5000, any::<bool>(), select(vec!["enqueue", "dequeue"])).prop_map(
            |(threshold, count, on)| format!(
                "switch.marking={{threshold=\"{threshold}B\",count_arriving={count},on=\"{on}\"}}"
            )
        ),
        (1_u32..30, any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>()).prop_map(|(min, gentle, by_size, drop, early)| format!(
            "switch.red={{min=\"{min}KB\",max=\"{}KB\",gentle={gentle},by_size={by_size},hard_drop={drop},early_drop={early},weight=5}}",
            2 * min
        )),
        (1_u32..30).prop_map(|packets| format!(
            "switch.pi={{reference=\"{packets}pkts\",interval=\"10us\",flows=3,round_trip=\"200us\"}}"
        )),
    ];
    let phantom = prop_oneof![
        Just(String::new()),
        (50_u32..101, 0_u32..9000, select(vec!["series", "parallel"])).prop_map(
            |(drain, threshold, placement)| format!(
                "switch.phantom_queue={{drain=\"{drain}%\",threshold=\"{threshold}B\",placement=\"{placement}\"}}"
            )
        ),
        (50_u32..101, 1_u32..5000, 0_u32..40).prop_map(|(target, us, buffer)| format!(
            "switch.avq={{target=\"{target}%\",time_constant=\"{us}us\",buffer=\"{buffer}KB\"}}"
        )),
    ];
    let cut_through = prop_oneof![
        Just(String::new()),
        (14_u32..2000).prop_map(|bytes| format!("switch.cut_through={bytes}B")),
    ];
    let loss = select(vec!["0%", "0%", "0.5%", "20%"]);
    let others = (1_u32..5, any::<bool>(), 0_u32..900, loss);
    (buffer, memory, marking, phantom, cut_through, others).prop_map(
        |(buffer, memory, marking, phantom, cut_through, (classes, counted, latency, loss))| {
            settings([
                format!("switch.buffer={buffer}"),
                memory,
                marking,
                phantom,
                cut_through,
                format!("switch.priorities={classes}"),
                format!("switch.commit={}B", (classes - 1) * latency),
                format!("switch.count_in_service={counted}"),
                format!("switch.latency={latency}ns"),
                format!("switch.loss={loss}"),
                "workload.high_priority_below=5KB".to_owned(),
            ])
        },
    )
}

fn host() -> impl Strategy<Value = Settings> {
    let jitter = prop_oneof![
        Just(String::new()),
        (0_u32..30).prop_map(|us| format!("host.stack_jitter={{exponential=\"{us}us\"}}")),
    ];
    let receive = prop_oneof![
        Just(String::new()),
        (1_u32..40, 0_u32..90, any::<bool>(), 0_u32..65_536, 0_u32..2500, select(vec!["", "ring=40,"])).prop_map(
            |(frames, wait, adaptive, join, cost, ring)| format!(
                "host.receive={{{ring}frames={frames},wait=\"{wait}us\",adaptive={adaptive},join=\"{join}B\",\
                 interrupt_cost=\"{cost}ns\",packet_cost=\"{}ns\"}}",
                cost / 3
            )
        ),
    ];
    let offload = prop_oneof![
        Just([String::new(), String::new()]),
        (9000_u32..65_536, 0_u32..5).prop_map(|(bytes, divisor)| [
            format!("host.offload={bytes}B"),
            format!("transport.tso_win_divisor={divisor}"),
        ]),
    ];
    let pacer = prop_oneof![
        Just(String::new()),
        (1_u32..4, select(vec![
            ("after", "any"), ("after", "other_flows"), ("after", "none"), ("after", "held"),
            ("before", "any"), ("before", "other_flows"),
        ])).prop_map(
            |(buckets, (place, overtaking))| format!(
                "pacer={{place=\"{place}_segmentation\",buckets={buckets},overtaking=\"{overtaking}\",fifo=\"20KB\",bucket=\"9KB\"}}"
            )
        ),
    ];
    let nic = select(vec!["unlimited", "30pkts", "70KB"]);
    let send = select(vec![
        "",
        "host.transmit={packet_cost=\"2us\",frame_cost=\"300ns\"}",
    ]);
    (jitter, send, receive, offload, pacer, nic, 0_u32..3000).prop_map(
        |(jitter, send, receive, [offload, divisor], pacer, nic, delay)| {
            settings([
                jitter,
                send.to_owned(),
                receive,
                offload,
                divisor,
                pacer,
                format!("host.nic_buffer={nic}"),
                format!("host.stack_delay={delay}ns"),
                format!("host.application_delay={}ns", delay / 2),
            ])
        },
    )
}

fn transport() -> impl Strategy<Value = Settings> {
    let control = select(vec![
        "newreno", "cubic", "bic", "bbr", "dctcp", "vegas", "prague",
    ]);
    let mtu = prop_oneof![Just(1500_u32), Just(9000), 300_u32..9000];
    let bools = prop::array::uniform8(any::<bool>());
    (control, mtu, 1_u32..5, 1_u32..30, bools, 0_u32..3).prop_map(
        |(control, mtu, ack_every, window, bools, granularity)| {
            let [
                ecn,
                fair,
                shake,
                limited,
                restart,
                decay,
                validation,
                counting,
            ] = bools;
            settings([
                format!("transport.congestion_control={control}"),
                format!(
                    "transport.ecn={}",
                    ecn || ["dctcp", "prague"].contains(&control)
                ),
                format!("transport.dctcp.rtt_fair={fair}"),
                format!(
                    "transport.dctcp.rtt_fair_per={}",
                    if fair && decay { "ack" } else { "packet" }
                ),
                format!("transport.dctcp.acks_at_change={}", 1 + window % 2),
                format!("transport.handshake={shake}"),
                format!("transport.limited_transmit={limited}"),
                format!("transport.idle_restart={}", restart || decay),
                format!("transport.idle_decay={decay}"),
                format!("transport.cwnd_validation={validation}"),
                format!("transport.byte_counting={counting}"),
                format!("transport.mtu={mtu}B"),
                format!("transport.framing={}B", 3 * window),
                format!("transport.ack_every={ack_every}"),
                format!("transport.initial_window={window}"),
                format!("transport.min_window={}", 1 + window % 2),
                format!("transport.quick_acks={}", window % 17),
                format!("transport.rto_granularity={granularity}ms"),
                "transport.delayed_ack=500us".to_owned(),
                "transport.min_rto=1ms".to_owned(),
                "transport.initial_rto=2ms".to_owned(),
                "transport.max_rto=20ms".to_owned(),
            ])
        },
    )
}

/// RCP sources, messages or neither.
fn rcp() -> impl Strategy<Value = Settings> {
    let algorithm = select(vec!["rcp", "ap-rcp", "ap2-rcp", "pd-rcp"]);
    let some = (algorithm, 0_u32..300, 0_u32..300, 1_u32..500).prop_map(
        |(algorithm, alpha, beta, interval)| {
            let gains = format!("alpha=\"{alpha}%\",beta=\"{beta}%\"");
            let times = format!(
                "interval=\"{interval}us\",round_trip=\"{}us\"",
                3 * alpha + 1
            );
            settings([
                "transport.congestion_control=rcp".to_owned(),
                format!("switch.rcp={{algorithm=\"{algorithm}\",{gains},{times}}}"),
            ])
        },
    );
    prop_oneof![5 => Just(Settings::new()), 1 => some, 1 => messages()]
}

/// Scenario whose keys the settings override.
pub const BASE: &str = r#"
name = "random"
run = { duration = "3ms", drain = "20ms" }
host = { queue = "fifo", rate = "1Gbps", delay = "1us" }
switch = { rate = "1Gbps", delay = "1us" }
measure = { sample_interval = "50us" }
"#;

/// Settings of one valid scenario.
pub fn any_scenario() -> impl Strategy<Value = Settings> {
    let kinds = prop::collection::vec((0_usize..10, 1_u32..300_000, 1_u32..20), 1..3);
    let warmup = select(vec!["0s", "200us"]);
    let hosts_and_sources = (host(), transport(), rcp());
    let switches = (switch(), managers());
    (network(), kinds, switches, hosts_and_sources, warmup).prop_map(
        |((hosts, network), kinds, (switch, manager), (host, transport, rcp), warmup)| {
            let mut tables: Vec<String> = Vec::new();
            for (kind, size, count) in kinds {
                // Benchmark queries need two hosts besides the external one.
                let kind = if kind == 9 && hosts < 3 { 0 } else { kind };
                let table = traffic(kind, hosts, size, count);
                let name = table.split('=').next().unwrap_or_default().to_owned();
                if !tables.iter().any(|other| other.starts_with(&name)) {
                    tables.push(table);
                }
            }
            // Part of the traffic uses another transport.
            let mut others = String::new();
            if rcp.is_empty()
                && hosts.is_multiple_of(2)
                && let Some(table) = tables.first_mut()
                && !table.starts_with("long_lived")
            {
                *table = table.replacen("={", "={transport=\"other\",", 1);
                others = "transports.other={congestion_control=\"cubic\",ecn=false,paced=false}"
                    .to_owned();
            }
            let workload = format!("workload={{{}}}", tables.join(","));
            let probe = "measure.probe={interval=\"100us\"}".to_owned();
            let run = settings([workload, others, format!("run.warmup={warmup}"), probe]);
            // Rate-based sources send packet by packet through one queue, messages without a processor.
            let without = [
                "host.offload",
                "host.transmit",
                "transport.tso",
                "switch.prior",
                "switch.commit",
            ];
            let left_out = |text: &String| {
                let begins = |key: &&str| text.starts_with(key);
                let unfit = !rcp.is_empty() && without.iter().any(begins);
                unfit || !manager.is_empty() && EXCLUDED.iter().any(begins)
            };
            let parts = [
                run,
                network,
                switch,
                settings([manager.clone()]),
                host,
                transport,
            ];
            let kept = parts.into_iter().flatten().filter(|text| !left_out(text));
            kept.chain(rcp.iter().cloned()).collect()
        },
    )
}
