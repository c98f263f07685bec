//! Upper limits of a scenario: numbers beyond the capacity of today's machines, which would fill memory
//! or disk instead of ending in a message. `simulation::build::memory` estimates before each run
//! whether it fits into this machine's memory.

/// Warm-up, duration and drain of a run, each: 1,000,000 s, ps.
pub const TIME_PS: u64 = 1_000_000_000_000_000_000;

/// Hosts of a network: a fat tree of 160-port switches has 1,024,000.
pub const HOSTS: u64 = 1 << 20;

/// Switches in one tier.
pub const SWITCHES: u64 = 20_000;

/// Links of a network, of two ports each: half of what events can distinguish.
pub const LINKS: usize = crate::engine::Entity::MOST / 4;

/// Flows that are open at once, each of the two directions of a connection counted: half of what events
/// can distinguish, because a run looks now and then.
pub const FLOWS: usize = crate::engine::Entity::MOST / 2;

/// Permanent connections of a workload.
pub const CONNECTIONS: usize = 4_000_000;

/// Groups of flows, each with statistics of its own.
pub const GROUPS: usize = 1000;

/// Cells of a scenario: schemes times swept values.
pub const CELLS: usize = 100_000;

/// Seeds of a scenario.
pub const SEEDS: u32 = 100_000;

/// Least bytes of a captured packet that are kept: the most that its headers take.
pub const CAPTURED_HEADERS_BYTES: u64 = 94;

/// Rows of a table of samples: some gigabytes on disk.
pub const ROWS: u64 = 500_000_000;

/// Threads of one run: parts of a network are numbered in a byte, and no machine gains from more.
pub const THREADS: u32 = 64;

const _: () = assert!(2 * CONNECTIONS < FLOWS && 8 * HOSTS <= FLOWS as u64);
