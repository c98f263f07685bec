//! Random scenarios: every network, workload, switch, host and transport with random settings. A
//! run never panics (in tests this includes every overflow), ends in time, loses or invents no
//! packet (sent = delivered + dropped + in flight), and gives the same results when repeated, on
//! several threads, and when measured.

use std::collections::BTreeSet;

use hull_sim::measure::LinkCount;
use hull_sim::scenario::{Message, Scenario, expand};
use hull_sim::simulation::{self, Control, Divided, Outcome};
use proptest::prelude::*;

use super::measuring::left;
use super::random_settings::{BASE, Settings, any_scenario};

/// How far a flow through cut-through switches may beat its ideal if its last packet is not the
/// last in order (`simulation::ideal`), ps: the time of a head at each of a route's five switches.
fn out_of_order_ps(scenario: &Scenario) -> u64 {
    let Some(head) = scenario.switch.cut_through else {
        return 0;
    };
    let bits = 8 * (head.0 + scenario.transport.framing.0);
    5 * bits * 1_000_000_000_000 / scenario.switch.rate.0
}

fn resolved(settings: &[String]) -> Result<Scenario, String> {
    let cells = expand(BASE, "random.toml", settings).map_err(|error| error.to_string())?;
    match simulation::verify(&cells[0].scenario) {
        Ok(_) => Ok(Scenario::clone(&cells[0].scenario)),
        Err(problem) => Err(problem.to_string()),
    }
}

/// Results of a run, for comparison with another run.
fn results(scenario: &Scenario, seed: u64) -> Result<(Outcome, String), String> {
    let simulation =
        simulation::build_in_parts(scenario, seed, None).map_err(|e| format!("{e:?}"))?;
    let mut outcome = simulation
        .run(&Control::default())
        .map_err(|e| format!("{e:?}"))?;
    outcome.other_threads_seconds.clear();
    outcome.divided = Divided::into_one(None);
    let text = format!("{outcome:?}");
    Ok((outcome, text))
}

/// First difference between two results.
fn difference(one: &Result<String, String>, two: &Result<String, String>) -> String {
    let (Ok(one), Ok(two)) = (one, two) else {
        return format!("{one:?} {two:?}");
    };
    let at = one
        .bytes()
        .zip(two.bytes())
        .take_while(|(a, b)| a == b)
        .count();
    let part = |text: &str| {
        text.get(at.saturating_sub(200)..text.len().min(at + 100))
            .map(str::to_owned)
    };
    format!("{:?}\n{:?}", part(one), part(two))
}

/// Measurement of all ports and flows by its number, and the files that it changes.
fn measurement(number: u64, links: &[LinkCount]) -> (Settings, &'static [&'static str]) {
    let tiers: BTreeSet<String> = links.iter().map(|l| format!("\"{}\"", l.tier)).collect();
    let tiers = Vec::from_iter(tiers).join(",");
    let all = [
        format!("measure.ports=[{tiers}]"),
        "measure.queue_changes=true".to_owned(),
        format!("measure.capture={{ports=[{tiers}]}}"),
        "measure.flows={count=50,interval=\"20us\"}".to_owned(),
        "measure.pacers={interval=\"30us\"}".to_owned(),
        "measure.sample_interval=13us".to_owned(),
    ];
    match number % 5 {
        0 => (all[..1].to_vec(), &[]),
        1 => (all[..2].to_vec(), &[]),
        2 => (all[2..3].to_vec(), &[]),
        3 => (all[3..5].to_vec(), &[]),
        _ => (all.to_vec(), &["latency.parquet"]),
    }
}

/// Thread counts of the compared runs. Few exceed two cores, because parts then wait for each
/// other.
const THREADS: [u32; 8] = [2, 2, 3, 2, 2, 4, 2, 8];

/// Difference between a measured run and an unmeasured one, with a probe or without.
fn perturbation(
    settings: &[String],
    seed: u64,
    links: &[LinkCount],
) -> Result<Option<String>, String> {
    let (more, except) = measurement(seed, links);
    let mut bare = resolved(settings)?;
    let mut measured = resolved(&[settings, &more].concat())?;
    if !seed.is_multiple_of(4) {
        bare.measure.probe = None;
        measured.measure.probe = None;
    }
    let bare = left(&bare, seed, Some("random-bare"))?;
    let measured = left(&measured, seed, Some("random-measured"))?;
    Ok(bare.difference(&measured, except))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_scenario_runs_conserves_packets_and_repeats(
        settings in any_scenario(),
        seed in 0_u64..1000,
    ) {
        let scenario = resolved(&settings);
        prop_assert!(scenario.is_ok(), "{:?}", scenario.err());
        let Ok(scenario) = scenario else { return Ok(()) };
        let first = results(&scenario, seed);
        prop_assert!(first.is_ok(), "{:?}", first.err());
        let Ok((outcome, text)) = first else { return Ok(()) };
        let packets = outcome.packets;
        prop_assert_eq!(packets.sent, packets.delivered + packets.dropped + packets.in_flight);
        prop_assert!(outcome.options_in_flight <= packets.in_flight);
        prop_assert!(outcome.simulated_ps <= 23_200_000_000);
        let is_tcp = scenario.transport.message == Message::default();
        let overfull = outcome.links.iter().find(|link| link.utilization > 1.000_001);
        prop_assert!(overfull.is_none(), "{overfull:?}");
        for row in outcome.flows.rows() {
            // A link failure may change a flow's route; a message may have many routes.
            let known = scenario.topology.failures.is_empty() && row.ideal_ps.is_some() | is_tcp;
            let least_ps = row.ideal_ps.map(|ps| ps.saturating_sub(out_of_order_ps(&scenario)));
            prop_assert!(!known || Some(row.fct_ps) >= least_ps, "{row:?}");
        }
        let dropped: u64 = outcome.links.iter().map(|link| link.drops).sum();
        prop_assert!(dropped <= packets.dropped);
        if is_tcp {
            // Messages cannot be captured.
            prop_assert_eq!(perturbation(&settings, seed, &outcome.links), Ok(None));
        }
        if seed.is_multiple_of(4) {
            let again = results(&scenario, seed).map(|(_, text)| text);
            prop_assert!(again == Ok(text), "different result");
        } else {
            // A probe prevents a run in parts.
            let mut scenario = scenario;
            scenario.measure.probe = None;
            let one = results(&scenario, seed).map(|(_, text)| text);
            let threads = THREADS[seed as usize / 4 % THREADS.len()];
            scenario.run.threads = threads;
            let more = results(&scenario, seed).map(|(_, text)| text);
            prop_assert!(
                one == more,
                "different result on {threads} threads: {}",
                difference(&one, &more)
            );
        }
    }
}
