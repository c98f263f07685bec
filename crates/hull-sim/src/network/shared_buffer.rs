//! Shared packet memory of a switch with dynamic thresholds (Choudhury and Hahne; thesis 2.1.3,
//! "Switches"): a queue may hold its reserved bytes, and in the shared pool at most `alpha` times the
//! free bytes.
//!
//! With N busy queues and nothing reserved, each settles at `alpha B / (1 + N alpha)`. A packet
//! occupies memory from its arrival to the start or the end of its transmission. Sizes are bytes, times
//! ps, alpha is scaled by 2^16.
//!
//! Queues are counted at the egress, by the port that sends. The ingress, the port through which packets
//! came, is counted beside it if something limits it ([`SharedBuffer::count_ingress`]): lossless traffic
//! has no limit at the egress, but one at the ingress (`pause::guard`).
//!
//! Cells and the static limit are as in Dell's "Force10 S4810P Configuration Manual", chapter "S-Series
//! Debugging and Diagnostics", buffer tuning: a packet occupies whole cells (128 bytes; 208 in Juniper's
//! "QFX5K-Series Switches Packet Buffer Architecture", packet buffers), each queue has dedicated cells,
//! and a port may take cells of the dynamic pool up to a fixed number, as long as there are any.
//!
//! Alpha may be divided by the number of busy queues, as in ABM (Addanki, Apostolaki, Ghobadi, Schmid and
//! Vanbever, "ABM: Active Buffer Management in Datacenters", SIGCOMM 2022, equation 9, with one class per
//! port). As in its authors' simulator a queue shorter than a fixed length counts as its part of it. N busy
//! queues then settle at `alpha B / (N (1 + alpha))`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::ingress::{Ingress, Occupied};
use super::pause::{Guard, Guarded, Room};

/// Settings of a [`SharedBuffer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedBufferConfig {
    /// Size of the memory, bytes.
    pub size_bytes: u64,
    /// Bytes reserved for each queue.
    pub reserved_bytes: u64,
    /// Share of the free pool that one queue may take (alpha), scaled by 2^16.
    pub alpha_q16: u64,
    /// Largest part of the pool that one queue may take, bytes.
    pub limit_bytes: u64,
    /// Size of a cell, bytes; 1 if packets occupy their own size.
    pub cell_bytes: u64,
    /// Length from which a queue is busy, bytes, if the number of busy queues divides alpha; otherwise 0.
    pub busy_bytes: u64,
}

impl SharedBufferConfig {
    /// Creates the settings of a memory without cells and without a static limit.
    pub fn dynamic(size_bytes: u64, reserved_bytes: u64, alpha_q16: u64) -> Self {
        SharedBufferConfig {
            size_bytes,
            reserved_bytes,
            alpha_q16,
            limit_bytes: u64::MAX,
            cell_bytes: 1,
            busy_bytes: 0,
        }
    }

    /// Memory of a packet of `bytes`.
    fn occupied(&self, bytes: u64) -> u64 {
        match self.cell_bytes {
            1 => bytes,
            cell => bytes.div_ceil(cell) * cell,
        }
    }
}

/// Packet memory of one switch.
#[derive(Debug)]
pub struct SharedBuffer {
    config: SharedBufferConfig,
    pool_bytes: u64,
    pool_used: u64,
    used: Vec<u64>,
    /// Number of busy queues, times `busy_bytes`.
    busy: u64,
    /// Departures from the memory: time (ps), queue, bytes of the packet.
    leaving: BinaryHeap<Reverse<(u64, u32, u32)>>,
    /// Counts at the ingress, if they are needed.
    ingress: Option<Box<Ingress>>,
}

impl SharedBuffer {
    /// Creates an empty memory for `queues` queues.
    pub fn new(config: &SharedBufferConfig, queues: usize) -> Self {
        let reserved = config.reserved_bytes.saturating_mul(queues as u64);
        SharedBuffer {
            config: *config,
            pool_bytes: config.size_bytes.saturating_sub(reserved),
            pool_used: 0,
            used: vec![0; queues],
            busy: 0,
            leaving: BinaryHeap::new(),
            ingress: None,
        }
    }

    /// Counts packets at the ingress too, from now on; the memory must be empty. Each port has `classes`
    /// queues.
    pub fn count_ingress(&mut self, classes: usize) {
        let queues = self.used.len();
        self.ingress = Some(Box::new(Ingress::new(queues, classes)));
    }

    /// Makes the traffic that `guards` names lossless, by port and class: it has its limits at the
    /// ingress, which must be counted, and none at the egress. With `together` all classes of a port
    /// count in its first one.
    pub fn guard(&mut self, guards: &[Option<Guard>], together: bool) {
        let Some(ingress) = &mut self.ingress else {
            return;
        };
        let own = ingress.guard(guards, together);
        let lossless = (0..self.used.len()).filter(|&queue| ingress.is_lossless(queue));
        let reserved = self.config.reserved_bytes * lossless.count() as u64;
        self.pool_bytes = (self.pool_bytes + reserved).saturating_sub(own);
    }

    /// Lossless traffic of a port and class.
    pub fn guarded(&self, from: usize) -> Option<&Guarded> {
        self.ingress.as_ref()?.guarded(from)
    }

    fn guarded_mut(&mut self, from: usize) -> Option<&mut Guarded> {
        self.ingress.as_mut()?.guarded_mut(from)
    }

    /// Begins to wait until the peer of a port may send a class again.
    pub fn wait(&mut self, from: usize) {
        if let Some(ingress) = self.guarded_mut(from) {
            ingress.wait();
        }
    }

    /// Whether the peer of a port may send a class again.
    pub fn may_resume(&mut self, from: usize) -> bool {
        let free = self.free_bytes();
        self.guarded_mut(from)
            .is_none_or(|ingress| ingress.may_resume(free))
    }

    /// Number of port and class of a packet to `queue` that came through the port whose first queue is
    /// `port`, if that is lossless.
    pub fn lossless(&self, queue: usize, port: usize) -> Option<usize> {
        let ingress = self.ingress.as_ref()?;
        let from = ingress.origin(queue, port);
        ingress.guarded(from).map(|_| from)
    }

    /// Place for a packet of `bytes` to `queue` that came through the port whose first queue is `port`.
    pub fn room(&self, queue: usize, port: usize, bytes: u64) -> Room {
        let from = self.lossless(queue, port);
        match from.and_then(|from| self.guarded(from)) {
            Some(_) if !self.is_open(queue) => Room::Closed,
            Some(ingress) => ingress.room(self.config.occupied(bytes), self.free_bytes()),
            None if self.admits(queue, bytes) => Room::Shared,
            None => Room::Full,
        }
    }

    /// Counts a lossless packet that found no room.
    pub fn count_drop(&mut self, from: usize) {
        if let Some(guarded) = self.guarded_mut(from) {
            guarded.count_drop();
        }
    }

    /// Time of the next scheduled departure, ps.
    pub fn next_departure_ps(&self) -> Option<u64> {
        let Reverse((at_ps, _, _)) = self.leaving.peek()?;
        Some(*at_ps)
    }

    /// Free part of the shared pool, bytes.
    pub fn free_bytes(&self) -> u64 {
        self.pool_bytes.saturating_sub(self.pool_used)
    }

    /// Whether packets are counted at the ingress.
    #[inline]
    pub fn counts_ingress(&self) -> bool {
        self.ingress.is_some()
    }

    /// Packets that came through a port in a class, by the number of the port's queue for that class;
    /// nothing if the ingress is not counted.
    pub fn ingress(&self, from: usize) -> Occupied {
        let ingress = self.ingress.as_ref();
        ingress.map_or_else(Occupied::default, |ingress| ingress.occupied(from))
    }

    /// Number, in the memory, of the port that sends most of the lossless bytes that came through a port in a
    /// class; `None` without any.
    pub fn busiest(&self, from: usize) -> Option<usize> {
        self.ingress.as_ref()?.busiest(from)
    }

    /// Lossless bytes that came through a port in a class, by the port that sends them.
    pub fn toward(&self, from: usize) -> &[u64] {
        self.ingress
            .as_ref()
            .map_or(&[], |ingress| ingress.toward(from))
    }

    /// Frees the memory of packets that have left by `now_ps`.
    pub fn advance(&mut self, now_ps: u64) {
        while let Some(&Reverse((at_ps, queue, bytes))) = self.leaving.peek() {
            if at_ps > now_ps {
                break;
            }
            self.leaving.pop();
            let queue = queue as usize;
            let occupied = self.config.occupied(u64::from(bytes));
            let ingress = self.ingress.as_mut();
            match ingress.and_then(|ingress| ingress.release(queue)) {
                Some(of_pool) => self.give_back(queue, occupied, of_pool),
                None => self.set(queue, self.used[queue] - occupied),
            }
        }
    }

    /// Removes bytes of lossless traffic.
    fn give_back(&mut self, queue: usize, occupied: u64, of_pool: u64) {
        self.used[queue] -= occupied;
        self.pool_used -= of_pool;
    }

    /// Whether a packet of `bytes` may enter `queue` at the time of the last [`Self::advance`].
    pub fn admits(&self, queue: usize, bytes: u64) -> bool {
        let reserved = self.config.reserved_bytes;
        let before = self.used[queue];
        let after = before + self.config.occupied(bytes);
        let of_pool = after.saturating_sub(reserved);
        let more = of_pool - before.saturating_sub(reserved);
        of_pool <= self.threshold_bytes() && more <= self.pool_bytes - self.pool_used
    }

    /// Largest number of bytes of the pool that a queue may hold now.
    pub fn threshold_bytes(&self) -> u64 {
        let mut share = u128::from(self.free_bytes()) * u128::from(self.config.alpha_q16);
        if self.busy > self.config.busy_bytes {
            share = share * u128::from(self.config.busy_bytes) / u128::from(self.busy);
        }
        let share = share >> 16;
        u64::try_from(share)
            .unwrap_or(u64::MAX)
            .min(self.config.limit_bytes)
    }

    /// Adds a packet, which found `room`, to a queue; it came through the port whose first queue is
    /// `port`.
    pub fn take(&mut self, queue: usize, port: usize, bytes: u64, room: Room) {
        let occupied = self.config.occupied(bytes);
        let ingress = self.ingress.as_mut();
        match ingress.and_then(|ingress| ingress.take(queue, port, occupied, room)) {
            Some(of_pool) => {
                self.used[queue] += occupied;
                self.pool_used += of_pool;
            }
            None => self.set(queue, self.used[queue] + occupied),
        }
    }

    /// Schedules the departure of a packet of `queue` at `at_ps`.
    pub fn release_at(&mut self, at_ps: u64, queue: usize, bytes: u32) {
        self.leaving.push(Reverse((at_ps, queue as u32, bytes)));
    }

    /// Discards the last `packets` of a queue of lossless traffic.
    pub fn discard_last(&mut self, now_ps: u64, queue: usize, packets: usize) {
        self.advance(now_ps);
        for _ in 0..packets {
            let ingress = self.ingress.as_mut();
            if let Some((occupied, of_pool)) = ingress.and_then(|all| all.discard_last(queue)) {
                self.give_back(queue, occupied, of_pool);
            }
        }
    }

    /// Opens or closes a queue of lossless traffic, for which no packet then finds room.
    pub fn set_open(&mut self, queue: usize, is_open: bool) {
        if let Some(ingress) = &mut self.ingress {
            ingress.set_open(queue, is_open);
        }
    }

    fn is_open(&self, queue: usize) -> bool {
        self.ingress.as_ref().is_none_or(|all| all.is_open(queue))
    }

    /// Discards the packets of `count` queues from `first` on.
    pub fn clear(&mut self, now_ps: u64, first: usize, count: usize) {
        self.advance(now_ps);
        let queues = first..first + count;
        self.leaving
            .retain(|&Reverse((_, queue, _))| !queues.contains(&(queue as usize)));
        for queue in queues {
            while let Some(ingress) = &mut self.ingress
                && ingress.holds(queue)
            {
                let of_pool = ingress.release(queue);
                self.pool_used -= of_pool.unwrap_or(0);
            }
            let ingress = self.ingress.as_ref();
            match ingress.is_some_and(|ingress| ingress.is_lossless(queue)) {
                true => self.used[queue] = 0,
                false => self.set(queue, 0),
            }
        }
    }

    fn set(&mut self, queue: usize, bytes: u64) {
        let (reserved, busy) = (self.config.reserved_bytes, self.config.busy_bytes);
        self.busy = self.busy - self.used[queue].min(busy) + bytes.min(busy);
        let before = self.used[queue].saturating_sub(reserved);
        self.pool_used = self.pool_used - before + bytes.saturating_sub(reserved);
        self.used[queue] = bytes;
    }

    /// Bytes that the packets of `queue` occupy.
    pub fn used_bytes(&self, queue: usize) -> u64 {
        self.used[queue]
    }

    /// Bytes that the packets of all queues occupy.
    pub fn total_bytes(&self) -> u64 {
        self.used.iter().sum()
    }
}
