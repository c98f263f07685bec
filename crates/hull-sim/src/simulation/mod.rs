//! One run: the event loop and the way of packets through the network. The ways through a host
//! are in `host_path`, TCP's part in `tcp`, what a pace adds in `paced`, the workload's in `traffic`, what is
//! measured in `instruments`.

mod build;
mod captured;
mod control;
mod flows;
mod followed;
mod host_path;
mod ideal;
mod instruments;
mod live;
mod losses;
mod outcome;
mod paced;
mod partition;
mod samplers;
mod tcp;
mod traffic;

use crate::engine::{Entity, EventQueue, Kind};
use crate::host::HostSide;
use crate::limits;
use crate::measure::{Counts, FlowLog, LatencyLog};
use crate::network::{Hop, Network, Packet, Verdict, flags};
use crate::topology::{Change, Graph, Notice, Routes};
use crate::workload::{Agenda, QueryRecord, Traffic, Workload};

pub use build::{build, build_with_external, verify};
pub use control::Control;
use flows::FlowTable;
use instruments::Instruments;
pub use live::{Live, Shown};
use losses::Losses;
pub use outcome::{Measured, Outcome, PacketCount, ProcessorUse, Throughput};
use partition::Partition;

/// How many events pass between two looks at [`Control`].
const CONTROL_EVERY: u64 = 1 << 14;

/// Why a run ended without a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// It was told to stop.
    Cancelled,
    /// Packets were lost or invented: an error in hull.
    NotConserved(PacketCount),
    /// The system has not as many threads as it takes.
    NoThread,
    /// More flows were open at once than [`limits::FLOWS`].
    TooManyFlows,
}

/// The state of a run: the clock, and parts that each know their own.
#[derive(Debug)]
pub struct Simulation {
    now_ps: u64,
    events: EventQueue,
    warmup_ps: u64,
    end_ps: u64,
    last_ps: u64,
    /// Events from here on are left: for now, or because the run is over.
    limit_ps: u64,
    fabric: Fabric,
    endpoints: Endpoints,
    workload: Demand,
    instruments: Instruments,
    records: Records,
    tally: Tally,
    /// The other parts, where the run is to be simulated in parts.
    partition: Option<Box<Partition>>,
}

/// The network, and what changes in it.
#[derive(Debug)]
struct Fabric {
    graph: Graph,
    routes: Routes,
    network: Network,
    /// When links fail and work again.
    changes: Vec<Change>,
    failed_links: Vec<bool>,
    /// When losses become known and how long the run goes on when all is done.
    notice: Notice,
}

/// Hosts and flows.
#[derive(Debug)]
struct Endpoints {
    hosts: HostSide,
    table: FlowTable,
    header_bytes: u16,
    /// Largest payload of a packet.
    mss: u16,
    /// Losses that their flows do not know of yet.
    losses: Losses,
    /// Whether the flows whose packets are lost here are here too.
    keeps_flows: bool,
}

/// The workload, and what it has asked for.
#[derive(Debug)]
struct Demand {
    traffic: Traffic,
    agenda: Agenda,
    /// Tokens of the workload's wakes, by the index of their events.
    wakes: Vec<u64>,
    free_wakes: Vec<u32>,
    /// Nothing more is to come: the workload has done all, or after the measured time what was
    /// started is complete.
    done: bool,
}

/// Rows of results.
#[derive(Debug)]
struct Records {
    flows: FlowLog,
    queries: Vec<QueryRecord>,
    latency: LatencyLog,
}

/// Counts of a run.
#[derive(Debug, Default)]
struct Tally {
    packets_sent: u64,
    packets_delivered: u64,
    packets_dropped: u64,
    packet_hops: u64,
    counts: Counts,
    events_served: u64,
    /// Samples among them: a result does not count them.
    samples: u64,
}

impl Simulation {
    /// Keeps no rows of tables, so that memory does not grow with the run; for runs of which only
    /// the summary is wanted.
    pub fn without_tables(mut self) -> Self {
        self.records.flows.discard();
        self.instruments.logs.discard();
        self.partition = self.partition.map(|parts| Box::new(parts.without_tables()));
        self
    }

    /// Runs to the end, or until `control` says stop.
    pub fn run(mut self, control: &Control) -> Result<Outcome, Failure> {
        let (measured, other_threads) = match self.partition.take() {
            Some(parts) => parts.run(&mut self, control)?,
            None => (self.run_phases(control)?, Vec::new()),
        };
        self.workload.traffic.finish(&mut self.workload.agenda);
        self.carry_out();
        control.report(self.now_ps, self.tally.packet_hops, Some(1.0));
        self.finish(measured, other_threads)
    }

    /// Runs to the end of the measured time, measures, and lets what was started complete.
    fn run_phases(&mut self, control: &Control) -> Result<Measured, Failure> {
        self.aim_at_end();
        self.run_to_limit(control)?;
        let measured = self.end_measured_time();
        if !self.is_over() {
            self.aim_at_last();
            self.run_to_limit(control)?;
            self.end_drain();
        }
        Ok(measured)
    }

    fn run_to_limit(&mut self, control: &Control) -> Result<(), Failure> {
        self.serve_before(u64::MAX, control)
    }

    /// The next limit is the end of the measured time.
    fn aim_at_end(&mut self) {
        self.limit_ps = self.limit_ps.min(self.end_ps);
    }

    /// All events of the measured time were served.
    fn end_measured_time(&mut self) -> Measured {
        self.now_ps = self.limit_ps;
        self.measure()
    }

    /// Whether nothing more is to come after the measured time.
    fn is_over(&mut self) -> bool {
        self.workload.done |= self.is_complete();
        self.workload.done
    }

    /// The next limit is the end of the time in which what was started may complete.
    fn aim_at_last(&mut self) {
        self.limit_ps = self.last_ps + 1;
    }

    /// All events up to the limit were served.
    fn end_drain(&mut self) {
        if self.workload.done {
            self.now_ps = self.limit_ps.min(self.last_ps);
        }
    }

    /// Serves the events before `bound_ps` and the limit, which may come nearer while it does.
    #[inline]
    fn serve_before(&mut self, bound_ps: u64, control: &Control) -> Result<(), Failure> {
        while let Some((at_ps, entity)) = self.events.peek_before(bound_ps.min(self.limit_ps)) {
            debug_assert!(at_ps >= self.now_ps, "{entity:?} wants to act in the past");
            self.now_ps = at_ps;
            self.events.pop();
            self.tally.events_served += 1;
            if self.tally.events_served.is_multiple_of(CONTROL_EVERY) {
                let started = self.workload.traffic.started_share();
                control.report(self.now_ps, self.tally.packet_hops, started);
                if control.is_cancelled() {
                    return Err(Failure::Cancelled);
                }
                if self.endpoints.table.flows.len() > limits::FLOWS {
                    return Err(Failure::TooManyFlows);
                }
            }
            if let Some(next) = self.events.upcoming()
                && next.kind() == Kind::Link
            {
                self.fabric.network.ports[next.index()].touch();
            }
            self.serve(entity);
        }
        Ok(())
    }

    #[inline(always)]
    fn serve(&mut self, entity: Entity) {
        let index = entity.index();
        match entity.kind() {
            Kind::Link => self.serve_link(index),
            Kind::Transmit => self.serve_transmit(index),
            Kind::NicHead => self.serve_nic(index),
            Kind::Pacer => self.serve_pacer(index),
            Kind::Stack => self.serve_stack(index),
            Kind::Receive => self.serve_receive(index),
            Kind::Rto => self.serve_rto(index),
            Kind::DelayedAck => self.serve_delayed_ack(index),
            Kind::Workload => self.serve_workload(index),
            Kind::Probe => self.serve_probe(),
            Kind::Sample => self.serve_sample(index),
            Kind::Warmup => self.serve_warmup(),
            Kind::LinkState => self.serve_link_state(index),
            Kind::Loss => self.serve_loss(),
            Kind::Notice => self.serve_notice(index),
            Kind::Pace => self.serve_pace(index),
        }
    }

    /// The first packet in flight on a link arrives.
    #[inline(always)]
    fn serve_link(&mut self, port: usize) {
        let link = &mut self.fabric.network.ports[port];
        let mut packet = link.deliver(self.now_ps, &mut self.fabric.network.options);
        let observed = link.is_observed();
        if let Some(next_ps) = link.next_delivery_ps() {
            self.events.push(next_ps, Entity::new(Kind::Link, port));
        }
        let tail_ps = if observed {
            self.observe(port, &packet)
        } else {
            0
        };
        self.tally.packet_hops += 1;
        let hop = self.fabric.network.hop(packet.hop);
        packet.hop += 1;
        match hop {
            Hop::Port(out) => {
                if packet.flags & flags::PROBE == 0 && tail_ps == 0 {
                    self.transmit(self.now_ps, out, packet);
                } else {
                    self.transmit_special(tail_ps, out, packet);
                }
            }
            Hop::Host(host) => self.arrive(host, packet),
        }
    }

    /// Offers a packet to a port; true when it was taken.
    #[inline(always)]
    fn transmit(&mut self, earliest_ps: u64, port: usize, packet: Packet) -> bool {
        let verdict = self
            .fabric
            .network
            .enqueue(self.now_ps, earliest_ps, port, packet);
        if self.fabric.network.sends_notices {
            self.carry_notice(port, packet.flow, packet.hop);
        }
        match verdict {
            Verdict::Accepted { first, .. } => {
                if first && let Some(at_ps) = self.fabric.network.ports[port].next_delivery_ps() {
                    self.events.push(at_ps, Entity::new(Kind::Link, port));
                }
                true
            }
            Verdict::Queued { choice_ps, first } => {
                if first {
                    self.events
                        .push(choice_ps, Entity::new(Kind::Transmit, port));
                }
                true
            }
            Verdict::Dropped => {
                let copy = packet; // see `Port::enqueue`
                self.lose_packet(&copy);
                false
            }
        }
    }

    /// A probe, or a packet of which a cut-through switch has only the beginning: it may be sent
    /// when the rest will be there in time.
    fn transmit_special(&mut self, tail_ps: u64, port: usize, packet: Packet) {
        let link = &self.fabric.network.ports[port];
        let last_bit_ps = self.now_ps + tail_ps;
        let sending_ps = link.serialization_ps(packet.wire_bytes);
        let earliest_ps = last_bit_ps.saturating_sub(sending_ps).max(self.now_ps);
        let waits_ps = link.first_class_wait_ps(self.now_ps);
        let taken = self.transmit(earliest_ps, port, packet);
        if packet.flags & flags::PROBE != 0 {
            self.time_probe(port, packet, waits_ps, taken);
        }
    }

    /// A strict-priority port chooses its next packet.
    fn serve_transmit(&mut self, port: usize) {
        let (first, again_ps) = self.fabric.network.transmit_next(self.now_ps, port);
        if first && let Some(at_ps) = self.fabric.network.ports[port].next_delivery_ps() {
            self.events.push(at_ps, Entity::new(Kind::Link, port));
        }
        if let Some(at_ps) = again_ps {
            self.events.push(at_ps, Entity::new(Kind::Transmit, port));
        }
    }

    /// Links fail, with all that is on them, or work again; routes are found anew at once. Packets
    /// under way keep their route: those that come to a link that is down are lost.
    fn serve_link_state(&mut self, index: usize) {
        let change = std::mem::take(&mut self.fabric.changes[index]);
        for link in change.failed {
            self.fabric.failed_links[link] = true;
            for port in [2 * link, 2 * link + 1] {
                // Nothing arrives or is sent there any more.
                self.events.cancel(Entity::new(Kind::Link, port));
                self.events.cancel(Entity::new(Kind::Transmit, port));
                for packet in self.fabric.network.fail(self.now_ps, port) {
                    self.drop_packet(packet);
                }
            }
        }
        for link in change.restored {
            self.fabric.failed_links[link] = false;
            self.fabric.network.ports[2 * link].repair();
            self.fabric.network.ports[2 * link + 1].repair();
        }
        self.fabric.routes = Routes::without(&self.fabric.graph, &self.fabric.failed_links);
        self.endpoints
            .table
            .reroute(&mut self.fabric.network, &self.fabric.routes);
    }
}
