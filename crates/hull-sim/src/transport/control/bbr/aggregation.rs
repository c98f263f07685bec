//! How much more than the bandwidth allows is acknowledged at once, because the network bundles data or
//! acknowledgments (`bbr_update_ack_aggregation` in Linux's tcp_bbr.c). The window grows by it, so that the
//! flow sends on between two bundles.
//!
//! An epoch begins when fewer bytes were acknowledged than the bandwidth delivers. The excess of an epoch is
//! what was acknowledged beyond that; the largest excess of the last 5 to 10 rounds counts. Bytes, ps.

use super::bytes_in;

/// Rounds after which the older half of the maximum is dropped.
const WINDOW_ROUNDS: u8 = 5;
/// Time at the bandwidth that bounds the excess: 100 ms.
const MAX_PS: u64 = 100_000_000_000;

/// Excess of acknowledged data.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Aggregation {
    epoch_ps: u64,
    epoch_acked: u64,
    /// Largest excess of the current rounds and of those before.
    excess: [u64; 2],
    rounds: u8,
}

impl Aggregation {
    /// Begins a new epoch.
    pub fn restart(&mut self, now_ps: u64) {
        self.epoch_ps = now_ps;
        self.epoch_acked = 0;
    }

    /// Adds `acked` bytes acknowledged at `now_ps`, at a bandwidth of `bps` and a window of `cwnd` bytes.
    pub fn add(&mut self, now_ps: u64, begins_round: bool, acked: u64, bps: u64, cwnd: u64) {
        if begins_round {
            self.rounds += 1;
            if self.rounds >= WINDOW_ROUNDS {
                self.rounds = 0;
                self.excess = [0, self.excess[0]];
            }
        }
        let mut expected = bytes_in(bps, now_ps - self.epoch_ps);
        if self.epoch_acked <= expected {
            self.restart(now_ps);
            expected = 0;
        }
        self.epoch_acked += acked;
        let excess = (self.epoch_acked - expected).min(cwnd);
        self.excess[0] = self.excess[0].max(excess);
    }

    /// Largest recent excess at a bandwidth of `bps`, bytes.
    pub fn bytes(&self, bps: u64) -> u64 {
        let [now, before] = self.excess;
        now.max(before).min(bytes_in(bps, MAX_PS))
    }
}

#[cfg(test)]
mod tests {
    use super::Aggregation;

    const US: u64 = 1_000_000;

    /// At 8 Mbps a byte arrives per us. 4000 bytes at once are 4000 more than expected; 1000 after 1000 us
    /// leave the excess. 3000 after another 1000 us: 8000 in 2000 us, of which 2000 were expected: 6000.
    /// With a window of 5000 bytes it is 5000. Ten rounds later none of it counts.
    #[test]
    fn counts_what_comes_early() {
        let mut one = Aggregation::default();
        let bps = 8_000_000;
        one.add(10 * US, false, 4000, bps, 50_000);
        assert_eq!(one.bytes(bps), 4000);
        one.add(1010 * US, false, 1000, bps, 50_000);
        assert_eq!(one.bytes(bps), 4000);
        let mut small = one;
        one.add(2010 * US, false, 3000, bps, 50_000);
        assert_eq!(one.bytes(bps), 6000);
        small.add(2010 * US, false, 3000, bps, 5000);
        assert_eq!(small.bytes(bps), 5000);
        for round in 1..=10 {
            one.add((1000 * round + 20_000) * US, true, 1000, bps, 50_000);
        }
        assert_eq!(one.bytes(bps), 1000);
        assert_eq!(one.bytes(8), 0);
    }
}
