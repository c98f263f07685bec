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
    let others = s.workload.others_than_long_lived();
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

impl super::Workload {
    /// Tables of the workload beside `long_lived`.
    fn others_than_long_lived(&self) -> Vec<&'static str> {
        let tables = [
            ("requests", self.requests.is_some()),
            ("bulk", self.bulk.is_some()),
            ("flows", self.flows.is_some()),
            ("list", self.list.is_some()),
            ("incast", self.incast.is_some()),
            ("partition_aggregate", self.partition_aggregate.is_some()),
            ("aggregation_tree", self.aggregation_tree.is_some()),
            ("all_to_all", self.all_to_all.is_some()),
            ("permutation", self.permutation.is_some()),
            ("production", self.production.is_some()),
        ];
        let present = tables.into_iter().filter(|(_, is_there)| *is_there);
        present.map(|(name, _)| name).collect()
    }
}
