//! The bytes of a schedule: in memory, or a file behind windows. Each rank has two windows, one over its
//! operations and one over the lists of successors, since a run goes through both from front to back.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use crate::problem::Problem;

/// Bytes of a window. Two for each rank: 1,024 ranks have 32 MB.
const WINDOW: usize = 16 * 1024;

/// Part of a file that is in memory.
#[derive(Clone, Debug, Default)]
pub struct Window {
    at: u64,
    bytes: Vec<u8>,
}

impl Window {
    fn get(&self, at: u64, len: usize) -> Option<&[u8]> {
        let from = usize::try_from(at.checked_sub(self.at)?).ok()?;
        self.bytes.get(from..from.checked_add(len)?)
    }
}

/// The bytes of a schedule.
#[derive(Debug)]
pub enum Store {
    /// All of them.
    Memory(Vec<u8>),
    /// Those on disk.
    File {
        /// The file.
        file: File,
        /// Its size, bytes.
        len: u64,
        /// For each rank the window over its operations and the one over its lists.
        windows: Vec<[Window; 2]>,
    },
}

/// What is read, for the choice of a window.
#[derive(Clone, Copy, Debug)]
pub enum Part {
    /// Operations.
    Nodes = 0,
    /// Lists of operations.
    Lists = 1,
}

impl Store {
    /// Bytes in memory.
    pub fn memory(bytes: Vec<u8>) -> Self {
        Store::Memory(bytes)
    }

    /// Bytes of a file.
    pub fn file(file: File) -> io::Result<Self> {
        let len = file.metadata()?.len();
        let windows = vec![Default::default()];
        Ok(Store::File { file, len, windows })
    }

    /// Makes windows for this number of ranks.
    pub fn reserve(&mut self, ranks: usize) {
        if let Store::File { windows, .. } = self {
            windows.resize(ranks.max(1), Default::default());
        }
    }

    /// Size, bytes.
    pub fn len(&self) -> u64 {
        match self {
            Store::Memory(bytes) => bytes.len() as u64,
            Store::File { len, .. } => *len,
        }
    }

    /// Calls `read` with `len` bytes from `at`.
    pub fn with<T>(
        &mut self,
        rank: u32,
        part: Part,
        at: u64,
        len: usize,
        read: impl FnOnce(&[u8]) -> T,
    ) -> Result<T, Problem> {
        let ended = || {
            Problem::new(
                format!("byte {at}"),
                format!("the file ends; expected {len} bytes more"),
            )
        };
        if at
            .checked_add(len as u64)
            .is_none_or(|end| end > self.len())
        {
            return Err(ended());
        }
        match self {
            Store::Memory(bytes) => {
                let at = usize::try_from(at).map_err(|_| ended())?;
                bytes.get(at..at + len).map(read).ok_or_else(ended)
            }
            Store::File {
                file,
                len: size,
                windows,
            } => {
                let window = &mut windows[rank as usize][part as usize];
                if window.get(at, len).is_none() {
                    let most = usize::try_from(*size - at).unwrap_or(usize::MAX);
                    window.bytes.resize(WINDOW.max(len).min(most), 0);
                    window.at = at;
                    if let Err(error) = file.read_exact_at(&mut window.bytes, at) {
                        window.bytes.clear();
                        return Err(error.into());
                    }
                }
                window.get(at, len).map(read).ok_or_else(ended)
            }
        }
    }

    /// Reads a list of `count` numbers of 32 bits.
    pub fn numbers(&mut self, rank: u32, at: u64, count: u32) -> Result<Vec<u32>, Problem> {
        self.with(rank, Part::Lists, at, 4 * count as usize, |bytes| {
            let (numbers, _) = bytes.as_chunks::<4>();
            numbers
                .iter()
                .map(|&number| u32::from_le_bytes(number))
                .collect()
        })
    }
}
