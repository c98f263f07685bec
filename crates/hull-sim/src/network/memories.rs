//! The packet memories that ports of a switch share, and their ports. A packet that finds no room in its
//! memory is dropped; one that is accepted occupies it until its transmission starts or ends. Times are
//! ps.

use super::{Network, Occupied, Room, SharedBuffer, SharedBufferConfig, Verdict};

/// Shared memory of a port: its number, and the port's first queue in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub memory: u32,
    pub queue: u32,
}

impl Network {
    /// Makes the given ports share a memory, each with `classes` queues. With `count_in_service` a
    /// packet leaves the memory with its last bit, otherwise with its first.
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
            self.ports[port].share();
        }
        self.memories
            .push(SharedBuffer::new(config, ports.len() * classes));
        self.classes = classes;
        self.count_in_service = count_in_service;
    }

    /// Offers a packet to a port that shares its memory.
    pub(super) fn enqueue_shared(
        &mut self,
        now_ps: u64,
        earliest_ps: u64,
        (from, port): (usize, usize),
        place: u32,
        shared: Place,
    ) -> Verdict {
        let packet = self.in_flight.get_mut(place);
        let memory = &mut self.memories[shared.memory as usize];
        let queue = shared.queue as usize + packet.class().min(self.classes - 1);
        let bytes = packet.wire_bytes;
        memory.advance(now_ps);
        let from = match memory.counts_ingress() {
            true => self.places[from].map_or(0, |place| place.queue as usize),
            false => 0,
        };
        let room = memory.room(queue, from, u64::from(bytes));
        match room {
            Room::Shared | Room::Headroom => {}
            Room::Full => {
                self.ports[port].drops += 1;
                self.note_full(now_ps, shared.memory, (queue, from));
                return Verdict::Dropped;
            }
            Room::Closed => {
                self.ports[port].drops += 1;
                self.count_discard(port, queue - shared.queue as usize);
                return Verdict::Dropped;
            }
        }
        let verdict = self.ports[port].enqueue(now_ps, earliest_ps, packet, &mut self.options);
        if verdict == Verdict::Dropped {
            return verdict;
        }
        memory.take(queue, from, u64::from(bytes), room);
        if let Verdict::Accepted { start_ps, .. } = verdict {
            let leaves_ps = self.leaves_ps(port, start_ps, bytes);
            let memory = &mut self.memories[shared.memory as usize];
            memory.release_at(leaves_ps, queue, u32::from(bytes));
        }
        if room == Room::Headroom || self.pauses_early() {
            self.note_headroom(now_ps, shared.memory, (queue, from));
        }
        verdict
    }

    /// Makes the shared memories count packets at the ingress, too.
    pub fn count_ingress(&mut self) {
        for memory in &mut self.memories {
            memory.count_ingress(self.classes);
        }
    }

    /// Packets in the memory of a switch that came through the link of its `port` in a class; nothing if
    /// the ingress is not counted.
    pub fn ingress(&self, port: usize, class: usize) -> Occupied {
        let place = self.places.get(port).copied().flatten();
        place.map_or_else(Occupied::default, |place| {
            self.memories[place.memory as usize].ingress(place.queue as usize + class)
        })
    }

    /// Time at which a packet whose transmission starts at `start_ps` leaves the memory, ps.
    pub(super) fn leaves_ps(&self, port: usize, start_ps: u64, bytes: u16) -> u64 {
        if self.count_in_service {
            start_ps + self.ports[port].serialization_ps(bytes)
        } else {
            start_ps
        }
    }

    /// Shared memory of a port, and the port's first queue in it.
    pub fn memory_of(&mut self, port: usize) -> Option<(&mut SharedBuffer, usize)> {
        let place = (*self.places.get(port)?)?;
        Some((
            &mut self.memories[place.memory as usize],
            place.queue as usize,
        ))
    }
}
