//! The receiving side of a host: interrupt coalescing with `ethtool`'s settings (`rx-frames`,
//! `rx-usecs`, adaptive), receive offload, and one processor with a cost per interrupt and per packet
//! (paper 4.2 and table 2, thesis 4.3.1). A packet that finds its ring full is dropped (paper 6.1, remark
//! 5: the receiver's NIC cannot keep up with small packets), unless its class is lossless: then the NIC asks
//! its switch to pause while more packets wait than a threshold (`network::pause`).
//!
//! An interrupt is raised when `frames` packets wait or the first has waited `wait_ps`. The processor
//! then takes packets until none is left, without further interrupts (NAPI). Unmasked: interrupts
//! continue while it works, and it takes the packets that they announced; a later packet waits for its
//! own interrupt. Adaptive: the wait applies only while packets arrive faster, on average, than one per
//! wait; a lone packet interrupts at once. Times are ps.

use std::collections::VecDeque;

use crate::network::{NO_OPTIONS, Packet, flags};

/// Thresholds of a ring whose NIC asks for pauses, packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingLimits {
    /// Packets above which the switch must pause; packets of lossy classes find no room from here on.
    pub xoff: usize,
    /// Packets up to which it may then resume.
    pub xon: usize,
    /// Lossless classes, a bit each.
    pub lossless: u8,
}

/// Settings of a [`ReceivePath`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiveConfig {
    /// Number of waiting packets that raises an interrupt (rx-frames).
    pub frames: u32,
    /// Number of packets that may wait for the processor.
    pub ring: usize,
    /// Thresholds of pauses; `None` if the NIC asks for none.
    pub limits: Option<RingLimits>,
    /// Longest wait of a packet for an interrupt, ps (rx-usecs).
    pub wait_ps: u64,
    /// Whether the wait adapts to the arrival rate.
    pub adaptive: bool,
    /// Largest packet that receive offload assembles, bytes; 0 without.
    pub join_bytes: u32,
    /// Header of a data packet, bytes.
    pub header_bytes: u32,
    /// Processor time of an interrupt, ps.
    pub interrupt_ps: u64,
    /// Processor time per packet, or per group of joined packets, ps.
    pub packet_ps: u64,
    /// Additional processor time per received packet, joined or not, ps.
    pub frame_ps: u64,
    /// Whether interrupts are raised while the processor works.
    pub unmasked: bool,
}

/// Received packets as the stack sees them: one packet, or several joined to a large one.
#[derive(Clone, Copy, Debug)]
pub struct Received {
    /// The packet; of joined packets the first one, with the bytes of all.
    pub packet: Packet,
    /// Number of joined packets.
    pub count: u32,
}

/// Receive side of one host.
#[derive(Debug)]
pub struct ReceivePath {
    config: ReceiveConfig,
    ring: VecDeque<Packet>,
    /// Time of the next call in the event queue, ps; `u64::MAX` if none. Maintained by the
    /// simulation.
    pub event_ps: u64,
    polling: bool,
    /// Whether the switch has been asked to pause.
    pauses: bool,
    /// Unmasked: number of packets at the head of the ring that an interrupt has announced, arrival
    /// time of the first of the others, and interrupt time that the processor has not yet spent.
    announced: usize,
    first_ps: u64,
    pending_ps: u64,
    /// Packet that the processor works on.
    in_hand: Option<Received>,
    /// Smoothed time between packets and time of the last arrival, ps.
    gap_ps: u64,
    last_ps: u64,
    /// Number of packets that found the ring full.
    pub drops: u64,
    /// Number of interrupts.
    pub interrupts: u64,
    /// Processor time used, ps.
    pub busy_ps: u64,
}

impl ReceivePath {
    /// Creates an idle receive path.
    pub fn new(config: ReceiveConfig) -> Self {
        ReceivePath {
            config,
            ring: VecDeque::new(),
            event_ps: u64::MAX,
            polling: false,
            pauses: false,
            announced: 0,
            first_ps: 0,
            pending_ps: 0,
            in_hand: None,
            gap_ps: u64::MAX / 16,
            last_ps: 0,
            drops: 0,
            interrupts: 0,
            busy_ps: 0,
        }
    }

    /// Whether a packet of a class finds no room.
    #[inline]
    pub fn is_full(&self, class: usize) -> bool {
        let room = match self.config.limits {
            Some(limits) if limits.lossless >> class & 1 == 0 => limits.xoff,
            Some(_) | None => self.config.ring,
        };
        self.ring.len() >= room
    }

    /// Whether the switch must pause now.
    #[inline]
    pub fn must_pause(&mut self) -> bool {
        let over = |limits: RingLimits| self.ring.len() > limits.xoff;
        let must = self.config.limits.is_some_and(over);
        self.pauses |= must;
        must
    }

    /// Whether the switch that has been paused may resume now; then this is told once.
    #[inline]
    pub fn may_resume(&mut self) -> bool {
        let low = |limits: RingLimits| self.ring.len() <= limits.xon;
        let may = self.pauses && self.config.limits.is_some_and(low);
        self.pauses &= !may;
        may
    }

    /// Whether the ring has a limit.
    pub fn has_limit(&self) -> bool {
        self.config.ring < usize::MAX
    }

    /// Adds a packet from the wire. Returns the time of the next call to [`Self::serve`], if it is
    /// new or earlier than before.
    pub fn arrive(&mut self, now_ps: u64, packet: Packet) -> Option<u64> {
        let gap_ps = now_ps - self.last_ps;
        self.last_ps = now_ps;
        self.gap_ps = self.gap_ps - self.gap_ps / 8 + gap_ps / 8;
        if self.ring.len() == self.announced {
            self.first_ps = now_ps;
        }
        self.ring.push_back(packet);
        if self.polling && !self.config.unmasked {
            return None;
        }
        let waits = !self.config.adaptive || self.gap_ps < self.config.wait_ps;
        let waiting = self.ring.len() - self.announced;
        let at_ps = if waiting >= self.config.frames as usize || !waits {
            now_ps
        } else {
            now_ps + self.config.wait_ps
        };
        if self.polling {
            if at_ps == now_ps {
                self.announce();
            }
            return None;
        }
        (at_ps < self.event_ps).then_some(at_ps)
    }

    /// Raises an interrupt for all packets in the ring.
    fn announce(&mut self) {
        self.interrupts += 1;
        self.pending_ps += self.config.interrupt_ps;
        self.announced = self.ring.len();
    }

    /// Processes an interrupt, or the end of the processor's work on a packet. Returns the packet
    /// that the stack receives now and the time of the next call, ps. The work is done when both
    /// are `None`.
    pub fn serve(&mut self, now_ps: u64) -> (Option<Received>, Option<u64>) {
        let due = self.ring.len() > self.announced && now_ps >= self.first_ps + self.config.wait_ps;
        if !self.polling || (self.config.unmasked && due) {
            self.polling = true;
            self.announce();
        } else if !self.config.unmasked {
            self.announced = self.ring.len();
        }
        let done = self.in_hand.take();
        self.in_hand = self.take();
        let Some(taken) = self.in_hand else {
            self.polling = false;
            let next = (!self.ring.is_empty()).then_some(self.first_ps + self.config.wait_ps);
            return (done, next);
        };
        let mut cost_ps = std::mem::take(&mut self.pending_ps);
        cost_ps += self.config.packet_ps + u64::from(taken.count) * self.config.frame_ps;
        self.busy_ps += cost_ps;
        (done, Some(now_ps + cost_ps))
    }

    /// Takes the next packet from the ring, joined with those that continue it.
    fn take(&mut self) -> Option<Received> {
        if self.announced == 0 {
            return None;
        }
        let mut packet = self.ring.pop_front()?;
        let mut count = 1;
        // Only plain data is joined; packets with an ACK, a SYN or options are handed over
        // individually.
        while packet.options == NO_OPTIONS
            && packet.flags & (flags::DATA | flags::ACK | flags::SYN) == flags::DATA
            && (count as usize) < self.announced
            && let Some(next) = self.ring.front()
        {
            let payload = u32::from(packet.wire_bytes) - self.config.header_bytes;
            let joined = u32::from(packet.wire_bytes) + u32::from(next.wire_bytes)
                - self.config.header_bytes;
            let continues = next.flow == packet.flow
                && next.options == NO_OPTIONS
                && (next.flags ^ packet.flags) & !(flags::BEHIND | flags::LAST) == 0
                && next.seq == packet.seq.wrapping_add(payload)
                && joined <= self.config.join_bytes.min(u32::from(u16::MAX));
            if !continues {
                break;
            }
            packet.wire_bytes = joined as u16;
            packet.flags |= next.flags & flags::LAST;
            self.ring.pop_front();
            count += 1;
        }
        self.announced -= count as usize;
        Some(Received { packet, count })
    }

    /// Number of packets in the ring and in the processor.
    pub fn backlog(&self) -> usize {
        self.ring.len() + self.in_hand.map_or(0, |received| received.count as usize)
    }
}
