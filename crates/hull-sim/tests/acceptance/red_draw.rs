//! RED's two kinds of draws against the sum of their probabilities.
//!
//! Two senders of constant rate fill the port of a third host: the queue rises by one byte for each two
//! that arrive, from 0 to `max`, so the average (weight 1) rises along a line too. Over N arrivals
//! between `min` and `max` the probability p takes each value from 0 to Pmax equally often. Independent
//! draws mark N Pmax / 2 packets, with the variance N (Pmax / 2 - Pmax^2 / 3). Spaced marks have the
//! share 2 p / (1 + p), so N 2 (1 - ln(1 + Pmax) / Pmax).

use hull_sim::scenario::{self, Scenario};
use hull_sim::simulation::Outcome;

use super::star::{assert_near, run};

/// Packets of 1000 bytes without framing; 500 KB are exceeded after 0.4 ms, 2000 KB reached at 1.6 ms.
const FILLING: &str = r#"
name = "filling"
run = { duration = "1.6ms", warmup = "0s" }
topology.star.hosts = 3
workload.long_lived.flows = [{ src = [1, 2], dst = 0 }]
[host]
rate = "10Gbps"
delay = "100ns"
[switch]
rate = "10Gbps"
delay = "100ns"
buffer = "2010KB"
red = { min = "500KB", max = "2000KB", max_probability = "5%", weight = "100%" }
[transport]
congestion_control = "constant_rate"
constant_rate.rate = "10Gbps"
ecn = true
mtu = "1000B"
"#;
const ARRIVALS: f64 = 3000.0;
const MAX_PROBABILITY: f64 = 0.05;
const SEEDS: u64 = 20;

fn filling(settings: &[&str]) -> Scenario {
    let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    match scenario::expand(FILLING, "filling.toml", &settings) {
        Ok(cells) => Scenario::clone(&cells[0].scenario),
        Err(error) => panic!("{error}"),
    }
}

/// Marks over all seeds.
fn marks(settings: &[&str]) -> f64 {
    let scenario = filling(settings);
    let of = |seed| run(&scenario, seed).marks as f64;
    (1..=SEEDS).map(of).sum()
}

const INDEPENDENT: &str = "switch.red.draw=independent";

/// Four standard deviations, and 2 arrivals for the ends of the line.
#[test]
fn independent_marks_are_the_sum_of_the_probabilities() {
    let all = SEEDS as f64 * ARRIVALS;
    let expected = all * MAX_PROBABILITY / 2.0;
    let variance = all * (MAX_PROBABILITY / 2.0 - MAX_PROBABILITY.powi(2) / 3.0);
    let found = marks(&[INDEPENDENT]);
    let off = (found - expected).abs();
    assert!(
        off < 4.0 * variance.sqrt() + 2.0 * SEEDS as f64 * MAX_PROBABILITY,
        "{found} marks, expected {expected}"
    );
    // Of one seed: 75 within four standard deviations.
    let one = run(&filling(&[INDEPENDENT]), 7).marks;
    assert!((41..=109).contains(&one), "{one}");
}

#[test]
fn spaced_marks_are_nearly_twice_as_many() {
    let of_spaced = 2.0 * (1.0 - MAX_PROBABILITY.ln_1p() / MAX_PROBABILITY);
    let expected = SEEDS as f64 * ARRIVALS * of_spaced;
    assert_near("marks", marks(&[]), expected, 0.02);
    assert_near("marks", marks(&["switch.red.draw=spaced"]), expected, 0.02);
}

/// Every packet is marked from `max` on, and none below `min`.
#[test]
fn ends_are_certain() {
    let above = "switch.red={min=\"1KB\",max=\"2KB\",weight=\"100%\",draw=\"independent\"}";
    let all = run(&filling(&[above]), 1);
    // Packets sent by the port in 1.6 ms, besides the first few; those that wait are marked too.
    assert!(all.marks > 1990, "{}", all.marks);
    let below = "switch.red={min=\"2010KB\",max=\"3000KB\",weight=\"100%\",draw=\"independent\"}";
    assert_eq!(run(&filling(&[below]), 1).marks, 0);
}

/// A seed gives the same result again, and the kind of draw changes no other random number: with random
/// loss behind constant senders, the same packets are lost.
#[test]
fn draws_are_deterministic_and_change_no_others() {
    let lossy = |draw: &str| -> Outcome {
        let draw = format!("switch.red.draw={draw}");
        run(&filling(&["switch.loss=1%", &draw]), 3)
    };
    let (spaced, independent) = (lossy("spaced"), lossy("independent"));
    assert_ne!(spaced.marks, independent.marks);
    assert!(spaced.packets.dropped > 10);
    assert_eq!(spaced.packets.dropped, independent.packets.dropped);
    assert_eq!(lossy("independent").marks, independent.marks);
}

/// RED marks in each class of a port with priorities as in a port without.
#[test]
fn independent_draws_work_in_classes() {
    let expected = SEEDS as f64 * ARRIVALS * MAX_PROBABILITY / 2.0;
    let found = marks(&[INDEPENDENT, "switch.priorities=2"]);
    assert_near("marks", found, expected, 0.11);
}
