//! The most that a scenario may ask for: numbers that no machine of today serves, and that would end in
//! a full memory or disk instead of a message. What fits into the memory of the machine at hand is
//! estimated before each run, in `simulation::build::memory`.

/// Hosts of a network.
pub const HOSTS: u64 = 100_000;

/// Switches in one tier.
pub const SWITCHES: u64 = 10_000;

/// Permanent connections of a workload.
pub const CONNECTIONS: usize = 4_000_000;

/// Cells of a scenario: schemes times swept values.
pub const CELLS: usize = 100_000;

/// Seeds of a scenario.
pub const SEEDS: u32 = 100_000;

/// Rows of a table of samples: some gigabytes on disk.
pub const ROWS: u64 = 500_000_000;

/// Threads of one run: parts of a network are numbered in a byte, and no machine gains from more.
pub const THREADS: u32 = 64;
