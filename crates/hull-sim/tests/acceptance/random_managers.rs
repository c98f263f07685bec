//! Random settings of the port-wide queue rules DualPI2, FQ-CoDel and PIE.

use proptest::prelude::*;
use proptest::sample::select;

/// Switch keys that these rules exclude; with several queues a probe is excluded too.
pub const EXCLUDED: [&str; 6] = [
    "switch.memory",
    "switch.red",
    "switch.pi=",
    "switch.prior",
    "switch.commit",
    "measure.probe",
];

/// One of the rules or none.
pub fn managers() -> impl Strategy<Value = String> {
    let virtual_queue = select(vec!["", ",virtual_queue=\"95%\""]);
    let dualpi2 = (1_u32..300, 0_u32..3, 1_u32..4, any::<bool>(), virtual_queue).prop_map(
        |(rtt, step_after, coupling, drop, virtual_queue)| {
            format!(
                "switch.dualpi2={{typical_rtt=\"{}us\",step_after={step_after},coupling={coupling},\
                 drop_on_overload={drop}{virtual_queue}}}",
                10 * rtt
            )
        },
    );
    let fq_codel = (1_u32..70, 1_u32..500, 1_u32..20).prop_map(|(flows, target, times)| {
        let interval = target * times;
        format!("switch.fq_codel={{flows={flows},target=\"{target}us\",interval=\"{interval}us\"}}")
    });
    let pie = (1_u32..500, 1_u32..500, 0_u32..500).prop_map(|(target, interval, burst)| {
        format!(
            "switch.pie={{target=\"{target}us\",interval=\"{interval}us\",burst=\"{burst}us\"}}"
        )
    });
    prop_oneof![6 => Just(String::new()), 1 => dualpi2, 1 => fq_codel, 1 => pie]
}
