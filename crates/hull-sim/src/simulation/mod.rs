//! One run: the event loop. [`Simulation`] only dispatches: code that needs one component of a run is
//! that component's method; code that needs two or three takes them as arguments. The path of a packet
//! through the network is in `forwarding`, through a host in `host_path`, TCP in `tcp`, pacing in
//! `endpoints::sending`, the workload in `traffic`, measurements in `instruments`.

mod build;
mod clock;
mod completion;
mod control;
mod demand;
mod distances;
mod endpoints;
mod fabric;
mod flow;
mod flow_table;
mod forwarding;
mod hash;
mod host_path;
mod ideal;
mod instruments;
mod live;
mod losses;
mod measured;
mod message;
mod outcome;
mod partition;
mod prefetch_stages;
mod tcp;
mod timers;
mod traffic;

use crate::engine::{Entity, Kind, LARGE};
use crate::network::Packet;
use crate::workload::{JobRecord, Workload};
pub use crate::workload::{LastFlow, Quality};

pub use build::{
    LateMarks, PauseKind, build, build_in_parts, build_with_external, pause_kinds, verify,
};
use clock::Clock;
pub use control::Control;
use demand::Demand;
use endpoints::Endpoints;
use fabric::Fabric;
use instruments::Instruments;
pub use live::{Live, Shown};
pub use measured::Measured;
pub use outcome::{Divided, DividedBy, Outcome, PacketCount, ProcessorUse, SendingUse, Throughput};
use partition::Partition;
use prefetch_stages::Ahead;

/// Smallest number of events between two looks at [`Control`]. A look comes when the calendar has
/// sorted events.
const CONTROL_EVERY: u64 = 1 << 14;

/// Reason why a run ended without a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The run was cancelled.
    Cancelled,
    /// The number of packets was not conserved: an error in hull.
    NotConserved(PacketCount),
    /// The system could not create a thread.
    NoThread,
    /// More flows were open at once than [`limits::FLOWS`](crate::limits::FLOWS).
    TooManyFlows,
    /// Pauses have locked ports for ever.
    Deadlock(Locked),
    /// A job can make no progress, or its schedule could not be read on.
    Job(Box<JobRecord>),
}

/// Ports that wait for each other for ever, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Locked {
    /// Time of the last of their pauses, ps.
    pub since_ps: u64,
    /// Class; 0 if links pause as a whole.
    pub class: u8,
    /// Ports of which each waits for the next, and the last for the first.
    pub cycle: Vec<String>,
    /// Bytes that the switches hold from these ports' links.
    pub bytes: u64,
}

/// State of a run, in components that each know their own. Two threads never share its cache lines.
#[derive(Debug)]
#[repr(align(128))]
pub struct Simulation {
    clock: Clock,
    fabric: Fabric,
    endpoints: Endpoints,
    workload: Demand,
    instruments: Instruments,
    /// Other parts, if the run is simulated in parts.
    partition: Option<Box<Partition>>,
    /// Reason why a run that asks for several threads has one part.
    undivided: Option<&'static str>,
}

impl Simulation {
    /// Keeps no rows of tables, so that memory does not grow with the run; for runs of which only
    /// the summary is needed.
    pub fn without_tables(mut self) -> Self {
        self.instruments.records.flows.discard();
        self.instruments.logs.discard();
        self.partition = self.partition.map(|parts| Box::new(parts.without_tables()));
        self
    }

    /// Makes one thread serve all parts, if the run is in parts: they exchange the same messages.
    pub fn in_turn(mut self) -> Self {
        self.partition = self.partition.map(|parts| Box::new(parts.in_turn()));
        self
    }

    /// Whether this is the whole run or its first part, which alone takes samples and counts what all
    /// parts do.
    fn is_first(&self) -> bool {
        self.endpoints.table.is_of_first_part()
    }

    /// Starts everything that begins at time 0.
    fn begin(&mut self) {
        let warmup_ps = self.clock.warmup_ps;
        self.clock.schedule(warmup_ps, Kind::Warmup, 0);
        (self.endpoints).connect(&self.workload, self.clock.now_ps, &mut self.fabric);
        self.workload.traffic.begin(&mut self.workload.agenda);
        self.carry_out();
        for host in 0..self.endpoints.hosts.pullers.len() {
            (self.endpoints.hosts).adapt_pulls(host, &mut self.clock);
        }
        if self.is_first() {
            self.instruments.begin_samples(&mut self.clock);
        }
        if self.instruments.probe.is_some() {
            self.clock.schedule(warmup_ps, Kind::Probe, 0);
        }
        for (index, change) in self.fabric.changes.iter().enumerate() {
            self.clock.schedule(change.at_ps, Kind::LinkState, index);
        }
    }

    /// Runs to the end, or until `control` requests a stop.
    pub fn run(mut self, control: &Control) -> Result<Outcome, Failure> {
        let divided = match &self.partition {
            Some(parts) => parts.divided(),
            None => Divided::into_one(self.undivided),
        };
        let (measured, other_threads_seconds) = match self.partition.take() {
            Some(parts) => parts.run(&mut self, control)?,
            None => (self.run_phases(control)?, Vec::new()),
        };
        self.workload.finish(&mut self.instruments.records.flows);
        self.carry_out();
        control.report(self.clock.now_ps, self.fabric.packet_hops, Some(1.0));
        let options = &mut self.fabric.network.options;
        self.endpoints.forget_losses(options);
        Outcome::of(self, measured, other_threads_seconds, divided)
    }

    /// Runs to the end of the measured time, measures, and lets started flows complete.
    fn run_phases(&mut self, control: &Control) -> Result<Measured, Failure> {
        self.clock.aim_at_end();
        self.run_to_limit(control)?;
        let end_ps = self.clock.advance_to_limit();
        let measured = self.measure(end_ps);
        if !self.workload.is_over(&self.endpoints.table) {
            self.clock.aim_at_last();
            self.run_to_limit(control)?;
            self.end_drain();
        }
        Ok(measured)
    }

    fn run_to_limit(&mut self, control: &Control) -> Result<(), Failure> {
        self.serve_before(u64::MAX, control)
    }

    /// Reads the instruments after all events of the measured time have been served.
    fn measure(&mut self, end_ps: u64) -> Measured {
        (self.instruments).measure(end_ps, &mut self.fabric, &mut self.endpoints)
    }

    /// Ends the drain after all events up to the limit have been served.
    fn end_drain(&mut self) {
        if self.workload.done {
            self.clock.now_ps = self.clock.limit_ps.min(self.clock.last_ps);
        }
    }

    /// Serves the events before `bound_ps` and the limit, which may move closer meanwhile.
    #[inline]
    fn serve_before(&mut self, bound_ps: u64, control: &Control) -> Result<(), Failure> {
        if self.fabric.network.ports.len() < LARGE {
            self.serve_events::<{ prefetch_stages::NOT }>(bound_ps, control)
        } else if self.endpoints.hosts.message_nics.is_empty() {
            self.serve_events::<{ prefetch_stages::PACKETS }>(bound_ps, control)
        } else {
            self.serve_events::<{ prefetch_stages::STAGED }>(bound_ps, control)
        }
    }

    /// Serves events, in networks that are too large for the cache with prefetching for upcoming
    /// ones. The variants are separate loops, because prefetching packets costs small networks a
    /// tenth of their speed, and stages cost large ones as much if each event needs little data.
    #[inline(never)]
    fn serve_events<const AHEAD: u8>(
        &mut self,
        bound_ps: u64,
        control: &Control,
    ) -> Result<(), Failure> {
        loop {
            while let Some(due) = self.clock.pop_before(bound_ps) {
                if AHEAD == prefetch_stages::STAGED {
                    self.ahead().before_event();
                }
                if due.entity.is_link() {
                    self.clock.advance_to_arrival(due.at_ps);
                    self.serve_link(due.entity.index(), due.packet_ref);
                } else {
                    self.clock.advance_to_other(due.at_ps);
                    self.serve(due.entity);
                }
            }
            if !self.clock.turn(bound_ps) {
                return Ok(());
            }
            if AHEAD != prefetch_stages::NOT {
                self.ahead().at_turn(AHEAD == prefetch_stages::STAGED);
            }
            let looked = self.clock.served - self.clock.at_last_look;
            if looked >= CONTROL_EVERY || self.fabric.network.is_deadlocked() {
                self.look_at(control)?;
            }
        }
    }

    /// What prefetching looks at.
    #[inline(always)]
    fn ahead(&self) -> Ahead<'_> {
        Ahead {
            events: &self.clock.events,
            network: &self.fabric.network,
            endpoints: &self.endpoints,
        }
    }

    /// Reports the progress, and checks whether the run must stop.
    #[cold]
    fn look_at(&mut self, control: &Control) -> Result<(), Failure> {
        self.clock.at_last_look = self.clock.served;
        let started = self.workload.traffic.started_share();
        control.report(self.clock.now_ps, self.fabric.packet_hops, started);
        if control.is_cancelled() {
            return Err(Failure::Cancelled);
        }
        self.check()
    }

    /// Checks whether the run can go on.
    fn check(&self) -> Result<(), Failure> {
        if self.endpoints.table.flows.len() > self.endpoints.table.most_slots {
            return Err(Failure::TooManyFlows);
        }
        match self.fabric.locked() {
            Some(locked) => Err(Failure::Deadlock(locked)),
            None => Ok(()),
        }
    }

    /// Serves an event that is not a packet's arrival.
    #[inline(always)]
    fn serve(&mut self, entity: Entity) {
        let index = entity.index();
        match entity.kind() {
            Kind::Link => {} // it is served with what its event carries
            Kind::Transmit => self.make_due_selections(index),
            Kind::NicHead => self.serve_nic(index),
            Kind::Pacer => self.serve_pacer(index),
            Kind::Stack => self.serve_stack(index),
            Kind::Receive => self.serve_receive(index),
            Kind::Send => self.serve_sender(index),
            Kind::Rto | Kind::DelayedAck | Kind::Pace => self.serve_timers(entity),
            Kind::Workload => {
                self.count_in_first_part();
                self.wake_workload(index);
            }
            Kind::Probe => self.send_probe(),
            Kind::Sample => self.sample(index),
            Kind::Warmup => {
                self.count_in_first_part();
                self.end_warmup(self.clock.now_ps);
            }
            Kind::LinkState => self.change_links(index),
            Kind::Loss => {
                let options = &mut self.fabric.network.options;
                self.endpoints.learn_of_loss(options);
            }
            Kind::Notice => (self.endpoints.table).take_notices(index as u32, self.clock.now_ps),
            Kind::Pause => self.serve_pauses(),
            Kind::Limiter => self.serve_limiter(index),
            Kind::Held => {
                self.fabric.let_in(index, &mut self.clock);
                self.clock.disregard();
            }
            Kind::MessageNic => self.serve_message_nic(index),
            Kind::Pull => self.serve_puller(index),
            Kind::PullRate => (self.endpoints.hosts).adapt_pulls(index, &mut self.clock),
            Kind::Credit => {
                if !self.serve_credit_wait(index as u32) {
                    self.clock.disregard();
                }
            }
        }
    }

    /// Counts the current event only in the first part: each part has it.
    fn count_in_first_part(&mut self) {
        if !self.is_first() {
            self.clock.uncount(1);
        }
    }

    /// Takes a sample, which results do not count as an event, and schedules the next one.
    fn sample(&mut self, what: usize) {
        self.clock.uncount(1);
        let next_ps = self.read(what, self.clock.now_ps);
        if let Some(next_ps) = next_ps.filter(|&next_ps| next_ps < self.clock.end_ps) {
            self.clock.schedule(next_ps, Kind::Sample, what);
        }
    }

    /// Takes the readings that are due. Returns the time of the next ones, ps.
    fn read(&mut self, what: usize, now_ps: u64) -> Option<u64> {
        let network = &mut self.fabric.network;
        let interval_ps = (self.instruments).sample(what, now_ps, network, &mut self.endpoints);
        Some(now_ps + interval_ps?)
    }

    fn end_warmup(&mut self, now_ps: u64) {
        (self.instruments).end_warmup(now_ps, &mut self.fabric, &self.endpoints);
    }

    fn send_probe(&mut self) {
        if let Some((host, packet)) = self.instruments.next_probe(&mut self.clock) {
            self.send(host, packet);
        }
    }

    fn answer_probe(&mut self, host: usize, ping: &Packet) {
        if let Some(reply) = self.instruments.reply(ping) {
            self.send(host, reply);
        }
    }
}
