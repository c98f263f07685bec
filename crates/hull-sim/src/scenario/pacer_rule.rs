//! The pacer's settings for a network: the defaults of `[pacer]`, and the recommendation of `hull
//! design`.
//!
//! The documents have two settings: 1 Gbps, with T_r 64 us, beta 16/s, T_i 10 ms, a FIFO of 128 KB and
//! a bucket of 3 KB (paper table 3 and 5.1), and 10 Gbps with a round trip of 11.8 us, with T_r 7.2 us,
//! beta 375/s and T_i 1 ms (paper 6.3). The rule reproduces both. Each part states what it is fitted
//! to; docs/algorithms/pacer.md has all of it in one table.

use crate::units::{Rate, Share, Size, Tick, Time};

/// T_r/eta in round trips, "on the order of a few" (paper 6): 57.6 us / 11.8 us (6.3). By this
/// ratio the 512 us of table 3 correspond to a round trip of 105 us. The paper does not state the
/// testbed's round trip; thesis 2.1.3 measured about 100 us in a rack.
const ROUND_TRIPS: f64 = 4.88;
/// Longest T_r: table 3's, or [`INTERVAL_PACKETS`] packets on a slow link. At 10 Gbps, 300 us and
/// two flows, HULL reaches 7.2 Gbps with the 180 us of `ROUND_TRIPS`, 8.3 Gbps with 64 us, and 8.6
/// Gbps in theory.
const LONGEST_INTERVAL_S: f64 = 64e-6;
/// Number of packets for which the longest T_r must have room, as table 3's has.
const INTERVAL_PACKETS: f64 = 5.0;
/// T_r/eta of table 3, s.
const TESTBED_ADAPTATION_S: f64 = 512e-6;
/// eta/beta of table 3, s: the time constant with which the term beta Q drains a backlog.
const TESTBED_RELAXATION_S: f64 = 0.125 / 16.0;
/// Exponent of eta/beta as a power of T_r/eta; fits both settings: ln(375/16)/ln(64/7.2).
const RELAXATION_POWER: f64 = 1.4438;
/// T_i as a number of bits at the host's rate: 10 ms at 1 Gbps, 1 ms at 10 Gbps.
const ASSOCIATION_BITS: f64 = 1e7;
/// Smallest T_i in round trips, so that an association lasts from mark to mark at high rates. The
/// documents have 85 (6.3) and, with 105 us, 95.
const ASSOCIATION_ROUND_TRIPS: f64 = 80.0;
/// Smallest bucket (paper 5.1), bytes.
const BUCKET_BYTES: u64 = 3000;
/// Smallest FIFO (paper 5.1), bytes.
const FIFO_BYTES: f64 = 128e3;

/// Properties of the network on which the settings depend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PacedPath {
    /// Rate of the fastest host's link.
    pub rate: Rate,
    /// Longest unloaded round trip between two hosts.
    pub round_trip: Time,
    /// Largest packet, bytes.
    pub mtu: u64,
}

/// T_r, to two digits: eta times `ROUND_TRIPS` round trips, at least 100 ns and at most 64 us or
/// five packets.
pub fn update_interval(path: &PacedPath, eta: Share) -> Time {
    let packets_s = INTERVAL_PACKETS * 8.0 * path.mtu as f64 / path.rate.0.max(1) as f64;
    let longest_s = LONGEST_INTERVAL_S.max(packets_s).min(1.0);
    let seconds = ROUND_TRIPS * path.round_trip.seconds() * weight(eta);
    time(seconds.clamp(100e-9, longest_s))
}

/// beta, 1/s, to three digits: eta over the time constant of draining a backlog, which grows with
/// T_r/eta as between the two settings of the documents.
pub fn beta(interval: Time, eta: Share) -> u32 {
    let relative = interval.seconds() / weight(eta) / TESTBED_ADAPTATION_S;
    let relaxation = TESTBED_RELAXATION_S * relative.powf(RELAXATION_POWER);
    rounded((weight(eta) / relaxation).clamp(1.0, 1e6), 3).round() as u32
}

/// T_i, to two digits.
pub fn association_timeout(path: &PacedPath) -> Time {
    let at_rate = ASSOCIATION_BITS / path.rate.0.max(1) as f64;
    time(at_rate.max(ASSOCIATION_ROUND_TRIPS * path.round_trip.seconds()))
}

/// Depth of the bucket: the largest of 3 KB, two packets and the tokens of a tick at the full rate;
/// at most 1 MB.
pub fn bucket(path: &PacedPath, tick: Tick) -> Size {
    let of_tick = u128::from(path.rate.0) * u128::from(tick.ps()) / 8_000_000_000_000;
    let least = BUCKET_BYTES.max(2 * path.mtu).max(of_tick as u64);
    Size(least.min(1_000_000))
}

/// Capacity of the FIFO: twice what the host can send in T_r/eta, at least the testbed's 128 KB,
/// which equals this for table 3. By equation 4 the rate grows by eta/T_r of the backlog's growth,
/// so it reaches the host's rate at a backlog of `rate * T_r/eta`. The other half absorbs packet
/// granularity: R, which the line rate bounds, is below M/T on average if T_r is not a whole number
/// of packets.
pub fn fifo(path: &PacedPath, interval: Time, eta: Share) -> Size {
    let seconds = interval.seconds() / weight(eta);
    let bytes = 2.0 * path.rate.0 as f64 / 8.0 * seconds;
    Size(rounded(bytes.max(FIFO_BYTES), 3).round().min(1e9) as u64)
}

/// eta, or table 3's value if eta is 0 and the rate is constant.
fn weight(eta: Share) -> f64 {
    if eta.0 == 0 { 0.125 } else { eta.value() }
}

/// Converts a time to picoseconds, rounded to two digits.
fn time(seconds: f64) -> Time {
    Time((rounded(seconds * 1e12, 2)).round() as u64)
}

/// Rounds `value`, taken as at least 1, to `digits` significant digits.
fn rounded(value: f64, digits: i32) -> f64 {
    let place = value.max(1.0).log10().floor() as i32 - (digits - 1);
    if place <= 0 {
        return value.round();
    }
    let unit = 10_f64.powi(place);
    (value / unit).round() * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(gbps: f64, us: f64) -> PacedPath {
        PacedPath {
            rate: Rate((gbps * 1e9) as u64),
            round_trip: Time((us * 1e6).round() as u64),
            mtu: 1500,
        }
    }

    const ETA: Share = Share(Share::ONE / 8);

    /// Paper table 3 and 5.1; the round trip is chosen to yield the paper's T_r.
    #[test]
    fn gives_the_testbed() {
        let path = path(1.0, 105.0);
        let interval = update_interval(&path, ETA);
        assert_eq!(interval, Time(64_000_000));
        assert_eq!(beta(interval, ETA), 16);
        assert_eq!(association_timeout(&path), Time(10_000_000_000));
        assert_eq!(bucket(&path, Tick::Every(Time(16_000_000))), Size(3000));
        assert_eq!(fifo(&path, interval, ETA), Size(128_000));
    }

    /// Paper 6.3.
    #[test]
    fn gives_the_simulations() {
        let path = path(10.0, 11.8);
        let interval = update_interval(&path, ETA);
        assert_eq!(interval, Time(7_200_000));
        assert_eq!(beta(interval, ETA), 375);
        assert_eq!(association_timeout(&path), Time(1_000_000_000));
    }

    /// A long round trip raises T_r no further than table 3's, or five packets of a slow link.
    #[test]
    fn long_round_trips_stop_at_the_testbeds_interval() {
        assert_eq!(update_interval(&path(10.0, 300.0), ETA), Time(64_000_000));
        assert_eq!(update_interval(&path(0.1, 300.0), ETA), Time(180_000_000));
        assert_eq!(update_interval(&path(0.1, 3000.0), ETA), Time(600_000_000));
    }

    #[test]
    fn stays_within_scenario_limits() {
        for gbps in [0.001, 1.0, 25.0, 100.0, 1600.0] {
            for us in [0.0, 0.01, 5.0, 80.0, 300.0, 1e6] {
                for eta in [Share(0), Share(1), ETA, Share(Share::ONE)] {
                    let path = path(gbps, us);
                    let interval = update_interval(&path, eta);
                    assert!((100_000..=1_000_000_000_000).contains(&interval.0));
                    assert!((1..=1_000_000).contains(&beta(interval, eta)));
                    let fifo = fifo(&path, interval, eta);
                    assert!((1500..=1_000_000_000).contains(&fifo.0), "{fifo}");
                    assert!(association_timeout(&path).0 >= 1_000_000);
                }
            }
        }
    }
}
