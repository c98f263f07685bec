//! A table that grows during a run: rows are written to a Parquet file in groups, so memory does not
//! grow with them. Without a file they stay in memory.

use std::io;
use std::path::PathBuf;

use super::parquet_file::{Column, TableFile, Values};

/// Number of rows kept in memory before they are written to the file.
const GROUP: usize = 1 << 14;

/// Texts that rows refer to by index.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    /// Names of size classes, ports or the like.
    pub names: Vec<String>,
    /// Names of transports; empty if there is only one.
    pub transports: Vec<String>,
    /// Names of groups; empty if there are none.
    pub groups: Vec<String>,
}

/// Type of a row: its columns, and the conversion of rows to columns.
pub(crate) trait Row: Sized {
    /// All possible columns.
    const COLUMNS: &'static [Column];

    /// Whether a table with these names has this column.
    fn has(_column: &Column, _names: &Names) -> bool {
        true
    }

    /// Values of `rows`, in the order of the table's columns.
    fn values(rows: &[Self], names: &Names) -> Vec<Values>;

    /// Whether a value of the row is still missing. Neither it nor later rows are written before.
    fn is_open(&self) -> bool {
        false
    }
}

/// Rows of a table, in the order of arrival.
#[derive(Debug)]
pub(crate) struct TableLog<R> {
    /// Rows not yet written: all rows if there is no file.
    rows: Vec<R>,
    /// Number of rows so far.
    pushed: u64,
    /// Number of rows in memory from which they are written.
    enough: usize,
    names: Names,
    path: Option<PathBuf>,
    file: Option<TableFile>,
    error: Option<io::Error>,
    /// Whether rows are discarded because no table was requested.
    discards: bool,
}

impl<R: Row> TableLog<R> {
    /// Creates an empty table. With a path, rows are written to that file during the run.
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

    /// Sets the names of the transports.
    pub fn of_transports(mut self, transports: Vec<String>) -> Self {
        self.names.transports = transports;
        self
    }

    /// Sets the names of the groups.
    pub fn of_groups(mut self, groups: Vec<String>) -> Self {
        self.names.groups = groups;
        self
    }

    /// Discards rows from now on.
    pub fn discard(&mut self) {
        self.discards = true;
    }

    /// Adds a row and returns its number, from 0.
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

    /// Row with this number, while it is in memory.
    pub fn row_mut(&mut self, number: u64) -> Option<&mut R> {
        let first = self.pushed - self.rows.len() as u64;
        let at = usize::try_from(number.checked_sub(first)?).ok()?;
        self.rows.get_mut(at)
    }

    /// Rows in memory: all rows if there is no file.
    pub fn rows(&self) -> &[R] {
        &self.rows
    }

    /// Takes the rows in memory.
    pub fn take_rows(&mut self) -> Vec<R> {
        std::mem::take(&mut self.rows)
    }

    /// Texts that rows refer to by index.
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

    /// Completes the file. Returns the first error since the table was created.
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
