//! Upper limits of a scenario: numbers beyond the capacity of today's machines, which would fill memory
//! or disk instead of ending in a message. `simulation::build::memory` estimates before each run
//! whether it fits into this machine's memory.

/// Longest warm-up, duration and drain of a run, each, ps: 1,000,000 s.
pub const TIME_PS: u64 = 1_000_000_000_000_000_000;

/// Largest number of hosts in a network; a fat tree of 160-port switches has 1,024,000.
pub const HOSTS: u64 = 1 << 20;

/// Largest number of links of a host.
pub const NICS: usize = 64;

/// Largest number of switches in one tier.
pub const SWITCHES: u64 = 20_000;

/// Largest number of links in a network, of two ports each: half of what events can distinguish.
pub const LINKS: usize = crate::engine::Entity::MOST / 4;

/// Largest number of flows open at once, where each direction of a connection counts as one. It is
/// half of what events can distinguish, because a run checks it only from time to time.
pub const FLOWS: usize = crate::engine::Entity::MOST / 2;

/// Largest number of permanent connections of a workload.
pub const CONNECTIONS: usize = 4_000_000;

/// Largest number of flow groups, each with its own statistics.
pub const GROUPS: usize = 1000;

/// Largest number of cells of a scenario: schemes times swept values.
pub const CELLS: usize = 100_000;

/// Largest number of seeds of a scenario.
pub const SEEDS: u32 = 100_000;

/// Smallest number of bytes kept of a captured packet: the largest size of its headers.
pub const CAPTURED_HEADERS_BYTES: u64 = 94;

/// Largest number of rows in a table of samples: some gigabytes on disk.
pub const ROWS: u64 = 500_000_000;

/// Largest number of threads of one run. Parts of a network are numbered in a byte, and no machine
/// gains from more.
pub const THREADS: u32 = 64;

const _: () = assert!(2 * CONNECTIONS < FLOWS && 8 * HOSTS <= FLOWS as u64);
