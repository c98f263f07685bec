//! Reads a file: messages, each behind its length; first the trace's metadata, then its nodes.

use std::io::{BufRead, Read};

use super::attribute::{Attribute, Content, text};
use super::wire::{Field, Fields, Value, wrong};
use super::{Node, NodeKind, Trace};
use crate::problem::Problem;

/// Longest message, bytes.
const LONGEST: u64 = 256 << 20;

/// Reads a file.
///
/// # Errors
/// The byte, what was found and what was expected.
pub fn read(input: impl BufRead) -> Result<Trace, Problem> {
    let mut messages = Messages {
        input,
        at: 0,
        bytes: Vec::new(),
    };
    let mut trace = Trace::default();
    let Some(at) = messages.next()? else {
        let told = "the file is empty; expected the metadata of a trace, and nodes";
        return Err(wrong(0, told));
    };
    metadata(&mut trace, &messages.bytes, at)?;
    while let Some(at) = messages.next()? {
        let node = node(&messages.bytes, at, &mut trace.unused)?;
        trace.nodes.push(node);
    }
    Ok(trace)
}

/// The messages of a file, one in memory at a time.
struct Messages<R> {
    input: R,
    at: u64,
    bytes: Vec<u8>,
}

impl<R: BufRead> Messages<R> {
    /// Reads the next message into `bytes`, and tells at which byte of the file it begins.
    fn next(&mut self) -> Result<Option<u64>, Problem> {
        let mut length = Vec::new();
        while length.len() < 10 && length.last().is_none_or(|&byte| byte >= 0x80) {
            let mut byte = [0];
            if self.input.read(&mut byte)? == 0 {
                break;
            }
            length.push(byte[0]);
        }
        if length.is_empty() {
            return Ok(None);
        }
        let mut fields = Fields::new(&length, self.at);
        let len = fields.varint()?;
        if len > LONGEST {
            let told = format!("a message of {len} bytes; expected at most {LONGEST}");
            return Err(wrong(self.at, told));
        }
        self.at += length.len() as u64;
        let at = self.at;
        self.bytes.clear();
        let read = (&mut self.input).take(len).read_to_end(&mut self.bytes)? as u64;
        if read < len {
            let told = format!("the file ends after {read} of {len} bytes of a message");
            return Err(wrong(at, told));
        }
        self.at += len;
        Ok(Some(at))
    }
}

fn metadata(trace: &mut Trace, bytes: &[u8], at: u64) -> Result<(), Problem> {
    let mut fields = Fields::new(bytes, at);
    while let Some(field) = fields.next()? {
        match (field.number, field.value) {
            (1, Value::Bytes(_)) => trace.version = Some(text(&field)?.to_owned()),
            (2, Value::Bytes(bytes)) => {
                Attribute::read(bytes, field.at)?;
            }
            _ => {
                let told = format!(
                    "field {} in the first message; expected the metadata of a trace: 1 (version) and 2 (attributes)",
                    field.number
                );
                return Err(wrong(field.at, told));
            }
        }
    }
    Ok(())
}

fn node(bytes: &[u8], at: u64, unused: &mut u64) -> Result<Node, Problem> {
    let mut node = Node {
        at,
        id: 0,
        kind: NodeKind::Metadata,
        control_needs: Vec::new(),
        data_needs: Vec::new(),
        duration_us: 0,
        on_host: false,
        collective: None,
        bytes: None,
        from: None,
        to: None,
        tag: None,
        group: None,
    };
    let mut kind = 0;
    let mut fields = Fields::new(bytes, at);
    while let Some(field) = fields.next()? {
        match (field.number, field.value) {
            (1, Value::Varint(id)) => node.id = id,
            (3, Value::Varint(number)) => kind = number,
            (4, _) => numbers(&field, &mut node.control_needs)?,
            (5, _) => numbers(&field, &mut node.data_needs)?,
            (7, Value::Varint(us)) => node.duration_us = us,
            (10, Value::Bytes(bytes)) => {
                let attribute = Attribute::read(bytes, field.at)?;
                *unused += u64::from(!apply(&mut node, &attribute)?);
            }
            (2, Value::Bytes(_)) | (6, Value::Varint(_)) | (8 | 9, Value::Bytes(_)) => {}
            // Later schemas add fields.
            (11.., _) => {}
            _ => {
                let told = format!(
                    "field {} of a node; expected the types of the schema",
                    field.number
                );
                return Err(wrong(field.at, told));
            }
        }
    }
    node.kind = match kind {
        1 => NodeKind::Metadata,
        2 => NodeKind::Load,
        3 => NodeKind::Store,
        4 => NodeKind::Compute,
        5 => NodeKind::Send,
        6 => NodeKind::Receive,
        7 => NodeKind::Collective,
        other => {
            let told = format!(
                "node {} of type {other}; expected 1 (metadata), 2 (load), 3 (store), 4 (compute), 5 (send), \
                 6 (receive) or 7 (collective)",
                node.id
            );
            return Err(wrong(at, told));
        }
    };
    Ok(node)
}

/// Reads a repeated number: packed, or one of several fields.
fn numbers(field: &Field<'_>, out: &mut Vec<u64>) -> Result<(), Problem> {
    match field.value {
        Value::Varint(number) => out.push(number),
        Value::Bytes(bytes) => {
            let mut packed = Fields::new(bytes, field.at);
            while !packed.is_empty() {
                out.push(packed.varint()?);
            }
        }
        Value::Fixed32(_) | Value::Fixed64(_) => {
            return Err(wrong(
                field.at,
                "a fixed number; expected a varint or packed ones",
            ));
        }
    }
    Ok(())
}

/// Takes an attribute over. Says whether it has an effect.
fn apply(node: &mut Node, attribute: &Attribute<'_>) -> Result<bool, Problem> {
    match attribute.name {
        "is_cpu_op" => node.on_host = attribute.whole()? != 0,
        "comm_type" => node.collective = Some(attribute.whole()?),
        "comm_size" => node.bytes = Some(attribute.whole()?),
        "comm_src" => node.from = Some(attribute.whole()?),
        "comm_dst" => node.to = Some(attribute.whole()?),
        "comm_tag" => node.tag = Some(attribute.whole()?),
        "pg_name" => match attribute.content {
            Content::Text(name) => node.group = (!name.is_empty()).then(|| name.to_owned()),
            Content::None | Content::Whole(_) | Content::Other => {
                return Err(wrong(
                    attribute.at,
                    "attribute `pg_name`; expected a string",
                ));
            }
        },
        _ => return Ok(false),
    }
    Ok(true)
}
