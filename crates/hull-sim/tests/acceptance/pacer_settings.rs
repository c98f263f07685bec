//! The pacer's default settings: against the documents' settings (paper table 3, 5.1 and 6.3), and
//! in a network for which no document has any. Drops by place: each is counted once.

use hull_core::pacer::{PacerConfig, WhenFifoFull};
use hull_sim::measure::drops_by_place;
use hull_sim::random::{Purpose, Stream};
use hull_sim::scenario::{Pacer, Scenario, expand};
use hull_sim::units::{Size, Time};

use super::star::{BASE, REQUESTS, run, scenario};

const US: u64 = 1_000_000;

fn pacer(workload: &str, settings: &[&str]) -> Pacer {
    let found = scenario(workload, settings).pacer;
    found.unwrap_or_else(|| panic!("a pacer was set"))
}

/// Paper 6.3: its tree, whose round trip is 11.8 us.
const TREE: [&str; 7] = [
    "topology={tree={}}",
    "host.rate=10Gbps",
    "host.delay=200ns",
    "host.stack_delay=500ns",
    "switch.rate=10Gbps",
    "switch.delay=200ns",
    "pacer={}",
];

#[test]
fn the_papers_tree_has_the_papers_settings() {
    let found = pacer("[workload.bulk]\nflows = 1\n", &TREE);
    assert_eq!(found.update_interval, Some(Time(7_200_000)));
    assert_eq!(found.beta, Some(375));
    assert_eq!(found.association_timeout, Some(Time(1000 * US)));
    assert_eq!(found.bucket, Some(Size(3000)));
    // Twice 57.6 us at 10 Gbps.
    assert_eq!(found.fifo, Some(Size(144_000)));
}

/// A step of the rate, or QCN's smallest rate, that a host's own link does not carry.
#[test]
fn rates_fit_the_slowest_host() {
    let qcn = "switch.qcn={equilibrium=\"33KB\"}";
    let text = format!("{BASE}[workload.bulk]\nflows = 1\n");
    for (more, key) in [
        (&["pacer={rate_step=\"1Gbps\"}"][..], "pacer.rate_step"),
        (
            &[
                "transport={congestion_control=\"qcn\",qcn={min_rate=\"1Gbps\"}}",
                qcn,
            ],
            "transport.qcn.min_rate",
        ),
    ] {
        let links = "topology={star={hosts=2},links=[{link=\"h1--switch\",rate=\"100Mbps\"}]}";
        let settings = [&["host.rate=10Gbps", links], more].concat();
        let settings = Vec::from_iter(settings.into_iter().map(str::to_owned));
        let told = expand(&text, "x.toml", &settings)
            .expect_err(key)
            .to_string();
        let expected = "\"1Gbps\" is invalid; expected at most the rate of the slowest host's link, \"100Mbps\"";
        assert!(told.contains(&format!("{key}: {expected}")), "{told}");
    }
}

/// 1 Gbps and 105 us, the round trip for which T_r is given: two links each way, of 12 and 0.32 us.
#[test]
fn testbed_gets_table_3() {
    let delay = "20.09us"; // (105 - 2 * 12.32) / 4
    let settings = [
        "host.rate=1Gbps",
        &format!("host.delay={delay}"),
        &format!("switch.delay={delay}"),
        "pacer={token_tick=\"16us\"}",
    ];
    let found = pacer(REQUESTS, &settings);
    assert_eq!(found.update_interval, Some(Time(64 * US)));
    assert_eq!(found.beta, Some(16));
    assert_eq!(found.association_timeout, Some(Time(10_000 * US)));
    assert_eq!(found.bucket, Some(Size(3000)));
    assert_eq!(found.fifo, Some(Size(128_000)));
}

#[test]
fn explicit_settings_are_kept_and_used_for_the_rest() {
    let set = "pacer={update_interval=\"64us\",association_timeout=\"3ms\"}";
    let tree: Vec<&str> = TREE[..6].iter().chain(&[set]).copied().collect();
    let found = pacer("[workload.bulk]\nflows = 1\n", &tree);
    assert_eq!(found.update_interval, Some(Time(64 * US)));
    assert_eq!(found.beta, Some(16));
    assert_eq!(found.association_timeout, Some(Time(3000 * US)));
    // Twice 512 us at 10 Gbps.
    assert_eq!(found.fifo, Some(Size(1_280_000)));
}

/// Hosts of several rates: the fastest decides.
#[test]
fn the_fastest_host_decides() {
    let slow = [
        "host.rate=10Gbps",
        "switch.rate=10Gbps",
        "host.delay=50us",
        "pacer={}",
    ];
    let links = "topology={star={hosts=4},links=[{link=\"h3--switch\",rate=\"40Gbps\"}]}";
    let with_fast: Vec<&str> = [links].into_iter().chain(slow).collect();
    let [slow, fast] = [&slow[..], &with_fast].map(|settings| {
        let found = pacer(REQUESTS, settings);
        found.fifo.map_or(0, |fifo| fifo.0) as f64
    });
    assert!((3.9..4.1).contains(&(fast / slow)), "{fast} {slow}");
}

/// A resolved scenario reads back unchanged.
#[test]
fn resolving_twice_changes_nothing() {
    let once = scenario(REQUESTS, &["pacer={}"]);
    let text = once.to_toml().unwrap_or_else(|error| panic!("{error}"));
    let again = expand(&text, "again.toml", &[]);
    assert_eq!(
        again.map(|cells| Scenario::clone(&cells[0].scenario)),
        Ok(once)
    );
}

/// The largest backlog, bytes, over `packets` packets when a host sends trains of 1500-byte packets
/// at its rate with pauses, all of them paced.
fn most_backlog(config: &PacerConfig, packets: u32) -> u32 {
    let mut pacer = hull_core::pacer::Pacer::new(config, 0);
    let packet_ps = 12_000_000_000_000_000 / config.max_rate_bps;
    let mut random = Stream::new(1, Purpose::Arrivals, 0);
    let (mut at_ps, mut most, mut left_in_train) = (0_u64, 0, 0);
    for _ in 0..packets {
        if left_in_train == 0 {
            left_in_train = 1 + random.below(3000);
            at_ps += random.below(4000) as u64 * packet_ps;
        }
        left_in_train -= 1;
        while pacer.backlog_bytes() > 0 {
            let wake_ps = pacer.next_wake_ps(1500);
            if wake_ps > at_ps {
                break;
            }
            pacer.poll(wake_ps, 1500);
        }
        pacer.admit(at_ps, 1500, true);
        most = most.max(pacer.backlog_bytes());
        at_ps += packet_ps;
    }
    most
}

/// From 10 Gbps on, a pacer with the rule's settings has room for anything that a host can send.
#[test]
fn nothing_is_dropped_at_any_rate() {
    for rate in ["10Gbps", "25Gbps", "100Gbps", "400Gbps"] {
        for delay in ["0us", "2us", "10us", "50us", "300us"] {
            let keys = [
                format!("host.rate={rate}"),
                format!("switch.rate={rate}"),
                format!("host.delay={delay}"),
                "pacer={}".to_owned(),
            ];
            let settings: Vec<&str> = keys.iter().map(String::as_str).collect();
            let scenario = scenario(REQUESTS, &settings);
            let found = pacer(REQUESTS, &settings);
            let fifo = found.fifo.map_or(0, |fifo| fifo.0) as u32;
            let config = PacerConfig {
                max_rate_bps: scenario.host.rate.0,
                min_rate_bps: found.rate_step.0,
                initial_rate_bps: found.rate_step.0,
                bucket_bytes: found.bucket.map_or(0, |bucket| bucket.0) as u32,
                fifo_bytes: u32::MAX,
                update_interval_ps: found.update_interval.map_or(0, |time| time.0),
                eta: 8192,
                beta: found.beta.unwrap_or(0) << 8,
                rate_step_bps: found.rate_step.0,
                token_tick_ps: 0,
                when_full: WhenFifoFull::Drop,
            };
            let most = most_backlog(&config, 50_000);
            println!("{rate} {delay}: {most} of {fifo} bytes");
            assert!(most <= fifo, "{rate} {delay}: {most} of {fifo} bytes");
        }
    }
}

/// A pacer with room for three packets, a NIC with room for ten and a small switch: all three drop,
/// and the drops by place add up to the packets' count of drops.
#[test]
fn drops_are_counted_by_place() {
    let outcome = run(
        &scenario(
            "[workload.requests]\nload = \"90%\"\nclasses = [{ size = \"200KB\", share = \"100%\" }]\n",
            &[
                "topology.star.hosts=6",
                "host.rate=1Gbps",
                "host.delay=100us",
                "host.nic_buffer=10pkts",
                "transport.initial_window=40",
                "switch.buffer=20pkts",
                "run.duration=300ms",
                "transport.congestion_control=dctcp",
                "transport.ecn=true",
                "switch.phantom_queue={drain=\"70%\",threshold=\"1KB\"}",
                "pacer={fifo=\"4500B\",association_probability=\"100%\",update_interval=\"10ms\",beta=0}",
            ],
        ),
        1,
    );
    let places = drops_by_place(&outcome.links, None, None);
    let names: Vec<&str> = places.keys().map(String::as_str).collect();
    assert_eq!(names, ["pacer", "nic", "switch-host"]);
    assert!(places.values().all(|&drops| drops > 0), "{places:?}");
    assert_eq!(places.values().sum::<u64>(), outcome.packets.dropped);
    let of_links = outcome
        .links
        .iter()
        .map(|link| link.drops + link.pacer_drops);
    assert_eq!(of_links.sum::<u64>(), outcome.packets.dropped);
}
