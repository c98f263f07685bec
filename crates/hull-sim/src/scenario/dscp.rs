//! Code points of differentiated services (RFC 2474), from which switches take the class of a packet.

use std::fmt::Display;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Scenario, Switch, Transport};
use crate::problem::{Problem, need, require};

/// Class of the packets with a code point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dscp {
    /// Code point, 0 to 63.
    pub code: u8,
    /// Priority class, below switch.priorities.
    pub priority: u8,
}

/// Largest code point, of six bits.
const MOST: u8 = 63;

impl Switch {
    /// Class of a code point, if the switches know it.
    fn class_of_code(&self, code: u8) -> Option<u8> {
        let known = self.dscp.iter().find(|one| one.code == code);
        known.map(|one| one.priority)
    }
}

impl Scenario {
    /// Class of a transport's data: by its code point, or by its priority if the switches do not know the code
    /// point; `None` if the size of the message decides.
    pub(crate) fn class_of(&self, transport: &Transport) -> Option<u8> {
        let of_code = transport
            .dscp
            .and_then(|code| self.switch.class_of_code(code));
        of_code.or(transport.priority)
    }

    /// Whether the switches do not know the code point of each transport, in the order of their numbers; `None`
    /// if they know none.
    pub(crate) fn unknown_codes(&self) -> Option<Vec<bool>> {
        let is_unknown = |one: &Transport| {
            let known = one.dscp.and_then(|code| self.switch.class_of_code(code));
            one.dscp.is_some() && known.is_none()
        };
        let all = self.all_transports().map(is_unknown).collect();
        (!self.switch.dscp.is_empty()).then_some(all)
    }

    /// Number of packets, of those counted by transport, with a code point that the switches do not know; `None`
    /// if they know none.
    pub fn packets_of_unknown_code(&self, counted: &[u64]) -> Option<u64> {
        let codes = self.unknown_codes()?;
        let unknown = codes
            .iter()
            .zip(counted)
            .filter(|(is_unknown, _)| **is_unknown);
        Some(unknown.map(|(_, packets)| packets).sum())
    }
}

/// Checks the classes of code points, and the code points of transports.
pub(super) fn check(s: &Scenario) -> Result<(), Problem> {
    let (entries, last) = (&s.switch.dscp, s.switch.priorities - 1);
    for (at, entry) in entries.iter().enumerate() {
        let key = |name: &dyn Display| format!("switch.dscp[{at}].{name}");
        let again = entries[..at].iter().any(|one| one.code == entry.code);
        let allowed = "a code point from 0 to 63, once";
        let fits = entry.code <= MOST && !again;
        require(fits, &key(&"code"), entry.code, allowed)?;
        let allowed = format!(
            "0 to {last}, with switch.priorities = {}",
            s.switch.priorities
        );
        require(
            u32::from(entry.priority) <= last,
            &key(&"priority"),
            entry.priority,
            &allowed,
        )?;
    }
    for (name, transport) in s.each_transport() {
        if let Some(code) = transport.dscp {
            let key = format!("{name}.dscp");
            require(code <= MOST, &key, code, "0 to 63")?;
            let expected = "no such key without switch.dscp, which gives its class";
            need(!entries.is_empty(), &key, "a number", expected)?;
        }
    }
    need(
        entries.is_empty() || s.all_transports().any(|one| one.dscp.is_some()),
        "switch.dscp",
        "a list",
        "no such key without transport.dscp: no packet has a code point",
    )
}
