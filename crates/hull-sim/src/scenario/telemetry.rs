//! Telemetry: checks that senders and switches are configured together.

use hull_core::telemetry::Fields;

use super::{Scenario, Transport};
use crate::network::InBand;
use crate::problem::{Problem, need};
use crate::topology::{Graph, Kind};
use crate::transport::{CongestionControl, Controller, MessageController, Path, RoundTripLine};

/// Checks that a control reads the telemetry of switches, and that switches write what one reads. A
/// class of the user may read it; the run asks the class.
pub(super) fn check(s: &Scenario) -> Result<(), Problem> {
    check_asked(s, s.all_transports().map(|one| asks(s, one)))
}

/// Checks that the fields of telemetry can hold the rates of the links out of switches.
pub(super) fn check_links(s: &Scenario, graph: &Graph) -> Result<(), Problem> {
    let Some(telemetry) = &s.switch.telemetry else {
        return Ok(());
    };
    let of_switches =
        (0..graph.ports()).filter(|&port| graph.nodes[graph.port_owner(port)].kind == Kind::Switch);
    telemetry.check_rates(of_switches.map(|port| graph.wire(port).rate_bps))
}

impl Scenario {
    /// Fields of telemetry records.
    pub(crate) fn telemetry_fields(&self) -> Fields {
        let telemetry = self.switch.telemetry.as_ref();
        telemetry.map_or(Fields::Exact, |one| one.fields(self.host.rate))
    }
}

/// Does the same as [`check`], given whether the control of each transport asks for telemetry; `None` if that is not
/// known.
pub(crate) fn check_asked(
    s: &Scenario,
    asks: impl Iterator<Item = Option<bool>>,
) -> Result<(), Problem> {
    let asks = Vec::from_iter(asks);
    let Some(at) = asks.iter().position(|asks| *asks == Some(true)) else {
        return need(
            s.switch.telemetry.is_none() || asks.contains(&None),
            "switch.telemetry",
            "a table, and no control that reads telemetry",
            "no such key, or a transport.congestion_control that reads it, such as hpcc or a class of your own with \
             asks_telemetry = True",
        );
    };
    if s.switch.telemetry.is_some() {
        return Ok(());
    }
    let transport = s.each_transport().nth(at);
    let of = transport.map_or_else(String::new, |(table, one)| {
        format!(
            "{table}.congestion_control = \"{}\"",
            one.congestion_control
        )
    });
    let told =
        format!("missing, {of} requires it: it reads telemetry; expected a table such as {{}}");
    Err(Problem::new("switch.telemetry", told))
}

/// Whether the control of a transport asks for telemetry; `None` for a class of the user. The answer
/// does not depend on the path.
fn asks(s: &Scenario, transport: &Transport) -> Option<bool> {
    let name = &transport.congestion_control;
    let in_band = if transport.sends_messages() {
        let path = Path {
            link_bps: s.host.rate.0,
            rtt_ps: 10_000_000,
            near_rtt_ps: 10_000_000,
            mtu_bytes: transport.mtu.0 as u16,
            header_bytes: transport.header.0 as u16,
            trims: s.switch.trimming.is_some(),
            initial_window_bytes: None,
            fields: s.telemetry_fields(),
            links: 2,
            unloaded: RoundTripLine::constant(10_000_000),
        };
        MessageController::new(name, &path, transport, None)?.ask(0)
    } else {
        Controller::new(name, transport, None)?.ask(0)
    };
    Some(in_band == InBand::Telemetry)
}
