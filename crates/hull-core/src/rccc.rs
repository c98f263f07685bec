//! RCCC: receiver credit of Ultra Ethernet's transport. A receiver pulls from its senders in turn, just
//! below its link's rate.
//!
//! Source: the simulator uet-htsim (commit 40ccb05), files `uec.cpp` and `oversubscribed_cc.cpp`.
//!
//! Credit is counted in quanta of 256 bytes from the start of the connection. Each data packet carries
//! its sender's pull target. The receiver serves senders with demand in turn. Each turn grants 64
//! quanta (4 payloads of 4096 bytes, for any actual payload), but not beyond the target, and lasts as
//! long as these quanta take at 0.99 of the link's rate. A pull without credit lasts as long as 4
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

/// Size of a quantum, bytes.
pub const QUANTUM_BYTES: u64 = 256;
/// Initial pull number of a connection, quanta. It is large enough for targets below it.
const START: u64 = 1 << 32;
/// Length of a pull without credit, quanta.
const EMPTY_PULL: u64 = 4;
/// Quanta granted per pull. The reference computes this number before it knows its payload.
const QUANTA_PER_PULL: u64 = 64;
/// Pull rate, percent of the link's rate.
const RATE_PCT: u64 = 99;

/// Settings of a [`PullPacer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PullConfig {
    /// Rate of the receiver's link, bit/s.
    pub link_bps: u64,
    /// Largest window of the senders, bytes: the limit of credit in advance.
    pub max_window_bytes: u64,
}

/// Pull to be sent now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pull {
    /// Sender that the pull is for.
    pub sender: u32,
    /// Credit granted since the start of the connection, quanta.
    pub pulled: u64,
    /// Time before the next pull may be sent, ps.
    pub gap_ps: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sender {
    target: u64,
    pulled: u64,
    /// Whether the sender is in the queue of senders with demand.
    active: bool,
    /// Whether the sender is in the queue of senders that get credit in advance.
    idle: bool,
}

/// Credit scheduler of one receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullPacer {
    max_advance: u64,
    /// Duration of a quantum at the full pull rate, ps.
    quantum_ps: u64,
    /// Duration of a quantum at the current pull rate, ps.
    paced_quantum_ps: u64,
    senders: Vec<Sender>,
    /// Sender numbers that may be reused.
    free: Vec<u32>,
    active: VecDeque<u32>,
    idle: VecDeque<u32>,
}

impl PullPacer {
    /// Creates a receiver without senders.
    ///
    /// # Panics
    /// Panics if the rate is zero.
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

    /// Adds the sender of a new connection and returns its number.
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

    /// Removes a sender whose connection has ended. It gets no more credit, and its number may be
    /// reused.
    pub fn remove_sender(&mut self, sender: u32) {
        self.active.retain(|&other| other != sender);
        self.idle.retain(|&other| other != sender);
        self.free.push(sender);
    }

    /// Processes the pull target of a data packet or a request to send. A target above the previous
    /// one is demand.
    pub fn on_target(&mut self, sender: u32, target: u64) {
        let entry = &mut self.senders[sender as usize];
        if target > entry.target {
            entry.target = target;
            self.request(sender);
        }
    }

    /// Queues a sender for a turn regardless of its target, after a trimmed packet or a request to
    /// send.
    pub fn request(&mut self, sender: u32) {
        let entry = &mut self.senders[sender as usize];
        if !entry.active {
            entry.active = true;
            self.active.push_back(sender);
        }
    }

    /// Sets the pull rate as a share of the full rate: above 0, at most 1.
    pub fn set_rate(&mut self, share: f64) {
        self.paced_quantum_ps = (self.quantum_ps as f64 / share) as u64;
    }

    /// Takes the next pull; `None` if no sender is queued.
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

    /// Gives a turn to a sender with demand. Returns the quanta granted.
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

    /// Gives a turn to a sender without demand. Returns the quanta granted in advance.
    fn advance(&mut self, sender: u32) -> u64 {
        let entry = &mut self.senders[sender as usize];
        entry.pulled += QUANTA_PER_PULL;
        // The credit in advance may still be below a target that a new packet has raised.
        let ahead = entry.pulled >= entry.target && entry.pulled - entry.target < self.max_advance;
        if ahead {
            self.idle.push_back(sender);
        } else {
            entry.idle = false;
        }
        QUANTA_PER_PULL
    }
}

/// Inputs to a sender's pull target, after the packet that carries it has been charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    /// Bytes waiting for transmission, including retransmissions.
    pub backlog_bytes: u64,
    /// Window of sender control, bytes, if it is on as well.
    pub window_bytes: Option<u64>,
    /// Number of connections of this host with data to send.
    pub active_connections: u32,
}

/// Credit of one sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credit {
    bytes: i64,
    pulled: u64,
    max_window_bytes: i64,
    mtu_bytes: i64,
    /// Whether the credit is the initial one, which no receiver granted.
    unsolicited: bool,
}

impl Credit {
    /// Creates the credit of a new connection: one largest window.
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

    /// Whether the credit allows a packet to be sent.
    pub fn allows(&self) -> bool {
        self.bytes > 0
    }

    /// Remaining credit, bytes; may be negative.
    pub fn bytes(&self) -> i64 {
        self.bytes
    }

    /// Charges a packet of `bytes`.
    pub fn spend(&mut self, bytes: u32) {
        self.bytes -= i64::from(bytes);
    }

    /// Processes an answer of the receiver (ACK or NACK). The first one revokes the initial credit.
    pub fn on_answer(&mut self) {
        if self.unsolicited {
            self.unsolicited = false;
            self.bytes = self.bytes.min(0);
        }
    }

    /// Processes a pull that reports `pulled` quanta.
    pub fn on_pull(&mut self, pulled: u64) {
        self.on_answer();
        if pulled > self.pulled {
            let granted = (pulled - self.pulled) * QUANTUM_BYTES;
            self.bytes = (self.bytes + granted as i64).min(self.max_window_bytes);
            self.pulled = pulled;
        }
    }

    /// Pull target, quanta since the start of the connection. It adds to the granted credit the
    /// backlog, at most the window plus a packet and at most the largest window, less the remaining
    /// credit, divided by the number of active connections.
    pub fn target(&self, demand: &Demand) -> u64 {
        let backlog = demand.backlog_bytes as i64;
        let mut wanted = backlog.min(self.max_window_bytes);
        if let Some(window_bytes) = demand.window_bytes {
            wanted = wanted.min(window_bytes as i64 + self.mtu_bytes);
        }
        wanted -= self.bytes;
        if self.unsolicited && backlog > 0 {
            // Transfers within the initial credit also request at least one packet.
            wanted = wanted.max(self.mtu_bytes);
        }
        wanted /= i64::from(demand.active_connections.max(1));
        let target = self.pulled as i64 * QUANTUM_BYTES as i64 + wanted;
        (target as u64).div_ceil(QUANTUM_BYTES)
    }
}

/// Marked share above which the pull rate decreases.
const TARGET_MARKS: f64 = 0.3;
/// Gain of the moving average of the marked share.
const MARK_GAIN: f64 = 0.5;
/// Decrease of the rate per unit of excess marked share.
const MARK_DECREASE: f64 = 0.5;
/// Increase of the rate after an interval without congestion.
const INCREASE: f64 = 0.01;
/// Smallest rate in any network, share of the full rate.
const MIN_RATE: f64 = 0.01;
/// Smallest rate, share of the capacity per host of the oversubscribed fabric.
const LEAST_SHARE: f64 = 0.9;

/// Controller of the pull rate in an oversubscribed fabric, based on one receiver's observations
/// per interval.
///
/// The rate r, a share of the full rate, falls by the share of packets trimmed before the last hop,
/// and by `r (g - 0.3) 0.5` if the smoothed marked share g exceeds 0.3. Otherwise it rises by 0.01,
/// or by `0.01 * 2^n` if no packet of the interval was marked, where n is the number of preceding
/// intervals in a row in which it rose. The bounds are 1 and the larger of 0.9 / oversubscription
/// and 0.01.
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
    /// Creates a controller at the full rate for a fabric whose oversubscription is `ratio`: 1 or
    /// more.
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

    /// Counts a data packet that arrives untrimmed.
    pub fn on_packet(&mut self, marked: bool) {
        self.packets += 1;
        self.marked += u64::from(marked);
    }

    /// Counts the header of a trimmed packet.
    pub fn on_trimmed(&mut self, at_last_hop: bool) {
        self.packets += 1;
        if at_last_hop {
            self.trimmed_last_hop += 1;
        } else {
            self.trimmed += 1;
        }
    }

    /// Ends the interval and returns the rate for [`PullPacer::set_rate`].
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

    /// Length of the next interval for a round trip of `rtt_ps`, ps: uniform between 1.125 and
    /// 1.875 round trips, so that receivers do not synchronize. `random` holds 32 uniform bits.
    pub fn interval_ps(rtt_ps: u64, random: u32) -> u64 {
        let least = u128::from(rtt_ps) * 9 / 8;
        let spread = (u128::from(rtt_ps) * 3 / 4 * u128::from(random)) >> 32;
        (least + spread) as u64
    }
}
