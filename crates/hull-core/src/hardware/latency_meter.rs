//! The latency meter of `rtl/meter`: paper 5.2, "Measuring Switch Latency".
//!
//! It stamps probes that enter a switch, reads the stamps when they leave, and keeps a histogram of the
//! differences. Times are in units of the stamping clock and are subtracted modulo 2^64. Pattern
//! offsets count 16-bit words.

use alloc::vec;
use alloc::vec::Vec;

/// Pattern that identifies probe frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Offsets of the four compared words, in 16-bit words.
    pub offsets: [u8; 4],
    /// Expected values of the words.
    pub values: [u16; 4],
    /// Bits to compare; a word whose mask is zero is not used.
    pub masks: [u16; 4],
    /// Offset of the sequence number, in 16-bit words.
    pub sequence_offset: u8,
}

/// Classification of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Examined {
    /// Probe, with its sequence number.
    Probe(u16),
    /// Frame that matches as far as it extends, but ends before the pattern or the sequence number.
    Truncated,
    /// Any other frame.
    Other,
}

impl Pattern {
    /// Classifies a whole frame; `bad` is its error flag at the last beat.
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

/// The hardware's counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Probes that entered the switch.
    pub stamped: u32,
    /// Probes that left and had a stamp.
    pub matched: u32,
    /// Probes that left without a stamp.
    pub unmatched: u32,
    /// Probes stamped and not yet matched.
    pub outstanding: u32,
    /// Frames on either side that ended within the pattern.
    pub truncated: u32,
    /// Smallest latency, units of the stamping clock; `u64::MAX` before the first one.
    pub minimum: u64,
    /// Largest latency, units of the stamping clock.
    pub maximum: u64,
    /// Sum of all latencies, units of the stamping clock.
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

/// Hardware's latency meter: stamp table, histogram and counters. All counts saturate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LatencyMeter {
    stamps: Vec<Option<(u16, u64)>>,
    histogram: Vec<u32>,
    counts: Counts,
}

impl LatencyMeter {
    /// Creates an empty meter with 2^`table_bits` stamps, at most 2^16, and 2^`bucket_bits`
    /// buckets.
    pub fn new(table_bits: u32, bucket_bits: u32) -> Self {
        Self {
            stamps: vec![None; 1 << table_bits],
            histogram: vec![0; 1 << bucket_bits],
            counts: Counts::default(),
        }
    }

    /// Clears table, histogram and counters.
    pub fn clear(&mut self) {
        self.stamps.fill(None);
        self.histogram.fill(0);
        self.counts = Counts::default();
    }

    /// Stamps a probe that enters at time `now`.
    pub fn enter(&mut self, sequence: u16, now: u64) {
        let place = usize::from(sequence) % self.stamps.len();
        self.stamps[place] = Some((sequence, now));
        let counts = &mut self.counts;
        counts.stamped = counts.stamped.saturating_add(1);
        counts.outstanding = counts.outstanding.saturating_add(1);
    }

    /// Matches a probe that leaves at time `now`. Its latency counts in a bucket of 2^`shift` time
    /// units, or in the last bucket. Returns the latency if the probe had a stamp.
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

    /// Counts a frame that ended within the pattern.
    pub fn truncated(&mut self) {
        self.counts.truncated = self.counts.truncated.saturating_add(1);
    }

    /// Counters so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Number of latencies in a bucket.
    ///
    /// # Panics
    /// Panics if the bucket does not exist.
    pub fn bucket(&self, bucket: usize) -> u32 {
        self.histogram[bucket]
    }
}
