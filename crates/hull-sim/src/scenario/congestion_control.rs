//! The names of congestion control algorithms: hull's, and those of classes of your own.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Scenario;
use super::check::{Problem, quoted, require};

/// Congestion control algorithms.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase", from = "String", into = "String")]
#[schemars(!from, !into, extend("x-open" = true))]
pub enum CongestionControl {
    /// TCP NewReno with SACK.
    #[default]
    NewReno,
    /// CUBIC (RFC 9438), the default of Linux.
    Cubic,
    /// BIC-TCP.
    Bic,
    /// DCTCP.
    Dctcp,
    /// TCP Vegas.
    Vegas,
    /// QCN: the source sends at a rate, which congestion points of switches reduce (thesis 5.2).
    Qcn,
    /// QCN-AIMD: QCN without averaging (thesis 5.4.1).
    #[serde(rename = "qcn-aimd")]
    QcnAimd,
    /// RCP: no window, the source sends at the rate that switch.rcp offers.
    Rcp,
    /// One that comes from outside of hull, by its name.
    #[schemars(skip)]
    Own(String),
}

/// Those that hull has.
const BUILT_IN: [CongestionControl; 8] = [
    CongestionControl::NewReno,
    CongestionControl::Cubic,
    CongestionControl::Bic,
    CongestionControl::Dctcp,
    CongestionControl::Vegas,
    CongestionControl::Qcn,
    CongestionControl::QcnAimd,
    CongestionControl::Rcp,
];

/// Congestion controls from outside: for each name the SHA-256 of the source.
pub type OwnControls = IndexMap<String, String>;

impl CongestionControl {
    /// Whether the source has a rate and takes a congestion point's feedback.
    pub fn is_qcn(&self) -> bool {
        matches!(self, CongestionControl::Qcn | CongestionControl::QcnAimd)
    }
}

impl std::fmt::Display for CongestionControl {
    /// As it is written in a scenario.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            CongestionControl::NewReno => "newreno",
            CongestionControl::Cubic => "cubic",
            CongestionControl::Bic => "bic",
            CongestionControl::Dctcp => "dctcp",
            CongestionControl::Vegas => "vegas",
            CongestionControl::Qcn => "qcn",
            CongestionControl::QcnAimd => "qcn-aimd",
            CongestionControl::Rcp => "rcp",
            CongestionControl::Own(name) => name,
        })
    }
}

impl From<String> for CongestionControl {
    fn from(name: String) -> Self {
        BUILT_IN
            .into_iter()
            .find(|control| control.to_string() == name)
            .unwrap_or(CongestionControl::Own(name))
    }
}

impl From<CongestionControl> for String {
    fn from(control: CongestionControl) -> Self {
        control.to_string()
    }
}

/// Checks that the name is known, and notes the source of one from outside.
pub(super) fn resolve(scenario: &mut Scenario, own: &OwnControls) -> Result<(), Problem> {
    let transport = &mut scenario.transport;
    let key = "transport.congestion_control";
    let source = match &transport.congestion_control {
        CongestionControl::Own(name) => {
            let names = BUILT_IN.iter().map(ToString::to_string);
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
