//! The network: packets, ports with their links, the memory that ports share, and the routes. It knows
//! no transport; a packet's receiver interprets it.
//!
//! A route is a run of entries in one list of hops: the ports through which a packet leaves, then the
//! host that it reaches. A packet carries the index of its next entry.

mod failures;
mod held_packets;
mod in_band;
mod in_flight;
mod ingress;
mod memories;
mod options;
mod packet;
mod part;
mod pause;
mod port;
mod queue;
mod queues;
mod ring;
pub mod rules;
mod schedulers;
mod selected;
mod shared_buffer;
mod signal;
mod trimming;
mod unloaded;
mod waits;
mod watch;

pub use in_band::{Answer, HopRecord, HopRecords, InBand, PathRate, kbps};
pub use in_flight::InFlight;
pub use ingress::Occupied;
pub use options::{NO_OPTIONS, OptionTable, Options, Report, SackBlocks};
pub use packet::{CLASSES, Packet, PathWord, flags};
pub use part::{Departure, Scheduled};
pub use pause::{
    Cause, Caused, ClassPauses, Deadlock, Guard, Guarded, Locks, PauseConfig, PauseEvent,
    PauseLink, PauseLoop, PauseStep, PauseTerms, Renewal, Room, Storms, Threshold, WatchdogAction,
    WatchdogConfig,
};
pub(crate) use port::ps_per_byte_q16;
pub use port::{BufferLimit, Port, PortConfig, Reading, Verdict};
pub(crate) use queue::Waiting;
pub(crate) use queues::Queues;
pub use schedulers::{DUALPI2_QUEUES, DualPi2, FqCodel, Order};
pub use selected::Selected;
pub use shared_buffer::{SharedBuffer, SharedBufferConfig};
pub use signal::{GoBack, PacketAck, PacketNack, Signal};
pub use trimming::Trimming;
pub use unloaded::Segments;
pub use waits::{FIRST_TIER, PACER, PLACES, SENDER, TIERS, Waits};
pub use watch::{Occupancy, QueueLevel, Watch};

use std::collections::BTreeMap;

use crate::engine::PacketRef;
use crate::prefetch::prefetch;
use held_packets::Held;
use memories::Place;
use part::OwnPart;
use pause::Pauses;

/// Bit of a route's entry that marks a host.
const HOST: u32 = 1 << 31;

/// Bit beside a route's entry that marks a packet to be observed when it leaves its link.
const OBSERVED: u32 = 1 << 30;

/// Moves the bit of probes to [`OBSERVED`].
const TO_OBSERVED: u32 = OBSERVED / flags::PROBE as u32;

/// Next hop of a packet after a port that has accepted it, for the packet's event.
#[inline(always)]
fn next_after(link: &Port, packet: &Packet, hops: &[u32]) -> u32 {
    let observed = u32::from(link.observed_bit(packet));
    hops[packet.hop as usize] | (observed * TO_OBSERVED)
}

/// Next hop of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hop {
    /// The packet leaves through a port.
    Port(usize),
    /// The packet has arrived at a host.
    Host(usize),
}

impl Hop {
    /// Next hop of an event's packet.
    #[inline]
    pub fn of(packet_ref: PacketRef) -> Self {
        Hop::of_entry(packet_ref.next & !OBSERVED)
    }

    #[inline]
    fn of_entry(entry: u32) -> Self {
        if entry & HOST == 0 {
            Hop::Port(entry as usize)
        } else {
            Hop::Host((entry & !HOST) as usize)
        }
    }

    /// Whether the packet is observed first: a probe, or a packet from a link for which
    /// [`Port::is_observed`] holds.
    #[inline]
    pub fn is_observed(packet_ref: PacketRef) -> bool {
        packet_ref.next & OBSERVED != 0
    }

    /// The port through which the packet leaves, if it does and is not observed.
    #[inline(always)]
    pub fn plain_port(packet_ref: PacketRef) -> Option<usize> {
        (packet_ref.next < OBSERVED).then_some(packet_ref.next as usize)
    }
}

/// Ports of a network, by number, and the routes through them.
#[derive(Debug, Default)]
pub struct Network {
    /// Ports. A host sends through its port.
    pub ports: Vec<Port>,
    /// Packets in the ports and on their links.
    pub in_flight: InFlight,
    /// Packets that ports with long queues hold back.
    held: Held,
    /// Whether ports hold packets back. They do not if a switch cuts through: its links may then
    /// idle while packets wait.
    holds: bool,
    /// Number of packets in a port's ring before further ones are held back.
    ahead: u32,
    /// Options of the packets in the network.
    pub options: OptionTable,
    /// Whether any port trims packets.
    pub trims: bool,
    /// Whether rules of any port send notices.
    pub sends_notices: bool,
    hops: Vec<u32>,
    memories: Vec<SharedBuffer>,
    /// Place of each port in a shared memory; empty if no switch shares memory.
    places: Vec<Option<Place>>,
    classes: usize,
    count_in_service: bool,
    /// Number of packets lost on failed links, by port.
    failure_drops: BTreeMap<usize, u64>,
    /// Pauses between ports, if switches ask for any.
    pauses: Option<Box<Pauses>>,
    /// Role of this network as a part of a larger one, if it is one.
    part: Option<Box<OwnPart>>,
}

impl Network {
    /// Creates a network of these ports and one more that leads nowhere.
    pub fn new(mut ports: Vec<Port>) -> Self {
        let mut nowhere = Port::new(PortConfig::plain(1_000_000_000, 0, BufferLimit::Unlimited));
        nowhere.fail(0, &mut OptionTable::default());
        ports.push(nowhere);
        Network {
            holds: !ports.iter().any(Port::cuts_through),
            ahead: Network::packets_ahead(ports.len()),
            trims: ports.iter().any(Port::can_trim),
            ports,
            ..Network::default()
        }
    }

    /// Adds a route through the ports to the host. Returns the place of its first entry.
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
    }

    /// Entries of the route at `at`, which has `length` ports.
    pub fn route(&self, at: u32, length: usize) -> &[u32] {
        &self.hops[at as usize..=at as usize + length]
    }

    /// Entries of the route at `at`.
    pub fn whole_route(&self, at: u32) -> &[u32] {
        let route = &self.hops[at as usize..];
        let end = route.iter().position(|entry| entry & HOST != 0);
        &route[..=end.unwrap_or(0)]
    }

    /// Copies entries of another network's list of hops.
    pub fn set_route(&mut self, at: usize, entries: &[u32]) {
        let end = at + entries.len();
        if self.hops.len() < end {
            self.hops.resize(end, HOST);
        }
        self.hops[at..end].copy_from_slice(entries);
    }

    /// Makes room for this many routes of at most `length` ports.
    pub fn make_room(&mut self, routes: usize, length: usize) {
        self.hops.reserve_exact(routes * (length + 1));
    }

    /// Reserves a route of at most `length` ports. Returns the place of its first entry.
    pub fn reserve_route(&mut self, length: usize) -> u32 {
        let at = self.hops.len();
        self.hops.resize(at + length + 1, HOST);
        at as u32
    }

    /// First port of the route at `at`: the port of the host's NIC.
    #[inline]
    pub fn first_port(&self, at: u32) -> u32 {
        self.hops[at as usize]
    }

    /// Decoded entry of a route.
    #[inline]
    pub fn hop(&self, at: u32) -> Hop {
        Hop::of_entry(self.hops[at as usize])
    }

    /// Prefetches the packet and the port that an arrival will access: the next port of its route,
    /// or, if it reaches a host, the host's port in `of_hosts`.
    #[inline(always)]
    pub fn prefetch(&self, packet_ref: PacketRef, of_hosts: &[u32]) {
        prefetch(self.in_flight.get(packet_ref.packet));
        // Which of the two cannot be predicted, so both are found, without a branch.
        let entry = packet_ref.next & !OBSERVED;
        let is_host = 0_u32.wrapping_sub(entry >> 31);
        let host = (entry & is_host & !HOST) as usize;
        let port = (of_hosts[host] & is_host) | (entry & !is_host);
        self.ports[port as usize].prefetch();
    }

    /// Prefetches further data for an arrival, in stages, once the packet and its next port are in
    /// the cache.
    #[inline]
    pub fn prefetch_behind(&self, stage: usize, packet_ref: PacketRef) {
        if let Hop::Port(out) = Hop::of(packet_ref) {
            if stage == 0 {
                self.prefetch_hop(self.in_flight.get(packet_ref.packet).hop + 1);
            }
            let port = &self.ports[out];
            if port.is_off_fast_path() {
                port.prefetch_for_arrival(stage);
            }
        }
    }

    /// Prefetches an entry of a route.
    #[inline]
    pub fn prefetch_hop(&self, at: u32) {
        if let Some(entry) = self.hops.get(at as usize) {
            prefetch(entry);
        }
    }

    /// PacketRef of the event of a packet that a port has accepted: the packet's place, and its next
    /// hop after the link.
    #[inline]
    pub fn packet_ref(&self, port: usize, place: u32) -> PacketRef {
        let (link, packet) = (&self.ports[port], self.in_flight.get(place));
        let next = next_after(link, packet, &self.hops);
        PacketRef {
            packet: place,
            next,
        }
    }

    /// Moves the packet at `place` to the next entry of its route and offers it to a port; see
    /// [`Port::enqueue_fast`]. Returns the time (ps) and reference of its event; no reference if it was
    /// handed over to another part. If it returns `None`, the packet must be offered by
    /// [`Network::enqueue`].
    #[inline(always)]
    pub fn forward_fast(
        &mut self,
        now_ps: u64,
        earliest_ps: u64,
        port: usize,
        place: u32,
    ) -> Option<(u64, Option<PacketRef>)> {
        let (link, packet) = (&mut self.ports[port], self.in_flight.get_mut(place));
        packet.hop += 1;
        let options = &mut self.options;
        let arrival_ps = link.enqueue_fast(now_ps, earliest_ps, packet, self.ahead, options)?;
        let next = next_after(link, packet, &self.hops);
        let packet_ref = PacketRef {
            packet: place,
            next,
        };
        let is_theirs = link.is_cut() && self.hands_over_if_theirs(arrival_ps, place);
        Some((arrival_ps, (!is_theirs).then_some(packet_ref)))
    }

    /// Moves on the packet at `place`, which [`Network::forward_fast`] has not accepted, if the port writes
    /// telemetry and has no other feature. Returns the verdict, and the reference of the packet's event.
    #[inline]
    pub fn forward_recording(
        &mut self,
        now_ps: u64,
        earliest_ps: u64,
        port: usize,
        place: u32,
    ) -> Option<(Verdict, PacketRef)> {
        let (link, packet) = (&mut self.ports[port], self.in_flight.get_mut(place));
        if !link.is_recording() {
            return None;
        }
        let options = &mut self.options;
        let has_bytes = options.record_bytes > 0;
        if has_bytes {
            options.lengthen(packet);
        }
        let (verdict, is_partial) = link.enqueue_recording(now_ps, earliest_ps, packet, options);
        let next = next_after(link, packet, &self.hops);
        // A host removes the records of data that has grown.
        let observed = is_partial || (has_bytes && packet.has(flags::DATA));
        let packet_ref = PacketRef {
            packet: place,
            next: next | (u32::from(observed) * OBSERVED),
        };
        Some((verdict, packet_ref))
    }

    /// Offers the packet at `place`, which came through the link of the port `from` of the same switch,
    /// to a port; see [`Port::enqueue`]. If the packet is not accepted, the caller must remove it,
    /// unless it was handed over.
    pub fn enqueue(
        &mut self,
        now_ps: u64,
        earliest_ps: u64,
        (from, port): (usize, usize),
        place: u32,
    ) -> Verdict {
        let link = &mut self.ports[port];
        if link.is_in_turn() {
            let packet = self.in_flight.get_mut(place);
            let verdict = link.enqueue_in_turn(now_ps, earliest_ps, packet);
            if let Verdict::Accepted { arrival_ps, .. } = verdict
                && self.hands_over(arrival_ps, port, place)
            {
                return Verdict::HandedOver;
            }
            return verdict;
        }
        link.advance(now_ps, &mut self.options);
        if link.needs_stages() {
            return self.enqueue_in_stages(now_ps, earliest_ps, (from, port), place);
        }
        if self.holds && link.is_long(self.ahead) {
            return self.enqueue_long(now_ps, port, place);
        }
        link.enqueue_plain(now_ps, earliest_ps, self.in_flight.get_mut(place))
    }

    /// Offers a packet to a port with features beyond a plain FIFO.
    fn enqueue_in_stages(
        &mut self,
        now_ps: u64,
        earliest_ps: u64,
        (from, port): (usize, usize),
        place: u32,
    ) -> Verdict {
        if self.options.record_bytes > 0 && self.ports[port].writes_records() {
            self.options.lengthen(self.in_flight.get_mut(place));
        }
        let verdict = match self.places.get(port) {
            Some(&Some(shared)) => {
                self.enqueue_shared(now_ps, earliest_ps, (from, port), place, shared)
            }
            _ => {
                let packet = self.in_flight.get_mut(place);
                self.ports[port].enqueue(now_ps, earliest_ps, packet, &mut self.options)
            }
        };
        if verdict == Verdict::Dropped && self.ports[port].is_down() {
            self.count_failure_drops(port, 1);
        }
        if let Verdict::Accepted { arrival_ps, .. } = verdict {
            self.ports[port].note_sent(arrival_ps, place);
            if self.hands_over(arrival_ps, port, place) {
                return Verdict::HandedOver;
            }
        }
        verdict
    }

    /// Frees the packets in flight, the held ones and their options after a run; [`Self::packets`]
    /// no longer counts them.
    pub fn discard_packets(&mut self) {
        self.in_flight = InFlight::default();
        self.held = Held::default();
        self.options = OptionTable::default();
    }

    /// Number of packets in all ports and links.
    pub fn packets(&self) -> usize {
        let queued: usize = self.ports.iter().map(Port::queued_packets).sum();
        self.in_flight.len() + self.held.len() + queued
    }
}

#[cfg(test)]
mod test_switch;

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet that leaves a link is observed or not, and leaves through a port or has arrived.
    #[test]
    fn next_hops_are_told_apart() {
        for (entry, hop) in [(5, Hop::Port(5)), (5 | HOST, Hop::Host(5))] {
            for observed in [0, OBSERVED] {
                let packet_ref = PacketRef {
                    packet: 0,
                    next: entry | observed,
                };
                assert_eq!(Hop::of(packet_ref), hop);
                assert_eq!(Hop::is_observed(packet_ref), observed != 0);
                let is_plain = (entry, observed) == (5, 0);
                assert_eq!(Hop::plain_port(packet_ref), is_plain.then_some(5));
            }
        }
    }

    /// Probes are observed on all links; other packets on links that cut through, that are captured,
    /// or whose rules process departures.
    #[test]
    fn packets_are_observed_where_needed() {
        #[derive(Debug)]
        struct OfDepartures;
        impl rules::Rule for OfDepartures {}
        let config = || PortConfig::plain(1_000_000_000, 0, BufferLimit::Unlimited);
        let mut captured = Port::new(config());
        captured.capture();
        let cut_through = Port::new(PortConfig {
            cut_through_bytes: Some(64),
            ..config()
        });
        let ruled = Port::new(PortConfig {
            rules: vec![Box::new(OfDepartures)],
            ..config()
        });
        let plain = Port::new(config());
        for (port, observes) in [
            (&captured, true),
            (&cut_through, true),
            (&ruled, true),
            (&plain, false),
        ] {
            assert_eq!(port.is_observed(), observes);
            for kind in [flags::DATA, flags::DATA | flags::CE, flags::PROBE] {
                let observed = observes || kind == flags::PROBE;
                let next = next_after(port, &Packet::with_flags(kind), &[7]);
                assert_eq!(next, if observed { 7 | OBSERVED } else { 7 });
            }
        }
    }
}
