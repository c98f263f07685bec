//! Unset delayed ACKs. One that takes as long as the minimum RTO makes a timeout of each lone packet, so
//! below the default a tenth of the minimum RTO is used: the ratio of the defaults, 1 ms and 10 ms.

use serde::Deserialize;
use toml::{Table, Value};

use super::{default, transports};
use crate::units::Time;

/// Minimum RTO over an unset delayed ACK.
const RATIO: u64 = 10;

/// Sets `delayed_ack` in each transport that does not have it and whose minimum RTO the default does not
/// fit. Returns the keys.
pub(super) fn derive(table: &mut Table) -> Vec<String> {
    transports::in_each(table, derive_in)
}

fn derive_in(transport: &mut Table, key: &str) -> Option<String> {
    let delays = transport.get("ack_every") != Some(&Value::Integer(1));
    let min_rto = Time::deserialize(transport.get("min_rto")?.clone()).ok()?;
    if !delays || transport.contains_key("delayed_ack") || min_rto > default::delayed_ack() {
        return None;
    }
    let derived = Time(min_rto.0 / RATIO).to_string();
    transport.insert("delayed_ack".to_owned(), Value::String(derived));
    Some(format!("{key}.delayed_ack"))
}
