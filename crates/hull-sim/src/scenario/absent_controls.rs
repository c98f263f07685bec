//! Congestion controls and transports that hull lacks: how a scenario may spell them, and what is nearest.

use super::CongestionControl;
use crate::problem::quoted;
use crate::spelling::nearest;

/// Spellings, what is missing, and the nearest that hull has.
const ABSENT: [(&[&str], &str, &str); 14] = [
    (
        &["roce", "rocev2", "rdma", "ib", "infiniband"],
        "no control has this name",
        "\"dcqcn\", which RoCE adapters have, and \"nscc\", of Ultra Ethernet's RDMA",
    ),
    (
        &["theta_powertcp", "power_tcp", "delay_powertcp"],
        "no control has this name",
        "\"powertcp\" and \"theta-powertcp\"",
    ),
    (
        &["hpcc++", "int"],
        "no control has this name",
        "\"hpcc\", which reads the telemetry of switches",
    ),
    (
        &["patched_timely"],
        "hull has no patched TIMELY yet",
        "\"timely\" and \"swift\", which read delay, and \"nscc\", which reads delay and marks",
    ),
    (
        &["homa", "phost", "expresspass", "aeolus", "dcpim"],
        "hull has no Homa or another transport of this kind yet",
        "\"rccc\", whose receivers give credit",
    ),
    (
        &["ndp", "eqds"],
        "hull has no NDP or EQDS yet",
        "\"rccc\" with switch.trimming = {}, whose receivers give credit and whose switches trim",
    ),
    (
        &["pfabric", "pias"],
        "hull has no pFabric or PIAS yet",
        "\"dctcp\" with switch.priorities and a transport.priority for each class",
    ),
    (
        &["d2tcp", "l2dct", "d3", "pdq"],
        "hull has no control that knows deadlines",
        "\"dctcp\"",
    ),
    (
        &["mptcp", "quic", "srd", "falcon", "mprdma"],
        "hull has no such transport yet",
        "the message transport (\"nscc\", \"rccc\", \"nscc+rccc\", \"unocc\", \"swift\"), which uses several paths",
    ),
    (
        &[
            "copa", "ledbat", "westwood", "illinois", "compound", "htcp", "veno",
        ],
        "hull has no such congestion control yet",
        "\"cubic\", \"vegas\" and \"bbr\"",
    ),
    (
        &["bbr2", "bbrv2", "bbr3", "bbrv3"],
        "hull has no BBRv2 or BBRv3 yet",
        "\"bbr\", its first version",
    ),
    (
        &["l4s", "tcp_prague"],
        "no control has this name",
        "\"prague\", the TCP of L4S",
    ),
    (
        &["hull", "pq"],
        "HULL is a scheme: this control with [switch.phantom_queue] and [pacer]",
        "\"dctcp\"",
    ),
    (
        &["tcp", "reno", "new_reno", "tahoe", "sack"],
        "no control has this name",
        "\"newreno\", which has SACK",
    ),
];

/// Message about a name that is no congestion control of hull; `others` are those that the user gave.
pub(super) fn told(name: &str, others: &[String]) -> String {
    let of_hull = CongestionControl::names();
    let names = Vec::from_iter(of_hull.iter().chain(others).map(String::as_str));
    lacking(name).unwrap_or_else(|| {
        let hint = nearest(name, names.iter().copied());
        let hint = hint.map_or_else(String::new, |meant| format!("; did you mean {meant}?"));
        format!(
            "{} is invalid; expected {}, or the name of a class that hull.run(congestion_control=...) is given{hint}",
            quoted(name),
            names.join(", ")
        )
    })
}

/// Message about a name that is known and not one of hull's.
pub(super) fn lacking(name: &str) -> Option<String> {
    let plain = name.to_ascii_lowercase().replace(['-', ' '], "_");
    let mut all = ABSENT.iter();
    let (_, lack, nearest) = all.find(|(spellings, ..)| spellings.contains(&plain.as_str()))?;
    let known = CongestionControl::names().join(", ");
    Some(format!(
        "{} is invalid; expected {known}; {lack}, nearest: {nearest}",
        quoted(name)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_absent_and_the_nearest_present() {
        let present = CongestionControl::names();
        for (spellings, _, nearest) in ABSENT {
            for spelling in spellings {
                assert!(!present.contains(&(*spelling).to_owned()), "{spelling}");
            }
            // Every second part is a name in quotes.
            for name in nearest.split('"').skip(1).step_by(2) {
                assert!(present.contains(&name.to_owned()), "{name}");
            }
        }
    }

    #[test]
    fn messages_name_what_is_nearest() {
        let roce = told("RoCE", &[]);
        assert!(roce.starts_with("\"RoCE\" is invalid; expected newreno, "));
        assert!(roce.contains("; no control has this name, nearest: \"dcqcn\", which RoCE"));
        assert!(told("DCQCN", &[]).ends_with("; did you mean dcqcn?"));
        assert!(told("Homa", &[]).ends_with("yet, nearest: \"rccc\", whose receivers give credit"));
        assert!(told("dctpc", &[]).ends_with("; did you mean dctcp?"));
        assert!(told("mine2", &["mine".to_owned()]).ends_with("; did you mean mine?"));
        assert!(told("zzzzzz", &[]).ends_with("hull.run(congestion_control=...) is given"));
    }
}
