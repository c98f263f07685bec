//! Unset keys of the message transport with a control that compares the telemetry of successive packets:
//! they take one path, and each is acknowledged, as in the simulators of these controls.

use toml::{Table, Value};

use super::CongestionControl;

/// Keys of `[transport.message]`, and their values.
const KEYS: [(&str, &str); 2] = [("load_balancing", "ecmp"), ("ack_bytes", "1B")];

/// Sets the unset keys in each transport with such a control. Returns the keys.
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

fn derive_in(transport: &mut Table, key: &str) -> Vec<String> {
    let control = transport.get("congestion_control").cloned();
    let control: Option<CongestionControl> = control.and_then(|name| name.try_into().ok());
    if !control.is_some_and(|control| control.follows_path()) {
        return Vec::new();
    }
    let message = transport
        .entry("message")
        .or_insert_with(|| Value::Table(Table::new()));
    let Value::Table(message) = message else {
        return Vec::new();
    };
    let mut derived = Vec::new();
    for (own, value) in KEYS {
        if !message.contains_key(own) {
            message.insert(own.to_owned(), Value::String(value.to_owned()));
            derived.push(format!("{key}.message.{own}"));
        }
    }
    derived
}
