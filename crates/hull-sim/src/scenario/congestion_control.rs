//! Congestion controls from outside hull: registered names and their classes.

use indexmap::IndexMap;

use super::{CongestionControl, Scenario};
use crate::problem::{Problem, quoted, require};

/// External congestion controls: the SHA-256 of the source for each name.
pub type ExternalControls = IndexMap<String, String>;

/// Checks that the congestion control is known, and records the source hash of an external one.
pub(super) fn resolve(scenario: &mut Scenario, own: &ExternalControls) -> Result<(), Problem> {
    let transport = &mut scenario.transport;
    let key = "transport.congestion_control";
    let source = match &transport.congestion_control {
        CongestionControl::External(name) => {
            let names = CongestionControl::names().into_iter();
            let names: Vec<String> = names.chain(own.keys().cloned()).collect();
            let allowed = format!(
                "{}, or the name of a class that hull.run(congestion_control=...) is given",
                names.join(", ")
            );
            require(own.contains_key(name), key, quoted(name), &allowed)?;
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
