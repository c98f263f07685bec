//! Protocol Buffers' wire format (protobuf.dev/programming-guides/encoding): the fields of a message, one after another.

use crate::problem::Problem;

/// Value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// Type 0.
    Varint(u64),
    /// Type 1.
    Fixed64(u64),
    /// Type 2: a string, a message, or packed numbers.
    Bytes(&'a [u8]),
    /// Type 5.
    Fixed32(u32),
}

/// A field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field<'a> {
    /// Byte of the file at which its value begins; of a string or message, its content.
    pub at: u64,
    /// Its number in the schema.
    pub number: u64,
    /// Its value.
    pub value: Value<'a>,
}

/// The rest of a message.
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    bytes: &'a [u8],
    at: u64,
}

pub fn wrong(at: u64, told: impl Into<String>) -> Problem {
    Problem::new(format!("byte {at}"), told)
}

impl<'a> Fields<'a> {
    /// Begins a message at a byte of the file.
    pub fn new(bytes: &'a [u8], at: u64) -> Self {
        Fields { bytes, at }
    }

    /// The next field, if there is one.
    pub fn next(&mut self) -> Result<Option<Field<'a>>, Problem> {
        if self.bytes.is_empty() {
            return Ok(None);
        }
        let at = self.at;
        let key = self.varint()?;
        let number = key >> 3;
        if number == 0 {
            return Err(wrong(at, "field 0; expected a field's number from 1"));
        }
        let mut value_at = self.at;
        let value = match key & 7 {
            0 => Value::Varint(self.varint()?),
            1 => Value::Fixed64(u64::from_le_bytes(self.fixed()?)),
            2 => {
                let len = self.varint()?;
                value_at = self.at;
                Value::Bytes(self.take(len)?)
            }
            5 => Value::Fixed32(u32::from_le_bytes(self.fixed()?)),
            other => {
                let told = format!("field {number} of wire type {other}; expected 0, 1, 2 or 5");
                return Err(wrong(at, told));
            }
        };
        Ok(Some(Field {
            at: value_at,
            number,
            value,
        }))
    }

    /// Reads a number of 1 to 10 bytes, 7 bits in each.
    pub fn varint(&mut self) -> Result<u64, Problem> {
        let mut number = 0_u64;
        for index in 0..10 {
            let [byte] = self.fixed::<1>()?;
            if index == 9 && byte > 1 {
                break;
            }
            number |= u64::from(byte & 0x7f) << (7 * index);
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(wrong(self.at, "a number of more than 64 bits"))
    }

    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    fn fixed<const N: usize>(&mut self) -> Result<[u8; N], Problem> {
        let Some((first, rest)) = self.bytes.split_first_chunk::<N>() else {
            return Err(self.ends(N as u64));
        };
        self.bytes = rest;
        self.at += N as u64;
        Ok(*first)
    }

    fn take(&mut self, len: u64) -> Result<&'a [u8], Problem> {
        let parts = usize::try_from(len)
            .ok()
            .and_then(|len| self.bytes.split_at_checked(len));
        let Some((first, rest)) = parts else {
            return Err(self.ends(len));
        };
        self.bytes = rest;
        self.at += len;
        Ok(first)
    }

    fn ends(&self, expected: u64) -> Problem {
        let told = format!(
            "the message ends after {} of {expected} bytes",
            self.bytes.len()
        );
        wrong(self.at, told)
    }
}
