//! Shared memory (thesis 2.1.3; Choudhury and Hahne) against the test's accounting and the dynamic
//! threshold's closed form: each of N busy queues holds `r + alpha P / (1 + N alpha)` (r: reserved
//! per queue, P: left for all), within two packets and their effect on other thresholds. Also
//! thesis table 2.1, the 600 to 700 KB of figure 1.2 and section 2.3.1, and a static limit and cells
//! against hand arithmetic.

use hull_sim::network::{BufferLimit, PortConfig, Room, SharedBuffer, SharedBufferConfig};
use hull_sim::random::{Purpose, Stream};
use hull_sim::scenario::{Memory, Preset, expand};
use hull_sim::simulation;
use hull_sim::units::Size;

use super::port_bench::{Bench, packet};
use super::star::{BULK, run, scenario};

const GBPS: u64 = 1_000_000_000;
const BYTES: u16 = 1500;

/// A switch of `ports` ports that share one memory.
fn switch(ports: usize, config: &SharedBufferConfig, in_service: bool) -> Bench {
    let port = || PortConfig {
        count_in_service: in_service,
        ..PortConfig::plain(GBPS, 0, BufferLimit::Unlimited)
    };
    let mut bench = Bench::new(port, ports);
    let all: Vec<usize> = (0..ports).collect();
    bench.network.share(config, &all, 1, in_service);
    bench
}

fn used(bench: &mut Bench, now_ps: u64, port: usize) -> u64 {
    let (memory, queue) = bench.network.memory_of(port).expect("all ports share");
    memory.advance(now_ps);
    memory.used_bytes(queue)
}

/// N of 8 ports receive twice their rate, packets in turn. With a static limit each holds the lesser
/// of the two. If the busy queues divide alpha, all together hold what a lone one would.
#[test]
fn busy_ports_settle_at_the_closed_form() {
    for (alpha_q16, reserved, limit_bytes, busy_bytes) in [
        (65536 / 5, 0, u64::MAX, 0),
        (65536 / 4, 20_000, u64::MAX, 0),
        (65536, 0, u64::MAX, 0),
        (2 * 65536, 50_000, u64::MAX, 0),
        (65536, 20_000, 700_000, 0),
        (65536 / 5, 0, u64::MAX, 28_000),
        (65536, 20_000, u64::MAX, 28_000),
    ] {
        let config = SharedBufferConfig {
            limit_bytes,
            busy_bytes,
            ..SharedBufferConfig::dynamic(4_000_000, reserved, alpha_q16)
        };
        for busy in 1..=8 {
            let mut bench = switch(8, &config, false);
            let mut now_ps = 0;
            for n in 0..12_000 * busy {
                bench.offer(now_ps, n % busy, packet(BYTES, 0, 0));
                now_ps += 6_000_000 / busy as u64;
            }
            let alpha = alpha_q16 as f64 / 65536.0;
            let pool = 4_000_000.0 - 8.0 * reserved as f64;
            let divided = if busy_bytes > 0 { busy as f64 } else { 1.0 };
            let alpha = alpha / divided;
            let share = alpha * pool / (1.0 + busy as f64 * alpha);
            let each = reserved as f64 + share.min(limit_bytes as f64);
            for port in 0..8 {
                let measured = used(&mut bench, now_ps, port) as f64;
                let expected = if port < busy { each } else { 0.0 };
                assert!(
                    (measured - expected).abs() <= 2.0 * f64::from(BYTES) * (1.0 + alpha),
                    "{busy} busy, alpha {alpha}, reserved {reserved}: {measured}, not {expected}"
                );
            }
        }
    }
}

/// For random packets to random ports, the memory's usage equals the sum over a list of all packets
/// accepted and not yet sent, each in whole cells. It accepts none above the current threshold and
/// rejects only packets above it or without room.
#[test]
fn memory_is_conserved_and_no_port_is_above_its_threshold() {
    for (in_service, reserved, cell_bytes) in [
        (false, 0, 1),
        (true, 0, 1),
        (false, 3000, 1),
        (true, 3000, 1),
        (false, 3000, 128),
    ] {
        let config = SharedBufferConfig {
            cell_bytes,
            ..SharedBufferConfig::dynamic(100_000, reserved, 65536 / 2)
        };
        let mut bench = switch(6, &config, in_service);
        let mut random = Stream::new(1, Purpose::Arrivals, 0);
        let pool = 100_000 - 6 * reserved;
        // Per port: packets in memory as (departure time, bytes occupied), and when the link is free.
        let mut inside: Vec<Vec<(u64, u64)>> = vec![Vec::new(); 6];
        let mut free_ps = [0_u64; 6];
        let (mut now_ps, mut refused, mut fullest) = (0, 0, 0);
        for _ in 0..100_000 {
            now_ps += random.below(1_500_000) as u64;
            let port = random.below(6);
            let bytes = 40 + random.below(1461) as u64;
            for queue in &mut inside {
                queue.retain(|&(leaves_ps, _)| leaves_ps > now_ps);
            }
            let cells = bytes.div_ceil(cell_bytes) * cell_bytes;
            let held = |port: usize| inside[port].iter().map(|&(_, cells)| cells).sum::<u64>();
            let of_pool: u64 = (0..6).map(|p| held(p).saturating_sub(reserved)).sum();
            let after = (held(port) + cells).saturating_sub(reserved);
            let more = after - held(port).saturating_sub(reserved);
            let fits = after <= (pool - of_pool) / 2 && of_pool + more <= pool;
            let taken = bench.offer(now_ps, port, packet(bytes as u16, 0, 0));
            assert_eq!(taken, fits, "{bytes} bytes at {now_ps} ps");
            refused += u64::from(!taken);
            if taken {
                let start_ps = free_ps[port].max(now_ps);
                free_ps[port] = start_ps + 8000 * bytes;
                let leaves_ps = if in_service { free_ps[port] } else { start_ps };
                // The check below precedes the packet's earliest departure.
                inside[port].push((leaves_ps.max(now_ps + 1), cells));
            }
            let total: u64 = inside.iter().flatten().map(|&(_, bytes)| bytes).sum();
            let (memory, _) = bench.network.memory_of(port).expect("all ports share");
            assert_eq!(memory.total_bytes(), total);
            assert!(total <= 100_000);
            fullest = fullest.max(total);
        }
        assert!(refused > 1000 && fullest > 60_000, "{refused} {fullest}");
    }
}

/// 20 cells of 208 bytes: 1500 bytes take 8 of them, 40 bytes take one. Two large packets and four
/// small ones fill the memory (the first large one is being sent, and still counts).
#[test]
fn packets_take_whole_cells() {
    let config = SharedBufferConfig {
        cell_bytes: 208,
        ..SharedBufferConfig::dynamic(20 * 208, 0, 1000 * 65536)
    };
    let mut bench = switch(1, &config, true);
    let taken: Vec<bool> = [1500, 1500, 1500, 40, 40, 40, 208, 40]
        .into_iter()
        .map(|bytes| bench.offer(0, 0, packet(bytes, 0, 0)))
        .collect();
    let expected = [true, true, false, true, true, true, true, false];
    assert_eq!(taken, expected);
    assert_eq!(used(&mut bench, 0, 0), 20 * 208);
    assert_eq!(used(&mut bench, 12_000_000, 0), 12 * 208);
    assert_eq!(used(&mut bench, u64::MAX - 1, 0), 0);
}

/// A pool of 40 packets and a static limit of 20 for a queue, however free the rest: one port gets
/// 20 packets, two share the pool, and a third finds none left.
#[test]
fn a_static_limit_caps_a_lone_port_until_the_pool_is_empty() {
    let config = SharedBufferConfig {
        limit_bytes: 20 * 1500,
        ..SharedBufferConfig::dynamic(40 * 1500, 0, 1000 * 65536)
    };
    let mut bench = switch(3, &config, true);
    let held: Vec<usize> = (0..3)
        .map(|port| {
            (0..30)
                .filter(|_| bench.offer(0, port, packet(BYTES, 0, 0)))
                .count()
        })
        .collect();
    assert_eq!(held, [20, 20, 0]);
}

/// A queue of half the length counts as half a busy queue, and a lone one always as one.
#[test]
fn a_short_queue_is_partly_busy() {
    let config = SharedBufferConfig {
        busy_bytes: 20_000,
        ..SharedBufferConfig::dynamic(1_000_000, 0, 65536)
    };
    let mut memory = SharedBuffer::new(&config, 3);
    for (queue, bytes, threshold) in [
        (0, 5000, 995_000),
        (0, 15_000, 980_000),
        (1, 10_000, 646_666),
        (2, 30_000, 376_000),
    ] {
        memory.take(queue, 0, bytes, Room::Shared);
        assert_eq!(memory.threshold_bytes(), threshold);
    }
    memory.clear(0, 2, 1);
    assert_eq!(memory.threshold_bytes(), 646_666);
}

/// Each of N busy queues holds `min(limit, alpha P / (1 + N alpha))` of the pool P, in whole cells: a
/// packet of 1500 bytes has 12 cells of 128 bytes, 1536 bytes. With a static limit alone (alpha of 1000)
/// each holds the limit until the pool is exhausted, and then they share it.
#[test]
fn cells_and_a_static_limit_match_the_closed_form() {
    for (alpha, limit_bytes) in [(1, u64::MAX), (1, 500_000), (1000, 500_000)] {
        let config = SharedBufferConfig {
            limit_bytes,
            cell_bytes: 128,
            ..SharedBufferConfig::dynamic(1_500_000, 10_000, alpha << 16)
        };
        let pool = 1_500_000.0 - 8.0 * 10_000.0;
        for busy in 1..=8 {
            let mut bench = switch(8, &config, false);
            let mut now_ps = 0;
            for n in 0..6_000 * busy {
                bench.offer(now_ps, n % busy, packet(BYTES, 0, 0));
                now_ps += 6_000_000 / busy as u64;
            }
            let dynamic = alpha as f64 * pool / (1.0 + (alpha * busy as u64) as f64);
            let each = 10_000.0 + dynamic.min(limit_bytes as f64);
            let mut total = 0;
            for port in 0..busy {
                let held = used(&mut bench, now_ps, port);
                assert_eq!(held % 1536, 0);
                total += held;
            }
            let mean = total as f64 / busy as f64;
            assert!(
                (mean - each).abs() <= 2.0 * 1536.0 * 2.0,
                "{busy} busy, alpha {alpha}, limit {limit_bytes}: {mean}, not {each}"
            );
            assert!(total <= 1_500_000);
        }
    }
}

/// Thesis figure 1.2: two long TCP flows to one 1 Gbps port of a Triumph fill 600 to 700 KB, at
/// full throughput.
#[test]
fn one_busy_port_of_a_triumph_gets_600_to_700_kb() {
    let settings = [
        "topology.star.hosts=3",
        "host.rate=1Gbps",
        "host.delay=20us",
        "switch.delay=20us",
        "switch.memory={preset=\"triumph\"}",
        "workload.bulk.flows=2",
        "run.warmup=500ms",
        "run.duration=2s",
    ];
    let outcome = run(&scenario(BULK, &settings), 1);
    let largest = outcome.occupancy.max_us * 125.0;
    assert!((600e3..=700e3).contains(&largest), "{largest} bytes");
    assert!(outcome.throughput.utilization > 0.999);
    assert!(outcome.packets.dropped > 0);
}

/// Thesis table 2.1.
#[test]
fn presets_match_the_table() {
    for (preset, slow, fast, megabytes, ecn) in [
        (Preset::Triumph, 48, 4, 4, true),
        (Preset::Scorpion, 0, 24, 4, true),
        (Preset::Cat4948, 48, 2, 16, false),
    ] {
        assert_eq!(preset.ports(), (slow + fast, fast));
        assert_eq!(preset.size(), Size(megabytes * 1_000_000));
        assert_eq!(preset.ecn(), ecn);
    }
}

const RACK: &str = r#"
name = "rack"
run.duration = "1ms"
topology.star.hosts = 52
host = { queue = "fifo", rate = "1Gbps", delay = "1us" }
switch = { rate = "1Gbps", delay = "1us", memory = { preset = "triumph" } }
workload.bulk.flows = 1
"#;

/// Message that rejects the rack with `settings`; `None` if accepted.
fn refused(settings: &[&str]) -> Option<String> {
    let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    match expand(RACK, "rack.toml", &settings) {
        Err(error) => Some(error.to_string()),
        Ok(cells) => {
            let problem = simulation::verify(&cells[0].scenario).err()?;
            Some(problem.to_string())
        }
    }
}

#[test]
fn preset_limits_the_port_count() {
    let fast = |count: usize| {
        let links = (0..count).map(|h| format!("{{link=\"h{h}--switch\",rate=\"10Gbps\"}}"));
        let links: Vec<String> = links.collect();
        format!("topology.links=[{}]", links.join(","))
    };
    assert_eq!(refused(&[]), None);
    assert_eq!(refused(&[&fast(4)]), None);
    for settings in [
        vec!["topology.star.hosts=53"],
        vec![&fast(5)],
        vec!["switch.memory.preset=cat4948"],
        vec!["switch.memory.preset=scorpion"],
    ] {
        let message = refused(&settings).expect("too many ports");
        assert!(
            message.contains("switch.memory.preset") && message.contains("; expected"),
            "{message}"
        );
    }
}

#[test]
fn a_cat4948_cannot_mark() {
    for marking in [
        "switch.marking={threshold=\"30KB\"}",
        "switch.red={min=\"20pkts\",max=\"60pkts\"}",
        "switch.pi={reference=\"40pkts\",interval=\"10us\",flows=2,round_trip=\"500us\"}",
        "switch.avq={time_constant=\"1ms\",buffer=\"30KB\"}",
        "switch.ports=[{tier=\"switch-host\",marking={threshold=\"30KB\"}}]",
    ] {
        let settings = [
            "topology.star.hosts=50",
            "switch.memory.preset=cat4948",
            marking,
        ];
        let message = refused(&settings).expect("no ECN");
        assert!(
            message.contains("switch.memory.preset") && message.contains("ECN"),
            "{message}"
        );
    }
}

/// 52 queues of 77 KB exceed 4 MB, so they cannot all be reserved; nor 416 of 10 KB.
#[test]
fn reservations_must_fit() {
    let nine_kb = ["switch.memory.reserved=9KB", "switch.memory.queues=8"];
    assert_eq!(refused(&["switch.memory.reserved=76KB"]), None);
    assert_eq!(refused(&nine_kb), None);
    for settings in [
        vec!["switch.memory.reserved=77KB"],
        vec!["switch.memory.reserved=39KB", "switch.priorities=2"],
        vec!["switch.memory.reserved=10KB", "switch.memory.queues=8"],
    ] {
        let message = refused(&settings).expect("more than there is");
        assert!(
            message.contains("switch.memory.reserved") && message.contains("4MB"),
            "{message}"
        );
    }
}

/// Reservations of queues without traffic are lost to the others. A preset has them on all of its 52
/// ports.
#[test]
fn queues_without_traffic_keep_their_reservations() {
    let memory = Memory {
        preset: Some(Preset::Triumph),
        reserved: Size(8000),
        queues: Some(8),
        ..Memory::default()
    };
    assert_eq!(memory.usable_bytes(52, 1), 4_000_000 - 52 * 7 * 8000);
    assert_eq!(memory.usable_bytes(52, 8), 4_000_000);
    assert_eq!(
        memory.usable_bytes(3, 2),
        4_000_000 - (52 * 8 - 3 * 2) * 8000
    );
    let other = Memory {
        preset: None,
        size: Some(Size(1_000_000)),
        ..memory
    };
    assert_eq!(other.usable_bytes(3, 2), 1_000_000 - 3 * 6 * 8000);
    let default = Memory {
        queues: None,
        ..other
    };
    assert_eq!(default.usable_bytes(3, 2), 1_000_000);
}

/// With alpha of 1 a busy port holds its reservation and half of 1 MB less 24 reservations of 25 KB
/// (three ports of eight queues, seven of them without traffic).
#[test]
fn idle_reservations_leave_the_pool() {
    let settings = [
        "topology.star.hosts=3",
        "host.rate=1Gbps",
        "host.delay=20us",
        "switch.delay=20us",
        "switch.memory={size=\"1MB\",queues=8,reserved=\"25KB\",alpha=\"100%\"}",
        "workload.bulk.flows=2",
        "run.warmup=500ms",
        "run.duration=1s",
    ];
    let outcome = run(&scenario(BULK, &settings), 1);
    let largest = outcome.occupancy.max_us * 125.0;
    // 25 KB + (1 MB - 600 KB) / 2.
    assert!((largest - 225e3).abs() <= 3000.0, "{largest} bytes");
}

#[test]
fn keys_of_cells_and_limits_are_checked() {
    for (setting, expected) in [
        ("switch.memory.queues=0", "switch.priorities to 64"),
        ("switch.memory.queues=65", "switch.priorities to 64"),
        (
            "switch.memory.limit=100B",
            "transport.mtu to switch.memory.size",
        ),
        (
            "switch.memory.limit=5MB",
            "transport.mtu to switch.memory.size",
        ),
        ("switch.memory.cell=0B", "1B to 16384B"),
        ("switch.memory.cell=20KB", "1B to 16384B"),
        ("switch.memory.busy=0B", "1B to switch.memory.size"),
        ("switch.memory.busy=5MB", "1B to switch.memory.size"),
    ] {
        let message = refused(&[setting]).expect("invalid");
        let key = setting.split('=').next().expect("a key");
        assert!(
            message.contains(key) && message.contains(expected),
            "{message}"
        );
    }
    let accepted = ["switch.memory.limit=700KB", "switch.memory.cell=208B"];
    assert_eq!(refused(&accepted), None);
}
