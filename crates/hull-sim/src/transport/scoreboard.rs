//! The sender's SACK scoreboard and the loss rules of RFC 6675. Positions are bytes of the stream.

/// Bytes received above the cumulative acknowledgment, as known to the sender.
#[derive(Clone, Debug, Default)]
pub struct Scoreboard {
    /// Received blocks: disjoint [start, end), ascending.
    sacked: Vec<(u64, u64)>,
    sacked_bytes: u64,
}

impl Scoreboard {
    /// Whether no byte is marked as received.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.sacked.is_empty()
    }

    /// Number of bytes marked as received.
    #[inline]
    pub fn sacked_bytes(&self) -> u64 {
        self.sacked_bytes
    }

    /// Removes all blocks.
    pub fn clear(&mut self) {
        self.sacked.clear();
        self.sacked_bytes = 0;
    }

    /// Adds the block [start, end). Returns the number of new bytes.
    pub fn add(&mut self, start: u64, end: u64) -> u64 {
        if start >= end {
            return 0;
        }
        let first = self.sacked.partition_point(|&(_, e)| e < start);
        let last = self.sacked.partition_point(|&(s, _)| s <= end);
        let (mut low, mut high, mut old) = (start, end, 0);
        for &(s, e) in &self.sacked[first..last] {
            low = low.min(s);
            high = high.max(e);
            old += e - s;
        }
        self.sacked.splice(first..last, [(low, high)]);
        let new = (high - low) - old;
        self.sacked_bytes += new;
        new
    }

    /// Removes the bytes that the cumulative acknowledgment `una` covers.
    pub fn acknowledge(&mut self, una: u64) {
        let covered = self.sacked.partition_point(|&(_, e)| e <= una);
        for (s, e) in self.sacked.drain(..covered) {
            self.sacked_bytes -= e - s;
        }
        if let Some(first) = self.sacked.first_mut()
            && first.0 < una
        {
            self.sacked_bytes -= una - first.0;
            first.0 = una;
        }
    }

    /// Number of received bytes in [from, to).
    fn sacked_within(&self, from: u64, to: u64) -> u64 {
        self.sacked
            .iter()
            .map(|&(s, e)| e.min(to).saturating_sub(s.max(from)))
            .sum()
    }

    /// Position below which every unreceived byte counts as lost: more than `tolerated_bytes` above it have
    /// arrived. For `IsLost` of RFC 6675 they are one segment less than DupThresh.
    pub fn lost_below(&self, tolerated_bytes: u64) -> u64 {
        let mut above = 0;
        for &(s, e) in self.sacked.iter().rev() {
            above += e - s;
            if above > tolerated_bytes {
                return s;
            }
        }
        0
    }

    /// `SetPipe` of RFC 6675: estimated bytes in the network, out of [una, nxt), if all lost bytes
    /// below `retransmitted_below` have been retransmitted in this recovery.
    pub fn pipe(&self, una: u64, nxt: u64, retransmitted_below: u64, tolerated_bytes: u64) -> u64 {
        let lost_below = self.lost_below(tolerated_bytes).clamp(una, nxt);
        let retransmitted_below = retransmitted_below.clamp(una, nxt);
        let resent = (retransmitted_below - una) - self.sacked_within(una, retransmitted_below);
        let rest_from = lost_below.max(retransmitted_below);
        resent + (nxt - rest_from) - self.sacked_within(rest_from, nxt)
    }

    /// First hole at or above `from`: its start, and its end if a received block bounds it.
    pub fn next_hole(&self, from: u64) -> (u64, Option<u64>) {
        let mut start = from;
        for &(s, e) in &self.sacked {
            if s > start {
                return (start, Some(s));
            }
            start = start.max(e);
        }
        (start, None)
    }
}

#[cfg(test)]
mod tests {
    use super::Scoreboard;

    #[test]
    fn merges_blocks_and_counts_bytes() {
        let mut board = Scoreboard::default();
        assert_eq!(board.add(10, 20), 10);
        assert_eq!(board.add(30, 40), 10);
        assert_eq!(board.add(20, 30), 10);
        assert_eq!(board.add(5, 45), 10);
        assert_eq!(board.sacked_bytes(), 40);
        board.acknowledge(15);
        assert_eq!(board.sacked_bytes(), 30);
        assert_eq!(board.next_hole(10), (10, Some(15)));
        assert_eq!(board.next_hole(15), (45, None));
    }

    #[test]
    fn counts_the_pipe_as_rfc_6675() {
        // Segments of 10 bytes, [0, 100) sent, 0 and 10 lost, 20..60 received.
        let mut board = Scoreboard::default();
        board.add(20, 60);
        assert_eq!(board.lost_below(20), 20);
        assert_eq!(board.pipe(0, 100, 0, 20), 40); // 60..100
        assert_eq!(board.pipe(0, 100, 10, 20), 50); // and the first one, sent again
        // Two segments above a hole do not suffice to declare it lost.
        let mut few = Scoreboard::default();
        few.add(10, 30);
        assert_eq!(few.lost_below(20), 0);
        assert_eq!(few.pipe(0, 40, 0, 20), 20);
    }
}
