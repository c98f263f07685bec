//! Additional transports of a scenario: each starts from `[transport]`, and workloads name them.

use toml::{Table, Value};

use super::loss_detection::LossDetection;
use super::overrides::merge;
use super::{CongestionControl, Scenario, Transport, absent_controls, transport};
use crate::problem::{Problem, quoted, require};
use crate::workload::DEFAULT_TRANSPORT;

/// Whether a key applies to a congestion control.
type Applies = fn(&CongestionControl) -> bool;

/// Keys in `[transport]`, besides the tables of [`Transport::OF_CONTROLS`], that apply to some congestion
/// controls only. Others do not inherit them.
const OF_SOME_CONTROLS: [(&[&str], Applies); 8] = [
    (&["own_sha256"], |of| {
        matches!(of, CongestionControl::External(_))
    }),
    (&["messages"], |of| {
        matches!(of, CongestionControl::External(_))
    }),
    (&["message", "unocc"], |of| *of == CongestionControl::UnoCc),
    (&["message", "initial_window"], |of| !of.starts_at_rate()),
    (&["qcn", "target_rate_reduction"], |of| {
        *of == CongestionControl::Qcn
    }),
    (&["qcn", "hyper_increase"], |of| {
        *of == CongestionControl::Qcn
    }),
    (&["loss_detection"], LossDetection::applies_to),
    (&["spray"], |of| !of.is_of_messages()),
];

/// Completes each table of `[transports]` with the keys of `[transport]` that it does not set and
/// that apply to its congestion control.
pub(super) fn complete(table: &mut Table) {
    let base = match table.get("transport") {
        Some(Value::Table(base)) => base.clone(),
        _ => Table::new(),
    };
    let Some(Value::Table(transports)) = table.get_mut("transports") else {
        return;
    };
    for (_, own) in transports.iter_mut() {
        if let Value::Table(own) = own {
            let mut whole = base.clone();
            let control = own.get("congestion_control").cloned();
            if let Some(control) = control.and_then(|name| name.try_into().ok()) {
                let tables = Transport::OF_CONTROLS.iter();
                let tables = tables.filter(|(_, uses)| !uses(&control));
                tables.for_each(|(key, _)| remove(&mut whole, &[key]));
                let others = OF_SOME_CONTROLS.iter();
                let others = others.filter(|(_, applies)| !applies(&control));
                others.for_each(|(key, _)| remove(&mut whole, key));
            }
            merge(&mut whole, own);
            *own = whole;
        }
    }
}

/// Applies `derive` to the table of each transport with its key, and returns what all return.
pub(super) fn in_each<D: IntoIterator<Item = String>>(
    table: &mut Table,
    derive: impl Fn(&mut Table, &str) -> D,
) -> Vec<String> {
    let mut derived = Vec::new();
    if let Some(Value::Table(transport)) = table.get_mut("transport") {
        derived.extend(derive(transport, "transport"));
    }
    if let Some(Value::Table(transports)) = table.get_mut("transports") {
        for (name, own) in transports.iter_mut() {
            if let Value::Table(own) = own {
                derived.extend(derive(own, &format!("transports.{name}")));
            }
        }
    }
    derived
}

/// Removes a key, given with the tables that it is in.
fn remove(table: &mut Table, key: &[&str]) {
    match key {
        [] => {}
        [own] => {
            table.remove(*own);
        }
        [outer, inner @ ..] => {
            if let Some(Value::Table(table)) = table.get_mut(*outer) {
                remove(table, inner);
            }
        }
    }
}

/// Checks each transport, and that at least one workload uses it.
pub(super) fn check(s: &Scenario) -> Result<(), Problem> {
    for name in s.transports.keys() {
        let letters = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        require(
            name != DEFAULT_TRANSPORT && !name.is_empty() && name.chars().all(letters),
            "transports",
            quoted(name),
            "names of letters, digits, - and _, but \"default\", the flows of [transport]",
        )?;
    }
    let named = s.workload.transports();
    for (key, name) in &named {
        let known: Vec<&str> = s.transports.keys().map(String::as_str).collect();
        let allowed = match known.is_empty() {
            true => "no such key: the scenario has no [transports]".to_owned(),
            false => format!("one of {}", known.join(", ")),
        };
        require(
            s.transports.contains_key(*name),
            key,
            quoted(name),
            &allowed,
        )?;
    }
    for (name, own) in &s.transports {
        let of = |key: &str| format!("transports.{name}.{key}");
        let checked: Result<(), Problem> = transport::check(own).into_iter().collect();
        checked.map_err(|problem| problem.moved("transport", &of("")))?;
        let base = &s.transport;
        for (key, found, one) in [
            ("mtu", own.mtu, base.mtu),
            ("header", own.header, base.header),
            ("framing", own.framing, base.framing),
        ] {
            let allowed = format!(
                "{}, as transport.{key}: one for the whole network",
                quoted(one)
            );
            require(found == one, &of(key), quoted(found), &allowed)?;
        }
        for (key, control) in [
            (of("congestion_control"), &own.congestion_control),
            (
                "transport.congestion_control".to_owned(),
                &base.congestion_control,
            ),
        ] {
            let of_hull = CongestionControl::names().join(", ");
            let allowed = format!("{of_hull} beside other transports");
            if let CongestionControl::External(name) = control {
                let other = || Problem::of_value(&key, quoted(control), &allowed);
                let lacking = absent_controls::lacking(name);
                return Err(lacking.map_or_else(other, |told| Problem::new(&key, told)));
            }
        }
        priorities(&format!("transports.{name}"), own, s.switch.priorities)?;
        // A flow list may name the transport; its reader checks that ([`Scenario::check_listed`]).
        if !s.workload.has_list() && !named.iter().any(|(_, used)| used == name) {
            Err(without_flows(name))?;
        }
    }
    priorities("transport", &s.transport, s.switch.priorities)
}

/// Error for a transport that no workload names.
fn without_flows(name: &str) -> (String, String) {
    (
        format!("transports.{name}"),
        format!(
            "a transport without flows is invalid; expected a workload with transport = \"{name}\""
        ),
    )
}

/// Checks the classes of a transport's packets.
fn priorities(of: &str, transport: &Transport, priorities: u32) -> Result<(), Problem> {
    let last = priorities - 1;
    let allowed = format!("0 to {last}, with switch.priorities = {priorities}");
    let message = &transport.message;
    for (key, class) in [
        ("priority", transport.priority.unwrap_or(0)),
        ("message.ack_priority", message.ack_priority),
        ("message.cnp_priority", message.cnp_priority),
    ] {
        let key = format!("{of}.{key}");
        require(u32::from(class) <= last, &key, class, &allowed)?;
    }
    Ok(())
}

impl Scenario {
    /// All transports with the names of their tables, in the order of their numbers.
    pub(super) fn each_transport(&self) -> impl Iterator<Item = (String, &Transport)> {
        let others = self.transports.iter();
        std::iter::once(("transport".to_owned(), &self.transport))
            .chain(others.map(|(name, one)| (format!("transports.{name}"), one)))
    }

    /// All transports, in the order of their numbers.
    pub fn all_transports(&self) -> impl Iterator<Item = &Transport> {
        std::iter::once(&self.transport).chain(self.transports.values())
    }

    /// Whether all transports send messages, whose packets have a NIC of their own.
    pub fn sends_messages_only(&self) -> bool {
        self.all_transports().all(Transport::sends_messages)
    }

    /// Names of the transports, in the order of their numbers; empty if there is only one.
    pub fn transport_names(&self) -> Vec<String> {
        let default = (!self.transports.is_empty()).then(|| DEFAULT_TRANSPORT.to_owned());
        default
            .into_iter()
            .chain(self.transports.keys().cloned())
            .collect()
    }

    /// Number of transports whose packets are counted for each; 0 if they are not.
    pub(crate) fn counted_transports(&self) -> usize {
        match self.unknown_codes() {
            Some(codes) => codes.len(),
            None => self.transport_names().len(),
        }
    }

    /// Rejects a transport that neither a workload nor a row of a flow list names, and one that rows cannot
    /// use. `listed` contains the transport numbers of the rows.
    pub(crate) fn check_listed(&self, listed: &[u16]) -> Result<(), (String, String)> {
        self.check_listed_rates(listed)?;
        let named = self.workload.transports();
        for (number, name) in (1..).zip(self.transports.keys()) {
            if !listed.contains(&number) && !named.iter().any(|(_, used)| used == name) {
                return Err(without_flows(name));
            }
        }
        Ok(())
    }
}
