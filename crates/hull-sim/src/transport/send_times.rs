//! The send times of outstanding segments, for a round-trip sample of every acknowledgment.
//! Retransmitted segments, and segments sent before them, give no sample (Karn). Positions are bytes of
//! the stream, times ps.

use std::collections::VecDeque;

/// Send times of a flow's unacknowledged segments, by the position of their ends.
#[derive(Clone, Debug, Default)]
pub struct SendTimes {
    sent: VecDeque<(u64, u64)>,
}

impl SendTimes {
    /// Records that new data up to `end` is sent.
    pub fn sent(&mut self, now_ps: u64, end: u64) {
        self.sent.push_back((end, now_ps));
    }

    /// Discards all send times, because a retransmission makes the samples of outstanding data
    /// ambiguous.
    pub fn forget(&mut self) {
        self.sent.clear();
    }

    /// Round trip of the last segment that `una` acknowledges, ps.
    pub fn sample(&mut self, now_ps: u64, una: u64) -> Option<u64> {
        let mut sample_ps = None;
        while let Some(&(end, sent_ps)) = self.sent.front()
            && end <= una
        {
            self.sent.pop_front();
            sample_ps = Some(now_ps - sent_ps);
        }
        sample_ps
    }
}

#[cfg(test)]
mod tests {
    use super::SendTimes;

    #[test]
    fn each_acknowledgment_has_the_time_of_its_last_segment() {
        let mut times = SendTimes::default();
        for n in 1..=4 {
            times.sent(10 * n, 1000 * n);
        }
        assert_eq!(times.sample(100, 1000), Some(90));
        assert_eq!(times.sample(110, 1500), None);
        assert_eq!(times.sample(120, 3000), Some(90));
        times.forget();
        assert_eq!(times.sample(130, 4000), None);
    }
}
