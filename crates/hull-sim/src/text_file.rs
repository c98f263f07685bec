//! Text files of a bounded size, which are read as a whole.

use std::fs::File;
use std::io::{Error, ErrorKind, Read};

use crate::compressed;

/// Reads the text of a file with at most `most_bytes` bytes; a larger one is not read.
pub fn read(path: &str, most_bytes: u64) -> Result<String, Error> {
    let file = File::open(path)?;
    // A pipe or a growing file may have more bytes than its size.
    if file.metadata()?.len() <= most_bytes {
        let mut bytes = Vec::new();
        file.take(most_bytes + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 <= most_bytes {
            let told = compressed::told(&bytes).unwrap_or_else(|| "is not UTF-8 text".to_owned());
            return String::from_utf8(bytes).map_err(|_| Error::new(ErrorKind::InvalidData, told));
        }
    }
    let told = format!("has more than {most_bytes} bytes");
    Err(Error::new(ErrorKind::FileTooLarge, told))
}
