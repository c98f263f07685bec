//! Memory of lossless traffic at one ingress of a switch: a port and class, or a port. A packet goes to
//! the reserve and then to the shared pool until the pool's part reaches the threshold (XOFF); what
//! comes then goes to the headroom, and so does all that follows until the headroom is empty, or each
//! packet that again finds the threshold reached. Departures empty the headroom first. Sizes are bytes.

/// Largest part of the shared pool (XOFF).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threshold {
    /// A fixed size.
    Fixed(u64),
    /// The free part of the pool times alpha, scaled by 2^16.
    Dynamic(u64),
}

/// Settings of an ingress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    /// Largest part of the shared pool.
    pub threshold: Threshold,
    /// Whether the peer pauses when the shared part reaches the threshold, not only when a packet finds it
    /// crossed.
    pub pauses_at_threshold: bool,
    /// Bytes below the threshold at which the peer may resume.
    pub hysteresis_bytes: u64,
    /// Shared part below which the peer may resume in any case; 0 is always below.
    pub resume_bytes: u64,
    /// Memory of this ingress alone, before the pool.
    pub reserve_bytes: u64,
    /// Memory for what arrives after the threshold was crossed.
    pub headroom_bytes: u64,
    /// Whether the headroom is beside the switch's memory, not a part of it.
    pub headroom_is_outside: bool,
    /// Whether a packet that finds room below the threshold goes to the pool although the headroom is in use.
    pub refills_pool: bool,
    /// Whether the peer may resume only when a packet that came from it leaves.
    pub resumes_on_own_departure: bool,
}

impl Guard {
    /// Part of the switch's memory that no other traffic can use, bytes.
    pub fn own_bytes(&self) -> u64 {
        let inside = if self.headroom_is_outside {
            0
        } else {
            self.headroom_bytes
        };
        self.reserve_bytes + inside
    }

    /// Bytes of a port and class above which the peer pauses if nothing else lies in a pool of this size.
    pub fn xoff_bytes(&self, pool: u64) -> u64 {
        self.reserve_bytes + self.most_shared(pool, 0)
    }

    /// Bytes up to which the peer may then resume.
    pub fn xon_bytes(&self, pool: u64) -> u64 {
        let low = self.resume_bytes.saturating_sub(1);
        self.reserve_bytes + self.most_shared(pool, self.hysteresis_bytes).max(low)
    }

    /// Largest part of an otherwise empty pool that is below the threshold by `below` bytes.
    fn most_shared(&self, pool: u64, below: u64) -> u64 {
        match self.threshold {
            Threshold::Fixed(bytes) => bytes.min(pool).saturating_sub(below),
            Threshold::Dynamic(alpha_q16) => {
                // What is in the pool is not free: x + below = alpha (pool - x).
                let (alpha, one) = (u128::from(alpha_q16), 1 << 16);
                let over = (alpha * u128::from(pool)).saturating_sub(one * u128::from(below));
                (over / (one + alpha)) as u64
            }
        }
    }
}

/// Place of a packet in the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// Reserve or shared pool.
    Shared,
    /// Headroom: the peer must pause.
    Headroom,
    /// There is none.
    Full,
    /// The watchdog discards what comes for the queue.
    Closed,
}

/// An ingress with its occupancy.
#[derive(Clone, Copy, Debug)]
pub struct Guarded {
    guard: Guard,
    occupied: u64,
    in_headroom: u64,
    most_in_headroom: u64,
    drops: u64,
    /// Whether a packet has left since the last question whether the peer may resume.
    has_sent: bool,
}

impl Guarded {
    /// Creates an empty ingress.
    pub fn new(guard: Guard) -> Self {
        Guarded {
            guard,
            occupied: 0,
            in_headroom: 0,
            most_in_headroom: 0,
            drops: 0,
            has_sent: false,
        }
    }

    /// Part of the switch's memory that no other traffic can use, bytes.
    pub fn own_bytes(&self) -> u64 {
        self.guard.own_bytes()
    }

    fn threshold_bytes(&self, free: u64) -> u64 {
        match self.guard.threshold {
            Threshold::Fixed(bytes) => bytes,
            Threshold::Dynamic(alpha_q16) => {
                let share = (u128::from(free) * u128::from(alpha_q16)) >> 16;
                u64::try_from(share).unwrap_or(u64::MAX)
            }
        }
    }

    /// Part of the shared pool with `more` bytes outside the headroom.
    fn shared_with(&self, more: u64) -> u64 {
        (self.occupied - self.in_headroom + more).saturating_sub(self.guard.reserve_bytes)
    }

    /// Place for a packet that occupies `bytes` while `free` bytes of the pool are.
    pub fn room(&self, bytes: u64, free: u64) -> Room {
        let after = self.shared_with(bytes);
        let more = after - self.shared_with(0);
        let is_open = self.in_headroom == 0 || self.guard.refills_pool;
        if is_open && after <= self.threshold_bytes(free) && more <= free {
            Room::Shared
        } else if self.in_headroom + bytes <= self.guard.headroom_bytes {
            Room::Headroom
        } else {
            Room::Full
        }
    }

    /// Adds a packet that occupies `bytes`. Returns the bytes that it takes from the pool.
    pub fn take(&mut self, bytes: u64, room: Room) -> u64 {
        let before = self.shared_with(0);
        self.occupied += bytes;
        if room == Room::Headroom {
            self.in_headroom += bytes;
            self.most_in_headroom = self.most_in_headroom.max(self.in_headroom);
        }
        self.shared_with(0) - before
    }

    /// Removes a packet that occupies `bytes`. Returns the bytes that it gives back to the pool.
    pub fn release(&mut self, bytes: u64) -> u64 {
        let before = self.shared_with(0);
        self.has_sent = true;
        self.in_headroom -= self.in_headroom.min(bytes);
        self.occupied -= bytes;
        before - self.shared_with(0)
    }

    /// Counts a packet that found no room.
    pub fn count_drop(&mut self) {
        self.drops += 1;
    }

    /// Whether the peer must pause while `free` bytes of the pool are free.
    pub fn is_over(&self, free: u64) -> bool {
        let reaches = || self.shared_with(0) >= self.threshold_bytes(free).max(1);
        self.in_headroom > 0 || (self.guard.pauses_at_threshold && reaches())
    }

    /// Begins to wait until the peer may resume.
    pub fn wait(&mut self) {
        self.has_sent = false;
    }

    /// Whether the peer may resume while `free` bytes of the pool are free.
    pub fn may_resume(&mut self, free: u64) -> bool {
        let has_sent = std::mem::take(&mut self.has_sent);
        if self.guard.resumes_on_own_departure && !has_sent {
            return false;
        }
        let shared = self.shared_with(0);
        let below = shared.saturating_add(self.guard.hysteresis_bytes);
        let is_low = shared == 0 || shared < self.guard.resume_bytes;
        self.in_headroom == 0 && (is_low || below <= self.threshold_bytes(free))
    }

    /// Headroom, its largest use, and the number of packets that found no room.
    pub fn readings(&self) -> (u64, u64, u64) {
        (self.guard.headroom_bytes, self.most_in_headroom, self.drops)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reserve 1,000, threshold 2,000, headroom 1,500: packets of 500 fill reserve and pool, then the
    /// headroom, and the tenth finds no room. Departures empty the headroom, then the pool, then the
    /// reserve; the peer may resume 500 bytes below the threshold.
    #[test]
    fn memory_fills_and_empties_in_order() {
        let mut ingress = Guarded::new(Guard {
            threshold: Threshold::Fixed(2_000),
            pauses_at_threshold: false,
            hysteresis_bytes: 500,
            resume_bytes: 0,
            reserve_bytes: 1_000,
            headroom_bytes: 1_500,
            headroom_is_outside: false,
            refills_pool: false,
            resumes_on_own_departure: false,
        });
        let mut pool = 0;
        for n in 0..9 {
            let room = ingress.room(500, 10_000 - pool);
            let expected = if n < 6 { Room::Shared } else { Room::Headroom };
            assert_eq!(room, expected, "{n}");
            pool += ingress.take(500, room);
            assert_eq!(
                pool,
                [0, 0, 500, 1_000, 1_500, 2_000, 2_000, 2_000, 2_000][n]
            );
        }
        assert_eq!(ingress.room(500, 8_000), Room::Full);
        for n in 0..9 {
            assert_eq!(ingress.is_over(8_000), n < 3, "{n}");
            assert_eq!(ingress.may_resume(8_000), n > 3, "{n}");
            pool -= ingress.release(500);
            assert_eq!(pool, [2_000, 2_000, 2_000, 1_500, 1_000, 500, 0, 0, 0][n]);
        }
        assert_eq!(ingress.readings(), (1_500, 1_500, 0));
    }

    /// Packets of one byte fill an otherwise empty pool up to the threshold and leave until the peer may resume:
    /// the bytes are those that the settings say before the run.
    #[test]
    fn alone_in_the_pool_the_thresholds_are_those_of_the_settings() {
        let fixed = Guard {
            threshold: Threshold::Fixed(2_000),
            pauses_at_threshold: false,
            hysteresis_bytes: 300,
            resume_bytes: 0,
            reserve_bytes: 70,
            headroom_bytes: 500,
            headroom_is_outside: false,
            refills_pool: false,
            resumes_on_own_departure: false,
        };
        let dynamic = |alpha_q16| Guard {
            threshold: Threshold::Dynamic(alpha_q16),
            ..fixed
        };
        let resumes = Guard {
            resume_bytes: 1_900,
            ..fixed
        };
        // An eighth of the free part is a ninth of the pool: 1,111 bytes; with 300 less, (1,250 - 300) / 1.125.
        assert_eq!(dynamic(1 << 13).xoff_bytes(10_000), 70 + 1_111);
        assert_eq!(dynamic(1 << 13).xon_bytes(10_000), 70 + 844);
        for guard in [fixed, dynamic(1 << 13), dynamic(3 << 16), resumes] {
            let (mut ingress, mut pool) = (Guarded::new(guard), 10_000);
            while ingress.room(1, pool) == Room::Shared {
                pool -= ingress.take(1, Room::Shared);
            }
            assert_eq!(ingress.occupied, guard.xoff_bytes(10_000), "{guard:?}");
            while !ingress.may_resume(pool) {
                pool += ingress.release(1);
            }
            assert_eq!(ingress.occupied, guard.xon_bytes(10_000), "{guard:?}");
        }
    }

    /// Threshold 1/8 of the free pool: 1,000 bytes of 8,000, 2,000 of 16,000. With two packets of 500 in the pool
    /// and one in the headroom, the fourth finds room when other traffic has left, and takes it only with
    /// `refills_pool`. With `resumes_on_own_departure` the peer may resume when a packet of its own leaves, not
    /// when the pool empties.
    #[test]
    fn simulators_refill_the_pool_and_resume_on_own_departures() {
        for (refills_pool, resumes_on_own_departure) in [(false, false), (true, true)] {
            let mut ingress = Guarded::new(Guard {
                threshold: Threshold::Dynamic((1 << 16) / 8),
                pauses_at_threshold: false,
                hysteresis_bytes: 500,
                resume_bytes: 0,
                reserve_bytes: 0,
                headroom_bytes: 1_000,
                headroom_is_outside: true,
                refills_pool,
                resumes_on_own_departure,
            });
            for expected in [Room::Shared, Room::Shared, Room::Headroom] {
                assert_eq!(ingress.room(500, 8_000), expected);
                ingress.take(500, expected);
            }
            ingress.wait();
            let expected = [Room::Headroom, Room::Shared][usize::from(refills_pool)];
            assert_eq!(ingress.room(500, 16_000), expected);
            ingress.release(500);
            assert!(!ingress.may_resume(8_000)); // 1,000 bytes of a threshold of 1,000
            assert_eq!(ingress.may_resume(16_000), !resumes_on_own_departure);
            ingress.release(500);
            assert!(ingress.may_resume(8_000));
        }
    }

    /// A pool without room sends a packet to the headroom below the threshold, too.
    #[test]
    fn a_full_pool_leads_to_the_headroom() {
        let ingress = Guarded::new(Guard {
            threshold: Threshold::Dynamic(1 << 20),
            pauses_at_threshold: false,
            hysteresis_bytes: 0,
            resume_bytes: 0,
            reserve_bytes: 0,
            headroom_bytes: 500,
            headroom_is_outside: true,
            refills_pool: false,
            resumes_on_own_departure: false,
        });
        assert_eq!(ingress.room(500, 500), Room::Shared);
        assert_eq!(ingress.room(500, 499), Room::Headroom);
    }
}
