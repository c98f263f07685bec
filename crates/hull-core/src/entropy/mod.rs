//! Load balancers: each packet carries an entropy value (EV), which selects its path.
//!
//! A sender has EVs 0 to `paths` - 1. In a network with source routes an EV is a path; elsewhere
//! switches hash it. ACKs and NACKs echo the EV of the packet that they answer, which reports the state
//! of its path.
//!
//! Sources: Ultra Ethernet's simulator uet-htsim (commit 40ccb05, `uec_mp.cpp`) for [`Oblivious`],
//! [`Bitmap`], [`Reps`] and [`Mixed`]; Uno's simulator (Uno_SC25, commit 68d164e, `lcp.cpp`) for
//! [`Subflows`] (UnoLB) and [`Plb`]. [`Ecmp`], [`PerPacket`] and [`Flowlet`] are baselines.
//!
//! Difference: in uet-htsim an EV has 16 bits, and the bits above the number of paths are random per
//! flow, which matters to switches that hash. Here the hash supplies them.
//!
//! Random bits are arguments, 64 per packet; most packets need none.

mod bitmap;
mod ecmp;
mod flowlet;
mod mixed;
mod oblivious;
mod per_packet;
mod plb;
mod reps;
mod subflows;

pub use bitmap::Bitmap;
pub use ecmp::Ecmp;
pub use flowlet::Flowlet;
pub use mixed::Mixed;
pub use oblivious::Oblivious;
pub use per_packet::PerPacket;
pub use plb::{Plb, PlbConfig};
pub use reps::Reps;
pub use subflows::{Subflows, SubflowsConfig};

/// Outcome of a packet on its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feedback {
    /// ACK without ECN echo.
    Good,
    /// ACK with ECN echo.
    Ecn,
    /// Trimmed packet or, with parity, a group that did not complete in time.
    Nack,
    /// Expiry of the retransmission timer without an answer.
    Timeout,
}

/// Load balancer that chooses the EV of each packet of a flow.
pub trait LoadBalance {
    /// Chooses the EV of the packet sent at `now_ps`; `random` holds 64 uniform bits.
    fn next_ev(&mut self, random: u64, now_ps: u64) -> u16;

    /// Processes the outcome of a packet with `ev`, learnt at `now_ps`.
    fn on_feedback(&mut self, ev: u16, feedback: Feedback, now_ps: u64);
}

/// Load balancer of a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadBalancer {
    /// One path for the whole flow.
    Ecmp(Ecmp),
    /// An independent random path for each packet.
    PerPacket(PerPacket),
    /// All paths in turn.
    Oblivious(Oblivious),
    /// All paths in turn, skipping those with a penalty.
    Bitmap(Bitmap),
    /// Paths of unmarked ACKs, reused once; otherwise random paths.
    Reps(Reps),
    /// Paths of unmarked ACKs, reused once; otherwise the bitmap.
    Mixed(Mixed),
    /// A few random paths in turn; a silent one is replaced.
    Subflows(Subflows),
    /// One path, replaced after sustained congestion.
    Plb(Plb),
    /// One path for each burst.
    Flowlet(Flowlet),
}

impl LoadBalance for LoadBalancer {
    #[inline]
    fn next_ev(&mut self, random: u64, now_ps: u64) -> u16 {
        match self {
            Self::Ecmp(balancer) => balancer.next_ev(random, now_ps),
            Self::PerPacket(balancer) => balancer.next_ev(random, now_ps),
            Self::Oblivious(balancer) => balancer.next_ev(random, now_ps),
            Self::Bitmap(balancer) => balancer.next_ev(random, now_ps),
            Self::Reps(balancer) => balancer.next_ev(random, now_ps),
            Self::Mixed(balancer) => balancer.next_ev(random, now_ps),
            Self::Subflows(balancer) => balancer.next_ev(random, now_ps),
            Self::Plb(balancer) => balancer.next_ev(random, now_ps),
            Self::Flowlet(balancer) => balancer.next_ev(random, now_ps),
        }
    }

    #[inline]
    fn on_feedback(&mut self, ev: u16, feedback: Feedback, now_ps: u64) {
        match self {
            Self::Ecmp(balancer) => balancer.on_feedback(ev, feedback, now_ps),
            Self::PerPacket(balancer) => balancer.on_feedback(ev, feedback, now_ps),
            Self::Oblivious(balancer) => balancer.on_feedback(ev, feedback, now_ps),
            Self::Bitmap(balancer) => balancer.on_feedback(ev, feedback, now_ps),
            Self::Reps(balancer) => balancer.on_feedback(ev, feedback, now_ps),
            Self::Mixed(balancer) => balancer.on_feedback(ev, feedback, now_ps),
            Self::Subflows(balancer) => balancer.on_feedback(ev, feedback, now_ps),
            Self::Plb(balancer) => balancer.on_feedback(ev, feedback, now_ps),
            Self::Flowlet(balancer) => balancer.on_feedback(ev, feedback, now_ps),
        }
    }
}

/// Draws one of `paths` EVs from the upper 32 of the random bits.
#[inline]
fn draw(random: u64, paths: u16) -> u16 {
    (((random >> 32) * u64::from(paths)) >> 32) as u16
}
