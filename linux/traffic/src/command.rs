//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use hull_sim::scenario::{Pick, SizeClass};
use hull_sim::units::{Rate, Share, Size, Time};

use crate::long_flows::Direction;

/// Real TCP traffic as in HULL's testbed experiments: a server, and clients that measure.
#[derive(Debug, Parser)]
#[command(name = "hull-traffic", version)]
pub struct Command {
    /// Action to execute.
    #[command(subcommand)]
    pub action: Action,
}

/// Actions of the traffic generator.
#[derive(Debug, Subcommand)]
pub enum Action {
    /// Answer requests, until Ctrl-C.
    Serve(Serve),
    /// Send Poisson requests of mixed sizes over persistent connections (paper 6.2).
    Dynamic(Dynamic),
    /// Run long-lived flows (paper 6.1) and measure the goodput of each.
    Long(Long),
    /// Send queries to all servers at once (thesis 2.3.2).
    Incast(Incast),
    /// Send small requests at a fixed interval over one connection.
    Ping(Ping),
}

/// `serve`
#[derive(Debug, Args)]
pub struct Serve {
    /// Address and port to listen on; port 0 takes a free port, which the first line of output names.
    #[arg(long, value_name = "ADDR:PORT")]
    pub listen: String,
    /// Congestion control of the connections, by its kernel name [default: the system's].
    #[arg(long, value_name = "NAME")]
    pub congestion_control: Option<String>,
}

/// Options of all clients.
#[derive(Debug, Args)]
pub struct Client {
    /// Address of a server; may be repeated.
    #[arg(long = "server", value_name = "ADDR:PORT", required = true)]
    pub servers: Vec<String>,
    /// Congestion control of the client's end, by its kernel name [default: the system's]. The server's
    /// end has the server's own.
    #[arg(long, value_name = "NAME")]
    pub congestion_control: Option<String>,
    /// How long to retry a server that does not answer.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = Time::parse)]
    pub connect_timeout: Time,
    /// Folder to create for the results.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Replace existing results in the folder.
    #[arg(long)]
    pub force: bool,
    /// Seed of the random numbers [default with --scenario: its run.seed].
    #[arg(long)]
    pub seed: Option<u64>,
    /// Name of the run in the results.
    #[arg(long)]
    pub name: Option<String>,
    /// Name of the scheme in the results, for comparisons.
    #[arg(long, default_value = "")]
    pub scheme: String,
    /// Name of the condition in the results, for comparisons.
    #[arg(long, default_value = "")]
    pub condition: String,
}

/// `dynamic`
#[derive(Debug, Args)]
pub struct Dynamic {
    /// Options of all clients.
    #[command(flatten)]
    pub client: Client,
    /// Take the requests and the times from the tables workload.requests and run of this scenario.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["load", "connections", "class", "pick", "request_size"])]
    pub scenario: Option<PathBuf>,
    /// Override a key of the scenario; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE", requires = "scenario")]
    pub overrides: Vec<String>,
    /// Response bytes as a share of --rate.
    #[arg(long, value_name = "SHARE", value_parser = Share::parse, required_unless_present = "scenario")]
    pub load: Option<Share>,
    /// Rate of the client's link; overrides the scenario's.
    #[arg(long, value_name = "RATE", value_parser = Rate::parse, required_unless_present = "scenario")]
    pub rate: Option<Rate>,
    /// A size class of responses with its share of the requests, such as 1KB:80%; may be repeated.
    #[arg(long, value_name = "SIZE:SHARE", value_parser = parse_class, required_unless_present = "scenario")]
    pub class: Vec<SizeClass>,
    /// Persistent connections to each server.
    #[arg(long, value_name = "N", default_value_t = 16)]
    pub connections: u32,
    /// How the connection is chosen: random, random_idle or round_robin.
    #[arg(long, default_value = "random_idle", value_parser = parse_pick)]
    pub pick: Pick,
    /// Bytes of a request.
    #[arg(long, value_name = "SIZE", default_value = "100B", value_parser = Size::parse)]
    pub request_size: Size,
    /// Measured time, after the warm-up [default: 60s, or the scenario's].
    #[arg(long, value_name = "TIME", value_parser = Time::parse)]
    pub duration: Option<Time>,
    /// Warm-up, which is not measured [default: 5s, or the scenario's].
    #[arg(long, value_name = "TIME", value_parser = Time::parse)]
    pub warmup: Option<Time>,
    /// How long to wait for outstanding responses at the end [default: 10s, or the scenario's].
    #[arg(long, value_name = "TIME", value_parser = Time::parse)]
    pub drain: Option<Time>,
}

/// `long`
#[derive(Debug, Args)]
pub struct Long {
    /// Options of all clients.
    #[command(flatten)]
    pub client: Client,
    /// Number of flows with each server.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub flows: u16,
    /// Direction of the data.
    #[arg(long, value_enum, default_value_t = Direction::Download)]
    pub direction: Direction,
    /// Measured time, after the warm-up.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = Time::parse)]
    pub duration: Time,
    /// Warm-up, which is not measured.
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = Time::parse)]
    pub warmup: Time,
    /// Time between two samples of a flow.
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = Time::parse)]
    pub interval: Time,
}

/// `incast`
#[derive(Debug, Args)]
pub struct Incast {
    /// Options of all clients.
    #[command(flatten)]
    pub client: Client,
    /// Total bytes of the responses to a query.
    #[arg(long, value_name = "SIZE", default_value = "1MB", value_parser = Size::parse)]
    pub total: Size,
    /// Number of queries.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub queries: u64,
    /// Bytes of a request.
    #[arg(long, value_name = "SIZE", default_value = "100B", value_parser = Size::parse)]
    pub request_size: Size,
    /// Largest random delay of each request.
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = Time::parse)]
    pub jitter: Time,
    /// Deadline of the responses, from the query's start.
    #[arg(long, value_name = "TIME", value_parser = Time::parse)]
    pub deadline: Option<Time>,
    /// Time after which no query starts.
    #[arg(long, value_name = "TIME", default_value = "600s", value_parser = Time::parse)]
    pub duration: Time,
    /// How long to wait for the last query at the end.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = Time::parse)]
    pub drain: Time,
}

/// `ping`
#[derive(Debug, Args)]
pub struct Ping {
    /// Options of all clients.
    #[command(flatten)]
    pub client: Client,
    /// Time between two requests.
    #[arg(long, value_name = "TIME", default_value = "1ms", value_parser = Time::parse)]
    pub interval: Time,
    /// Bytes of a request, and of a response.
    #[arg(long, value_name = "SIZE", default_value = "64B", value_parser = Size::parse)]
    pub size: Size,
    /// Measured time, after the warm-up.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = Time::parse)]
    pub duration: Time,
    /// Warm-up, which is not measured.
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = Time::parse)]
    pub warmup: Time,
}

fn parse_class(text: &str) -> Result<SizeClass, String> {
    let (size, share) = text.split_once(':').ok_or_else(|| {
        format!(
            "\"{text}\" is invalid; expected a size and its share of the requests, such as 1KB:80%"
        )
    })?;
    Ok(SizeClass {
        size: Size::parse(size)?,
        share: Share::parse(share)?,
        transport: None,
    })
}

fn parse_pick(text: &str) -> Result<Pick, String> {
    match text {
        "random" => Ok(Pick::Random),
        "random_idle" => Ok(Pick::RandomIdle),
        "round_robin" => Ok(Pick::RoundRobin),
        _ => Err(format!(
            "\"{text}\" is invalid; expected random, random_idle or round_robin"
        )),
    }
}
