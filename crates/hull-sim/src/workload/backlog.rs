//! A lower bound of a workload's largest concurrency, known before the run. Memory depends on it, so a
//! run that cannot succeed is rejected before it starts.

/// Number of things under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Flows of their own.
    pub flows: u64,
    /// Bytes that these flows have to send together, where that is known.
    pub bytes: u64,
    /// Messages on persistent connections.
    pub messages: u64,
}

impl Backlog {
    /// So many flows of their own.
    pub fn of_flows(flows: u64) -> Self {
        Backlog {
            flows,
            ..Backlog::default()
        }
    }

    /// The same with so many bytes to send together.
    #[must_use]
    pub fn with_bytes(self, bytes: u64) -> Self {
        Backlog { bytes, ..self }
    }

    /// So many messages on persistent connections.
    pub fn of_messages(messages: u64) -> Self {
        Backlog {
            messages,
            ..Backlog::default()
        }
    }

    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Backlog {
            flows: self.flows.saturating_add(other.flows),
            bytes: self.bytes.saturating_add(other.bytes),
            messages: self.messages.saturating_add(other.messages),
        }
    }
}

/// Offered loads up to this share of the links are left alone: a law with a long tail offers less in
/// a run of finite length than its mean says, and users may mean an overload.
const OVERLOAD: f64 = 10.0;

/// Of `count` things that arrive at an offered load of `load` times the links' rate, how many are
/// still waiting at the end.
pub(super) fn waiting(count: f64, load: f64) -> u64 {
    let served = OVERLOAD / load.max(OVERLOAD);
    (count * (1.0 - served)) as u64
}

#[cfg(test)]
mod tests {
    use super::waiting;

    #[test]
    fn what_the_links_cannot_take_waits() {
        assert_eq!(waiting(1000.0, 0.5), 0);
        assert_eq!(waiting(1000.0, 10.0), 0);
        assert_eq!(waiting(1000.0, 100.0), 900);
        assert_eq!(waiting(f64::INFINITY, f64::INFINITY), u64::MAX);
    }
}
