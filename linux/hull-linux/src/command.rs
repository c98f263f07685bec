//! The command line: `hull-linux`, which `hull linux` calls.

use std::io::IsTerminal;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::meter::Spot;
use crate::problem::{Problem, input};
use crate::settings::{self, Phantom, Settings};
use crate::{attachment, dctcp, machine, meter, readings, record};

/// HULL on stock Linux: phantom queue, flow association and pacer as eBPF programs.
#[derive(Debug, Parser)]
#[command(name = "hull linux", version, about)]
pub struct Command {
    /// Work in this network namespace (as `ip netns` names it).
    #[arg(long, global = true, value_name = "NAME")]
    netns: Option<String>,
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Attach phantom queue, flow association and pacer to devices.
    Attach {
        #[command(flatten)]
        numbers: Numbers,
        /// Displace a root queue that is neither fq nor the kernel's default.
        #[arg(long)]
        replace: bool,
    },
    /// Change the settings of attached devices; omitted options return to their defaults.
    Set {
        #[command(flatten)]
        numbers: Numbers,
    },
    /// Detach devices and restore their previous settings.
    Detach {
        /// Devices.
        #[arg(required = true, value_name = "DEV")]
        devices: Vec<String>,
    },
    /// Enable or disable DCTCP in the kernel.
    #[command(subcommand)]
    Dctcp(DctcpAction),
    /// Measure the time that packets take from one device to another.
    #[command(subcommand)]
    Meter(MeterAction),
    /// Build the testbed of paper 5.2 from network namespaces, and send traffic on it.
    #[command(subcommand)]
    Rack(crate::rack::command::RackAction),
    /// Show the attached devices and their counters.
    Status {
        /// Output format.
        #[arg(long, value_enum, default_value = "text")]
        format: Format,
    },
    /// Show the counters of attached devices.
    Stats {
        /// Devices [default: all].
        #[arg(value_name = "DEV")]
        devices: Vec<String>,
        /// Refresh until Ctrl-C.
        #[arg(long)]
        watch: bool,
        /// Refresh interval of --watch.
        #[arg(long, default_value = "1s", value_parser = settings::time)]
        interval: u64,
        /// Output format.
        #[arg(long, value_enum, default_value = "text")]
        format: Format,
    },
}

#[derive(Debug, Subcommand)]
enum DctcpAction {
    /// Make DCTCP available: the kernel's, or hull's own if the kernel has none. Prints its name.
    On {
        /// Use hull's own even if the kernel has DCTCP.
        #[arg(long)]
        ours: bool,
    },
    /// Remove hull's own DCTCP.
    Off,
}

#[derive(Debug, Subcommand)]
enum MeterAction {
    /// Start measuring, from egress of one device to ingress of another.
    Start {
        /// DEV or NETNS/DEV.
        from: Spot,
        /// DEV or NETNS/DEV.
        to: Spot,
        /// Measure only packets with this TCP source port (probes) [default: all].
        #[arg(long, default_value_t = 0)]
        source_port: u16,
    },
    /// Print the measurement so far, as JSON.
    Read,
    /// Stop measuring.
    Stop {
        /// As at the start.
        from: Spot,
        /// As at the start.
        to: Spot,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
    Prometheus,
}

/// Settings of an attachment; defaults follow from the link's rate.
#[derive(Debug, Args)]
struct Numbers {
    /// Devices.
    #[arg(required = true, value_name = "DEV")]
    devices: Vec<String>,
    /// The link's rate [default: reported by the driver].
    #[arg(long, value_parser = settings::rate)]
    rate: Option<u64>,
    /// Placement of the phantom queue [default: ingress, the far side of the switch's port].
    #[arg(long, value_enum)]
    phantom: Option<Phantom>,
    /// Drain rate of the phantom queue [default: 95% of the link's].
    #[arg(long, value_parser = settings::rate)]
    drain: Option<u64>,
    /// Threshold of the phantom queue [default: 1KB, 3KB from 10Gbps on].
    #[arg(long, value_parser = settings::size)]
    threshold: Option<u32>,
    /// Add a packet to the counter before the comparison with the threshold.
    #[arg(long)]
    count_arriving: bool,
    /// The pacer [default: on].
    #[arg(long, value_enum)]
    pacer: Option<Switch>,
    /// Smallest rate of the pacer [default: 1% of the link's].
    #[arg(long, value_parser = settings::rate)]
    min_rate: Option<u64>,
    /// T_r, the pacer's update interval [default: 64us; 7.2us from 10Gbps on, longer below 1Gbps].
    #[arg(long, value_parser = settings::time)]
    update_interval: Option<u64>,
    /// eta, the weight of a new sample in the pacer's rate [default: 12.5%].
    #[arg(long, value_parser = settings::share)]
    eta: Option<f64>,
    /// beta, the weight of the pacer's backlog in its rate, per second [default: 16; 375 from 10Gbps on, less below
    /// 1Gbps].
    #[arg(long)]
    beta: Option<f64>,
    /// Token bucket [default: 3KB, 30KB from 10Gbps on].
    #[arg(long, value_parser = settings::size)]
    bucket: Option<u32>,
    /// Largest backlog of the pacer; further packets are dropped [default: 128KB, 1MB from 10Gbps on].
    #[arg(long, value_parser = settings::size)]
    fifo: Option<u32>,
    /// p_a, the probability that an ECN-Echo associates its flow [default: 12.5%].
    #[arg(long, value_parser = settings::share)]
    association_probability: Option<f64>,
    /// T_i, after which an association ends [default: 10ms; 1ms from 10Gbps on, longer below 1Gbps].
    #[arg(long, value_parser = settings::time)]
    association_timeout: Option<u64>,
    /// Leave segmentation to the NIC: bursts of up to 64 KB leave at line rate, paced as one packet.
    #[arg(long)]
    keep_gso: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
}

impl Numbers {
    fn settings(&self, device: &str) -> Result<Settings, Problem> {
        machine::ifindex(device)?;
        let Some(rate_bps) = self.rate.or_else(|| machine::link_rate(device)) else {
            return input(format!(
                "{device}: the driver does not report the link rate; give it with --rate"
            ));
        };
        let default = Settings::for_rate(rate_bps);
        let settings = Settings {
            phantom: self.phantom.unwrap_or(default.phantom),
            drain_bps: self.drain.unwrap_or(default.drain_bps),
            threshold_bytes: self.threshold.unwrap_or(default.threshold_bytes),
            count_arriving: self.count_arriving,
            pacer: self.pacer != Some(Switch::Off),
            rate_bps,
            min_rate_bps: self.min_rate.unwrap_or(default.min_rate_bps),
            update_interval_ns: self.update_interval.unwrap_or(default.update_interval_ns),
            eta: self.eta.unwrap_or(default.eta),
            beta: self.beta.unwrap_or(default.beta),
            bucket_bytes: self.bucket.unwrap_or(default.bucket_bytes),
            fifo_bytes: self.fifo.unwrap_or(default.fifo_bytes),
            association_probability: self
                .association_probability
                .unwrap_or(default.association_probability),
            association_timeout_ns: self
                .association_timeout
                .unwrap_or(default.association_timeout_ns),
            keep_gso: self.keep_gso,
        };
        settings.check()?;
        Ok(settings)
    }
}

impl Command {
    /// Executes the command.
    pub fn run(&self) -> Result<(), Problem> {
        machine::require_root()?;
        record::mount()?;
        if let Some(name) = &self.netns {
            machine::enter(name)?;
        }
        match &self.action {
            Action::Attach { numbers, replace } => attach(numbers, *replace),
            Action::Set { numbers } => {
                for device in &numbers.devices {
                    attachment::set(device, &numbers.settings(device)?)?;
                    println!("{device}: set");
                }
                Ok(())
            }
            Action::Detach { devices } => {
                for device in devices {
                    let remark = attachment::detach(device)?;
                    println!(
                        "{device}: detached{}",
                        remark.map_or(String::new(), |text| format!("; {text}"))
                    );
                }
                Ok(())
            }
            Action::Dctcp(DctcpAction::On { ours }) => {
                println!("{}", dctcp::on(*ours)?);
                Ok(())
            }
            Action::Dctcp(DctcpAction::Off) => dctcp::off(),
            Action::Meter(MeterAction::Start {
                from,
                to,
                source_port,
            }) => meter::start(from, to, *source_port),
            Action::Meter(MeterAction::Read) => {
                let counts = meter::counts()?;
                let latency = meter::latency(&vec![0; counts.len()], &counts);
                println!(
                    "{}",
                    serde_json::to_string(&latency).expect("it is plain data")
                );
                Ok(())
            }
            Action::Meter(MeterAction::Stop { from, to }) => meter::stop(from, to),
            Action::Rack(action) => action.run(),
            Action::Status { format } => show(&[], *format),
            Action::Stats {
                devices,
                watch: false,
                format,
                ..
            } => show(devices, *format),
            Action::Stats {
                devices,
                interval,
                format,
                ..
            } => watch(devices, *interval, *format),
        }
    }
}

/// Attaches all devices or none.
fn attach(numbers: &Numbers, replace: bool) -> Result<(), Problem> {
    let all: Vec<(&String, Settings)> = numbers
        .devices
        .iter()
        .map(|device| Ok((device, numbers.settings(device)?)))
        .collect::<Result<_, Problem>>()?;
    let mut done: Vec<&String> = Vec::new();
    for (device, settings) in &all {
        match attachment::attach(device, settings, replace) {
            Ok(true) => {
                done.push(device);
                println!("{device}: attached");
            }
            Ok(false) => println!("{device}: attached already, with these settings"),
            Err(problem) => {
                for device in done {
                    let _ = attachment::detach(device);
                    println!("{device}: detached again");
                }
                return Err(problem);
            }
        }
    }
    Ok(())
}

/// Shows the counters at each interval; on a terminal in place.
fn watch(devices: &[String], interval_ns: u64, format: Format) -> Result<(), Problem> {
    if !(10_000_000..=3_600_000_000_000).contains(&interval_ns) {
        return input(format!(
            "--interval: {interval_ns} ns is invalid; expected 10ms to 3600s"
        ));
    }
    let in_place = format == Format::Text && std::io::stdout().is_terminal();
    loop {
        if in_place {
            // Home, then clear the rest of the screen: this avoids flicker.
            print!("\x1b[H\x1b[J");
        }
        show(devices, format)?;
        std::thread::sleep(Duration::from_nanos(interval_ns));
    }
}

fn show(devices: &[String], format: Format) -> Result<(), Problem> {
    let records = record::records()?;
    for device in devices {
        if !records.iter().any(|record| record.device == *device) {
            let names: Vec<&str> = records
                .iter()
                .map(|record| record.device.as_str())
                .collect();
            return input(format!(
                "{device}: it is not attached; expected {}",
                names.join(", ")
            ));
        }
    }
    let chosen = records
        .into_iter()
        .filter(|record| devices.is_empty() || devices.contains(&record.device));
    let readings = chosen
        .map(readings::read)
        .collect::<Result<Vec<_>, Problem>>()?;
    match format {
        Format::Text => print!("{}", readings::text(&readings)),
        Format::Json => println!(
            "{}",
            serde_json::to_string(&readings).expect("it is plain data")
        ),
        Format::Prometheus => print!("{}", readings::prometheus(&readings)),
    }
    Ok(())
}
