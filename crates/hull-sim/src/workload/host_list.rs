//! Hosts in a scenario: by number (0 is the first), by name, or as a range of numbers.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::SeqAccessDeserializer;
use serde::de::{self, Deserializer, SeqAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use crate::quote;

/// Host or, in a list, a range of hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostRef {
    /// Host number, from 0.
    Number(u32),
    /// Host name, host number as text, or in a list a range of numbers such as `"1-9"`, both ends
    /// included.
    Text(String),
}

/// Ordered list of hosts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum HostList {
    /// One host or range.
    One(HostRef),
    /// Several hosts or ranges.
    Many(Vec<HostRef>),
}

impl HostList {
    /// Entries as written.
    pub fn entries(&self) -> &[HostRef] {
        match self {
            HostList::One(host) => std::slice::from_ref(host),
            HostList::Many(hosts) => hosts,
        }
    }
}

impl fmt::Display for HostList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HostList::One(host) => host.fmt(f),
            HostList::Many(hosts) => {
                let hosts: Vec<String> = hosts.iter().map(HostRef::to_string).collect();
                write!(f, "[{}]", hosts.join(", "))
            }
        }
    }
}

impl fmt::Display for HostRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HostRef::Number(number) => number.fmt(f),
            HostRef::Text(text) => f.write_str(&quote::text(text)),
        }
    }
}

impl Serialize for HostRef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            HostRef::Number(number) => serializer.serialize_u32(*number),
            HostRef::Text(text) => serializer.serialize_str(text),
        }
    }
}

const FORM: &str = "a host by number or name";

struct HostVisitor;

impl Visitor<'_> for HostVisitor {
    type Value = HostRef;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a host by number or name")
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<HostRef, E> {
        u32::try_from(number)
            .map(HostRef::Number)
            .map_err(|_| E::custom(format!("{number} is invalid; expected {FORM}")))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<HostRef, E> {
        u32::try_from(number)
            .map(HostRef::Number)
            .map_err(|_| E::custom(format!("{number} is invalid; expected {FORM}")))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<HostRef, E> {
        Ok(HostRef::Text(text.to_owned()))
    }
}

impl<'de> Deserialize<'de> for HostRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(HostVisitor)
    }
}

struct ListVisitor;

impl<'de> Visitor<'de> for ListVisitor {
    type Value = HostList;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a host by number or name, a range of numbers such as \"1-9\", or a list of these"
        )
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<HostList, E> {
        HostVisitor.visit_u64(number).map(HostList::One)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<HostList, E> {
        HostVisitor.visit_i64(number).map(HostList::One)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<HostList, E> {
        HostVisitor.visit_str(text).map(HostList::One)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<HostList, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(list)).map(HostList::Many)
    }
}

impl<'de> Deserialize<'de> for HostList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ListVisitor)
    }
}

impl JsonSchema for HostRef {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "HostRef".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["integer", "string"], "examples": [0, "h3"], "x-form": FORM })
    }
}

impl JsonSchema for HostList {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "HostList".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let one = json_schema!({
            "type": ["integer", "string"],
            "examples": ["1-9"],
            "x-form": "a host by number or name, a range of numbers such as \"1-9\""
        });
        json_schema!({ "anyOf": [one, { "type": "array", "items": one }] })
    }
}
