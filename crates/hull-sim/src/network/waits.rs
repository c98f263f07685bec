//! Where a packet waits on its way. Only the last packet of a message records it: the message is complete
//! when that one has arrived, so its waits are parts of the completion time. Times are ps.

/// Number of tiers of switch ports that are distinguished; those beyond share the last place.
pub const TIERS: usize = 8;

/// Number of places before the receiver.
pub const PLACES: usize = 2 + TIERS;

/// Place of the sending host below its transport: stack, and queue of the NIC.
pub const SENDER: usize = 0;

/// Place of the pacer.
pub const PACER: usize = 1;

/// Place of the first tier of switch ports.
pub const FIRST_TIER: usize = 2;

/// Waits of one packet so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// Time at which the transport sent the packet, ps.
    pub sent_ps: u64,
    /// End of the last stage in the sending host, ps.
    staged_ps: u64,
    /// Wait at each place, ps.
    pub waited_ps: [u64; PLACES],
}

impl Waits {
    /// Waits of a packet that is sent now.
    pub fn of_sent(now_ps: u64) -> Self {
        Waits {
            sent_ps: now_ps,
            staged_ps: now_ps,
            ..Waits::default()
        }
    }

    /// Ends a stage in the sending host: the packet has been at `place` since the last one.
    pub fn leave(&mut self, place: usize, now_ps: u64) {
        self.waited_ps[place] += now_ps - self.staged_ps;
        self.staged_ps = now_ps;
    }

    /// Adds a wait at a port.
    pub fn add(&mut self, place: usize, waited_ps: u64) {
        self.waited_ps[place] += waited_ps;
    }
}
