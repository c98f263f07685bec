//! A port whose link is cut when one run is split over two threads (`simulation::split`): the queue
//! is on one side, what is in flight on the other. A FIFO port knows when a packet will arrive as
//! soon as it is queued, so it is handed over then. Times are ps, sizes bytes.
//!
//! Here the ring holds what is in flight to this side only, so the waiting packets, which the port
//! still has to count, are listed apart. Which side a packet is bound for is for the caller to say.

use std::collections::VecDeque;

use super::super::options::OptionTable;
use super::super::packet::Packet;
use super::super::ring::Scheduled;
use super::{Port, Verdict, feature};

/// What a cut link needs.
#[derive(Debug, Default)]
pub(super) struct Crossing {
    /// Starts and bytes of the packets waiting.
    departures: VecDeque<(u64, u16)>,
    /// Packets that went to the other side, modulo 2^32.
    pub(super) handed_over: u32,
}

impl Port {
    /// Cuts the link of this port, which must be a FIFO that decides everything on arrival.
    pub fn cut(&mut self) {
        self.features |= feature::CROSSING;
        self.extras.get_or_insert_default();
    }

    /// The way of a packet through a port that is cut or has rules.
    #[inline(never)]
    pub(super) fn enqueue_off_fast_path(
        &mut self,
        now_ps: u64,
        earliest_ps: u64,
        packet: &Packet,
        options: &mut OptionTable,
    ) -> Verdict {
        if self.has(feature::CROSSING) {
            self.enqueue_crossing(now_ps, earliest_ps, *packet, options)
        } else {
            self.enqueue_ruled(now_ps, earliest_ps, *packet, options)
        }
    }

    #[inline(always)]
    fn enqueue_crossing(
        &mut self,
        now_ps: u64,
        earliest_ps: u64,
        packet: Packet,
        options: &mut OptionTable,
    ) -> Verdict {
        let verdict = if self.has(feature::RULED) {
            self.enqueue_ruled(now_ps, earliest_ps, packet, options)
        } else {
            self.enqueue_plain(now_ps, earliest_ps, packet)
        };
        let Verdict::Accepted { start_ps, .. } = verdict else {
            return verdict;
        };
        if start_ps > now_ps
            && let Some(extras) = &mut self.extras
        {
            extras
                .crossing
                .departures
                .push_back((start_ps, packet.wire_bytes));
        }
        Verdict::Crosses
    }

    pub(super) fn advance_departures(&mut self, now_ps: u64) {
        let Some(extras) = &mut self.extras else {
            return;
        };
        while let Some(&(start_ps, bytes)) = extras.crossing.departures.front()
            && start_ps <= now_ps
        {
            extras.crossing.departures.pop_front();
            self.waiting -= 1;
            self.waiting_bytes -= u64::from(bytes);
            self.in_service_bytes = u32::from(bytes);
        }
    }

    /// The last packet in flight, which has just been accepted, and whether it is the only one.
    #[inline]
    pub fn last_in_flight(&self) -> (&Scheduled, bool) {
        let last = self.ring.len() - 1;
        (self.ring.get(last), last == 0)
    }

    /// Takes the last packet in flight off the link: it arrives on the other side of the cut.
    #[inline]
    pub fn hand_over(&mut self) -> Scheduled {
        if let Some(extras) = &mut self.extras {
            let crossing = &mut extras.crossing;
            crossing.handed_over = crossing.handed_over.wrapping_add(1);
        }
        self.ring.pop_last()
    }

    /// Takes over what is in flight on the other side, at the end of a run: only for the count.
    pub fn gather(&mut self, other: &mut Port) {
        while let Some(start_ps) = other.next_start_ps() {
            let packet = other.ring.pop();
            self.ring.push(Scheduled { start_ps, packet });
        }
    }

    /// A packet is handed over by the other side; true when the link needs an event.
    #[inline]
    pub fn land(&mut self, scheduled: Scheduled) -> bool {
        let first = self.ring.is_empty();
        self.ring.push(scheduled);
        first
    }
}
