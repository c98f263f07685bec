//! The instruments of a port: the time-weighted queue and, if requested, its every change.

mod distribution;
mod occupancy;

pub use distribution::Distribution;
pub use occupancy::Occupancy;

/// Contents of a port's queue, without the packet in transmission.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueLevel {
    /// Bytes that a packet of the first priority class finds before it: all bytes, or those of its
    /// class.
    pub ahead_bytes: u64,
    /// Bytes of all classes.
    pub bytes: u64,
    /// Packets of all classes.
    pub packets: u32,
}

/// Instruments of one port.
#[derive(Debug)]
pub struct Watch {
    /// Time-weighted statistics of the queue.
    pub occupancy: Occupancy,
    /// Changes of the queue: time (ps) and new level; `None` if only samples are taken.
    changes: Option<Vec<(u64, QueueLevel)>>,
}

impl Watch {
    /// Creates the instruments of a port of `rate_bps`.
    pub fn new(rate_bps: u64, every_change: bool) -> Self {
        Watch {
            occupancy: Occupancy::new(rate_bps, 0),
            changes: every_change.then(Vec::new),
        }
    }

    /// Records that the queue holds `level` from `now_ps` on.
    #[inline]
    pub fn queue(&mut self, now_ps: u64, level: QueueLevel) {
        self.occupancy.change(now_ps, level.ahead_bytes);
        if let Some(changes) = &mut self.changes {
            match changes.last_mut() {
                Some(last) if last.0 == now_ps => last.1 = level,
                _ => changes.push((now_ps, level)),
            }
        }
    }

    /// Takes the changes before `until_ps`, in the order of time.
    pub fn take_changes(&mut self, until_ps: u64) -> Vec<(u64, QueueLevel)> {
        let Some(changes) = &mut self.changes else {
            return Vec::new();
        };
        let later = changes.partition_point(|&(at_ps, _)| at_ps < until_ps);
        changes.drain(..later).collect()
    }

    /// Stops recording changes.
    pub fn stop_changes(&mut self) {
        self.changes = None;
    }
}

#[cfg(test)]
mod tests {
    use super::{QueueLevel, Watch};

    fn level(bytes: u64) -> QueueLevel {
        QueueLevel {
            ahead_bytes: bytes,
            bytes,
            packets: 1,
        }
    }

    #[test]
    fn last_of_simultaneous_changes_counts() {
        let mut watch = Watch::new(1_000_000_000, true);
        for (at_ps, bytes) in [(1, 10), (1, 20), (5, 30), (7, 0)] {
            watch.queue(at_ps, level(bytes));
        }
        assert_eq!(watch.take_changes(7), [(1, level(20)), (5, level(30))]);
        watch.queue(7, level(40));
        assert_eq!(watch.take_changes(8), [(7, level(40))]);
        watch.stop_changes();
        watch.queue(9, level(50));
        assert_eq!(watch.take_changes(10), []);
    }
}
