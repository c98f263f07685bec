//! Queue rules that control a whole port: DualPI2, FQ-CoDel and PIE, and the switch keys that they
//! allow.

use super::{Scenario, Switch};
use crate::network::{DUALPI2_QUEUES, Order, rules::Site};
use crate::problem::{Problem, need, require};

/// Derives DualPI2's unset settings.
pub(super) fn resolve(scenario: &mut Scenario) {
    if let Some(dualpi2) = &mut scenario.switch.dualpi2 {
        dualpi2.resolve();
    }
}

/// Checks the settings of each rule, and that they are not combined.
pub(super) fn check(switch: &Switch) -> Result<(), Problem> {
    if let Some(dualpi2) = &switch.dualpi2 {
        dualpi2.check(switch.rate)?;
    }
    if let Some(fq_codel) = &switch.fq_codel {
        fq_codel.check()?;
    }
    if let Some(pie) = &switch.pie {
        pie.check()?;
    }
    let there = [
        ("switch.dualpi2", switch.dualpi2.is_some()),
        ("switch.fq_codel", switch.fq_codel.is_some()),
        ("switch.pie", switch.pie.is_some()),
    ];
    let mut there = there.into_iter().filter_map(|(key, is)| is.then_some(key));
    let Some(key) = there.next() else {
        return Ok(());
    };
    let others = [
        (there.next(), true),
        (Some("switch.red"), switch.red.is_some()),
        (Some("switch.pi"), switch.pi.is_some()),
        (Some("switch.memory"), switch.memory.is_some()),
        (Some("switch.trimming"), switch.trimming.is_some()),
    ];
    for (other, is) in others {
        if let (Some(other), true) = (other, is) {
            let allowed = format!("one of {key} and {other}: each decides what the port drops");
            need(false, other, "a table", &allowed)?;
        }
    }
    require(
        switch.priorities == 1,
        "switch.priorities",
        switch.priorities,
        &format!("1 with {key}, which has queues of its own"),
    )
}

/// Checks the constraints with other sections.
pub(super) fn check_together(s: &Scenario) -> Result<(), Problem> {
    for (key, is) in [
        ("switch.dualpi2", s.switch.dualpi2.is_some()),
        ("switch.fq_codel", s.switch.fq_codel.is_some()),
    ] {
        need(
            !is || s.measure.probe.is_none(),
            "measure.probe",
            format!("a table beside {key}"),
            "none: when a probe leaves one of several queues is not known when it comes",
        )?;
    }
    Ok(())
}

impl Switch {
    /// Scheduler of a port's queues.
    pub(crate) fn order(&self, site: &Site) -> Order {
        if let Some(dualpi2) = &self.dualpi2 {
            Order::DualPi2(dualpi2.clone(), *site)
        } else if let Some(fq_codel) = &self.fq_codel {
            Order::FqCodel(fq_codel.clone(), *site)
        } else if let Some(dwrr) = &self.dwrr {
            Order::Dwrr(dwrr.quanta(site.mtu))
        } else {
            Order::Strict
        }
    }

    /// Number of queues per port. With trimming, headers have their own queue.
    pub(crate) fn classes(&self) -> usize {
        if self.dualpi2.is_some() {
            return DUALPI2_QUEUES;
        }
        if let Some(fq_codel) = &self.fq_codel {
            return fq_codel.flows as usize;
        }
        let least = if self.trimming.is_some() { 2 } else { 1 };
        self.priorities.max(least) as usize
    }
}
