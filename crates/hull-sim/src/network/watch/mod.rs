//! The instruments of a port: the time-weighted queue and, if requested, its every change.

mod occupancy;

pub use occupancy::Occupancy;

/// Contents of a port's queue, the sum over its classes, without the packet in transmission.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueLevel {
    /// Bytes of all classes.
    pub bytes: u64,
    /// Packets of all classes.
    pub packets: u32,
}

/// One of several queues of a port.
#[derive(Debug)]
pub struct WatchedClass {
    /// Name in the results, such as "class0".
    pub name: String,
    /// Time-weighted statistics of the packets that its scheduler has not selected.
    pub occupancy: Occupancy,
}

/// Instruments of one port.
#[derive(Debug)]
pub struct Watch {
    /// Time-weighted statistics of the queue.
    pub occupancy: Occupancy,
    /// Statistics of each queue of a port with several, by number; empty for a FIFO or if each flow
    /// has a queue.
    pub classes: Vec<WatchedClass>,
    /// Changes of the queue: time (ps) and new level; `None` if only samples are taken.
    changes: Option<Vec<(u64, QueueLevel)>>,
}

impl Watch {
    /// Creates the instruments of a port of `rate_bps` whose queues have these names; none if it is
    /// a FIFO.
    pub fn new(rate_bps: u64, names: Vec<String>, every_change: bool) -> Self {
        let class = |name| WatchedClass {
            name,
            occupancy: Occupancy::new(rate_bps, 0),
        };
        Watch {
            occupancy: Occupancy::new(rate_bps, 0),
            classes: names.into_iter().map(class).collect(),
            changes: every_change.then(Vec::new),
        }
    }

    /// Records that the queue holds `level` from `now_ps` on.
    #[inline]
    pub fn queue(&mut self, now_ps: u64, level: QueueLevel) {
        self.occupancy.change(now_ps, level.bytes);
        if let Some(changes) = &mut self.changes {
            match changes.last_mut() {
                Some(last) if last.0 == now_ps => last.1 = level,
                _ => changes.push((now_ps, level)),
            }
        }
    }

    /// Restarts the statistics at the end of the warm-up.
    pub fn restart(&mut self, now_ps: u64) {
        self.occupancy.restart(now_ps);
        for class in &mut self.classes {
            class.occupancy.restart(now_ps);
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
        QueueLevel { bytes, packets: 1 }
    }

    #[test]
    fn last_of_simultaneous_changes_counts() {
        let mut watch = Watch::new(1_000_000_000, Vec::new(), true);
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
