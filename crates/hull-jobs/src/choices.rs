//! What the files of other programs leave open, and how much a file may become.

/// Choices of a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choices {
    /// Number of ranks of a file that names groups (GOAL and a matrix have their own). `None` takes the file's; a file that names none gets the fewest ranks with which each of its
    /// collectives has two.
    pub ranks: Option<u32>,
    /// Unit of `start` in a connection matrix, ps: microseconds in csg-htsim and Uno, 1 ps in uet-htsim.
    pub start_unit_ps: u64,
    /// Most operations that a file may become; more are an error.
    pub most_operations: u64,
}

impl Default for Choices {
    /// The file's ranks, microseconds, and 100 million operations, which take some 10 GB.
    fn default() -> Self {
        Choices {
            ranks: None,
            start_unit_ps: 1_000_000,
            most_operations: 100_000_000,
        }
    }
}
