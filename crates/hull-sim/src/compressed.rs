//! Compressed files, which are known by their first bytes: hull reads flow lists, tables and graphs as plain
//! text.

/// First bytes, format, and the program that writes the plain file.
const FORMATS: [(&[u8], &str, &str); 5] = [
    (b"\x1f\x8b", "gzip", "gunzip -k"),
    (b"\x28\xb5\x2f\xfd", "Zstandard", "unzstd"),
    (b"\xfd7zX", "xz", "unxz -k"),
    (b"BZh", "bzip2", "bunzip2 -k"),
    (b"PK\x03\x04", "ZIP", "unzip"),
];

/// Message about a file that begins with `start`, if it is compressed; it follows the name of the file.
pub fn told(start: &[u8]) -> Option<String> {
    let found = FORMATS.iter().find(|(magic, ..)| start.starts_with(magic));
    found.map(|(_, format, program)| {
        format!("is compressed ({format}); expected the plain file, as from {program}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compressed_files_are_named() {
        let gzip = "is compressed (gzip); expected the plain file, as from gunzip -k";
        assert_eq!(told(b"\x1f\x8b\x08\x00").as_deref(), Some(gzip));
        assert_eq!(told(b"start_ps,src"), None);
        assert_eq!(told(b"\x1f"), None);
        assert_eq!(told(b"PAR1"), None);
    }
}
