//! `hull linux rack`.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use super::run::{self, Load};
use super::scheme::Scheme;
use super::simulation;
use super::{Rack, down, standing};
use crate::problem::{Problem, input};
use crate::settings;

/// Actions on the rack.
#[derive(Debug, Subcommand)]
pub enum RackAction {
    /// Build the rack.
    Up {
        /// Number of hosts; the first is the client.
        #[arg(long, default_value_t = 10)]
        hosts: u32,
        /// Rate of each switch port.
        #[arg(long, default_value = "1Gbps", value_parser = settings::rate)]
        rate: u64,
        /// One-way delay of each link; a delay above 0 needs netem.
        #[arg(long, default_value = "20us", value_parser = settings::time)]
        delay: u64,
        /// Buffer of each switch port.
        #[arg(long, default_value = "700KB", value_parser = settings::size)]
        buffer: u32,
        /// Largest burst of a switch port after a late timer; a small one resembles a link, a large one
        /// keeps the rate on a machine with late timers.
        #[arg(long, default_value = "3200B", value_parser = settings::size)]
        burst: u32,
        /// Minimum retransmission timeout of the hosts; Linux's own is 200ms.
        #[arg(long, default_value = "10ms", value_parser = settings::time)]
        min_rto: u64,
    },
    /// Remove the rack completely.
    Down,
    /// Send traffic on the rack.
    #[command(subcommand)]
    Run(RunAction),
}

/// Traffic patterns.
#[derive(Debug, Subcommand)]
pub enum RunAction {
    /// Long-lived flows (paper 6.1).
    Static {
        /// Options of all traffic patterns.
        #[command(flatten)]
        common: Common,
        /// Number of flows, each from its own server.
        #[arg(long, default_value_t = 2)]
        flows: u32,
    },
    /// Poisson requests for 1 KB and 10 MB (paper 6.2).
    Dynamic {
        /// Options of all traffic patterns.
        #[command(flatten)]
        common: Common,
        /// Response bytes as a share of the link's rate.
        #[arg(long, default_value = "40%", value_parser = settings::share)]
        load: f64,
    },
    /// Incast: queries that all servers answer at once (thesis 2.3.2).
    Incast {
        /// Options of all traffic patterns.
        #[command(flatten)]
        common: Common,
        /// Number of servers [default: all hosts but the client].
        #[arg(long)]
        servers: Option<u32>,
        /// Number of queries.
        #[arg(long, default_value_t = 200)]
        queries: u32,
    },
}

/// Options of all traffic patterns.
#[derive(Debug, Args)]
pub struct Common {
    /// Scheme to run; may be repeated.
    #[arg(long, value_enum, required = true)]
    scheme: Vec<Scheme>,
    /// Duration of a run.
    #[arg(long, default_value = "10s", value_parser = settings::time)]
    duration: u64,
    /// Number of repetitions, each with its own seed.
    #[arg(long, default_value_t = 1)]
    repeat: u32,
    /// Folder to create for the results.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Run the same in the simulator, and print both side by side.
    #[arg(long)]
    against_simulation: bool,
}

impl RackAction {
    /// Executes the action.
    pub fn run(&self) -> Result<(), Problem> {
        match self {
            RackAction::Up {
                hosts,
                rate,
                delay,
                buffer,
                burst,
                min_rto,
            } => {
                let rack = Rack {
                    hosts: *hosts,
                    rate_bps: *rate,
                    delay_ns: *delay,
                    buffer_bytes: *buffer,
                    burst_bytes: *burst,
                    min_rto_ns: *min_rto,
                };
                rack.up()?;
                println!(
                    "{hosts} hosts at one switch: hull-h0 to hull-h{}",
                    hosts - 1
                );
                Ok(())
            }
            RackAction::Down => {
                println!("{} namespaces removed", down()?);
                Ok(())
            }
            RackAction::Run(RunAction::Static { common, flows }) => {
                let rack = standing()?;
                if !(1..rack.hosts).contains(flows) {
                    return input(format!(
                        "--flows: {flows} is invalid; expected 1 to {}",
                        rack.hosts - 1
                    ));
                }
                run_all(&rack, common, &Load::Static { flows: *flows })
            }
            RackAction::Run(RunAction::Dynamic { common, load }) => {
                if !(0.01..=0.95).contains(load) {
                    return input(format!(
                        "--load: {}% is invalid; expected 1% to 95%",
                        load * 100.0
                    ));
                }
                run_all(&standing()?, common, &Load::Dynamic { load: *load })
            }
            RackAction::Run(RunAction::Incast {
                common,
                servers,
                queries,
            }) => {
                let rack = standing()?;
                let servers = servers.unwrap_or(rack.hosts - 1);
                if !(1..rack.hosts).contains(&servers) {
                    return input(format!(
                        "--servers: {servers} is invalid; expected 1 to {}",
                        rack.hosts - 1
                    ));
                }
                run_all(
                    &rack,
                    common,
                    &Load::Incast {
                        servers,
                        queries: *queries,
                    },
                )
            }
        }
    }
}

fn run_all(rack: &Rack, common: &Common, load: &Load) -> Result<(), Problem> {
    if common.repeat == 0 {
        return input("--repeat: 0 is invalid; expected 1 or more");
    }
    if !(200_000_000..=3_600_000_000_000).contains(&common.duration) {
        return input(format!(
            "--duration: {} ns is invalid; expected 200ms to 3600s",
            common.duration
        ));
    }
    if common.out.exists() {
        return input(format!(
            "--out {}: it exists; expected a new folder",
            common.out.display()
        ));
    }
    let partial = PathBuf::from(format!("{}.partial", common.out.display()));
    let _ = std::fs::remove_dir_all(&partial);
    std::fs::create_dir_all(&partial)
        .map_err(|error| Problem::Input(format!("{}: {error}", partial.display())))?;
    std::fs::write(
        partial.join(simulation::SCENARIO),
        simulation::scenario(rack, load, common.duration as f64 / 1e9),
    )?;
    let mut rows = Vec::new();
    for &scheme in &common.scheme {
        for seed in 1..=common.repeat {
            eprintln!("{} {seed} of {}", scheme.name(), common.repeat);
            rows.push(run::run(
                rack,
                load,
                scheme,
                common.duration as f64 / 1e9,
                seed,
                &partial,
            )?);
            write(&partial.join("rows.json"), &rows)?;
        }
    }
    print!("{}", run::table(&rows));
    std::fs::rename(&partial, &common.out)?;
    if common.against_simulation {
        simulation::compare(load, &rows, &common.out)?;
    }
    println!("{}", common.out.join("rows.json").display());
    Ok(())
}

fn write(path: &Path, rows: &[run::Row]) -> Result<(), Problem> {
    Ok(std::fs::write(
        path,
        serde_json::to_string_pretty(rows).expect("it is plain data"),
    )?)
}
