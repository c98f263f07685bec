//! The network: packets, ports with their links, the memory that ports share, and the routes. It
//! knows no transport: what a packet means is for its receiver to say.
//!
//! A route is a run of entries in one list of hops: the ports that a packet leaves by, then the
//! host that it reaches. A packet carries the place of its next entry.

mod alone;
mod options;
mod packet;
mod part;
mod port;
mod queues;
mod ring;
pub mod rules;
mod schedulers;
mod shared_buffer;
mod signal;
mod trimming;
mod watch;

pub use alone::Segments;
pub use options::{NO_OPTIONS, OptionTable, Options, SackBlocks, Written, kbps};
pub use packet::{CLASSES, Packet, PathWord, flags};
pub use part::Departure;
pub use port::{BufferLimit, Port, PortConfig, Reading, Verdict};
pub use ring::Scheduled;
pub use schedulers::Order;
pub use shared_buffer::{SharedBuffer, SharedBufferConfig};
pub use signal::{PacketAck, PacketNack, Signal};
pub use trimming::Trimming;
pub use watch::{Distribution, Occupancy, QueueLevel, Watch};

use part::OwnPart;

/// Marks the entry of a route that names a host.
const HOST: u32 = 1 << 31;

/// Where a packet goes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hop {
    /// Out of a port.
    Port(usize),
    /// It has arrived at a host.
    Host(usize),
}

/// A port whose packets lie in a memory that ports share: which, and as which of its queues.
#[derive(Clone, Copy, Debug)]
struct Place {
    memory: u32,
    queue: u32,
}

/// All ports of a network, by number, and the routes through them.
#[derive(Debug, Default)]
pub struct Network {
    /// The ports. A host's port is its way out.
    pub ports: Vec<Port>,
    /// Options of the packets on their way.
    pub options: OptionTable,
    /// Whether rules of some port send notices.
    pub sends_notices: bool,
    hops: Vec<u32>,
    memories: Vec<SharedBuffer>,
    /// For each port its place in a shared memory; empty where no switch shares.
    places: Vec<Option<Place>>,
    classes: usize,
    count_in_service: bool,
    /// Where this is a part of a network only.
    part: Option<Box<OwnPart>>,
}

impl Network {
    /// A network of these ports, and one more that leads nowhere.
    pub fn new(mut ports: Vec<Port>) -> Self {
        let mut nowhere = Port::new(PortConfig::plain(1_000_000_000, 0, BufferLimit::Unlimited));
        nowhere.fail(0, &mut OptionTable::default());
        ports.push(nowhere);
        Network {
            ports,
            ..Network::default()
        }
    }

    /// Lets the given ports share a memory, each with `classes` queues. `count_in_service`: a
    /// packet leaves the memory with its last bit, not with its first.
    pub fn share(
        &mut self,
        config: &SharedBufferConfig,
        ports: &[usize],
        classes: usize,
        count_in_service: bool,
    ) {
        self.places.resize(self.ports.len(), None);
        let memory = self.memories.len() as u32;
        for (i, &port) in ports.iter().enumerate() {
            let queue = (i * classes) as u32;
            self.places[port] = Some(Place { memory, queue });
        }
        self.memories
            .push(SharedBuffer::new(config, ports.len() * classes));
        self.classes = classes;
        self.count_in_service = count_in_service;
    }

    /// Adds a route: the ports, then the host. Returns the place of its first entry.
    pub fn add_route(&mut self, ports: &[u32], host: usize) -> u32 {
        let at = self.hops.len() as u32;
        self.hops.extend_from_slice(ports);
        self.hops.push(host as u32 | HOST);
        at
    }

    /// Overwrites the route at `at`, which must have been at least as long.
    pub fn replace_route(&mut self, at: u32, ports: &[u32], host: usize) {
        let at = at as usize;
        self.hops[at..at + ports.len()].copy_from_slice(ports);
        self.hops[at + ports.len()] = host as u32 | HOST;
        if let Some(part) = &mut self.part {
            part.note_route(at as u32, ports.len());
        }
    }

    /// The entries of the route at `at`, which has `length` ports.
    pub fn route(&self, at: u32, length: usize) -> &[u32] {
        &self.hops[at as usize..=at as usize + length]
    }

    /// Copies entries of another network's list of hops.
    pub fn set_route(&mut self, at: usize, entries: &[u32]) {
        let end = at + entries.len();
        if self.hops.len() < end {
            self.hops.resize(end, HOST);
        }
        self.hops[at..end].copy_from_slice(entries);
    }

    /// Makes room for a route of at most `length` ports.
    pub fn reserve_route(&mut self, length: usize) -> u32 {
        let at = self.hops.len();
        self.hops.resize(at + length + 1, HOST);
        at as u32
    }

    /// The entry of a route.
    #[inline]
    pub fn hop(&self, at: u32) -> Hop {
        let entry = self.hops[at as usize];
        if entry & HOST == 0 {
            Hop::Port(entry as usize)
        } else {
            Hop::Host((entry & !HOST) as usize)
        }
    }

    /// Offers a packet to a port, see [`Port::enqueue`].
    #[inline(always)]
    pub fn enqueue(
        &mut self,
        now_ps: u64,
        earliest_ps: u64,
        port: usize,
        packet: Packet,
    ) -> Verdict {
        if !self.places.is_empty() {
            return self.enqueue_shared(now_ps, earliest_ps, port, packet);
        }
        let link = &mut self.ports[port];
        link.advance(now_ps, &mut self.options);
        if link.is_off_fast_path() {
            let copy = packet; // see `Port::enqueue`
            return self.enqueue_off_fast_path(now_ps, earliest_ps, port, &copy);
        }
        link.enqueue_plain(now_ps, earliest_ps, packet)
    }

    /// The way of a packet through a port that does not take the short one.
    #[inline(never)]
    fn enqueue_off_fast_path(
        &mut self,
        now_ps: u64,
        earliest_ps: u64,
        port: usize,
        packet: &Packet,
    ) -> Verdict {
        let link = &mut self.ports[port];
        let verdict = link.enqueue_off_fast_path(now_ps, earliest_ps, packet, &mut self.options);
        match link.is_cut() {
            true => self.pass_on(port, verdict),
            false => verdict,
        }
    }

    fn enqueue_shared(
        &mut self,
        now_ps: u64,
        earliest_ps: u64,
        port: usize,
        packet: Packet,
    ) -> Verdict {
        let Some(place) = self.places[port] else {
            return self.ports[port].enqueue(now_ps, earliest_ps, packet, &mut self.options);
        };
        let memory = &mut self.memories[place.memory as usize];
        let queue = place.queue as usize + packet.class().min(self.classes - 1);
        memory.advance(now_ps);
        if !memory.admits(queue, u64::from(packet.wire_bytes)) {
            self.ports[port].drops += 1;
            return Verdict::Dropped;
        }
        let verdict = self.ports[port].enqueue(now_ps, earliest_ps, packet, &mut self.options);
        match verdict {
            Verdict::Dropped => return verdict,
            Verdict::Accepted { .. } | Verdict::Queued { .. } => {
                memory.take(queue, u64::from(packet.wire_bytes));
            }
        }
        if let Verdict::Accepted { start_ps, .. } = verdict {
            let leaves_ps = self.leaves_ps(port, start_ps, packet.wire_bytes);
            let memory = &mut self.memories[place.memory as usize];
            memory.release_at(leaves_ps, queue, u32::from(packet.wire_bytes));
        }
        verdict
    }

    fn leaves_ps(&self, port: usize, start_ps: u64, bytes: u16) -> u64 {
        if self.count_in_service {
            start_ps + self.ports[port].serialization_ps(bytes)
        } else {
            start_ps
        }
    }

    /// A port with priority classes chooses its next packet, see [`Port::transmit_next`].
    pub fn transmit_next(&mut self, now_ps: u64, port: usize) -> (bool, Option<u64>) {
        let start_ps = self.ports[port].busy_until_ps().max(now_ps);
        let (packet, first, again_ps) = self.ports[port].transmit_next(now_ps, &mut self.options);
        if let Some(packet) = packet
            && let Some(&Some(place)) = self.places.get(port)
        {
            let leaves_ps = self.leaves_ps(port, start_ps, packet.wire_bytes);
            let queue = place.queue as usize + packet.class().min(self.classes - 1);
            let memory = &mut self.memories[place.memory as usize];
            memory.release_at(leaves_ps, queue, u32::from(packet.wire_bytes));
        }
        (first, again_ps)
    }

    /// The memory that a port shares, and its first queue in it.
    pub fn memory_of(&mut self, port: usize) -> Option<(&mut SharedBuffer, usize)> {
        let place = (*self.places.get(port)?)?;
        Some((
            &mut self.memories[place.memory as usize],
            place.queue as usize,
        ))
    }

    /// The link of a port fails: returns what was in the queue and on the wire.
    pub fn fail(&mut self, now_ps: u64, port: usize) -> Vec<Packet> {
        let lost = self.ports[port].fail(now_ps, &mut self.options);
        if let Some(&Some(place)) = self.places.get(port) {
            let memory = &mut self.memories[place.memory as usize];
            memory.clear(now_ps, place.queue as usize, self.classes);
        }
        lost
    }

    /// A port that loses everything, for flows that no path is left to.
    pub fn nowhere(&self) -> u32 {
        (self.ports.len() - 1) as u32
    }

    /// Packets in all ports and links.
    pub fn in_flight(&self) -> usize {
        self.ports.iter().map(Port::in_flight).sum()
    }
}
