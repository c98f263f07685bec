//! Text files of a bounded size, which are read as a whole.

use std::fs::File;
use std::io::{Error, ErrorKind, Read};

/// Reads the text of a file with at most `most_bytes` bytes; a larger one is not read.
pub fn read(path: &str, most_bytes: u64) -> Result<String, Error> {
    let file = File::open(path)?;
    let mut text = String::new();
    // A pipe or a growing file may have more bytes than its size.
    if file.metadata()?.len() <= most_bytes {
        file.take(most_bytes + 1).read_to_string(&mut text)?;
        if text.len() as u64 <= most_bytes {
            return Ok(text);
        }
    }
    let told = format!("has more than {most_bytes} bytes");
    Err(Error::new(ErrorKind::FileTooLarge, told))
}
