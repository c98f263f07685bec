//! State of a paced flow: the time of its next segment, and the feedback of switches. Times are ps.

use super::limiters::Share;
use crate::network::PathRate;
use crate::network::rules::Notice;
use crate::transport::{Pace, Pacing};

/// State of a paced flow in addition to its sender and receiver.
#[derive(Clone, Debug)]
pub struct Paced {
    /// Time of the next segment.
    pub pacing: Pacing,
    /// The flow's part of a shared rate limiter, which then has the time of the next segment.
    pub share: Option<Share>,
    /// Number of data segments sent, for windows with a pace.
    pub sent: u32,
    /// Rate offered to the last data, at the receiver.
    pub offered: Option<PathRate>,
    /// Notices in flight with their arrival times, ps; the next one is last.
    pub notices: Vec<(u64, Notice)>,
}

impl Paced {
    /// Creates the state of a flow that was never open.
    pub fn new() -> Self {
        Paced {
            pacing: Pacing::new(),
            share: None,
            sent: 0,
            offered: None,
            notices: Vec::new(),
        }
    }

    pub fn reset(&mut self, pace: Pace) {
        self.pacing.reset(pace);
        self.share = None;
        self.sent = 0;
        self.offered = None;
        self.notices.clear();
    }
}
