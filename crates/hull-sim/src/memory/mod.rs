//! Memory of a run: the tables that its scenario sizes, and what this process may still take. Sizes
//! are bytes.

mod available;

use std::fmt;

use serde::Serialize;

use crate::problem::Problem;

pub use available::{Available, available};

/// Part of a run that takes memory, and the key that sizes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Need {
    /// Key of the scenario.
    pub key: String,
    /// Description, such as `65536 queues at each of 40960 ports`.
    pub what: String,
    /// Memory, bytes.
    pub bytes: u64,
}

impl Need {
    /// Creates the need of a part.
    pub fn new(key: impl Into<String>, what: impl Into<String>, bytes: u64) -> Self {
        Need {
            key: key.into(),
            what: what.into(),
            bytes,
        }
    }
}

/// Estimated peak memory of a process with one run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Estimate {
    /// Total, bytes.
    pub bytes: u64,
    /// Parts, the largest first.
    pub needs: Vec<Need>,
}

impl Estimate {
    /// Memory of the process besides the run: program, interpreter and tables of results, bytes.
    pub const PROCESS: u64 = 50_000_000;

    /// Adds up the parts of a run. Of several with the same size, the first counts as the largest.
    pub fn new(mut needs: Vec<Need>) -> Self {
        needs.retain(|need| need.bytes > 0);
        needs.sort_by_key(|need| std::cmp::Reverse(need.bytes));
        let bytes = needs.iter().map(|need| need.bytes);
        Estimate {
            bytes: bytes.fold(Self::PROCESS, u64::saturating_add),
            needs,
        }
    }

    /// Rejects a run that needs more than is available. The message has the key of the largest part.
    pub fn check(&self, available: Option<&Available>) -> Result<(), Problem> {
        let (Some(available), Some(largest)) = (available, self.needs.first()) else {
            return Ok(());
        };
        if self.bytes <= available.bytes {
            return Ok(());
        }
        Err(Problem::new(
            largest.key.clone(),
            format!(
                "{} need {} of the run's {} of memory; expected at most the {} that {}",
                largest.what,
                Human(largest.bytes),
                Human(self.bytes),
                Human(available.bytes),
                available.source
            ),
        ))
    }
}

/// Size with two or three digits.
struct Human(u64);

impl fmt::Display for Human {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.0 as f64;
        match self.0 {
            ..1_000_000_000 => write!(f, "{:.0} MB", bytes / 1e6),
            1_000_000_000..10_000_000_000 => write!(f, "{:.1} GB", bytes / 1e9),
            _ => write!(f, "{:.0} GB", bytes / 1e9),
        }
    }
}

/// Smallest block that takes whole pages of its own.
const HUGE: usize = 1 << 24;

/// Memory of a block of `bytes` from the allocator, which has four sizes between two powers of two.
pub fn block(bytes: usize) -> u64 {
    let step = match bytes {
        ..=64 => 8,
        65..HUGE => bytes.next_power_of_two() / 8,
        HUGE.. => 4096,
    };
    bytes.next_multiple_of(step) as u64
}

/// Number of values for which a list that has grown to `count` values takes memory: it doubles when it is
/// full, and the last copy is not given back at once.
pub fn grown(count: u64) -> u64 {
    let copied = count.checked_next_power_of_two().unwrap_or(u64::MAX) / 2;
    count.saturating_add(copied)
}

/// Memory of a block with `count` values.
pub fn block_of<T>(count: usize) -> u64 {
    block(count.saturating_mul(size_of::<T>()))
}

#[cfg(test)]
mod tests {
    use super::available::Source;
    use super::*;

    #[test]
    fn blocks_have_the_sizes_of_the_allocator() {
        let sizes = [
            (0, 0),
            (9, 16),
            (65, 80),
            (80, 80),
            (81, 96),
            (4096, 4096),
            (4097, 5120),
        ];
        for (asked, taken) in sizes {
            assert_eq!(block(asked), taken, "{asked}");
        }
    }

    #[test]
    fn the_message_has_needed_and_available_memory_and_the_largest_part() {
        let needs = vec![
            Need::new("topology", "3 links", 1_000_000_000),
            Need::new("workload.bulk", "2 hosts", 39_940_000_000),
        ];
        let estimate = Estimate::new(needs);
        let available = |bytes| Available {
            bytes,
            source: Source::Machine,
        };
        assert_eq!(estimate.check(None), Ok(()));
        assert_eq!(estimate.check(Some(&available(41_000_000_000))), Ok(()));
        let problem = estimate.check(Some(&available(4_000_000_000)));
        let (key, told): (String, String) = problem.expect_err("too much").into();
        assert_eq!(key, "workload.bulk");
        assert_eq!(
            told,
            "2 hosts need 40 GB of the run's 41 GB of memory; expected at most the 4.0 GB that \
             this machine has left"
        );
    }
}
