//! RCCC: receiver credit of Ultra Ethernet's transport. A receiver pulls from its senders in turn, just
//! below its link's rate.
//!
//! Source: the simulator uet-htsim (commit 40ccb05), files `uec.cpp` and `oversubscribed_cc.cpp`.
//!
//! Credit is counted in quanta of 256 bytes from the start of the connection. Each data packet carries
//! its sender's pull target. The receiver serves senders with demand in turn. Each turn grants 64
//! quanta (4 payloads of 4096 bytes, whatever the actual payload), but not beyond the target, and lasts
//! as long as these quanta take at 0.99 of the link's rate. A pull without credit lasts as long as 4
//! quanta. If no sender has demand, senders with past demand get 64 quanta in turn beyond their target,
//! each up to a largest window ahead.
//!
//! A sender starts with a largest window of ungranted credit; the first ACK, NACK or pull revokes the
//! rest. A packet may be sent while any credit is left, and may take it below zero.
//!
//! [`Oversubscription`] slows the pulls if the fabric is narrower than its hosts' links.
//!
//! Difference: in the reference, a sender that finishes while it waits for credit in advance waits
//! twice; here once.
//!
//! Units: quanta of 256 bytes, bytes, picoseconds; times are rounded down as in the reference.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// Bytes of a quantum.
pub const QUANTUM_BYTES: u64 = 256;
/// The pull number of a new connection: far enough from zero for targets below it.
const START: u64 = 1 << 32;
/// Quanta whose time passes after a pull without credit.
const EMPTY_PULL: u64 = 4;
/// Quanta that a pull grants: the reference computes them before it knows its payload.
const QUANTA_PER_PULL: u64 = 64;
/// Pull rate over the link's rate, in hundredths.
const RATE_PCT: u64 = 99;

/// Settings of a [`PullPacer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PullConfig {
    /// Rate of the receiver's link, bit/s.
    pub link_bps: u64,
    /// Largest window of its senders, bytes: how far credit goes in advance.
    pub max_window_bytes: u64,
}

/// A pull that is to be sent now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pull {
    /// The sender that it goes to.
    pub sender: u32,
    /// The credit since the start of the connection that it reports, quanta.
    pub pulled: u64,
    /// Time until the next pull may be sent, ps.
    pub gap_ps: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sender {
    target: u64,
    pulled: u64,
    /// In the queue of those with demand.
    active: bool,
    /// In the queue of those that get credit in advance.
    idle: bool,
}

/// The credit that one receiver gives to its senders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullPacer {
    max_advance: u64,
    /// Time of a quantum at the full pull rate.
    quantum_ps: u64,
    /// And at the present one.
    paced_quantum_ps: u64,
    senders: Vec<Sender>,
    /// Numbers that may be given again.
    free: Vec<u32>,
    active: VecDeque<u32>,
    idle: VecDeque<u32>,
}

impl PullPacer {
    /// A receiver without senders.
    ///
    /// # Panics
    /// When the rate is zero.
    pub fn new(config: &PullConfig) -> Self {
        assert!(config.link_bps > 0, "link_bps must be above zero");
        let bit_ps = u128::from(8 * QUANTUM_BYTES) * 1_000_000_000_000 * 100;
        let quantum_ps = bit_ps / (u128::from(config.link_bps) * u128::from(RATE_PCT));
        let quantum_ps = (quantum_ps as u64).max(1);
        Self {
            max_advance: config.max_window_bytes / QUANTUM_BYTES,
            quantum_ps,
            paced_quantum_ps: quantum_ps,
            senders: Vec::new(),
            free: Vec::new(),
            active: VecDeque::new(),
            idle: VecDeque::new(),
        }
    }

    /// A new connection: the number by which its sender is called from now on.
    pub fn add_sender(&mut self) -> u32 {
        let sender = Sender {
            target: 0,
            pulled: START,
            active: false,
            idle: false,
        };
        if let Some(number) = self.free.pop() {
            self.senders[number as usize] = sender;
            return number;
        }
        self.senders.push(sender);
        self.senders.len() as u32 - 1
    }

    /// The connection of a sender is over: it gets no more credit, and its number may be given again.
    pub fn remove_sender(&mut self, sender: u32) {
        self.active.retain(|&other| other != sender);
        self.idle.retain(|&other| other != sender);
        self.free.push(sender);
    }

    /// A data packet or a request to send with this pull target arrives. A higher one than before is demand.
    pub fn on_target(&mut self, sender: u32, target: u64) {
        let entry = &mut self.senders[sender as usize];
        if target > entry.target {
            entry.target = target;
            self.request(sender);
        }
    }

    /// A trimmed packet or a request to send: the sender takes a turn whatever its target is.
    pub fn request(&mut self, sender: u32) {
        let entry = &mut self.senders[sender as usize];
        if !entry.active {
            entry.active = true;
            self.active.push_back(sender);
        }
    }

    /// Sets the pull rate as a share of the full one: above 0, at most 1.
    pub fn set_rate(&mut self, share: f64) {
        self.paced_quantum_ps = (self.quantum_ps as f64 / share) as u64;
    }

    /// The next pull, when one is to be sent.
    pub fn next_pull(&mut self) -> Option<Pull> {
        let (sender, credit) = if let Some(sender) = self.active.pop_front() {
            (sender, self.grant(sender))
        } else {
            let sender = self.idle.pop_front()?;
            (sender, self.advance(sender))
        };
        let quanta = if credit > 0 { credit } else { EMPTY_PULL };
        Some(Pull {
            sender,
            pulled: self.senders[sender as usize].pulled,
            gap_ps: self.paced_quantum_ps * quanta,
        })
    }

    /// The turn of a sender with demand; returns its credit.
    fn grant(&mut self, sender: u32) -> u64 {
        let entry = &mut self.senders[sender as usize];
        let wanted = entry.target.saturating_sub(entry.pulled);
        let credit = wanted.min(QUANTA_PER_PULL);
        entry.pulled += credit;
        if wanted > credit {
            self.active.push_back(sender);
        } else {
            entry.active = false;
            if !entry.idle {
                entry.idle = true;
                self.idle.push_back(sender);
            }
        }
        credit
    }

    /// The turn of a sender without demand.
    fn advance(&mut self, sender: u32) -> u64 {
        let entry = &mut self.senders[sender as usize];
        entry.pulled += QUANTA_PER_PULL;
        // Credit in advance may still be short of a target that a new packet brought.
        let ahead = entry.pulled >= entry.target && entry.pulled - entry.target < self.max_advance;
        if ahead {
            self.idle.push_back(sender);
        } else {
            entry.idle = false;
        }
        QUANTA_PER_PULL
    }
}

/// What a sender's pull target depends on, after the packet that carries it is paid for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    /// Bytes that wait to be sent, those to be sent again among them.
    pub backlog_bytes: u64,
    /// With sender control too: its window, bytes.
    pub window_bytes: Option<u64>,
    /// Connections of this host that have something to send.
    pub active_connections: u32,
}

/// A sender's credit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credit {
    bytes: i64,
    pulled: u64,
    max_window_bytes: i64,
    mtu_bytes: i64,
    /// The credit is the one that no receiver granted.
    unsolicited: bool,
}

impl Credit {
    /// A new connection with a largest window of credit.
    pub fn new(max_window_bytes: u64, mtu_bytes: u32) -> Self {
        let max_window_bytes = max_window_bytes as i64;
        Self {
            bytes: max_window_bytes,
            pulled: START,
            max_window_bytes,
            mtu_bytes: i64::from(mtu_bytes),
            unsolicited: true,
        }
    }

    /// Whether a packet may be sent.
    pub fn allows(&self) -> bool {
        self.bytes > 0
    }

    /// The credit, bytes.
    pub fn bytes(&self) -> i64 {
        self.bytes
    }

    /// A packet of `bytes` is sent.
    pub fn spend(&mut self, bytes: u32) {
        self.bytes -= i64::from(bytes);
    }

    /// The receiver was heard: an ACK or a NACK arrives.
    pub fn on_answer(&mut self) {
        if self.unsolicited {
            self.unsolicited = false;
            self.bytes = self.bytes.min(0);
        }
    }

    /// A pull arrives that reports `pulled` quanta.
    pub fn on_pull(&mut self, pulled: u64) {
        self.on_answer();
        if pulled > self.pulled {
            let granted = (pulled - self.pulled) * QUANTUM_BYTES;
            self.bytes = (self.bytes + granted as i64).min(self.max_window_bytes);
            self.pulled = pulled;
        }
    }

    /// The pull target, quanta: the backlog, at most the window and a packet and at most the largest window,
    /// less the credit, shared among the host's connections.
    pub fn target(&self, demand: &Demand) -> u64 {
        let backlog = demand.backlog_bytes as i64;
        let mut wanted = backlog.min(self.max_window_bytes);
        if let Some(window_bytes) = demand.window_bytes {
            wanted = wanted.min(window_bytes as i64 + self.mtu_bytes);
        }
        wanted -= self.bytes;
        if self.unsolicited && backlog > 0 {
            // Short transfers, too, are pulled by a packet.
            wanted = wanted.max(self.mtu_bytes);
        }
        wanted /= i64::from(demand.active_connections.max(1));
        let target = self.pulled as i64 * QUANTUM_BYTES as i64 + wanted;
        (target as u64).div_ceil(QUANTUM_BYTES)
    }
}

/// Mark share above which the pull rate falls.
const TARGET_MARKS: f64 = 0.3;
/// Gain of the smoothed mark share.
const MARK_GAIN: f64 = 0.5;
/// How strongly its excess cuts the rate.
const MARK_DECREASE: f64 = 0.5;
/// Increase of a quiet interval.
const INCREASE: f64 = 0.01;
/// The lowest rate of any network.
const MIN_RATE: f64 = 0.01;
/// The lowest rate is at least this share of what the fabric gives each host.
const LEAST_SHARE: f64 = 0.9;

/// Adapts the pull rate to an oversubscribed fabric, from what one receiver sees in an interval.
///
/// The rate r falls by the share of packets that were trimmed before the last hop, and by
/// `r (g - 0.3) 0.5` when the smoothed mark share g exceeds 0.3. Otherwise it rises by 0.01; without any
/// mark in the interval by `0.01 * 2^n` after n intervals in a row in which it rose. It stays between 0.9
/// over the oversubscription, at least 0.01, and 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Oversubscription {
    least_rate: f64,
    rate: f64,
    mark_share: f64,
    rises: u32,
    packets: u64,
    marked: u64,
    trimmed: u64,
    trimmed_last_hop: u64,
}

impl Oversubscription {
    /// The full rate, in a fabric whose hosts' links are `ratio` times as wide as it is: 1 or more.
    pub fn new(ratio: f64) -> Self {
        Self {
            least_rate: (LEAST_SHARE / ratio).max(MIN_RATE),
            rate: 1.0,
            mark_share: 0.0,
            rises: 0,
            packets: 0,
            marked: 0,
            trimmed: 0,
            trimmed_last_hop: 0,
        }
    }

    /// A data packet arrives whole.
    pub fn on_packet(&mut self, marked: bool) {
        self.packets += 1;
        self.marked += u64::from(marked);
    }

    /// The header of a trimmed packet arrives.
    pub fn on_trimmed(&mut self, at_last_hop: bool) {
        self.packets += 1;
        if at_last_hop {
            self.trimmed_last_hop += 1;
        } else {
            self.trimmed += 1;
        }
    }

    /// The interval ends: the rate for [`PullPacer::set_rate`].
    pub fn end_interval(&mut self) -> f64 {
        let whole = self.packets - self.trimmed - self.trimmed_last_hop;
        let share = if whole > 0 {
            self.marked as f64 / whole as f64
        } else {
            0.0
        };
        let mut fell = false;
        if self.trimmed > 0 {
            self.rate -= self.trimmed as f64 / self.packets as f64;
            fell = true;
        }
        self.mark_share = self.mark_share * (1.0 - MARK_GAIN) + MARK_GAIN * share;
        if self.mark_share > TARGET_MARKS {
            self.rate *= 1.0 - (self.mark_share - TARGET_MARKS) * MARK_DECREASE;
            fell = true;
        }
        if fell {
            self.rises = 0;
        } else {
            let doublings = if self.marked == 0 {
                self.rises.min(32)
            } else {
                0
            };
            self.rate += INCREASE * (1_u64 << doublings) as f64;
            self.rises += 1;
        }
        self.rate = self.rate.max(self.least_rate).min(1.0);
        (self.packets, self.marked) = (0, 0);
        (self.trimmed, self.trimmed_last_hop) = (0, 0);
        self.rate
    }

    /// Length of the next interval for a round trip of `rtt_ps`: 1.125 to 1.875 of it, uniform, so that
    /// receivers do not act together; `random` is 32 uniform bits.
    pub fn interval_ps(rtt_ps: u64, random: u32) -> u64 {
        let least = u128::from(rtt_ps) * 9 / 8;
        let spread = (u128::from(rtt_ps) * 3 / 4 * u128::from(random)) >> 32;
        (least + spread) as u64
    }
}
