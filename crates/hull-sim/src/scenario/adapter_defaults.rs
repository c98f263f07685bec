//! Unset keys of the message transport that follow from the congestion control: what the NICs (adapters) of
//! RoCE do differs from what Ultra Ethernet's do.

use toml::{Table, Value};

use super::{CongestionControl, transports};

/// Sets these keys of `message` in each transport that does not have them. Returns the keys.
pub(super) fn derive(table: &mut Table) -> Vec<String> {
    transports::in_each(table, derive_in)
}

fn derive_in(transport: &mut Table, key: &str) -> Vec<String> {
    let control = transport.get("congestion_control").cloned();
    let control: Option<CongestionControl> = control.and_then(|name| name.try_into().ok());
    let defaults = (control.as_ref()).map_or(&[][..], |control| control.message_defaults());
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
    let notifies = message.contains_key("cnp_interval");
    if notifies && control == Some(CongestionControl::Dcqcn) {
        derived.extend(hears_each_notification(transport, key));
    }
    derived
}

/// The receiver spaces the notifications, so DCQCN's sender hears each unless the scenario says otherwise.
fn hears_each_notification(transport: &mut Table, key: &str) -> Option<String> {
    let dcqcn = transport
        .entry("dcqcn")
        .or_insert_with(|| Value::Table(Table::new()));
    let Value::Table(dcqcn) = dcqcn else {
        return None;
    };
    if dcqcn.contains_key("mark_interval") {
        return None;
    }
    dcqcn.insert("mark_interval".to_owned(), Value::String("0s".to_owned()));
    Some(format!("{key}.dcqcn.mark_interval"))
}
