//! Admission: a receiver limits the packets that are on their way to it. A sender asks before it sends, and sends
//! what the receiver has granted.
//!
//! Source: the collective library of Meta's RoCE clusters ("RDMA over Ethernet for Distributed AI Training at Meta
//! Scale", SIGCOMM 2024, receiver-driven traffic admission). A sender writes only after a clear-to-send packet, which
//! the receiver sends when it has a free buffer; buffers bound what is in flight, and the clusters run without DCQCN.
//!
//! Here the bound is a window of bytes of the receiver, [`Admission`], for all its senders together. Requests and
//! grants state totals since the start of the connection, so a later one replaces those that were lost. Connections
//! whose requests are not satisfied take turns, in the order of their requests; a turn grants a chunk, or what is left
//! of the request. It waits until the whole chunk fits the window. A packet counts as a full one from its grant to
//! its first arrival; sending it again needs no grant.
//!
//! The sender, [`Admitted`], repeats a request that is not satisfied: after a wait, and while there is no news after
//! twice the last wait, up to 32 times the first. The receiver answers a repeated request with what it has granted.
//! Messages up to a size may go without a request, if no earlier message of the connection waits.
//!
//! Differences: in the source a grant is a buffer of a pair of processors, so each pair has a bound of its own, and
//! the library's messages are as large as a buffer.
//!
//! Units: packets counted from the start of the connection, bytes with headers, picoseconds.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// Largest number of doublings of the wait before a request is repeated.
const MOST_DOUBLINGS: u32 = 5;

/// Grant to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Owner of the connection, as [`Admission::open`] was told.
    pub owner: u32,
    /// Packets granted since the start of the connection.
    pub granted: u64,
}

/// What the arrival of packets, or the end of a connection's data, leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settled {
    /// Whether the connection needs its number no more.
    pub is_done: bool,
    /// Packets granted, if packets of a request have become needless before their turn: the sender does not know.
    pub granted: Option<u64>,
}

/// Connection with granted packets on their way, or with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    owner: u32,
    /// Size of a full packet, bytes.
    packet_bytes: u64,
    /// Packets per grant.
    chunk: u64,
    target: u64,
    granted: u64,
    arrived: u64,
    waits: bool,
}

impl Entry {
    fn outstanding_bytes(&self) -> u64 {
        self.granted.saturating_sub(self.arrived) * self.packet_bytes
    }
}

/// Window of one receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admission {
    window_bytes: u64,
    outstanding_bytes: u64,
    entries: Vec<Entry>,
    /// Numbers of entries that may be used again.
    free: Vec<u32>,
    /// Entries whose turn comes, in order.
    waiting: VecDeque<u32>,
}

impl Admission {
    /// Creates a receiver with a window of this size.
    pub fn new(window_bytes: u64) -> Self {
        Self {
            window_bytes,
            outstanding_bytes: 0,
            entries: Vec::new(),
            free: Vec::new(),
            waiting: VecDeque::new(),
        }
    }

    /// Bytes granted that have not arrived.
    pub fn outstanding_bytes(&self) -> u64 {
        self.outstanding_bytes
    }

    /// Adds a connection of which `arrived` packets have arrived, and returns its number. A chunk that is larger than
    /// the window becomes as large as the window.
    ///
    /// # Panics
    /// Panics if a packet is larger than the window: no grant would ever fit.
    pub fn open(&mut self, owner: u32, packet_bytes: u64, chunk: u64, arrived: u64) -> u32 {
        let most = self.window_bytes / packet_bytes;
        assert!(most > 0, "a packet must fit the window");
        let entry = Entry {
            owner,
            packet_bytes,
            chunk: chunk.clamp(1, most),
            target: arrived,
            granted: arrived,
            arrived,
            waits: false,
        };
        if let Some(number) = self.free.pop() {
            self.entries[number as usize] = entry;
            return number;
        }
        self.entries.push(entry);
        self.entries.len() as u32 - 1
    }

    /// Processes a request for the packets below `target`. If it is a repeated one, returns the packets granted so
    /// far, which the sender may not know.
    pub fn on_request(&mut self, number: u32, target: u64) -> Option<u64> {
        let entry = &mut self.entries[number as usize];
        if target <= entry.target {
            return Some(entry.granted);
        }
        entry.target = target;
        if !entry.waits {
            entry.waits = true;
            self.waiting.push_back(number);
        }
        None
    }

    /// Processes that `arrived` packets of a connection have arrived, or are not needed.
    pub fn on_arrival(&mut self, number: u32, arrived: u64) -> Settled {
        self.change(number, |entry| {
            entry.arrived = arrived;
            // Packets that needed no grant, or are not needed.
            entry.granted = entry.granted.max(arrived);
        })
    }

    /// Processes that a connection sends no packet from `end` on.
    pub fn on_stop(&mut self, number: u32, end: u64) -> Settled {
        self.change(number, |entry| {
            entry.target = entry.target.min(end);
            entry.granted = entry.granted.min(end);
        })
    }

    /// Changes an entry, and removes it if it has all that it asked for.
    fn change(&mut self, number: u32, change: impl FnOnce(&mut Entry)) -> Settled {
        let entry = &mut self.entries[number as usize];
        self.outstanding_bytes -= entry.outstanding_bytes();
        change(entry);
        self.outstanding_bytes += entry.outstanding_bytes();
        let (is_granted, is_done) = (
            entry.granted >= entry.target,
            entry.arrived >= entry.target.max(entry.granted),
        );
        let granted = (is_granted && entry.waits).then_some(entry.granted);
        if granted.is_some() {
            entry.waits = false;
            self.waiting.retain(|&other| other != number);
        }
        if is_done {
            self.free.push(number);
        }
        Settled { is_done, granted }
    }

    /// Takes the next grant, if one is waited for and fits the window.
    pub fn next_grant(&mut self) -> Option<Grant> {
        let number = *self.waiting.front()?;
        let entry = &mut self.entries[number as usize];
        let packets = entry.chunk.min(entry.target - entry.granted);
        let bytes = packets * entry.packet_bytes;
        if self.outstanding_bytes + bytes > self.window_bytes {
            return None;
        }
        self.outstanding_bytes += bytes;
        entry.granted += packets;
        entry.waits = entry.granted < entry.target;
        self.waiting.pop_front();
        if entry.waits {
            self.waiting.push_back(number);
        }
        Some(Grant {
            owner: entry.owner,
            granted: entry.granted,
        })
    }
}

/// Waits of messages for their first grant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waited {
    /// Number of messages.
    pub messages: u64,
    /// Sum of their waits, ps.
    pub total_ps: u64,
    /// Longest wait, ps.
    pub longest_ps: u64,
}

impl Waited {
    /// Adds the waits of other messages.
    pub fn add(&mut self, other: &Waited) {
        self.messages += other.messages;
        self.total_ps += other.total_ps;
        self.longest_ps = self.longest_ps.max(other.longest_ps);
    }
}

/// What one sender may send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admitted {
    /// Largest payload of a message that needs no request, bytes.
    eager_bytes: u64,
    /// Packets below may be sent.
    limit: u64,
    /// Packets of all messages.
    target: u64,
    /// First packet of each message that waits for its first grant, and the time of its writing, ps.
    waiting: VecDeque<(u64, u64)>,
    /// Time of the next request, ps; `u64::MAX` if none is due.
    request_ps: u64,
    doublings: u32,
    waited: Waited,
}

impl Admitted {
    /// Creates the state of a new connection whose messages of up to `eager_bytes` need no request.
    pub fn new(eager_bytes: u64) -> Self {
        Self {
            eager_bytes,
            limit: 0,
            target: 0,
            waiting: VecDeque::new(),
            request_ps: u64::MAX,
            doublings: 0,
            waited: Waited::default(),
        }
    }

    /// Adds a message of `bytes` of payload, after which the connection has `packets` packets.
    pub fn write(&mut self, now_ps: u64, bytes: u64, packets: u64) {
        let first = core::mem::replace(&mut self.target, packets);
        if bytes <= self.eager_bytes && self.limit == first {
            self.limit = packets;
        } else if packets > first {
            self.waiting.push_back((first, now_ps));
            self.request_ps = now_ps;
        }
    }

    /// Processes that the connection sends no packet from `end` on.
    pub fn stop(&mut self, end: u64) {
        self.target = self.target.min(end);
        self.limit = self.limit.min(end);
        self.waiting.retain(|&(first, _)| first < end);
        if self.limit >= self.target {
            self.request_ps = u64::MAX;
        }
    }

    /// Whether packet `number` may be sent for the first time.
    #[inline]
    pub fn allows(&self, number: u64) -> bool {
        number < self.limit
    }

    /// Time of the next request, ps; `u64::MAX` if none is due.
    pub fn request_ps(&self) -> u64 {
        self.request_ps
    }

    /// Takes a request whose time has come: the packets of all messages. It is repeated after `wait_ps`, and twice as
    /// long each time.
    pub fn take_request(&mut self, now_ps: u64, wait_ps: u64) -> Option<u64> {
        if self.request_ps > now_ps {
            return None;
        }
        self.request_ps = now_ps.saturating_add(wait_ps.saturating_mul(1 << self.doublings));
        self.doublings = (self.doublings + 1).min(MOST_DOUBLINGS);
        Some(self.target)
    }

    /// Processes a grant of the packets below `granted`. What is still missing is requested again after `wait_ps`
    /// without a further grant.
    pub fn on_grant(&mut self, now_ps: u64, granted: u64, wait_ps: u64) {
        let granted = granted.min(self.target);
        if granted <= self.limit {
            return; // a repeated or overtaken one
        }
        self.limit = granted;
        self.doublings = 1;
        self.request_ps = match granted < self.target {
            true => now_ps.saturating_add(wait_ps),
            false => u64::MAX,
        };
        while let Some(&(first, written_ps)) = self.waiting.front()
            && first < granted
        {
            self.waiting.pop_front();
            let wait_ps = now_ps - written_ps;
            self.waited.add(&Waited {
                messages: 1,
                total_ps: wait_ps,
                longest_ps: wait_ps,
            });
        }
    }

    /// Takes the waits that have ended since the last call.
    pub fn take_waited(&mut self) -> Waited {
        core::mem::take(&mut self.waited)
    }
}
