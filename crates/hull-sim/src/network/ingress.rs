//! Ingress accounting of a switch: the memory that packets occupy, by the port through which they came
//! and their class. Port and class are numbered as the queues of the egress are: the port's first queue,
//! plus the class. Sizes are bytes.

use std::collections::VecDeque;

use super::pause::{Guard, Guarded, Room};

/// Packets that came through one port in one class, and the memory that they occupy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Occupied {
    /// Memory, bytes.
    pub bytes: u64,
    /// Number of packets.
    pub packets: u64,
}

/// Origin of a packet in the memory.
#[derive(Clone, Copy, Debug)]
struct Origin {
    /// Port through which it came, and its class.
    from: u32,
    /// Memory that it occupies.
    bytes: u32,
}

/// Counts of one switch.
#[derive(Debug)]
pub(super) struct Ingress {
    classes: usize,
    /// By port and class.
    occupied: Vec<Occupied>,
    /// Origins of the packets of each queue, in their order: a queue is a FIFO.
    origins: Vec<VecDeque<Origin>>,
    /// Limits of lossless traffic, by port and class; empty if all traffic may be lost.
    guards: Vec<Option<Guarded>>,
    /// Whether all classes of a port count in its first one.
    together: bool,
    /// Memory of lossless packets by port and class through which they came, and then by the port that
    /// sends them, bytes; empty if all traffic may be lost.
    toward: Vec<u64>,
    /// Queues for which no packet finds room.
    closed: Vec<u32>,
}

impl Ingress {
    /// Creates the counts of a memory with `queues` queues, of which each port has `classes`.
    pub fn new(queues: usize, classes: usize) -> Self {
        Ingress {
            classes,
            occupied: vec![Occupied::default(); queues],
            origins: vec![VecDeque::new(); queues],
            guards: Vec::new(),
            together: false,
            toward: Vec::new(),
            closed: Vec::new(),
        }
    }

    /// Limits lossless traffic. With `together` all classes of a port count in its first one. Returns
    /// the memory that no other traffic can use, bytes.
    pub fn guard(&mut self, guards: &[Option<Guard>], together: bool) -> u64 {
        self.together = together;
        self.guards = guards.iter().map(|one| one.map(Guarded::new)).collect();
        self.toward = vec![0; self.guards.len() * self.ports()];
        let guarded = self.guards.iter().flatten();
        guarded.map(Guarded::own_bytes).sum()
    }

    fn ports(&self) -> usize {
        self.occupied.len() / self.classes
    }

    /// Place in `toward` of the packets from an origin to a queue.
    fn way(&self, from: usize, queue: usize) -> usize {
        from * self.ports() + queue / self.classes
    }

    /// Lossless bytes that came through a port in a class, by the port that sends them; empty if all traffic
    /// may be lost.
    pub fn toward(&self, from: usize) -> &[u64] {
        let ports = self.ports();
        let of_port = self.toward.get(from * ports..(from + 1) * ports);
        of_port.unwrap_or_default()
    }

    /// Number, in the memory, of the port that sends most of the lossless bytes that came through a port in a
    /// class; `None` without any.
    pub fn busiest(&self, from: usize) -> Option<usize> {
        let toward = self.toward(from);
        let most = toward.iter().copied().max().filter(|&most| most > 0)?;
        toward.iter().position(|&bytes| bytes == most)
    }

    /// Number of port and class for a packet to `queue` that came through the port whose first queue is
    /// `port`.
    pub fn origin(&self, queue: usize, port: usize) -> usize {
        match self.together {
            true => port,
            false => port + queue % self.classes,
        }
    }

    /// Whether the traffic of a queue is lossless.
    pub fn is_lossless(&self, queue: usize) -> bool {
        let port = queue - queue % self.classes;
        self.guarded(self.origin(queue, port)).is_some()
    }

    /// Limits of a port and class, if its traffic is lossless.
    pub fn guarded(&self, from: usize) -> Option<&Guarded> {
        self.guards.get(from)?.as_ref()
    }

    /// Does the same, to change the counts.
    pub fn guarded_mut(&mut self, from: usize) -> Option<&mut Guarded> {
        self.guards.get_mut(from)?.as_mut()
    }

    /// Adds a packet to a queue that came through the port whose first queue is `port`. Returns the
    /// bytes that lossless traffic takes from the shared pool; `None` for other traffic.
    pub fn take(&mut self, queue: usize, port: usize, bytes: u64, room: Room) -> Option<u64> {
        let from = self.origin(queue, port);
        self.occupied[from].bytes += bytes;
        self.occupied[from].packets += 1;
        self.origins[queue].push_back(Origin {
            from: from as u32,
            bytes: bytes as u32,
        });
        let of_pool = self.guarded_mut(from)?.take(bytes, room);
        let way = self.way(from, queue);
        self.toward[way] += bytes;
        Some(of_pool)
    }

    /// Removes the first packet of a queue. Returns the bytes that lossless traffic gives back to the
    /// shared pool; `None` for other traffic.
    pub fn release(&mut self, queue: usize) -> Option<u64> {
        let origin = self.origins[queue].pop_front()?;
        self.remove(queue, origin)
    }

    /// Removes the last packet of a queue of lossless traffic. Returns the bytes that it occupied, and of these
    /// the bytes that it gives back to the shared pool.
    pub fn discard_last(&mut self, queue: usize) -> Option<(u64, u64)> {
        let origin = self.origins[queue].pop_back()?;
        let of_pool = self.remove(queue, origin)?;
        Some((u64::from(origin.bytes), of_pool))
    }

    fn remove(&mut self, queue: usize, origin: Origin) -> Option<u64> {
        let from = &mut self.occupied[origin.from as usize];
        let bytes = u64::from(origin.bytes);
        from.bytes -= bytes;
        from.packets -= 1;
        let of_pool = self.guarded_mut(origin.from as usize)?.release(bytes);
        let way = self.way(origin.from as usize, queue);
        self.toward[way] -= bytes;
        Some(of_pool)
    }

    /// Opens or closes a queue.
    pub fn set_open(&mut self, queue: usize, is_open: bool) {
        self.closed.retain(|&closed| closed as usize != queue);
        if !is_open {
            self.closed.push(queue as u32);
        }
    }

    /// Whether packets may find room in a queue.
    #[inline]
    pub fn is_open(&self, queue: usize) -> bool {
        !self.closed.contains(&(queue as u32))
    }

    /// Whether a queue holds packets.
    pub fn holds(&self, queue: usize) -> bool {
        !self.origins[queue].is_empty()
    }

    /// Packets that came through a port in a class.
    pub fn occupied(&self, from: usize) -> Occupied {
        self.occupied[from]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::network::test_switch::{Offer, TestSwitch};
    use crate::network::{BufferLimit, PortConfig, SharedBufferConfig};
    use crate::random::{Purpose, Stream};

    const PORTS: usize = 4;
    const CLASSES: usize = 2;
    const CELL: u64 = 80;

    /// Packet in the memory.
    struct Inside {
        from: usize,
        port: usize,
        class: usize,
        bytes: u64,
        /// Time at which it leaves, once that is known, ps.
        leaves_ps: Option<u64>,
    }

    /// With random traffic, pauses and failures, the memory is at each time the sum over the ports that
    /// send and the sum over the ports through which packets came; each of these has what came through it
    /// and has not left.
    #[test]
    fn sums_over_ingress_and_egress_are_equal() {
        for count_in_service in [false, true] {
            let mut random = Stream::new(29, Purpose::Arrivals, 0);
            let mut switch = TestSwitch::new(PORTS, || PortConfig {
                classes: CLASSES,
                count_in_service,
                ..PortConfig::plain(10_000_000_000, 0, BufferLimit::Unlimited)
            });
            let config = SharedBufferConfig {
                cell_bytes: CELL,
                ..SharedBufferConfig::dynamic(40_000, 1_000, 1 << 16)
            };
            let ports: Vec<usize> = (0..PORTS).collect();
            (switch.network).share(&config, &ports, CLASSES, count_in_service);
            switch.network.count_ingress();
            let mut inside: BTreeMap<u32, Inside> = BTreeMap::new();
            let (mut now_ps, mut drops, mut most) = (0, 0, 0);
            for seq in 0..20_000 {
                now_ps += random.below(800_000) as u64;
                let (from, port) = (random.below(PORTS), random.below(PORTS));
                let class = random.below(CLASSES);
                match random.below(20) {
                    0 => switch.pause(now_ps, port, class),
                    1 | 2 => switch.resume(now_ps, port, class),
                    _ => {}
                }
                switch.serve(now_ps);
                if seq % 1000 == 999 {
                    switch.network.fail(now_ps, port, &[]);
                    switch.network.ports[port].repair();
                    inside.retain(|_, packet| packet.port != port);
                }
                let bytes = 64 + random.below(1437) as u16;
                let flow = class as u32;
                if switch.offer(now_ps, (from, port), Offer { flow, seq, bytes }) {
                    let packet = Inside {
                        from,
                        port,
                        class,
                        bytes: u64::from(bytes).div_ceil(CELL) * CELL,
                        leaves_ps: None,
                    };
                    inside.insert(seq, packet);
                } else {
                    drops += 1;
                }
                for sent in switch.sent.drain(..) {
                    if let Some(packet) = inside.get_mut(&sent.seq) {
                        let in_service = [sent.start_ps, sent.end_ps];
                        packet.leaves_ps = Some(in_service[usize::from(count_in_service)]);
                    }
                }
                inside.retain(|_, packet| packet.leaves_ps.is_none_or(|at_ps| at_ps > now_ps));
                let (memory, _) = switch.network.memory_of(0).expect("all ports share");
                memory.advance(now_ps);
                let total = memory.total_bytes();
                let mut ingress = 0;
                for (from, class) in (0..PORTS * CLASSES).map(|at| (at / CLASSES, at % CLASSES)) {
                    let mut expected = Occupied::default();
                    let came = |packet: &&Inside| (packet.from, packet.class) == (from, class);
                    for packet in inside.values().filter(came) {
                        expected.bytes += packet.bytes;
                        expected.packets += 1;
                    }
                    assert_eq!(switch.network.ingress(from, class), expected);
                    ingress += expected.bytes;
                }
                assert_eq!(ingress, total);
                most = most.max(total);
            }
            assert!(drops > 100 && most > 20_000, "{drops} {most}");
        }
    }
}
