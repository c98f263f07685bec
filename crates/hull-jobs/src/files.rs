//! Opens a schedule by what its file begins with.

use std::fs::File;
use std::io::{BufReader, BufWriter, Cursor, Read, Seek, SeekFrom};
use std::path::Path;

use crate::goal_text::{Notes, compile};
use crate::problem::Problem;
use crate::schedule::Schedule;

/// Largest text that is compiled in memory, bytes; a larger one is compiled to a temporary file.
const LARGEST_IN_MEMORY: u64 = 64 << 20;

/// Opens a schedule in GOAL's text or binary form. A text of more than 64 MB is compiled to a temporary file without
/// a name, which ends with the schedule.
///
/// # Errors
/// What is wrong with the schedule, or the file system's error.
pub fn open(path: &Path) -> Result<(Schedule, Notes), Problem> {
    let mut file = File::open(path)?;
    let len = file.metadata()?.len();
    let mut first = Vec::new();
    (&mut file).take(8).read_to_end(&mut first)?;
    // The cookie has bytes of 0, and a text none.
    if first.contains(&0) {
        return Ok((Schedule::from_file(file)?, Notes::default()));
    }
    file.seek(SeekFrom::Start(0))?;
    let text = BufReader::with_capacity(1 << 20, file);
    if len <= LARGEST_IN_MEMORY {
        let (out, notes) = compile(text, Cursor::new(Vec::new()))?;
        return Ok((Schedule::from_bytes(out.into_inner())?, notes));
    }
    let (out, notes) = compile(text, BufWriter::new(tempfile::tempfile()?))?;
    let file = out
        .into_inner()
        .map_err(std::io::IntoInnerError::into_error)?;
    Ok((Schedule::from_file(file)?, notes))
}
