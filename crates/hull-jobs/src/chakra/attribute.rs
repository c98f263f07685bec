//! An attribute of a node: a name and one value of many types.

use super::wire::{Field, Fields, Value, wrong};
use crate::problem::Problem;

/// An attribute.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute<'a> {
    /// Byte at which it begins.
    pub at: u64,
    /// Its name.
    pub name: &'a str,
    /// Its value.
    pub content: Content<'a>,
}

/// Value of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content<'a> {
    /// Not said.
    None,
    /// A number of any of the integer types, or a `bool`.
    Whole(i128),
    /// A string.
    Text(&'a str),
    /// A fraction, bytes or a list.
    Other,
}

/// Reads a string.
pub fn text<'a>(field: &Field<'a>) -> Result<&'a str, Problem> {
    let Value::Bytes(bytes) = field.value else {
        return Err(wrong(field.at, "a number; expected a string"));
    };
    std::str::from_utf8(bytes).map_err(|_| wrong(field.at, "not UTF-8; expected a string"))
}

impl<'a> Attribute<'a> {
    /// Reads an attribute.
    pub fn read(bytes: &'a [u8], at: u64) -> Result<Self, Problem> {
        let mut attribute = Attribute {
            at,
            name: "",
            content: Content::None,
        };
        let mut fields = Fields::new(bytes, at);
        while let Some(field) = fields.next()? {
            match field.number {
                1 => attribute.name = text(&field)?,
                2 => {
                    text(&field)?;
                }
                _ => attribute.content = content(&field)?,
            }
        }
        Ok(attribute)
    }

    /// Its value as a number from 0.
    pub fn whole(&self) -> Result<u64, Problem> {
        let number = match self.content {
            Content::Whole(number) => u64::try_from(number).ok(),
            Content::None | Content::Text(_) | Content::Other => None,
        };
        number.ok_or_else(|| {
            let told = format!("attribute `{}`; expected a whole number from 0", self.name);
            wrong(self.at, told)
        })
    }
}

fn content<'a>(field: &Field<'a>) -> Result<Content<'a>, Problem> {
    // Half of a zigzag number, negative if it was odd.
    let zigzag = |number: u64| i128::from((number >> 1) as i64 ^ -((number & 1) as i64));
    Ok(match (field.number, field.value) {
        (7 | 9, Value::Varint(number)) => Content::Whole(i128::from(number as i64)),
        (11 | 13 | 27, Value::Varint(number)) => Content::Whole(i128::from(number)),
        (15 | 17, Value::Varint(number)) => Content::Whole(zigzag(number)),
        (19, Value::Fixed32(number)) => Content::Whole(i128::from(number)),
        (21, Value::Fixed64(number)) => Content::Whole(i128::from(number)),
        (23, Value::Fixed32(number)) => Content::Whole(i128::from(number as i32)),
        (25, Value::Fixed64(number)) => Content::Whole(i128::from(number as i64)),
        (29, Value::Bytes(_)) => Content::Text(text(field)?),
        (3, Value::Fixed64(_)) | (5, Value::Fixed32(_)) | (31, Value::Bytes(_)) => Content::Other,
        // Lists.
        (4..=32, Value::Bytes(_)) if field.number.is_multiple_of(2) => Content::Other,
        _ => {
            let told = format!(
                "field {} of an attribute; expected the types of the schema",
                field.number
            );
            return Err(wrong(field.at, told));
        }
    })
}
