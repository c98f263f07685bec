//! Flow association table: selects the flows to pace.
//!
//! Source: paper 4.2 "Which flows need pacing?" and 5.1 (thesis 4.3.2 and 4.4.1), report II-C.
//! Published settings: p_a = 1/8, T_i = 10 ms (1 ms in the paper's 10 Gbps simulations), 64 entries.
//!
//! Each ACK with ECN-Echo associates its flow with probability p_a. The documents differ on the end of
//! an association, and the caller chooses the form:
//!
//! - Report: a repeated association restarts the timer, packets do not. An association ends T_i after
//!   the flow's last successful draw: it is live at `t` while `t < associated_at + T_i`. Packets are
//!   looked up with [`FlowAssociation::is_associated`]. The paper says only that associations time out.
//! - Thesis 4.3.2: T_i is an inactivity time. Each packet restarts the timer of its associated flow:
//!   packets are passed to [`FlowAssociation::on_packet`].
//!
//! The paper does not specify the behaviour of a full table. [`WhenFull::Ignore`] leaves the new flow
//! unpaced; [`WhenFull::EvictOldest`] replaces the entry that would expire first. The report mentions
//! no table limit in its ns-2 code.
//!
//! Units: times in picoseconds; p_a scaled by 2^32.

use alloc::vec::Vec;

/// Treatment of a new flow when the table is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenFull {
    /// Leave the new flow unpaced.
    Ignore,
    /// Replace the entry that would expire first; its flow is no longer paced.
    EvictOldest,
}

/// Settings of a [`FlowAssociation`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowAssociationConfig {
    /// Number of table entries, above zero. NetFPGA: 64.
    pub entries: usize,
    /// p_a scaled by 2^32: an ACK associates its flow if its random bits are below this. `u32::MAX`
    /// means always; 1/8 is `1 << 29`.
    pub probability: u32,
    /// T_i, ps.
    pub timeout_ps: u64,
    /// Treatment of a new flow when the table is full.
    pub when_full: WhenFull,
}

/// Number of a flow that has ended; no other flow has it.
const NO_FLOW: u32 = u32::MAX;

/// Associated flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    flow: u32,
    /// Time from which the flow is no longer associated, ps.
    expires_ps: u64,
}

/// Flow association table of one NIC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowAssociation {
    config: FlowAssociationConfig,
    /// Entries in the order in which their timers were last started. T_i is constant, so they expire
    /// in this order.
    table: Vec<Entry>,
    /// The bits ([`bit_of`]) of the flows in the table. A flow without its bit needs no search.
    present: u64,
}

impl FlowAssociation {
    /// Creates an empty table.
    ///
    /// # Panics
    /// Panics if `entries` is zero.
    pub fn new(config: &FlowAssociationConfig) -> Self {
        assert!(config.entries > 0, "entries must be above zero");
        Self {
            config: *config,
            table: Vec::new(),
            present: 0,
        }
    }

    /// Changes p_a and the treatment of a full table from now on. T_i and the entries are
    /// unchanged.
    pub fn change(&mut self, probability: u32, when_full: WhenFull) {
        self.config.probability = probability;
        self.config.when_full = when_full;
    }

    /// Processes an ACK with ECN-Echo for `flow` at `now_ps` (not before the last call's time).
    /// `random` holds 32 uniform bits. Returns true if the flow was associated or its timer
    /// restarted.
    pub fn on_ece(&mut self, now_ps: u64, flow: u32, random: u32) -> bool {
        self.expire(now_ps);
        let probability = self.config.probability;
        if random >= probability && probability != u32::MAX {
            return false;
        }
        if let Some(at) = self.table.iter().position(|entry| entry.flow == flow) {
            self.table.remove(at);
        } else if self.table.len() >= self.config.entries {
            match self.config.when_full {
                WhenFull::Ignore => return false,
                WhenFull::EvictOldest => {
                    self.table.remove(0);
                    self.find_present();
                }
            }
        }
        self.start_timer(now_ps, flow);
        self.present |= bit_of(flow);
        true
    }

    /// Processes a packet of `flow` at `now_ps` (not before the last call's time) where T_i is an
    /// inactivity time. Returns whether to pace it; if so, the flow's timer restarts.
    #[inline]
    pub fn on_packet(&mut self, now_ps: u64, flow: u32) -> bool {
        if self.present & bit_of(flow) == 0 {
            return false;
        }
        self.expire(now_ps);
        let Some(at) = self.table.iter().position(|entry| entry.flow == flow) else {
            return false;
        };
        self.table.remove(at);
        self.start_timer(now_ps, flow);
        true
    }

    /// Whether to pace packets of `flow` at `now_ps` (not before the last call's time).
    #[inline]
    pub fn is_associated(&mut self, now_ps: u64, flow: u32) -> bool {
        if self.present & bit_of(flow) == 0 {
            return false;
        }
        self.expire(now_ps);
        self.table.iter().any(|entry| entry.flow == flow)
    }

    /// Processes the end of a flow whose number another flow takes. Its entry remains until it
    /// expires, and is no flow's.
    pub fn forget(&mut self, flow: u32) {
        if self.present & bit_of(flow) != 0 {
            let of_flow = self.table.iter_mut().filter(|entry| entry.flow == flow);
            of_flow.for_each(|entry| entry.flow = NO_FLOW);
            self.find_present();
        }
    }

    /// Number of flows associated at `now_ps`.
    pub fn len(&self, now_ps: u64) -> usize {
        let expired = self.expired(now_ps);
        self.table.len() - expired
    }

    /// Whether no flow is associated at `now_ps`.
    pub fn is_empty(&self, now_ps: u64) -> bool {
        self.len(now_ps) == 0
    }

    /// Number of entries at the front of the table that have expired by `now_ps`.
    #[inline]
    fn expired(&self, now_ps: u64) -> usize {
        self.table
            .iter()
            .take_while(|entry| entry.expires_ps <= now_ps)
            .count()
    }

    /// Adds an entry for `flow`, which has none.
    fn start_timer(&mut self, now_ps: u64, flow: u32) {
        let expires_ps = now_ps.saturating_add(self.config.timeout_ps);
        self.table.push(Entry { flow, expires_ps });
    }

    #[inline]
    fn expire(&mut self, now_ps: u64) {
        let expired = self.expired(now_ps);
        if expired > 0 {
            self.table.drain(..expired);
            self.find_present();
        }
    }

    #[cold]
    fn find_present(&mut self) {
        let bits = self.table.iter().map(|entry| bit_of(entry.flow));
        self.present = bits.fold(0, |all, bit| all | bit);
    }
}

/// One of 64 bits, by the flow's number. If a flow's bit is not set in the union of some flows'
/// bits, the flow is none of them.
#[inline]
pub fn bit_of(flow: u32) -> u64 {
    1 << (flow % u64::BITS)
}
