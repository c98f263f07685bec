//! RCP at a port (thesis 5.5.3): the rate that it offers to flows. Data carries the smallest rate of
//! its path to the receiver, and ACKs return it. Bytes with framing, times ps.

use hull_core::averaging;
use hull_core::rcp::{self, Control, RcpConfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Arrival, Decision, Departure, Rule, Site};
use crate::network::{InBand, OptionTable, Packet, flags};
use crate::problem::{Problem, quoted, require};
use crate::units::{Share, Time};

/// RCP and its versions with the averaging principle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RcpAlgorithm {
    /// RCP.
    #[default]
    Rcp,
    /// AP-RCP: one averaging step, halfway to the next update, reverses half of the change.
    ApRcp,
    /// AP2-RCP: two averaging steps, at one third and two thirds of the interval.
    Ap2Rcp,
    /// PD-RCP: the PD controller that is equivalent to AP-RCP.
    PdRcp,
}

/// RCP at the ports of switches; alpha and beta are its gains.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rcp {
    /// RCP, or one of its versions with the averaging principle.
    #[serde(default)]
    pub algorithm: RcpAlgorithm,
    /// Weight of the spare rate.
    pub alpha: Share,
    /// Weight of the queue.
    pub beta: Share,
    /// Time between two updates of the rate (T).
    pub interval: Time,
    /// Round trip for which the gain is set (d0); with round_trip_gain its initial value.
    pub round_trip: Time,
    /// Share by which d0 moves towards the packets' mean round trip in each interval; sources measure it and
    /// packets carry it (RCP: 0.02). 0 keeps d0 constant.
    #[serde(default)]
    pub round_trip_gain: Share,
    /// Share of the way back in an averaging step (thesis: one half; other values: remark 5.4).
    #[serde(default = "half")]
    pub averaging: Share,
    /// First offered rate, as a share of the link's.
    #[serde(default = "twentieth")]
    pub initial: Share,
}

const fn half() -> Share {
    Share(Share::ONE / 2)
}
const fn twentieth() -> Share {
    Share(Share::ONE / 20)
}

impl Rcp {
    /// Checks the settings.
    pub(crate) fn check(&self) -> Result<(), Problem> {
        for (key, gain) in [
            ("switch.rcp.alpha", self.alpha),
            ("switch.rcp.beta", self.beta),
        ] {
            let fits = gain.0 <= 100 * Share::ONE;
            require(fits, key, quoted(gain), "0 to 100 (10000%)")?;
        }
        for (key, time) in [
            ("switch.rcp.interval", self.interval),
            ("switch.rcp.round_trip", self.round_trip),
        ] {
            let fits = (1_000_000..=1_000_000_000_000).contains(&time.0);
            require(fits, key, quoted(time), "1us to 1s")?;
        }
        require(
            (1..Share::ONE).contains(&self.averaging.0),
            "switch.rcp.averaging",
            quoted(self.averaging),
            "above 0 and below 1",
        )?;
        require(
            self.round_trip_gain.0 <= Share::ONE,
            "switch.rcp.round_trip_gain",
            quoted(self.round_trip_gain),
            "0 to 1",
        )?;
        require(
            (1..=Share::ONE).contains(&self.initial.0),
            "switch.rcp.initial",
            quoted(self.initial),
            "above 0 and at most 1",
        )
    }
}

/// Rate offered by one FIFO port.
#[derive(Debug)]
pub struct OfferedRate(rcp::Rcp);

impl OfferedRate {
    /// Creates the rule with these settings at one port.
    pub fn new(settings: &Rcp, site: &Site) -> Self {
        let one = u64::from(rcp::ONE);
        OfferedRate(rcp::Rcp::new(&RcpConfig {
            link_bps: site.rate.0,
            interval_ps: settings.interval.0,
            round_trip_ps: settings.round_trip.0,
            round_trip_gain: settings.round_trip_gain.scaled(one) as u32,
            alpha: settings.alpha.scaled(one) as u32,
            beta: settings.beta.scaled(one) as u32,
            averaging: settings.averaging.scaled(u64::from(averaging::ONE)) as u32,
            initial_bps: settings.initial.scaled(site.rate.0),
            control: match settings.algorithm {
                RcpAlgorithm::Rcp => Control::Averages(0),
                RcpAlgorithm::ApRcp => Control::Averages(1),
                RcpAlgorithm::Ap2Rcp => Control::Averages(2),
                RcpAlgorithm::PdRcp => Control::ProportionalDerivative,
            },
        }))
    }

    fn count(&mut self, arrival: &Arrival, left_bytes: u64, packet: &Packet, table: &OptionTable) {
        let OfferedRate(rcp) = self;
        rcp.on_arrival(arrival.now_ps, arrival.framed_bytes, left_bytes);
        if let Some(options) = table.get(packet.options)
            && let InBand::Rate(rate) = options.in_band
            && rate.round_trip_ns > 0
        {
            rcp.on_round_trip(u64::from(rate.round_trip_ns) * 1000);
        }
    }
}

impl Rule for OfferedRate {
    fn on_overflow(&mut self, arrival: &Arrival, packet: &Packet, options: &OptionTable) {
        self.count(arrival, arrival.queue_bytes, packet, options);
    }

    fn on_arrival(
        &mut self,
        arrival: &Arrival,
        packet: &Packet,
        options: &OptionTable,
    ) -> Decision {
        let queued_bytes = arrival.queue_bytes + u64::from(packet.wire_bytes);
        let left_bytes = if arrival.waits { queued_bytes } else { 0 };
        self.count(arrival, left_bytes, packet, options);
        Decision::Pass
    }

    fn on_departure(
        &mut self,
        departure: &Departure,
        packet: &Packet,
        options: &mut OptionTable,
    ) -> Decision {
        let OfferedRate(rcp) = self;
        if packet.has(flags::DATA)
            && let Some(options) = options.get_mut(packet.options)
            && let InBand::Rate(rate) = &mut options.in_band
        {
            rate.lower_rate_to(rcp.rate_bps(departure.at_ps));
        }
        Decision::Pass
    }
}
