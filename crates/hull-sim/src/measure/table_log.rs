//! A table that grows during a run: rows are written to a Parquet file in groups, so memory does not
//! grow with them. Without a file they stay in memory.

use std::io;
use std::path::PathBuf;

use super::parquet_file::{Column, TableFile, Values};

/// Rows that are kept before they are written to the file.
const GROUP: usize = 1 << 17;

/// Texts that rows hold by their index.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    /// Of size classes, ports and the like.
    pub names: Vec<String>,
    /// None where all flows have the same transport.
    pub transports: Vec<String>,
    /// None where flows are of no groups.
    pub groups: Vec<String>,
}

/// What a row is: its columns, and many rows as columns.
pub(crate) trait Row: Sized {
    /// The columns.
    const COLUMNS: &'static [Column];

    /// Whether a table with these names has a column.
    fn has(_column: &Column, _names: &Names) -> bool {
        true
    }

    /// The values of `rows`, in the order of the columns that the table has.
    fn values(rows: &[Self], names: &Names) -> Vec<Values>;

    /// Whether a value of the row is still to come: neither it nor a later row is written before.
    fn is_open(&self) -> bool {
        false
    }
}

/// The rows of a table, in the order in which they come.
#[derive(Debug)]
pub(crate) struct TableLog<R> {
    /// Rows not written yet: all of them without a file.
    rows: Vec<R>,
    /// Rows that there were so far.
    pushed: u64,
    /// How many rows in memory are enough to write.
    enough: usize,
    names: Names,
    path: Option<PathBuf>,
    file: Option<TableFile>,
    error: Option<io::Error>,
    /// Rows were not asked for.
    discards: bool,
}

impl<R: Row> TableLog<R> {
    /// An empty table; with a path, rows go to that file as they come.
    pub fn new(names: Vec<String>, path: Option<PathBuf>) -> Self {
        TableLog {
            rows: Vec::new(),
            pushed: 0,
            enough: GROUP,
            names: Names {
                names,
                ..Names::default()
            },
            path,
            file: None,
            error: None,
            discards: false,
        }
    }

    /// Its rows have these transports.
    pub fn of_transports(mut self, transports: Vec<String>) -> Self {
        self.names.transports = transports;
        self
    }

    /// Its rows are of these groups.
    pub fn of_groups(mut self, groups: Vec<String>) -> Self {
        self.names.groups = groups;
        self
    }

    /// Keeps no rows from here on.
    pub fn discard(&mut self) {
        self.discards = true;
    }

    /// Adds a row; returns its number, from 0.
    pub fn push(&mut self, row: R) -> u64 {
        let number = self.pushed;
        self.pushed += 1;
        if self.discards {
            return number;
        }
        if self.rows.len() >= self.enough && self.path.is_some() {
            let whole = self.rows.iter().position(R::is_open);
            self.flush(whole.unwrap_or(self.rows.len()));
            self.enough = self.rows.len() + GROUP;
        }
        self.rows.push(row);
        number
    }

    /// A row by its number, while it is in memory.
    pub fn row_mut(&mut self, number: u64) -> Option<&mut R> {
        let first = self.pushed - self.rows.len() as u64;
        let at = usize::try_from(number.checked_sub(first)?).ok()?;
        self.rows.get_mut(at)
    }

    /// The rows so far that are in memory: all of them without a file.
    pub fn rows(&self) -> &[R] {
        &self.rows
    }

    /// Takes the rows so far that are in memory.
    pub fn take_rows(&mut self) -> Vec<R> {
        std::mem::take(&mut self.rows)
    }

    /// The texts that rows hold by their index.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// Writes the first `count` rows.
    fn flush(&mut self, count: usize) {
        let mut rows = std::mem::take(&mut self.rows);
        if self.error.is_none()
            && let Err(error) = self.write_rows(&rows[..count])
        {
            self.error = Some(error);
        }
        rows.drain(..count);
        self.rows = rows;
    }

    fn write_rows(&mut self, rows: &[R]) -> io::Result<()> {
        let values = R::values(rows, &self.names);
        let file = match (&mut self.file, &self.path) {
            (Some(file), _) => file,
            (file @ None, Some(path)) => {
                let columns = R::COLUMNS
                    .iter()
                    .filter(|column| R::has(column, &self.names));
                let columns = Vec::from_iter(columns.copied());
                file.insert(TableFile::create(path, &columns, &values)?)
            }
            (None, None) => return Ok(()),
        };
        if rows.is_empty() {
            return Ok(());
        }
        file.write(&values, 0, rows.len())
    }

    /// Completes the file; what went wrong on the way is told here.
    pub fn close(&mut self) -> io::Result<()> {
        if self.path.is_some() {
            self.flush(self.rows.len());
        }
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        match self.file.take() {
            Some(file) => file.close(),
            None => Ok(()),
        }
    }
}
