//! Unset keys of the message transport that follow from the congestion control: what the NICs (adapters) of
//! RoCE do differs from what Ultra Ethernet's do.

use toml::{Table, Value};

use super::CongestionControl;

/// Sets these keys of `message` in each transport that does not have them. Returns the keys.
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
    let defaults = control.map_or(&[][..], |control| control.message_defaults());
    if defaults.is_empty() {
        return Vec::new();
    }
    let message = transport
        .entry("message")
        .or_insert_with(|| Value::Table(Table::new()));
    let Value::Table(message) = message else {
        return Vec::new();
    };
    let mut derived = Vec::new();
    for &(own, value) in defaults {
        if !message.contains_key(own) {
            message.insert(own.to_owned(), Value::String(value.to_owned()));
            derived.push(format!("{key}.message.{own}"));
        }
    }
    derived
}
