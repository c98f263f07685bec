//! Poisson requests at a low round trip against the M/G/1 processor-sharing queue (paper 3.3, equation 1:
//! the mean completion time of a flow of x bytes is x / (C (1 - rho))).
//!
//! C and rho count what the link carries: packets of 1500 bytes for 1460 of payload. DCTCP with large
//! flows and a round trip of about 30 us comes near to equal shares. Two comparisons: with a fluid
//! that serves the same arrivals in equal shares, integrated here, which leaves only the error of
//! the sharing itself (4%), and with the equation (10%, mostly statistical).

use super::star::{REQUESTS, SECOND_PS, assert_near, run, scenario};

const SIZES: [(&str, f64); 2] = [("250KB", 250e3), ("1MB", 1e6)];

/// Runs of 30 s each. One alone can be off by a third at 70%: such a queue has a long memory.
const SEEDS: u64 = 6;

/// Wire bytes per payload byte.
const OVERHEAD: f64 = 1500.0 / 1460.0;

/// Completion times (s) of `arrivals` (s, wire bytes; by time) at a link of 1 Gbps that serves all
/// in equal shares.
fn share_fluid(arrivals: &[(f64, f64)]) -> Vec<f64> {
    let mut fct = vec![0.0; arrivals.len()];
    let mut active: Vec<(usize, f64)> = Vec::new();
    let (mut now, mut next) = (0.0, 0);
    while next < arrivals.len() || !active.is_empty() {
        let completes = match active.iter().map(|flow| flow.1).reduce(f64::min) {
            Some(least) => now + least * 8e-9 * active.len() as f64,
            None => f64::INFINITY,
        };
        let arrives = arrivals
            .get(next)
            .map_or(f64::INFINITY, |arrival| arrival.0);
        let until = completes.min(arrives);
        if !active.is_empty() {
            let served = (until - now) / 8e-9 / active.len() as f64;
            for flow in &mut active {
                flow.1 -= served;
            }
        }
        now = until;
        if arrives < completes {
            active.push((next, arrivals[next].1));
            next += 1;
        } else {
            active.retain(|&(flow, left)| {
                if left < 0.5 {
                    fct[flow] = now - arrivals[flow].0;
                }
                left >= 0.5
            });
        }
    }
    fct
}

/// Sum and number of the completion times of a class.
#[derive(Clone, Copy, Default)]
struct Mean {
    sum: f64,
    count: f64,
}

impl Mean {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1.0;
    }

    fn value(self) -> f64 {
        self.sum / self.count
    }
}

fn compare(load: f64) {
    let load_setting = format!("workload.requests.load={load}");
    let settings = [
        "topology.star.hosts=9",
        "host.delay=2us",
        "switch.delay=2us",
        "run.duration=30s",
        "measure.sample_interval=100ms",
        "transport.congestion_control=dctcp",
        "transport.ecn=true",
        "switch.marking.threshold=15KB",
        "workload.requests.pick=random_idle",
        "workload.requests.connections_per_server=4",
        "workload.requests.classes=[{size=\"250KB\",share=\"80%\"},{size=\"1MB\",share=\"20%\"}]",
        &load_setting,
    ];
    let scenario = scenario(REQUESTS, &settings);
    let mut measured = [Mean::default(); 2];
    let mut shared = [Mean::default(); 2];
    for seed in 1..=SEEDS {
        let outcome = run(&scenario, seed);
        let mut records = outcome.flows.rows().to_vec();
        records.sort_by_key(|record| record.start_ps);
        let arrivals: Vec<(f64, f64)> = records
            .iter()
            .map(|r| {
                (
                    r.start_ps as f64 / SECOND_PS as f64,
                    SIZES[usize::from(r.class)].1 * OVERHEAD,
                )
            })
            .collect();
        for (record, fluid) in records.iter().zip(share_fluid(&arrivals)) {
            measured[usize::from(record.class)].add(record.fct_ps as f64 / SECOND_PS as f64);
            shared[usize::from(record.class)].add(fluid);
        }
    }
    for (class, (name, bytes)) in SIZES.iter().enumerate() {
        let (mean, fluid) = (measured[class].value(), shared[class].value());
        let equation = bytes * OVERHEAD * 8e-9 / (1.0 - load * OVERHEAD);
        println!("load {load} {name}: {mean} s, fluid {fluid}, equation {equation}");
        assert_near(&format!("{name} at {load}, fluid"), mean, fluid, 0.04);
        assert_near(
            &format!("{name} at {load}, equation 1"),
            mean,
            equation,
            0.10,
        );
    }
}

#[test]
fn light_load_shares_the_link() {
    compare(0.3);
}

#[test]
fn medium_load_shares_the_link() {
    compare(0.5);
}

#[test]
fn heavy_load_shares_the_link() {
    compare(0.7);
}
