//! The latency meter of `rtl/meter`: paper 5.2, "Measuring Switch Latency".
//!
//! It stamps probes that enter a switch, reads the stamps when they leave, and keeps a histogram of the
//! differences. Times are in units of the stamping clock and are subtracted modulo 2^64. Pattern
//! offsets count 16-bit words.

use alloc::vec;
use alloc::vec::Vec;

/// Which frames are probes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Where the four words are that are compared.
    pub offsets: [u8; 4],
    /// What they must equal.
    pub values: [u16; 4],
    /// The bits that are compared; a word without any is not used.
    pub masks: [u16; 4],
    /// Where the sequence number is.
    pub sequence_offset: u8,
}

/// What a frame is to the meter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Examined {
    /// A probe, with its sequence number.
    Probe(u16),
    /// It matches as far as it goes, and ends before the pattern or the sequence number does.
    Truncated,
    /// Any other frame.
    Other,
}

impl Pattern {
    /// Examines a whole frame; `bad` is its flag at the last beat.
    pub fn examine(&self, frame: &[u8], bad: bool) -> Examined {
        let word = |offset: u8| {
            let at = 2 * usize::from(offset);
            frame
                .get(at..at + 2)
                .map(|octets| u16::from_be_bytes([octets[0], octets[1]]))
        };
        let used = (0..4).filter(|&i| self.masks[i] != 0);
        let (mut some, mut all) = (false, true);
        for i in used {
            match word(self.offsets[i]) {
                Some(found) if (found ^ self.values[i]) & self.masks[i] != 0 => {
                    return Examined::Other;
                }
                Some(_) => some = true,
                None => all = false,
            }
        }
        match word(self.sequence_offset) {
            Some(sequence) if all && !bad => Examined::Probe(sequence),
            Some(_) if all => Examined::Other,
            _ if some => Examined::Truncated,
            _ => Examined::Other,
        }
    }
}

/// What the hardware counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Probes that entered.
    pub stamped: u32,
    /// Probes that left and had a stamp.
    pub matched: u32,
    /// Probes that left without one.
    pub unmatched: u32,
    /// Stamped and not yet matched.
    pub outstanding: u32,
    /// Frames on either side that ended inside the pattern.
    pub truncated: u32,
    /// Smallest latency; `u64::MAX` before the first one.
    pub minimum: u64,
    /// Largest latency.
    pub maximum: u64,
    /// Sum of all latencies.
    pub sum: u64,
}

impl Default for Counts {
    fn default() -> Self {
        Self {
            stamped: 0,
            matched: 0,
            unmatched: 0,
            outstanding: 0,
            truncated: 0,
            minimum: u64::MAX,
            maximum: 0,
            sum: 0,
        }
    }
}

/// The table of stamps, the histogram and the counters. All counts stop at their largest value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LatencyMeter {
    stamps: Vec<Option<(u16, u64)>>,
    histogram: Vec<u32>,
    counts: Counts,
}

impl LatencyMeter {
    /// An empty meter with 2^`table_bits` stamps, at most 2^16, and 2^`bucket_bits` buckets.
    pub fn new(table_bits: u32, bucket_bits: u32) -> Self {
        Self {
            stamps: vec![None; 1 << table_bits],
            histogram: vec![0; 1 << bucket_bits],
            counts: Counts::default(),
        }
    }

    /// Empties table, histogram and counters.
    pub fn clear(&mut self) {
        self.stamps.fill(None);
        self.histogram.fill(0);
        self.counts = Counts::default();
    }

    /// A probe enters at time `now`.
    pub fn enter(&mut self, sequence: u16, now: u64) {
        let place = usize::from(sequence) % self.stamps.len();
        self.stamps[place] = Some((sequence, now));
        let counts = &mut self.counts;
        counts.stamped = counts.stamped.saturating_add(1);
        counts.outstanding = counts.outstanding.saturating_add(1);
    }

    /// A probe leaves at time `now`; its latency counts in the bucket of 2^`shift` units of time, or in the last
    /// one. Returns the latency if the probe had a stamp.
    pub fn leave(&mut self, sequence: u16, now: u64, shift: u32) -> Option<u64> {
        let place = usize::from(sequence) % self.stamps.len();
        let counts = &mut self.counts;
        let Some((_, entered)) = self.stamps[place].take_if(|(held, _)| *held == sequence) else {
            counts.unmatched = counts.unmatched.saturating_add(1);
            return None;
        };
        let latency = now.wrapping_sub(entered);
        counts.matched = counts.matched.saturating_add(1);
        counts.outstanding = counts.outstanding.saturating_sub(1);
        counts.minimum = counts.minimum.min(latency);
        counts.maximum = counts.maximum.max(latency);
        counts.sum = counts.sum.saturating_add(latency);
        let last = self.histogram.len() - 1;
        let bucket = usize::try_from(latency >> shift).map_or(last, |bucket| bucket.min(last));
        self.histogram[bucket] = self.histogram[bucket].saturating_add(1);
        Some(latency)
    }

    /// A frame ended inside the pattern.
    pub fn truncated(&mut self) {
        self.counts.truncated = self.counts.truncated.saturating_add(1);
    }

    /// What was counted.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Latencies counted in a bucket.
    ///
    /// # Panics
    /// When there is no such bucket.
    pub fn bucket(&self, bucket: usize) -> u32 {
        self.histogram[bucket]
    }
}
