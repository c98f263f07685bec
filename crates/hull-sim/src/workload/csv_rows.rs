//! Rows of a CSV text with a header; empty lines and those that begin with `#` are skipped.

use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};

use csv::{ByteRecord, ErrorKind, Position, Reader, ReaderBuilder};

use super::bounded_lines::BoundedLines;

/// Reader of rows, each with as many cells as the header.
pub(super) struct CsvRows<R> {
    reader: Reader<BoundedLines<R>>,
    record: ByteRecord,
    columns: usize,
}

impl<R: Read + Seek> CsvRows<R> {
    /// Creates a reader at the beginning of a text.
    pub fn new(source: R) -> Self {
        let reader = ReaderBuilder::new()
            .comment(Some(b'#'))
            .flexible(true)
            .has_headers(false)
            .buffer_capacity(1 << 16)
            .from_reader(BoundedLines::new(source));
        CsvRows {
            reader,
            record: ByteRecord::new(),
            columns: 0,
        }
    }

    /// Reads the cells of the next row; `None` at the end. The first row is the header.
    pub fn next(&mut self) -> Result<Option<&ByteRecord>, String> {
        self.reader.get_mut().begin_row();
        match self.reader.read_byte_record(&mut self.record) {
            Ok(true) => {}
            Ok(false) => return Ok(None),
            Err(error) => {
                return Err(match error.into_kind() {
                    ErrorKind::Io(error) => self.at_line(format!(": {error}")),
                    other => format!("{other:?}"),
                });
            }
        }
        // To trim copies the row.
        if self.record.as_slice().iter().any(|&byte| byte <= b' ') {
            self.record.trim();
        }
        let cells = self.record.len();
        if self.columns == 0 {
            self.columns = cells;
        }
        if cells != self.columns {
            let columns = self.columns;
            return Err(self.at_line(format!(
                ": found {cells} cells; expected {columns} as in the header"
            )));
        }
        Ok(Some(&self.record))
    }

    /// Prefixes `problem` with the line at which the last row begins, such as `line 7`.
    pub fn at_line(&mut self, problem: impl std::fmt::Display) -> String {
        // The reader's position is before the lines that it skipped.
        let position = self
            .record
            .position()
            .cloned()
            .unwrap_or_else(Position::new);
        let mut line = position.line();
        let source = self.reader.get_mut();
        if source.seek(SeekFrom::Start(position.byte())).is_ok() {
            let skipped = |line: &String| line.is_empty() || line.starts_with('#');
            let lines = BufReader::new(source).lines().map_while(Result::ok);
            line += lines.take_while(skipped).count() as u64;
        }
        format!("line {line}{problem}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    #[test]
    fn lines_are_numbered_as_in_an_editor() {
        for (end, last) in [("\n", "\n"), ("\r\n", "\r\n"), ("\n", ""), ("\r\n", "")] {
            let text = ["# a", "x, y", "", "1,2", "# b", "", "3,4", "5,6"].join(end) + last;
            let mut rows = CsvRows::new(Cursor::new(text.as_bytes()));
            for line in [2, 4, 7, 8] {
                assert_eq!(rows.next().map(|row| row.map(ByteRecord::len)), Ok(Some(2)));
                // `at_line` ends the reading, so each line needs its own reader.
                let mut again = CsvRows::new(Cursor::new(text.as_bytes()));
                for _ in 0..[2, 4, 7, 8].iter().filter(|&&l| l <= line).count() {
                    assert!(again.next().is_ok());
                }
                assert_eq!(
                    again.at_line(""),
                    format!("line {line}"),
                    "{end:?} {last:?}"
                );
            }
            assert_eq!(rows.next().map(|row| row.is_none()), Ok(true));
        }
    }

    /// What is behind a header, and the message about it.
    fn told(start: &str, rest: impl Read, length: u64) -> String {
        let path = std::env::temp_dir().join(format!("hull-rows-{}-{length}", std::process::id()));
        let mut file = std::fs::File::create_new(&path).expect("a file");
        std::io::copy(&mut start.as_bytes().chain(rest), &mut file).expect("space");
        file.set_len(length).expect("a hole");
        let mut rows = CsvRows::new(std::fs::File::open(&path).expect("the file"));
        std::fs::remove_file(&path).expect("the file");
        loop {
            match rows.next() {
                Ok(Some(_)) => {}
                Ok(None) => return String::new(),
                Err(told) => return told,
            }
        }
    }

    /// A hole of 20 GB is neither read nor held.
    #[test]
    fn a_sparse_file() {
        let started = std::time::Instant::now();
        for (start, line) in [("", 1), ("# a\nx,y\n\n1,2\n3,", 5), ("x,y\n1,2\n", 3)] {
            let told = told(start, &b""[..], 20_000_000_000 + line);
            let expected = format!("line {line}: found more than 1000000 bytes without a line end");
            assert!(told.starts_with(&expected), "{told}");
        }
        assert!(started.elapsed().as_secs() < 5);
    }

    #[test]
    fn quotes_without_end_and_many_comments() {
        let lines = |line: &str, count: usize| Cursor::new(line.repeat(count).into_bytes());
        let open = told("x,y\n1,2\n\"3,", lines("4,5\n", 8_000_000), 32_000_000);
        assert!(
            open.starts_with("line 3: found more than 16000000"),
            "{open}"
        );
        let comments = lines("# 234567\n", 1_000_000);
        assert_eq!(told("x,y\n", comments, 9_000_004), "");
    }

    #[test]
    fn a_row_with_too_few_cells() {
        let mut rows = CsvRows::new(Cursor::new(b"x,y\n# z\n1\n"));
        assert!(rows.next().is_ok());
        let problem = rows.next().map(|_| ()).expect_err("one cell");
        assert!(problem.starts_with("line 3: found 1 cells"), "{problem}");
    }
}
