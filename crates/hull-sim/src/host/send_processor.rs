//! The sending side of a host: one processor with a cost per packet that the stack hands to the NIC,
//! single or a large piece, and per packet on the wire (paper 4.1, remark 3: without segmentation
//! offload the sender's processor is saturated).
//!
//! The processor works on one piece at a time, in order. The NIC gets a piece when all of it is done.
//! Receiving has a processor of its own ([`ReceivePath`](super::ReceivePath)). Times are ps.

use std::collections::VecDeque;

use crate::network::Packet;

/// Settings of a [`SendProcessor`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendConfig {
    /// Processor time of a packet, or of a large piece, ps.
    pub packet_ps: u64,
    /// Additional processor time of each packet on the wire, ps.
    pub frame_ps: u64,
}

/// Piece that the processor works on, or that waits for it.
#[derive(Debug)]
struct Piece {
    /// Time at which all of it is done, ps.
    done_ps: u64,
    packets: u32,
}

/// Send side of one host.
#[derive(Debug)]
pub struct SendProcessor {
    config: SendConfig,
    packets: VecDeque<Packet>,
    pieces: VecDeque<Piece>,
    /// Time at which all work is done, ps.
    free_ps: u64,
    /// Processor time of all work so far, done or not, ps.
    work_ps: u64,
    /// Time of the next call in the event queue, ps; `u64::MAX` if none. Maintained by the
    /// simulation.
    pub event_ps: u64,
}

impl SendProcessor {
    /// Creates an idle processor.
    pub fn new(config: SendConfig) -> Self {
        SendProcessor {
            config,
            packets: VecDeque::new(),
            pieces: VecDeque::new(),
            free_ps: 0,
            work_ps: 0,
            event_ps: u64::MAX,
        }
    }

    /// Adds a packet from the stack; `behind`: a further one of the piece that was added last, at the
    /// same time.
    pub fn add(&mut self, now_ps: u64, packet: Packet, behind: bool) {
        self.packets.push_back(packet);
        let mut cost_ps = self.config.frame_ps;
        if !behind {
            cost_ps += self.config.packet_ps;
            self.pieces.push_back(Piece {
                done_ps: 0,
                packets: 0,
            });
        }
        self.work_ps += cost_ps;
        self.free_ps = self.free_ps.max(now_ps) + cost_ps;
        if let Some(piece) = self.pieces.back_mut() {
            piece.done_ps = self.free_ps;
            piece.packets += 1;
        }
    }

    /// Takes a packet of a piece that is done at `now_ps`; call until it returns `None`.
    pub fn take(&mut self, now_ps: u64) -> Option<Packet> {
        let piece = self.pieces.front_mut()?;
        if piece.done_ps > now_ps {
            return None;
        }
        piece.packets -= 1;
        if piece.packets == 0 {
            self.pieces.pop_front();
        }
        self.packets.pop_front()
    }

    /// Time at which the first piece is done, ps.
    pub fn next_ps(&self) -> Option<u64> {
        self.pieces.front().map(|piece| piece.done_ps)
    }

    /// Processor time used until `now_ps`, ps.
    pub fn busy_ps(&self, now_ps: u64) -> u64 {
        self.work_ps - self.free_ps.saturating_sub(now_ps)
    }

    /// Number of packets that are not done.
    pub fn len(&self) -> usize {
        self.packets.len()
    }

    /// Whether the processor is idle.
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }
}
