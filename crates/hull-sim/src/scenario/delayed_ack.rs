//! Unset delayed ACKs. One that takes as long as the minimum RTO makes a timeout of each lone packet, so
//! below the default a tenth of the minimum RTO is used: the ratio of the defaults, 1 ms and 10 ms.

use serde::Deserialize;
use toml::{Table, Value};

use super::default;
use crate::units::Time;

/// Minimum RTO over an unset delayed ACK.
const RATIO: u64 = 10;

/// Sets `delayed_ack` in each transport that does not have it and whose minimum RTO the default does not
/// fit. Returns the keys.
pub(super) fn derive(table: &mut Table) -> Vec<String> {
    let mut derived = Vec::new();
    if let Some(Value::Table(transport)) = table.get_mut("transport") {
        derived.extend(derive_in(transport, "transport"));
    }
    if let Some(Value::Table(transports)) = table.get_mut("transports") {
        for (name, own) in transports.iter_mut() {
            if let Value::Table(own) = own {
                derived.extend(derive_in(own, &format!("transports.{name}")));
            }
        }
    }
    derived
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
