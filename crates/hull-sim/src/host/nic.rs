//! A NIC's queue before a pacer: a port that hands a packet over when its transmission would start.
//! Times are ps.

use std::collections::VecDeque;

use crate::network::{OptionTable, Packet, Port, Verdict};

/// What became of a packet that was given to a NIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// It is handed over at once.
    Now(Packet),
    /// It waits, and is now the first: it will be handed over at this time, ps.
    First(u64),
    /// It waits behind others.
    Behind,
    /// There was no room.
    Dropped(Packet),
}

/// The queue.
#[derive(Debug)]
pub struct Nic {
    port: Port,
    /// Packets that wait, with the times at which they are handed over, ps.
    waiting: VecDeque<(u64, Packet)>,
}

impl Nic {
    /// An empty queue that decides as `port`, a FIFO.
    pub fn new(port: Port) -> Self {
        Nic {
            port,
            waiting: VecDeque::new(),
        }
    }

    /// Takes a packet.
    #[inline]
    pub fn enqueue(&mut self, now_ps: u64, mut packet: Packet, options: &mut OptionTable) -> Entry {
        match self.port.enqueue(now_ps, now_ps, &mut packet, options) {
            Verdict::Accepted { start_ps, .. } if start_ps == now_ps => Entry::Now(packet),
            Verdict::Accepted { start_ps, .. } => {
                let first = self.waiting.is_empty();
                self.waiting.push_back((start_ps, packet));
                if first {
                    Entry::First(start_ps)
                } else {
                    Entry::Behind
                }
            }
            Verdict::Queued { .. } | Verdict::Held { .. } | Verdict::HandedOver => {
                unreachable!("a NIC has one class and no link")
            }
            Verdict::Dropped => Entry::Dropped(packet),
        }
    }

    /// Hands the first packet over, and says when the next one will be.
    #[inline]
    pub fn take_head(&mut self) -> Option<(Packet, Option<u64>)> {
        let (_, packet) = self.waiting.pop_front()?;
        Some((packet, self.waiting.front().map(|&(start_ps, _)| start_ps)))
    }

    /// The link's rate, bit/s.
    pub fn rate_bps(&self) -> f64 {
        self.port.rate_bps()
    }

    /// Packets dropped here.
    pub fn drops(&self) -> u64 {
        self.port.drops
    }

    /// Packets that wait.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}
