//! The input of `hull-traffic dynamic`: options, or the `[workload.requests]` table of a scenario, read by
//! the simulator's own definition.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use hull_sim::scenario::{self, Cell, HostRef, Requests, Scenario, check_requests};
use hull_sim::units::{Rate, Time};
use hull_sim::workload::HostNames;

use crate::failure::Failure;
use crate::protocol::{MAX_FRAME, MIN_FRAME};

/// Requests with their link and times.
#[derive(Clone, Debug, PartialEq)]
pub struct Inputs {
    /// Requests.
    pub requests: Requests,
    /// Rate of the client's link, of which the load is a share.
    pub rate: Rate,
    /// Warm-up before the measured time.
    pub warmup: Time,
    /// Measured time.
    pub duration: Time,
    /// Longest wait for responses after the measured time.
    pub drain: Time,
    /// First seed.
    pub seed: u64,
    /// Text of `scenario.toml` among the results.
    pub text: String,
}

impl Inputs {
    /// Reads a scenario file with `KEY=VALUE` overrides; all its cells must have the same requests.
    pub fn of_scenario(path: &Path, overrides: &[String]) -> Result<Self, Failure> {
        let file = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|error| Failure::Input(format!("{file}: cannot be read: {error}")))?;
        let cells = scenario::expand(&text, &file, overrides)
            .map_err(|error| Failure::Input(error.to_string()))?;
        let inputs = cells.iter().map(|cell| Inputs::of_cell(&file, cell));
        let mut inputs = inputs.collect::<Result<Vec<_>, _>>()?;
        let differs = inputs.iter().position(|other| !other.asks_like(&inputs[0]));
        if let Some(other) = differs {
            let name = |cell: &Cell| format!("\"{} {}\"", cell.condition, cell.scheme);
            return Err(Failure::Input(format!(
                "{file}: found {} variants that ask for different things, as {} and {}; expected \
                 one: choose a value of what is swept, as with --set workload.requests.load=40%",
                cells.len(),
                name(&cells[0]),
                name(&cells[other])
            )));
        }
        Ok(inputs.swap_remove(0))
    }

    /// Reads options; errors name them.
    pub fn of_options(
        requests: Requests,
        rate: Rate,
        (warmup, duration, drain): (Time, Time, Time),
    ) -> Result<Self, Failure> {
        check_requests(&requests).map_err(|problem| {
            let (key, problem): (String, String) = problem.into();
            let key = key.strip_prefix("workload.requests.").unwrap_or(&key);
            let option = match key.split(['[', '.']).next().unwrap_or(key) {
                "connections_per_server" => "--connections",
                "request_size" => "--request-size",
                "classes" => "--class",
                "load" => "--load",
                other => other,
            };
            Failure::option(option, problem)
        })?;
        check_frame("--request-size", requests.request_size.0)?;
        Ok(Inputs {
            text: format!("# Requests over a link of {rate}.\n{}", toml_of(&requests)?),
            requests,
            rate,
            warmup,
            duration,
            drain,
            seed: 1,
        })
    }

    fn of_cell(file: &str, cell: &Cell) -> Result<Self, Failure> {
        let scenario = &cell.scenario;
        let Some(requests) = &scenario.workload.requests else {
            return Err(Failure::Input(format!(
                "{file}: workload: found no table \"requests\"; expected one, as `hull-traffic dynamic` \
                 runs it"
            )));
        };
        check_frame(
            &format!("{file}: workload.requests.request_size"),
            requests.request_size.0,
        )?;
        Ok(Inputs {
            requests: requests.clone(),
            rate: client_rate(file, scenario, requests)?,
            warmup: scenario.run.warmup,
            duration: scenario.run.duration,
            drain: scenario.run.drain,
            seed: scenario.run.seed,
            text: scenario.to_toml().map_err(Failure::Run)?,
        })
    }

    /// Whether both have the same requests, even with different schemes.
    fn asks_like(&self, other: &Inputs) -> bool {
        let ask = |inputs: &Inputs| Inputs {
            text: String::new(),
            ..inputs.clone()
        };
        ask(self) == ask(other)
    }
}

/// Table of the requests in a scenario's form.
fn toml_of(requests: &Requests) -> Result<String, Failure> {
    let workload = BTreeMap::from([("workload", BTreeMap::from([("requests", requests)]))]);
    toml::to_string(&workload).map_err(|error| Failure::Run(error.to_string()))
}

/// Checks that a request of this size can hold its header.
pub fn check_frame(key: &str, bytes: u64) -> Result<(), Failure> {
    if (MIN_FRAME as u64..=MAX_FRAME as u64).contains(&bytes) {
        return Ok(());
    }
    let allowed = format!("{MIN_FRAME} to {MAX_FRAME} bytes");
    Err(Failure::option(
        key,
        format!("found {bytes} bytes; expected {allowed}"),
    ))
}

/// Rate of the link out of the network to the client.
fn client_rate(file: &str, scenario: &Scenario, requests: &Requests) -> Result<Rate, Failure> {
    let wrong = |key: &str, problem: String| Failure::Input(format!("{file}: {key}: {problem}"));
    let graph = scenario.graph().map_err(|problem| {
        let (key, problem): (String, String) = problem.into();
        wrong(&key, problem)
    })?;
    let hosts = HostNames::of(&Arc::new(graph));
    let client = match &requests.client {
        None => Some(0),
        Some(HostRef::Number(number)) => Some(*number),
        Some(HostRef::Text(text)) => hosts.find(text),
    };
    let rate_bps = client.and_then(|client| hosts.from_network_bps.get(client as usize));
    rate_bps.map(|&bps| Rate(bps)).ok_or_else(|| {
        let problem = format!("found none of the {} hosts", hosts.count());
        wrong("workload.requests.client", problem)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCENARIO: &str = r#"
        name = "small"
        run = { duration = "9s", warmup = "2s", drain = "1s", seed = 4 }
        topology.star.hosts = 3
        topology.links = [{ link = "switch->h1", rate = "2Gbps" }]
        host = { rate = "1Gbps", delay = "1us" }
        switch = { rate = "1Gbps", delay = "1us", buffer = "unlimited" }
        sweep."switch.buffer" = ["unlimited", "30KB"]
        [workload.requests]
        load = "40%"
        client = "h1"
        classes = [{ size = "1KB", share = "100%" }]
    "#;

    fn read(text: &str, overrides: &[&str]) -> Result<Inputs, String> {
        let place = tempfile::tempdir().expect("a folder");
        let path = place.path().join("small.toml");
        std::fs::write(&path, text).expect("written");
        let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
        Inputs::of_scenario(&path, &overrides).map_err(|failure| {
            assert_eq!(failure.status(), 2);
            failure.to_string()
        })
    }

    /// Cells that differ in the network only request the same; the rate is the client link's rate.
    #[test]
    fn a_scenario_gives_requests_link_and_times() {
        let inputs = read(SCENARIO, &[]).expect("good");
        assert_eq!(inputs.rate, Rate(2_000_000_000));
        assert_eq!(inputs.requests.connections_per_server, 16);
        let times = [inputs.warmup, inputs.duration, inputs.drain].map(Time::seconds);
        assert_eq!((times, inputs.seed), ([2.0, 9.0, 1.0], 4));
        let set = read(SCENARIO, &["workload.requests.load=60%", "run.seed=5"]).expect("good");
        assert_eq!(
            (set.requests.load.to_string().as_str(), set.seed),
            ("60%", 5)
        );
    }

    #[test]
    fn infeasible_scenarios_are_rejected() {
        let small = |more: &[&str]| read(SCENARIO, more).expect_err("bad");
        for (problem, parts) in [
            (
                small(&["workload.requests.load=1.5"]),
                ["requests.load", "below 100%"],
            ),
            (
                small(&["workload.requests.client=h7"]),
                ["requests.client", "none of the 3 hosts"],
            ),
            (
                small(&["workload.requests.request_size=9B"]),
                ["request_size", "36 to 1000000"],
            ),
            (small(&["run.seconds=1"]), ["run", "seconds"]),
            (
                read(
                    &SCENARIO.replace("[workload.requests]", "[workload.incast]"),
                    &[],
                )
                .expect_err("bad"),
                ["workload.incast", "load"],
            ),
        ] {
            for part in parts {
                assert!(
                    problem.contains(part),
                    "\"{part}\" is missing from: {problem}"
                );
            }
            assert!(problem.contains("small.toml:"), "{problem}");
        }
        let missing = Inputs::of_scenario(Path::new("nowhere.toml"), &[]).expect_err("not there");
        assert!(
            missing
                .to_string()
                .starts_with("nowhere.toml: cannot be read: ")
        );
        let text = SCENARIO.split("[workload").next().unwrap_or_default();
        let problem = read(&format!("{text}[workload.incast]\n"), &[]).expect_err("no requests");
        assert!(problem.contains("found no table \"requests\""), "{problem}");
    }
}
