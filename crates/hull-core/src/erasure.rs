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

/// Erasure code: numbers of data and parity packets per group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErasureCode {
    /// Data packets per group.
    data: u8,
    /// Data and parity packets per group, at most 64.
    packets: u8,
}

impl ErasureCode {
    /// Creates a code with `data` and `parity` packets per group.
    ///
    /// # Panics
    /// Panics if a number is zero or a group has more than 64 packets.
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

    /// Number of groups of a transfer of `bytes` in packets with `mss_bytes` of payload.
    pub fn groups(&self, bytes: u64, mss_bytes: u32) -> u64 {
        bytes.div_ceil(u64::from(mss_bytes) * u64::from(self.data))
    }

    /// Number of packets in `groups` groups, parity included.
    pub fn packets(&self, groups: u64) -> u64 {
        groups * u64::from(self.packets)
    }

    /// Data packets per group.
    pub fn data(&self) -> u64 {
        u64::from(self.data)
    }

    /// Whether packet `number` is a parity packet.
    pub fn is_parity(&self, number: u64) -> bool {
        number % u64::from(self.packets) >= u64::from(self.data)
    }

    /// Group of packet `number`.
    pub fn group(&self, number: u64) -> u64 {
        number / u64::from(self.packets)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Group {
    /// Received packets of the group: bit i is packet i.
    arrived: u64,
    expires_ps: Option<u64>,
}

/// Receiver's state of the groups of one transfer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErasureReceiver {
    code: ErasureCode,
    wait_ps: u64,
    /// First incomplete group: all groups below it are complete.
    complete_below: u64,
    /// States of the groups from `complete_below` on.
    groups: VecDeque<Group>,
}

impl ErasureReceiver {
    /// Creates a receiver whose group timer expires after `wait_ps`.
    pub fn new(code: ErasureCode, wait_ps: u64) -> Self {
        Self {
            code,
            wait_ps,
            complete_below: 0,
            groups: VecDeque::new(),
        }
    }

    /// Processes packet `number`, which arrives at `now_ps`. Returns true if its group is complete,
    /// as the ACK reports.
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

    /// First incomplete group, as every ACK and NACK reports it. All groups below it are complete.
    pub fn complete_below(&self) -> u64 {
        self.complete_below
    }

    /// Time of the next timer expiry, ps.
    pub fn next_timer_ps(&self) -> Option<u64> {
        self.groups
            .iter()
            .filter_map(|group| group.expires_ps)
            .min()
    }

    /// Takes the first group whose timer has expired by `now_ps` and for which a NACK is due. Call
    /// it until it returns `None`.
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

/// Sender's state of the groups of one transfer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErasureSender {
    complete_below: u64,
    /// Completion of the groups from `complete_below` on.
    complete: VecDeque<bool>,
}

impl ErasureSender {
    /// Creates the state of a transfer without complete groups.
    pub fn new() -> Self {
        Self::default()
    }

    /// Processes an ACK or NACK: all groups below `complete_below` are complete, as is `group` if
    /// given.
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

    /// Whether `group` is complete, so that none of its packets is sent again.
    pub fn is_complete(&self, group: u64) -> bool {
        match group.checked_sub(self.complete_below) {
            None => true,
            Some(at) => self.complete.get(at as usize) == Some(&true),
        }
    }

    /// First group not known to be complete. All groups below it are complete.
    pub fn complete_below(&self) -> u64 {
        self.complete_below
    }
}
