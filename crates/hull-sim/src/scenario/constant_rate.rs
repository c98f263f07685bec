//! Traffic without congestion control: only flows that end by being stopped can use it, because a lost
//! packet is never sent again and the flow's last byte may never arrive.

use super::{CongestionControl, Scenario, Transport};
use crate::problem::{Problem, need, quoted, require};

const NAME: &str = "constant_rate";

/// Checks that nothing waits for the last byte of such a flow.
pub(super) fn check(s: &Scenario) -> Result<(), Problem> {
    let is_constant = |of: &Transport| of.congestion_control == CongestionControl::ConstantRate;
    let by_default = is_constant(&s.transport);
    let uses = |name: Option<&str>| match name {
        Some(name) => s.transports.get(name).is_some_and(is_constant),
        None => by_default,
    };
    let long_flows = s.workload.long_lived.iter().flat_map(|long| &long.flows);
    for (i, flow) in long_flows.enumerate() {
        let size = flow.size.filter(|_| uses(flow.transport.as_deref()));
        require(
            size.is_none(),
            &format!("workload.long_lived.flows[{i}].size"),
            quoted(size.unwrap_or_default()),
            "no size but a stop for flows with congestion_control = \"constant_rate\"",
        )?;
    }
    let only = "congestion_control = \"constant_rate\" in workload.long_lived only";
    for (key, name) in s.workload.transports() {
        let is_long = key.starts_with("workload.long_lived.");
        let expected = format!("another transport, {only}");
        require(is_long || !uses(Some(name)), &key, quoted(name), &expected)?;
    }
    let tables = s.workload.tables().into_iter().map(|(name, _)| name);
    let others: Vec<&str> = tables.filter(|name| *name != "long_lived").collect();
    require(
        !by_default || others.is_empty(),
        "transport.congestion_control",
        quoted(NAME),
        &format!(
            "another congestion control for workload.{}, {only}",
            others.join(", workload.")
        ),
    )
}

impl Scenario {
    /// Rejects a row of a flow list that names a transport without congestion control. `listed` contains
    /// the transport numbers of the rows.
    pub(super) fn check_listed_rates(&self, listed: &[u16]) -> Result<(), Problem> {
        for (number, (name, of)) in (1..).zip(&self.transports) {
            let is_constant = of.congestion_control == CongestionControl::ConstantRate;
            need(
                !is_constant || !listed.contains(&number),
                &format!("transports.{name}"),
                "rows of the flow list",
                "flows of workload.long_lived only with congestion_control = \"constant_rate\"",
            )?;
        }
        Ok(())
    }
}
