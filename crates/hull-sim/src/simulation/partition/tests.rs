//! What goes wrong in one part ends the run of all.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::scenario;
use crate::simulation::{Control, Failure, Simulation, build};

const SCENARIO: &str = r#"
name = "parts"
[run]
duration = "1000s"
[host]
rate = "10Gbps"
delay = "1us"
[switch]
rate = "10Gbps"
delay = "1us"
[topology.fat_tree]
k = 4
[workload.flows]
load = "10%"
connections = "per_flow"
sizes.fixed = "1KB"
"#;

fn in_parts(threads: usize) -> Simulation {
    let threads = [format!("run.threads={threads}")];
    let cells = scenario::expand(SCENARIO, "parts.toml", &threads).expect("is sound");
    build(&cells[0].scenario, 1, None).expect("is sound")
}

/// A part whose ports are missing panics at once.
#[test]
fn a_panic_in_any_part_ends_the_run() {
    for threads in [2, 3, 5] {
        for part in 0..threads {
            let mut simulation = in_parts(threads);
            let partition = simulation.partition.as_mut().expect("is in parts");
            match part {
                0 => simulation.fabric.network.ports.truncate(1),
                _ => partition.others[part - 1].fabric.network.ports.truncate(1),
            }
            let run = AssertUnwindSafe(|| simulation.run(&Control::default()));
            assert!(catch_unwind(run).is_err(), "part {part} of {threads}");
        }
    }
}

/// Every part sees that the run is to stop, whichever sees it first.
#[test]
fn a_run_that_is_cancelled_before_it_begins_ends() {
    for threads in [1, 2, 3, 8] {
        let control = Control::default();
        control.cancel();
        let failure = in_parts(threads).run(&control).err();
        assert_eq!(failure, Some(Failure::Cancelled), "{threads} threads");
    }
}
