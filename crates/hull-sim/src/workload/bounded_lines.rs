//! A text whose lines have a bounded length: a file without line ends, such as one that is a hole,
//! would otherwise fill memory as its first row.

use std::io::{Error, Read, Result, Seek, SeekFrom};

/// Largest number of bytes of a line.
const LINE_BYTES: usize = 1_000_000;

/// Largest number of bytes of a row, whose cells may have line ends in quotes, with the comments
/// before it.
const ROW_BYTES: usize = 16 * LINE_BYTES;

/// Reader that fails at a line or a row that is too long.
pub(super) struct BoundedLines<R> {
    source: R,
    /// Bytes since the last line end, and since the last call of [`BoundedLines::begin_row`].
    line: usize,
    row: usize,
}

impl<R> BoundedLines<R> {
    /// Creates a reader at the beginning of a line.
    pub fn new(source: R) -> Self {
        BoundedLines {
            source,
            line: 0,
            row: 0,
        }
    }

    /// Notes that the next row begins.
    pub fn begin_row(&mut self) {
        self.row = 0;
    }
}

impl<R: Read> Read for BoundedLines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let count = self.source.read(buffer)?;
        let ends_line = |&byte: &u8| byte == b'\n' || byte == b'\r';
        let found = &buffer[..count];
        let first = found.iter().position(ends_line).unwrap_or(count);
        self.row += count;
        if self.line + first > LINE_BYTES {
            return Err(Error::other(format!(
                "found more than {LINE_BYTES} bytes without a line end; expected a row of a table"
            )));
        }
        if self.row > ROW_BYTES {
            return Err(Error::other(format!(
                "found more than {ROW_BYTES} bytes before the end of the row; expected an end of \
                 its quotes"
            )));
        }
        self.line = match found.iter().rposition(ends_line) {
            Some(last) => count - 1 - last,
            None => self.line + count,
        };
        Ok(count)
    }
}

impl<R: Seek> Seek for BoundedLines<R> {
    fn seek(&mut self, to: SeekFrom) -> Result<u64> {
        (self.line, self.row) = (0, 0);
        self.source.seek(to)
    }
}
