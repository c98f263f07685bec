//! Flows that arrive as a Poisson process, from a random source to a random other host, with sizes
//! from a distribution (paper 6.3). Times ps, sizes bytes.
//!
//! With `load`, the arrival rate is load times the sum of the rates of the sources' links over the mean
//! of the size distribution. A finite run can be far from that load if the distribution has a heavy
//! tail: see [`super::sizes`].

use std::collections::HashMap;
use std::iter;

use slab::Slab;

use super::backlog::waiting;
use super::context::Context;
use super::flows::{FlowConnections, PoissonFlows};
use super::size_class::SizeClasses;
use super::sizes::SizeDistribution;
use super::{
    Agenda, Backlog, Besides, Channel, FlowRecord, Message, NO_CONNECTION, Progress, Workload,
};
use crate::limits;
use crate::problem::Problem;
use crate::random::{Purpose, Stream};

/// Flow in progress.
#[derive(Debug)]
struct Flow {
    start_ps: u64,
    bytes: u64,
    src: u32,
    dst: u32,
    connection: u32,
}

/// State of Poisson flows.
#[derive(Debug)]
pub(super) struct PoissonTraffic {
    arrivals: Stream,
    sizes: Stream,
    endpoints: Stream,
    mean_gap_ps: f64,
    law: SizeDistribution,
    sources: Vec<u32>,
    destinations: Vec<u32>,
    /// Index of each source among the destinations, if it is one.
    own_place: Vec<Option<usize>>,
    /// Total rate of the sources' links, bit/s.
    sources_bps: f64,
    connections: Vec<(u32, u32)>,
    /// First connection of source i and destination j, at i * destinations + j; empty without
    /// persistent connections.
    connection_of: Vec<u32>,
    per_pair: u32,
    /// Number of flows in progress by connection and direction: at 2 * connection towards its
    /// second host, one further towards its first.
    under_way: Vec<u32>,
    classes: SizeClasses,
    /// Number of flows that have not started.
    left: u64,
    count: Option<u64>,
    end_ps: u64,
    application_delay_ps: u64,
    flows: Slab<Flow>,
}

impl PoissonTraffic {
    /// Creates the flows that the scenario describes.
    pub fn new(settings: &PoissonFlows, context: &Context) -> Result<Self, Problem> {
        let hosts = context.hosts;
        let sources = hosts.set("workload.flows.sources", settings.sources.as_ref(), None)?;
        let destinations = hosts.set(
            "workload.flows.destinations",
            settings.destinations.as_ref(),
            None,
        )?;
        let places = hosts.places(&destinations);
        let place = |&host: &u32| places[host as usize];
        let own_place: Vec<Option<usize>> = sources.iter().map(place).collect();
        if destinations.len() == 1 && own_place.contains(&Some(0)) {
            return Err(Problem::new(
                "workload.flows.destinations".to_owned(),
                format!(
                    "found only host {}, a source; expected another host for each source",
                    destinations[0]
                ),
            ));
        }
        let rate = |&host: &u32| context.hosts.to_network_bps[host as usize] as f64;
        let sources_bps = sources.iter().map(rate).sum();
        let law = SizeDistribution::new("workload.flows.sizes", &settings.sizes)?;
        let mut flows = PoissonTraffic {
            arrivals: Stream::new(context.seed, Purpose::FlowArrivals, 0),
            sizes: Stream::new(context.seed, Purpose::FlowSizes, 0),
            endpoints: Stream::new(context.seed, Purpose::FlowEndpoints, 0),
            mean_gap_ps: 0.0,
            law,
            sources,
            destinations,
            own_place,
            sources_bps,
            connections: Vec::new(),
            connection_of: Vec::new(),
            per_pair: settings.connections_per_pair.unwrap_or(1),
            under_way: Vec::new(),
            classes: SizeClasses::new(&settings.class_bounds),
            left: settings.count.unwrap_or(u64::MAX),
            count: settings.count,
            end_ps: context.end_ps,
            application_delay_ps: context.application_delay_ps,
            flows: Slab::new(),
        };
        let flows_per_second = match settings.flows_per_second {
            Some(rate) => rate,
            None => flows.rate_of_load(settings.load.unwrap_or_default().value(), context)?,
        };
        flows.mean_gap_ps = 1e12 / flows_per_second;
        if settings.connections == FlowConnections::Persistent {
            flows.connect()?;
        }
        Ok(flows)
    }

    /// Flows per second at a load of the sources' links. Fails if it exceeds the destinations'
    /// links.
    fn rate_of_load(&self, load: f64, context: &Context) -> Result<f64, Problem> {
        let offered_bps = load * self.sources_bps;
        let (sources, destinations) = (self.sources.len() as f64, self.destinations.len() as f64);
        let both = self.own_place.iter().flatten().count() as f64;
        let mut of_both = vec![0.0; self.destinations.len()];
        for &place in self.own_place.iter().flatten() {
            of_both[place] = 1.0;
        }
        for (&dst, itself) in self.destinations.iter().zip(of_both) {
            let from_both = if both > itself {
                (both - itself) / (destinations - 1.0)
            } else {
                0.0
            };
            let share = ((sources - both) / destinations + from_both) / sources;
            let link_bps = context.hosts.from_network_bps[dst as usize] as f64;
            if offered_bps * share >= link_bps {
                return Err(Problem::new(
                    "workload.flows.load".to_owned(),
                    format!(
                        "found {:.0}% of the sources' links, which is {:.0}% of the link of host {dst}; expected below 100%",
                        100.0 * load,
                        100.0 * offered_bps * share / link_bps
                    ),
                ));
            }
        }
        Ok(offered_bps / 8.0 / self.law.mean())
    }

    /// Creates the connections between each pair of hosts that may have a flow, in one or both
    /// directions.
    fn connect(&mut self) -> Result<(), Problem> {
        let pairs = self.sources.len() * self.destinations.len();
        if pairs.saturating_mul(self.per_pair as usize) > limits::CONNECTIONS {
            let (each, most) = (self.per_pair, limits::CONNECTIONS);
            let told = format!("found {each} for each of {pairs} pairs; expected {most} in all");
            return Err(Problem::new("workload.flows.connections".to_owned(), told));
        }
        let mut known: HashMap<(u32, u32), u32> = HashMap::new();
        for &src in &self.sources {
            for &dst in &self.destinations {
                let pair = (src.min(dst), src.max(dst));
                let next = self.connections.len() as u32;
                let connection = match known.get(&pair) {
                    Some(&connection) => connection,
                    None if src == dst => NO_CONNECTION,
                    None => {
                        known.insert(pair, next);
                        let more = iter::repeat_n(pair, self.per_pair as usize);
                        self.connections.extend(more);
                        next
                    }
                };
                self.connection_of.push(connection);
            }
        }
        self.under_way = vec![0; 2 * self.connections.len()];
        Ok(())
    }

    /// Among the connections of a pair of hosts, which begin with `first`, the one with the fewest
    /// flows in progress in the direction from `src`.
    fn idlest(&self, first: u32, src: u32) -> u32 {
        let candidates = first..first + self.per_pair;
        let busy = |&connection: &u32| self.under_way[self.direction(connection, src)];
        candidates.min_by_key(busy).unwrap_or(first)
    }

    /// Index in `under_way` of the flows that host `src` sends on a connection.
    fn direction(&self, connection: u32, src: u32) -> usize {
        let at = connection as usize;
        2 * at + usize::from(self.connections[at].0 != src)
    }

    fn arrive(&mut self, now_ps: u64, agenda: &mut Agenda) {
        let i = self.endpoints.below(self.sources.len());
        let j = match self.own_place[i] {
            Some(own) => {
                let j = self.endpoints.below(self.destinations.len() - 1);
                j + usize::from(j >= own)
            }
            None => self.endpoints.below(self.destinations.len()),
        };
        let bytes = self.law.draw(&mut self.sizes);
        let ends = (self.sources[i], self.destinations[j]);
        let place = i * self.destinations.len() + j;
        let (connection, channel) = match self.connection_of.get(place) {
            Some(&first) => {
                let connection = self.idlest(first, ends.0);
                let direction = self.direction(connection, ends.0);
                self.under_way[direction] += 1;
                (connection, Channel::Connection(connection))
            }
            None => (NO_CONNECTION, Channel::New),
        };
        let flow = self.flows.insert(Flow {
            start_ps: now_ps,
            bytes,
            src: ends.0,
            dst: ends.1,
            connection,
        });
        let message = Message::new(flow as u64, ends, bytes, channel);
        agenda.sends.push(message);
    }

    fn next_arrival(&mut self, now_ps: u64, agenda: &mut Agenda) {
        if self.left > 0 {
            let gap_ps = self.arrivals.exponential(self.mean_gap_ps);
            let at_ps = now_ps.saturating_add(gap_ps);
            agenda.wakes.push((at_ps, 0));
        }
    }
}

impl Workload for PoissonTraffic {
    fn connections(&self) -> &[(u32, u32)] {
        &self.connections
    }

    fn classes(&self) -> &[String] {
        self.classes.names()
    }

    fn besides(&self) -> Besides {
        Besides {
            application_ps: self.application_delay_ps,
            ..Besides::default()
        }
    }

    fn backlog(&self) -> Backlog {
        let within = self.end_ps as f64 / self.mean_gap_ps;
        let flows = self.count.map_or(within, |count| within.min(count as f64));
        let load = 8e12 * self.law.mean() / self.mean_gap_ps / self.sources_bps;
        match self.connections.is_empty() {
            true => Backlog::of_flows(waiting(flows, load)),
            false => Backlog::of_messages(waiting(flows, load)),
        }
    }

    fn planned(&self) -> Option<u64> {
        self.count
    }

    fn begin(&mut self, agenda: &mut Agenda) {
        self.next_arrival(0, agenda);
    }

    fn wake(&mut self, now_ps: u64, _: u64, agenda: &mut Agenda) {
        if now_ps >= self.end_ps {
            self.left = 0;
            return;
        }
        self.left -= 1;
        self.arrive(now_ps, agenda);
        self.next_arrival(now_ps, agenda);
    }

    fn is_open(&self) -> bool {
        self.connections.is_empty()
    }

    fn leave(&mut self, tag: u64) {
        self.flows.remove(tag as usize);
    }

    fn delivered(&mut self, now_ps: u64, tag: u64, timeouts: u32, agenda: &mut Agenda) {
        let flow = self.flows.remove(tag as usize);
        if flow.connection != NO_CONNECTION {
            let direction = self.direction(flow.connection, flow.src);
            self.under_way[direction] -= 1;
        }
        agenda.flows.push(FlowRecord {
            class: self.classes.of(flow.bytes),
            connection: flow.connection,
            ..FlowRecord::new(
                flow.start_ps,
                now_ps + self.application_delay_ps,
                (flow.src, flow.dst),
                flow.bytes,
                timeouts,
            )
        });
    }

    fn is_complete(&self) -> bool {
        self.flows.is_empty()
    }

    fn progress(&self) -> Progress {
        if self.left == 0 && self.flows.is_empty() {
            Progress::Done
        } else {
            Progress::Busy
        }
    }

    fn started_share(&self) -> Option<f64> {
        Some(1.0 - self.left as f64 / self.count? as f64)
    }

    fn finish(&mut self, agenda: &mut Agenda) {
        let unfinished = self.flows.iter().map(|(_, flow)| FlowRecord {
            class: self.classes.of(flow.bytes),
            connection: flow.connection,
            ..FlowRecord::unfinished(flow.start_ps, (flow.src, flow.dst), flow.bytes)
        });
        agenda.unfinished.extend(unfinished);
    }
}

#[cfg(test)]
mod tests;
