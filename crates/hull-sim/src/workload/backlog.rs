//! A lower bound of a workload's largest concurrency, known before the run. Memory depends on it, so a
//! run that cannot succeed is rejected before it starts.

/// Lower bound of the number of concurrent flows and messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Flows on their own connections.
    pub flows: u64,
    /// Bytes that these flows have to send in total, if known.
    pub bytes: u64,
    /// Messages on persistent connections.
    pub messages: u64,
    /// Bytes of the largest of these flows; 0 if unknown.
    pub largest: u64,
}

impl Backlog {
    /// Creates the backlog of `flows` flows on their own connections.
    pub fn of_flows(flows: u64) -> Self {
        Backlog {
            flows,
            ..Backlog::default()
        }
    }

    /// Sets the total number of bytes to send.
    #[must_use]
    pub fn with_bytes(self, bytes: u64) -> Self {
        Backlog { bytes, ..self }
    }

    /// Sets the bytes of the largest flow.
    #[must_use]
    pub fn with_largest(self, largest: u64) -> Self {
        Backlog { largest, ..self }
    }

    /// Creates the backlog of `messages` messages on persistent connections.
    pub fn of_messages(messages: u64) -> Self {
        Backlog {
            messages,
            ..Backlog::default()
        }
    }

    /// Adds another backlog.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Backlog {
            flows: self.flows.saturating_add(other.flows),
            bytes: self.bytes.saturating_add(other.bytes),
            messages: self.messages.saturating_add(other.messages),
            largest: self.largest.max(other.largest),
        }
    }
}

/// Offered load, as a multiple of the links' rate, up to which a run is accepted: in a run of
/// finite length a heavy-tailed distribution offers less than its mean, and an overload may be
/// intended.
const OVERLOAD: f64 = 10.0;

/// Number of the `count` items, arriving at an offered load of `load` times the links' rate, that
/// are still waiting at the end.
pub(super) fn waiting(count: f64, load: f64) -> u64 {
    let served = OVERLOAD / load.max(OVERLOAD);
    (count * (1.0 - served)) as u64
}

#[cfg(test)]
mod tests {
    use super::waiting;

    #[test]
    fn excess_load_is_queued() {
        assert_eq!(waiting(1000.0, 0.5), 0);
        assert_eq!(waiting(1000.0, 10.0), 0);
        assert_eq!(waiting(1000.0, 100.0), 900);
        assert_eq!(waiting(f64::INFINITY, f64::INFINITY), u64::MAX);
    }
}
