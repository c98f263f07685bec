//! Erasure coding by groups: a group of data and parity packets is complete when as many of its packets
//! have arrived as it has data packets.
//!
//! Source: T. Bonato et al., "Uno" (SC'25, arXiv 2510.15802), as in the authors' simulator (Uno_SC25,
//! commit 68d164e, `lcp.cpp`). Published: 8 data and 2 parity packets; the receiver waits 5 times the
//! drain time of a full queue inside a data centre, 8 times between two.
//!
//! Packets are numbered consecutively, parity included, and a transfer is padded to whole groups. The
//! receiver starts a group's timer with the group's first packet. If the timer expires while packets
//! are missing, a NACK requests the group; the group's next packet restarts the timer. The sender
//! retransmits the unacknowledged packets of that group, and none of a complete group. The transfer
//! ends when all groups are complete.
//!
//! Difference: there a periodic scan finds expired timers; here they expire exactly.
//!
//! Units: packets, picoseconds. The code itself and its computation time are not modelled.

use alloc::collections::VecDeque;

/// The code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErasureCode {
    /// Data packets of a group.
    data: u8,
    /// All its packets, at most 64.
    packets: u8,
}

impl ErasureCode {
    /// Groups of `data` and `parity` packets.
    ///
    /// # Panics
    /// When a number is zero or a group has more than 64 packets.
    pub fn new(data: u8, parity: u8) -> Self {
        assert!(data > 0, "data must be above zero");
        assert!(parity > 0, "parity must be above zero");
        let packets = u16::from(data) + u16::from(parity);
        assert!(packets <= 64, "a group must have at most 64 packets");
        Self {
            data,
            packets: packets as u8,
        }
    }

    /// Groups of a transfer of `bytes` in packets with `mss_bytes` of payload.
    pub fn groups(&self, bytes: u64, mss_bytes: u32) -> u64 {
        bytes.div_ceil(u64::from(mss_bytes) * u64::from(self.data))
    }

    /// Packets of that many groups.
    pub fn packets(&self, groups: u64) -> u64 {
        groups * u64::from(self.packets)
    }

    /// Data packets of a group.
    pub fn data(&self) -> u64 {
        u64::from(self.data)
    }

    /// Whether packet `number` is parity.
    pub fn is_parity(&self, number: u64) -> bool {
        number % u64::from(self.packets) >= u64::from(self.data)
    }

    /// The group of packet `number`.
    pub fn group(&self, number: u64) -> u64 {
        number / u64::from(self.packets)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Group {
    /// Bit i: its packet i has arrived.
    arrived: u64,
    expires_ps: Option<u64>,
}

/// The groups at the receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErasureReceiver {
    code: ErasureCode,
    wait_ps: u64,
    /// Groups below this are complete.
    complete_below: u64,
    /// From there on.
    groups: VecDeque<Group>,
}

impl ErasureReceiver {
    /// A receiver that waits `wait_ps` for the packets of a group.
    pub fn new(code: ErasureCode, wait_ps: u64) -> Self {
        Self {
            code,
            wait_ps,
            complete_below: 0,
            groups: VecDeque::new(),
        }
    }

    /// Packet `number` arrives at `now_ps`; returns true when its group is complete, which the ACK says.
    pub fn on_packet(&mut self, number: u64, now_ps: u64) -> bool {
        let group = self.code.group(number);
        let Some(at) = group.checked_sub(self.complete_below) else {
            return true;
        };
        let at = at as usize;
        if at >= self.groups.len() {
            self.groups.resize(at + 1, Group::default());
        }
        let entry = &mut self.groups[at];
        entry.arrived |= 1 << (number % u64::from(self.code.packets));
        let complete = is_complete(&self.code, entry);
        if complete {
            entry.expires_ps = None;
        } else if entry.expires_ps.is_none() {
            entry.expires_ps = Some(now_ps + self.wait_ps);
        }
        while self
            .groups
            .front()
            .is_some_and(|first| is_complete(&self.code, first))
        {
            self.groups.pop_front();
            self.complete_below += 1;
        }
        complete
    }

    /// All groups below this are complete, which every ACK and NACK says.
    pub fn complete_below(&self) -> u64 {
        self.complete_below
    }

    /// When the next timer runs out.
    pub fn next_timer_ps(&self) -> Option<u64> {
        self.groups
            .iter()
            .filter_map(|group| group.expires_ps)
            .min()
    }

    /// A group whose timer has run out at `now_ps`, the first of them, for which a NACK is due. Call it until it
    /// returns `None`.
    pub fn take_expired(&mut self, now_ps: u64) -> Option<u64> {
        let expired = |group: &Group| group.expires_ps.is_some_and(|at_ps| at_ps <= now_ps);
        let at = self.groups.iter().position(expired)?;
        self.groups[at].expires_ps = None;
        Some(self.complete_below + at as u64)
    }
}

fn is_complete(code: &ErasureCode, group: &Group) -> bool {
    group.arrived.count_ones() >= u32::from(code.data)
}

/// The groups as the sender knows them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErasureSender {
    complete_below: u64,
    /// From there on.
    complete: VecDeque<bool>,
}

impl ErasureSender {
    /// No group is complete.
    pub fn new() -> Self {
        Self::default()
    }

    /// An ACK or NACK arrives: all groups below `complete_below` are complete, and `group` where it says so.
    pub fn on_answer(&mut self, complete_below: u64, group: Option<u64>) {
        if let Some(at) = group.and_then(|group| group.checked_sub(self.complete_below)) {
            let at = at as usize;
            if at >= self.complete.len() {
                self.complete.resize(at + 1, false);
            }
            self.complete[at] = true;
        }
        while self.complete_below < complete_below || self.complete.front() == Some(&true) {
            self.complete.pop_front();
            self.complete_below += 1;
        }
    }

    /// Whether `group` is complete: nothing of it is to be sent again.
    pub fn is_complete(&self, group: u64) -> bool {
        match group.checked_sub(self.complete_below) {
            None => true,
            Some(at) => self.complete.get(at as usize) == Some(&true),
        }
    }

    /// All groups below this are complete.
    pub fn complete_below(&self) -> u64 {
        self.complete_below
    }
}
