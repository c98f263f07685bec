//! Executes a command: checks its options, runs it, writes the results.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hull_sim::part::Identity;
use hull_sim::scenario::Requests;
use hull_sim::units::Time;
use tokio::runtime::{Builder, Runtime};

use crate::arrivals::{Arrival, Arrivals};
use crate::command::{self, Action, Client, Command};
use crate::connect::{Connector, Server, congestion_control_of, listen};
use crate::failure::Failure;
use crate::incast::Incast;
use crate::inputs::{Inputs, check_frame};
use crate::long_flows::LongFlows;
use crate::open_loop::OpenLoop;
use crate::outcome::Outcome;
use crate::results::Folder;
use crate::server::{Served, serve};
use crate::stop::stopped;
use crate::summary::{Summary, Title};

/// Number of tasks between two polls of the network. With the runtime's default of 61, polls can be
/// a millisecond of copying apart.
const LOOK_AFTER: u32 = 4;

/// Outcome of a command that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// It completed.
    Complete,
    /// It was stopped; a client keeps its measurements so far.
    Interrupted,
}

/// Executes a command.
pub fn carry_out(command: Command) -> Result<Done, Failure> {
    let runtime = Builder::new_current_thread()
        .enable_all()
        .event_interval(LOOK_AFTER)
        .build()?;
    match command.action {
        Action::Serve(options) => run_server(&runtime, &options),
        Action::Dynamic(options) => dynamic(&runtime, &options),
        Action::Long(options) => long(&runtime, &options),
        Action::Incast(options) => incast(&runtime, &options),
        Action::Ping(options) => ping(&runtime, &options),
    }
}

fn run_server(runtime: &Runtime, options: &command::Serve) -> Result<Done, Failure> {
    let at = Server::parse("--listen", &options.listen)?;
    runtime.block_on(async {
        let stop = stopped()?;
        let listener = listen(at.address, options.congestion_control.as_deref())?;
        let control = congestion_control_of(&listener)?;
        let bound = listener.local_addr()?;
        // The server continues if its output is closed.
        let _ = writeln!(io::stdout(), "listening on {bound} with {control}");
        let served = Arc::new(Served::default());
        tokio::select! {
            () = serve(listener, Arc::clone(&served), say) => {}
            () = stop => {}
        }
        let (connections, requests) = served.counts();
        say(&format!("{requests} requests on {connections} connections"));
        Ok(Done::Complete)
    })
}

fn dynamic(runtime: &Runtime, options: &command::Dynamic) -> Result<Done, Failure> {
    let mut inputs = match &options.scenario {
        Some(path) => Inputs::of_scenario(path, &options.overrides)?,
        None => {
            // The command line requires a load and a rate.
            let requests = Requests {
                transport: None,
                load: options.load.unwrap_or_default(),
                client: None,
                servers: None,
                connections_per_server: options.connections,
                separate_classes: false,
                pick: options.pick,
                request_size: options.request_size,
                service: None,
                classes: options.class.clone(),
            };
            let times = (seconds(5), seconds(60), seconds(10));
            Inputs::of_options(requests, options.rate.unwrap_or_default(), times)?
        }
    };
    inputs.rate = options.rate.unwrap_or(inputs.rate);
    inputs.warmup = options.warmup.unwrap_or(inputs.warmup);
    inputs.duration = options.duration.unwrap_or(inputs.duration);
    inputs.drain = options.drain.unwrap_or(inputs.drain);
    above_0("--rate", inputs.rate.0)?;
    let measured = positive("--duration", inputs.duration)?;
    let client = Measuring::new("dynamic", &options.client, inputs.seed)?;
    let (requests, servers) = (&inputs.requests, client.servers.len());
    let seed = client.title.identity.seed;
    let arrivals = Arrivals::new(requests, servers, inputs.rate, seed)
        .map_err(|problem| Failure::Input(problem.to_string()))?;
    let groups = arrivals.groups();
    let run = OpenLoop {
        servers: client.servers.clone(),
        connections: (0..groups.iter().map(Vec::len).sum())
            .map(|connection| arrivals.server_of(connection))
            .collect(),
        groups,
        classes: requests
            .classes
            .iter()
            .map(|class| class.size.to_string())
            .collect(),
        request_bytes: requests.request_size.0 as usize,
        warmup: duration(inputs.warmup),
        duration: measured,
        drain: duration(inputs.drain),
    };
    client.measure(runtime, &inputs.text, |connector| async move {
        run.run(&connector, arrivals, stopped()?).await
    })
}

fn ping(runtime: &Runtime, options: &command::Ping) -> Result<Done, Failure> {
    check_frame("--size", options.size.0)?;
    let interval_ps = positive("--interval", options.interval)?.as_nanos() as u64 * 1000;
    let measured = positive("--duration", options.duration)?;
    let client = Measuring::new("ping", &options.client, 1)?;
    let servers = client.servers.len();
    let bytes = options.size.0;
    // The requests go to several servers in turn, each at its interval.
    let arrivals = (1..).map(move |number: u64| Arrival {
        at_ps: number * interval_ps / servers as u64,
        class: 0,
        bytes,
        service_ns: 0,
        group: number as usize % servers,
    });
    let run = OpenLoop {
        servers: client.servers.clone(),
        connections: (0..servers).collect(),
        groups: (0..servers).map(|server| vec![server]).collect(),
        classes: vec!["ping".to_owned()],
        request_bytes: bytes as usize,
        warmup: duration(options.warmup),
        duration: measured,
        drain: Duration::from_secs(10),
    };
    let text = format!(
        "# Requests and responses of {} each {}.\n",
        options.size, options.interval
    );
    client.measure(runtime, &text, |connector| async move {
        run.run(&connector, arrivals, stopped()?).await
    })
}

fn incast(runtime: &Runtime, options: &command::Incast) -> Result<Done, Failure> {
    check_frame("--request-size", options.request_size.0)?;
    above_0("--queries", options.queries)?;
    let measured = positive("--duration", options.duration)?;
    let servers = options.client.servers.len() as u64;
    if options.total.0 < servers || options.total.0 > crate::protocol::MAX_RESPONSE {
        let allowed = format!("expected {servers}B, a byte from each server, to 1TB");
        let problem = format!("found \"{}\", {allowed}", options.total);
        return Err(Failure::option("--total", problem));
    }
    let client = Measuring::new("incast", &options.client, 1)?;
    let run = Incast {
        servers: client.servers.clone(),
        total_bytes: options.total.0,
        request_bytes: options.request_size.0 as usize,
        queries: options.queries,
        duration: measured,
        drain: duration(options.drain),
        jitter_ps: options.jitter.0,
        deadline_ps: options.deadline.map(|deadline| deadline.0),
        seed: client.title.identity.seed,
    };
    let text = format!(
        "[workload.incast]\ntotal = \"{}\"\nqueries = {}\nrequest_size = \"{}\"\njitter = \"{}\"\n{}",
        options.total,
        options.queries,
        options.request_size,
        options.jitter,
        options.deadline.map_or(String::new(), |deadline| format!(
            "deadline = \"{deadline}\"\n"
        ))
    );
    client.measure(runtime, &text, |connector| async move {
        run.run(&connector, stopped()?).await
    })
}

fn long(runtime: &Runtime, options: &command::Long) -> Result<Done, Failure> {
    above_0("--flows", u64::from(options.flows))?;
    let measured = positive("--duration", options.duration)?;
    let interval = positive("--interval", options.interval)?;
    let client = Measuring::new("long", &options.client, 1)?;
    let run = LongFlows {
        servers: client.servers.clone(),
        per_server: usize::from(options.flows),
        direction: options.direction,
        warmup: duration(options.warmup),
        duration: measured,
        interval,
    };
    let text = format!(
        "# {} long-lived flows with each server, {:?}.\n",
        options.flows, options.direction
    );
    client.measure(runtime, &text, |connector| async move {
        run.run(&connector, stopped()?).await
    })
}

/// Client with its folder for results.
struct Measuring {
    servers: Vec<Server>,
    connector: Connector,
    folder: Folder,
    title: Title,
}

impl Measuring {
    fn new(mode: &'static str, options: &Client, seed: u64) -> Result<Self, Failure> {
        let servers = options
            .servers
            .iter()
            .map(|text| Server::parse("--server", text));
        Ok(Measuring {
            servers: servers.collect::<Result<_, _>>()?,
            connector: Connector {
                congestion_control: options.congestion_control.clone(),
                patience: duration(options.connect_timeout),
            },
            folder: Folder::claim(&options.out, options.force)?,
            title: Title {
                name: options
                    .name
                    .clone()
                    .unwrap_or_else(|| format!("traffic-{mode}")),
                identity: Identity {
                    condition: options.condition.clone(),
                    scheme: options.scheme.clone(),
                    seed: options.seed.unwrap_or(seed),
                },
                mode,
                begun: Instant::now(),
            },
        })
    }

    /// Runs and writes the results; a failed run leaves none.
    fn measure<R>(
        self,
        runtime: &Runtime,
        inputs: &str,
        run: impl FnOnce(Connector) -> R,
    ) -> Result<Done, Failure>
    where
        R: Future<Output = Result<Outcome, Failure>>,
    {
        let outcome = match runtime.block_on(run(self.connector)) {
            Ok(outcome) => outcome,
            Err(failure) => {
                self.folder.abandon();
                return Err(failure);
            }
        };
        let summary = Summary::new(&self.title, &outcome);
        self.folder.write(&outcome, &summary, inputs)?;
        Ok(if outcome.interrupted {
            Done::Interrupted
        } else {
            Done::Complete
        })
    }
}

/// Prints a line of progress.
pub fn say(line: &str) {
    let _ = writeln!(io::stderr(), "hull-traffic: {line}");
}

fn seconds(seconds: u64) -> Time {
    Time(seconds * 1_000_000_000_000)
}

/// The kernel's clocks count nanoseconds.
fn duration(time: Time) -> Duration {
    Duration::from_nanos(time.0 / 1000)
}

fn positive(option: &str, time: Time) -> Result<Duration, Failure> {
    above_0(option, time.0 / 1000)?;
    Ok(duration(time))
}

fn above_0(option: &str, number: u64) -> Result<(), Failure> {
    match number {
        0 => Err(Failure::option(option, "0 is invalid; expected 1 or more")),
        _ => Ok(()),
    }
}
