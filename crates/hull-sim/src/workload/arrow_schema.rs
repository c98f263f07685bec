//! Arrow types of a Parquet file's columns (its metadata `ARROW:schema`), as far as Parquet has no
//! equivalent: a Duration is stored as plain integers, and only this entry has its unit.
//!
//! The entry is base64 of an Arrow IPC message: FlatBuffers with Message.header (a Schema),
//! Schema.fields, Field.name and Field.type_type (format/Message.fbs and Schema.fbs of Apache Arrow).
//! An unreadable entry is ignored.

/// Number of the type Duration in the union Type.
const DURATION: u8 = 18;

/// Names of the columns that are durations.
pub(super) fn durations(entry: &str) -> Vec<String> {
    decoded(entry)
        .and_then(|bytes| of_message(&bytes))
        .unwrap_or_default()
}

fn of_message(bytes: &[u8]) -> Option<Vec<String>> {
    // 0xffffffff and the length; old files have the length alone.
    let start = if bytes.get(..4)? == [0xff; 4] { 8 } else { 4 };
    let buffer = Buffer(bytes.get(start..)?);
    let message = buffer.follow(0)?;
    let schema = buffer.follow(buffer.field(message, 2)?)?;
    let fields = buffer.follow(buffer.field(schema, 1)?)?;
    let count = buffer.u32(fields)? as usize;
    let mut found = Vec::new();
    for i in 0..count.min(bytes.len()) {
        let field = buffer.follow(fields + 4 + 4 * i)?;
        found.extend(buffer.duration(field));
    }
    Some(found)
}

/// FlatBuffer; places are byte offsets from its start.
struct Buffer<'a>(&'a [u8]);

impl Buffer<'_> {
    fn u32(&self, place: usize) -> Option<u32> {
        let bytes = self.0.get(place..place.checked_add(4)?)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    }

    fn u16(&self, place: usize) -> Option<usize> {
        let bytes = self.0.get(place..place.checked_add(2)?)?;
        Some(u16::from_le_bytes(bytes.try_into().ok()?).into())
    }

    /// Target of the offset at `place`.
    fn follow(&self, place: usize) -> Option<usize> {
        place.checked_add(self.u32(place)? as usize)
    }

    /// Place of a table's field with this number; `None` if it has its default.
    fn field(&self, table: usize, number: usize) -> Option<usize> {
        // The distance to the vtable is signed and counted backwards.
        let distance = i64::from(self.u32(table)? as i32);
        let vtable = usize::try_from(i64::try_from(table).ok()? - distance).ok()?;
        let entry = 4 + 2 * number;
        if entry + 2 > self.u16(vtable)? {
            return None;
        }
        match self.u16(vtable + entry)? {
            0 => None,
            offset => Some(table + offset),
        }
    }

    /// Name of a field that is a duration.
    fn duration(&self, field: usize) -> Option<String> {
        let type_of = *self.0.get(self.field(field, 2)?)?;
        let name = self.follow(self.field(field, 0)?)?;
        (type_of == DURATION).then(|| self.text(name))?
    }

    fn text(&self, place: usize) -> Option<String> {
        let length = self.u32(place)? as usize;
        let bytes = self.0.get(place + 4..(place + 4).checked_add(length)?)?;
        String::from_utf8(bytes.to_vec()).ok()
    }
}

/// Decodes base64 with the standard alphabet.
fn decoded(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut held) = (0_u32, 0);
    for c in text.bytes().take_while(|&c| c != b'=') {
        let value = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::{decoded, durations};

    /// Test vectors of RFC 4648, section 10.
    #[test]
    fn base64_examples_of_the_rfc() {
        for (text, bytes) in [
            ("", ""),
            ("Zg==", "f"),
            ("Zm8=", "fo"),
            ("Zm9vYmFy", "foobar"),
        ] {
            assert_eq!(decoded(text).as_deref(), Some(bytes.as_bytes()));
        }
        assert_eq!(decoded("Zg*"), None);
    }

    /// Arbitrary input never causes a read beyond its end. The Python tests read real files.
    #[test]
    fn invalid_schema_has_no_durations() {
        for text in [
            "",
            "AAAA",
            "////////",
            "/////wAAAAD/////AAAA/////wAA",
            "no base64",
        ] {
            assert!(durations(text).is_empty(), "{text}");
        }
    }
}
