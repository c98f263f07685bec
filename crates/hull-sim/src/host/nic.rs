//! A NIC's queue before a pacer: a port that hands a packet over when its transmission would start.
//! Times are ps.

use std::collections::VecDeque;

use crate::network::{Network, OptionTable, Packet, Port, Verdict};

/// Result of passing a packet to a NIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// The packet is handed over at once.
    Now,
    /// The packet waits at the head of the queue and will be handed over at this time, ps.
    First(u64),
    /// The packet waits behind others.
    Behind,
    /// The queue was full.
    Dropped,
}

/// Queue of a NIC.
#[derive(Debug)]
pub struct Nic {
    port: Port,
    /// Waiting packets with the times at which they are handed over, ps.
    waiting: VecDeque<(u64, Packet)>,
}

impl Nic {
    /// Creates an empty queue that admits packets like `port`, which must be a FIFO.
    pub fn new(port: Port) -> Self {
        Nic {
            port,
            waiting: VecDeque::new(),
        }
    }

    /// Offers a packet to the queue.
    #[inline]
    pub fn enqueue(
        &mut self,
        now_ps: u64,
        packet: &mut Packet,
        options: &mut OptionTable,
    ) -> Entry {
        let start_ps = self.port.busy_until_ps().max(now_ps);
        let fast = (self.port).enqueue_fast(now_ps, now_ps, packet, Network::MOST_AHEAD, options);
        if fast.is_none() {
            match self.port.enqueue(now_ps, now_ps, packet, options) {
                Verdict::Accepted { .. } => {}
                Verdict::Queued { .. } | Verdict::Held { .. } | Verdict::HandedOver => {
                    unreachable!("a NIC has one class and no link")
                }
                Verdict::Dropped => return Entry::Dropped,
            }
        }
        if start_ps == now_ps {
            return Entry::Now;
        }
        let first = self.waiting.is_empty();
        self.waiting.push_back((start_ps, *packet));
        if first {
            Entry::First(start_ps)
        } else {
            Entry::Behind
        }
    }

    /// Takes the first packet. Returns it with the time at which the next one is handed over, ps.
    #[inline]
    pub fn take_head(&mut self) -> Option<(Packet, Option<u64>)> {
        let (_, packet) = self.waiting.pop_front()?;
        Some((packet, self.waiting.front().map(|&(start_ps, _)| start_ps)))
    }

    /// Rate of the link, bit/s.
    pub fn rate_bps(&self) -> f64 {
        self.port.rate_bps()
    }

    /// Number of packets dropped by this NIC.
    pub fn drops(&self) -> u64 {
        self.port.drops
    }

    /// Number of waiting packets.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether no packet waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}
