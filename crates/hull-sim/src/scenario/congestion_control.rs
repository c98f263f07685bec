//! Congestion controls from outside hull: registered names and their classes.

use indexmap::IndexMap;

use super::{CongestionControl, Scenario, absent_controls};
use crate::problem::{Problem, quoted, require};

/// External congestion controls: the SHA-256 of the source for each name.
pub type ExternalControls = IndexMap<String, String>;

/// Checks that the congestion control is known, and records the source hash of an external one.
pub(super) fn resolve(scenario: &mut Scenario, own: &ExternalControls) -> Result<(), Problem> {
    let transport = &mut scenario.transport;
    let key = "transport.congestion_control";
    let source = match &transport.congestion_control {
        CongestionControl::External(name) => {
            if !own.contains_key(name) {
                let others = Vec::from_iter(own.keys().cloned());
                return Err(Problem::new(key, absent_controls::told(name, &others)));
            }
            own.get(name)
        }
        _ => None,
    };
    if let Some(found) = &transport.own_sha256 {
        let allowed = match source {
            Some(source) => format!("\"{source}\", or no such key: the class has changed"),
            None => format!("the key with a class of your own as {key} only"),
        };
        require(
            Some(found) == source,
            "transport.own_sha256",
            quoted(found),
            &allowed,
        )?;
    }
    transport.own_sha256 = source.cloned();
    Ok(())
}
