//! Packets that ports with long queues hold back, in the order of their transmission. Each takes 28
//! bytes in chunks of one arena, so memory follows their total number; in a port's ring, in flight
//! and as an event a packet takes more than twice as much. Times are ps.

use super::packet::Packet;
use super::port::Behind;
use super::{Network, Verdict, next_after};
use crate::engine::PacketRef;

/// No chunk.
const NONE: u32 = u32::MAX;

/// Number of packets in a chunk: with the number of the next chunk they take four cache lines.
const PACKETS: usize = 9;

/// Packet with the next route entry for its event: routes may change while it waits.
#[derive(Clone, Copy, Debug)]
struct HeldPacket {
    packet: Packet,
    next: u32,
}

#[derive(Debug)]
struct Chunk {
    packets: [HeldPacket; PACKETS],
    /// Next chunk of the queue, or the next free chunk.
    next: u32,
}

const _: () = assert!(size_of::<Chunk>() == 256);

/// Packets that one port holds back.
#[derive(Clone, Copy, Debug)]
struct Queue {
    /// Start of the first packet's transmission, ps.
    start_ps: u64,
    /// Time at which packets must be admitted, ps; [`u64::MAX`] if none is held.
    due_ps: u64,
    first: u32,
    last: u32,
    /// Place of the first packet in the first chunk, and place after the last packet in the last
    /// chunk.
    from: u32,
    to: u32,
}

impl Queue {
    const EMPTY: Queue = Queue {
        start_ps: 0,
        due_ps: u64::MAX,
        first: NONE,
        last: NONE,
        from: 0,
        to: 0,
    };
}

/// Packets that all ports hold back.
#[derive(Debug)]
pub(super) struct Held {
    /// Queues by port; empty until a port holds packets back.
    queues: Vec<Queue>,
    chunks: Vec<Chunk>,
    free: u32,
    len: usize,
}

impl Default for Held {
    fn default() -> Self {
        Held {
            queues: Vec::new(),
            chunks: Vec::new(),
            free: NONE,
            len: 0,
        }
    }
}

impl Held {
    /// Number of held packets of all ports.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Adds the held packets of another part at the end of a run; only their number.
    pub fn join(&mut self, other: &mut Held) {
        self.len += std::mem::take(&mut other.len);
    }

    fn push(&mut self, port: usize, held: HeldPacket) {
        let queue = &mut self.queues[port];
        if queue.last == NONE || queue.to as usize == PACKETS {
            let at = self.free;
            let at = match self.chunks.get_mut(at as usize) {
                Some(chunk) => {
                    self.free = std::mem::replace(&mut chunk.next, NONE);
                    at
                }
                None => {
                    self.chunks.push(Chunk {
                        packets: [held; PACKETS],
                        next: NONE,
                    });
                    (self.chunks.len() - 1) as u32
                }
            };
            match self.chunks.get_mut(queue.last as usize) {
                Some(last) => last.next = at,
                None => (queue.first, queue.from) = (at, 0),
            }
            (queue.last, queue.to) = (at, 0);
        }
        self.chunks[queue.last as usize].packets[queue.to as usize] = held;
        queue.to += 1;
        self.len += 1;
    }

    fn pop(&mut self, port: usize) -> Option<HeldPacket> {
        let queue = &mut self.queues[port];
        let chunk = self.chunks.get_mut(queue.first as usize)?;
        let held = chunk.packets[queue.from as usize];
        queue.from += 1;
        let is_last = queue.first == queue.last;
        if queue.from as usize == PACKETS || is_last && queue.from == queue.to {
            let left = queue.first;
            queue.first = std::mem::replace(&mut chunk.next, self.free);
            self.free = left;
            queue.from = 0;
            if is_last {
                (queue.first, queue.last) = (NONE, NONE);
            }
        }
        self.len -= 1;
        Some(held)
    }
}

impl Network {
    /// Memory of a held packet, its share of a chunk, bytes.
    pub const HELD_BYTES: u64 = size_of::<Chunk>().div_ceil(PACKETS) as u64;

    /// Largest number of packets in a port's ring before further ones are held back. Holding back
    /// costs time; not holding back costs memory, which matters more in large networks.
    pub const MOST_AHEAD: u32 = 256;

    /// Number of packets in a port's ring before further ones are held back, by the number of ports.
    /// A fat tree of 1,024 hosts has 6,144, and gains from 256; one of 8,192 has 49,152, and does not;
    /// one of 16,000 has some 100,000.
    pub(super) fn packets_ahead(ports: usize) -> u32 {
        match ports {
            ..10_000 => Self::MOST_AHEAD,
            10_000..=100_000 => 64,
            _ => 8,
        }
    }

    /// Offers a packet to a port with a long queue, which holds it back.
    pub(super) fn enqueue_long(&mut self, now_ps: u64, port: usize, place: u32) -> Verdict {
        let behind = (self.ports[port]).hold(now_ps, self.in_flight.get_mut(place));
        if behind == Behind::Dropped {
            return Verdict::Dropped;
        }
        let packet = self.in_flight.remove(place);
        let next = next_after(&self.ports[port], &packet, &self.hops);
        if self.held.queues.len() <= port {
            self.held.queues.resize(self.ports.len(), Queue::EMPTY);
        }
        self.held.push(port, HeldPacket { packet, next });
        let Behind::Ring { due_ps, start_ps } = behind else {
            return Verdict::Held { due_ps: None };
        };
        let queue = &mut self.held.queues[port];
        (queue.due_ps, queue.start_ps) = (due_ps, start_ps);
        Verdict::Held {
            due_ps: Some(due_ps),
        }
    }

    /// Admits a port's next packets at `now_ps` if that is due. Calls `arrive` with the time and
    /// reference of each packet's event. Returns the time at which more packets must be admitted, ps.
    pub fn let_in(
        &mut self,
        now_ps: u64,
        port: usize,
        arrive: impl FnMut(u64, PacketRef),
    ) -> Option<u64> {
        match self.held.queues.get(port) {
            Some(queue) if queue.due_ps == now_ps => {
                // The ring is empty at this time and needs no more slots.
                self.ports[port].advance(now_ps, &mut self.options);
                self.let_some_in(port, self.ahead, arrive)
            }
            _ => None, // they have been let in before
        }
    }

    /// Admits all packets that ports hold back, before ports or links change. Calls `arrive` as
    /// [`Network::let_in`] does, with the port in addition.
    pub fn let_all_in(&mut self, mut arrive: impl FnMut(usize, u64, PacketRef)) {
        for port in 0..self.held.queues.len() {
            self.let_some_in(port, u32::MAX, |at_ps, packet_ref| {
                arrive(port, at_ps, packet_ref)
            });
        }
    }

    fn let_some_in(
        &mut self,
        port: usize,
        most: u32,
        mut arrive: impl FnMut(u64, PacketRef),
    ) -> Option<u64> {
        let mut start_ps = self.held.queues[port].start_ps;
        let mut due_ps = u64::MAX;
        for _ in 0..most {
            let Some(HeldPacket { packet, next }) = self.held.pop(port) else {
                break;
            };
            let link = &mut self.ports[port];
            let arrival_ps = link.let_in(start_ps, packet.wire_bytes);
            due_ps = start_ps;
            start_ps += link.serialization_ps(packet.wire_bytes);
            let packet = self.in_flight.insert(packet);
            arrive(arrival_ps, PacketRef { packet, next });
        }
        let queue = &mut self.held.queues[port];
        queue.start_ps = start_ps;
        queue.due_ps = if queue.first == NONE {
            u64::MAX
        } else {
            due_ps
        };
        (queue.due_ps != u64::MAX).then_some(due_ps)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::options::NO_OPTIONS;
    use super::super::{BufferLimit, Port, PortConfig, flags};
    use super::*;
    use crate::random::{Purpose, Stream};

    const LIMIT_BYTES: u64 = 60_000;

    /// One port that marks above 20 KB and drops above 60 KB, its next event and its results.
    struct Side {
        network: Network,
        route: u32,
        /// Arrivals by time.
        arrivals: BTreeMap<u64, (u32, u16)>,
        due_ps: Option<u64>,
        drops: u64,
    }

    impl Side {
        fn new(holds: bool) -> Self {
            let buffer = BufferLimit::Bytes(LIMIT_BYTES);
            let mut config = PortConfig::plain(10_000_000_000, 1_000_000, buffer);
            config.marker = Some(hull_core::marking::ThresholdMarker {
                threshold_bytes: 20_000,
                count_arriving: false,
            });
            let mut network = Network::new(vec![Port::new(config)]);
            (network.holds, network.ahead) = (holds, 8);
            let route = network.add_route(&[0], 0) + 1;
            Side {
                network,
                route,
                arrivals: BTreeMap::new(),
                due_ps: None,
                drops: 0,
            }
        }

        fn send(&mut self, now_ps: u64, seq: u32, wire_bytes: u16) {
            let packet = Packet {
                seq,
                ack: 0,
                flow: 0,
                options: NO_OPTIONS,
                hop: self.route,
                wire_bytes,
                flags: flags::DATA | flags::ECT0,
            };
            let network = &mut self.network;
            let place = network.in_flight.insert(packet);
            match network.enqueue(now_ps, now_ps, (0, 0), place) {
                Verdict::Accepted { arrival_ps, .. } => self.arrives(arrival_ps, place),
                Verdict::Held { due_ps } => self.due_ps = due_ps.or(self.due_ps),
                _ => {
                    network.in_flight.remove(place);
                    self.drops += 1;
                }
            }
        }

        fn arrives(&mut self, at_ps: u64, place: u32) {
            let packet = self.network.in_flight.remove(place);
            let twice = self.arrivals.insert(at_ps, (packet.seq, packet.flags));
            assert_eq!(twice, None);
        }

        fn let_in(&mut self, now_ps: u64) {
            while let Some(due_ps) = self.due_ps.filter(|&due_ps| due_ps <= now_ps) {
                let mut all = Vec::new();
                self.due_ps = (self.network)
                    .let_in(due_ps, 0, |at_ps, packet_ref| all.push((at_ps, packet_ref)));
                self.arrive(all);
            }
        }

        fn let_all_in(&mut self) {
            let mut all = Vec::new();
            (self.network).let_all_in(|_, at_ps, packet_ref| all.push((at_ps, packet_ref)));
            self.arrive(all);
        }

        fn arrive(&mut self, all: Vec<(u64, PacketRef)>) {
            for (at_ps, packet_ref) in all {
                assert_eq!(packet_ref.next, super::super::HOST);
                self.arrives(at_ps, packet_ref.packet);
            }
        }

        fn seen(&mut self, now_ps: u64) -> (u64, u32, u64, u64, u32, u64) {
            let Network { ports, options, .. } = &mut self.network;
            let level = ports[0].queue(now_ps, options);
            let reading = ports[0].reading(now_ps, options);
            (
                level.bytes,
                level.packets,
                reading.carried_bytes.to_bits(),
                reading.waited_ps,
                reading.waited_packets,
                reading.sent_bytes,
            )
        }
    }

    /// Held packets arrive at the same times with the same marks, and the port reads the same.
    #[test]
    fn held_packets_change_nothing_observable() {
        let mut random = Stream::new(7, Purpose::Arrivals, 0);
        let (mut plain, mut holding) = (Side::new(false), Side::new(true));
        let (mut now_ps, mut most) = (0_u64, 0);
        for seq in 0..20_000 {
            // Bursts of 30 packets on average, a load of about 63% on average.
            if random.below(30) == 0 {
                now_ps += random.below(60_000_000) as u64;
            }
            let bytes = 64 + random.below(1437) as u16;
            holding.let_in(now_ps);
            assert_eq!(plain.seen(now_ps), holding.seen(now_ps), "{now_ps}");
            plain.send(now_ps, seq, bytes);
            holding.send(now_ps, seq, bytes);
            most = most.max(holding.network.held.len());
            if seq % 1000 == 999 {
                holding.let_all_in();
            }
        }
        holding.let_in(u64::MAX);
        assert!(most > 20, "{most}");
        assert_eq!(plain.drops, holding.drops);
        assert!(plain.drops > 100, "{}", plain.drops);
        assert_eq!(plain.arrivals, holding.arrivals);
        assert_eq!(holding.network.held.len(), 0);
    }
}
