//! A user's settings, in human units, with the papers' values as defaults.
//!
//! Defaults, for a link of rate C: drain 95% of C and a threshold of 1 KB (paper 6; 3 KB from 10 Gbps
//! on, hull's choice: the paper gives none), packets counted after the comparison (paper 5.1); T_r = 64
//! us, eta = 1/8, beta = 16 /s, p_a = 1/8, T_i = 10 ms, bucket 3 KB, FIFO 128 KB (table 3), from 10
//! Gbps on T_r = 7.2 us, beta = 375 /s, T_i = 1 ms (paper 6.3), bucket 30 KB and FIFO 1 MB;
//! below 1 Gbps T_r and T_i are longer, and beta is smaller, by 1 Gbps / C. The
//! smallest rate of the pacer is C / 100: a departure time is final, and at the hardware's 0.5 Mbps it
//! would be far in the future.

use hull_core::departure_pacer::{
    DeparturePacerConfig, MAX_BUCKET_BYTES, MAX_FIFO_BYTES, MIN_RATE_BPS, RATE_LIMIT_BPS,
    WhenFifoFull,
};
use hull_core::phantom_queue::{Drain, PhantomQueueConfig};
use serde::{Deserialize, Serialize};

use crate::problem::{Problem, input};

/// Parses a number with a unit, such as `9.5Gbps`, `1KB` or `64us`. KB = 1000 bytes, as in the
/// papers.
fn quantity(text: &str, units: &[(&str, f64)]) -> Result<u64, String> {
    let names: Vec<&str> = units.iter().map(|unit| unit.0).collect();
    let wrong = || {
        format!(
            "\"{text}\" is invalid; expected a number with one of {}",
            names.join(", ")
        )
    };
    let at = text
        .find(|c: char| c.is_ascii_alphabetic())
        .ok_or_else(wrong)?;
    let number: f64 = text[..at].trim().parse().map_err(|_| wrong())?;
    let scale = units
        .iter()
        .find(|unit| unit.0 == text[at..].trim())
        .ok_or_else(wrong)?
        .1;
    let value = (number * scale).round();
    if !(0.0..9e15).contains(&value) {
        return Err(wrong());
    }
    Ok(value as u64)
}

/// Parses a rate, bit/s.
pub fn rate(text: &str) -> Result<u64, String> {
    quantity(
        text,
        &[("bps", 1.0), ("Kbps", 1e3), ("Mbps", 1e6), ("Gbps", 1e9)],
    )
}

/// Parses a size, bytes.
pub fn size(text: &str) -> Result<u32, String> {
    let bytes = quantity(text, &[("B", 1.0), ("KB", 1e3), ("MB", 1e6)])?;
    u32::try_from(bytes).map_err(|_| format!("\"{text}\" is invalid; expected at most 4294MB"))
}

/// Parses a time, ns.
pub fn time(text: &str) -> Result<u64, String> {
    quantity(text, &[("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)])
}

/// Parses a share from 0 to 1, such as `12.5%`.
pub fn share(text: &str) -> Result<f64, String> {
    let wrong = || format!("\"{text}\" is invalid; expected 0% to 100%");
    let number: f64 = text
        .strip_suffix('%')
        .ok_or_else(wrong)?
        .trim()
        .parse()
        .map_err(|_| wrong())?;
    if (0.0..=100.0).contains(&number) {
        Ok(number / 100.0)
    } else {
        Err(wrong())
    }
}

/// Placement of a device's phantom queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Phantom {
    /// Incoming packets: the link from the switch to this host, after the switch's port.
    Ingress,
    /// Outgoing packets, before the device's own queue.
    Egress,
    /// No phantom queue.
    Off,
}

/// Settings of a device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Placement of the phantom queue.
    pub phantom: Phantom,
    /// Drain rate of the phantom queue, bit/s.
    pub drain_bps: u64,
    /// Threshold of the phantom queue, bytes.
    pub threshold_bytes: u32,
    /// Whether the phantom queue adds a packet before the comparison with the threshold.
    pub count_arriving: bool,
    /// Whether packets are paced.
    pub pacer: bool,
    /// Rate of the link, bit/s, which is also the pacer's largest rate.
    pub rate_bps: u64,
    /// Smallest rate of the pacer, bit/s.
    pub min_rate_bps: u64,
    /// T_r, the pacer's update interval, ns.
    pub update_interval_ns: u64,
    /// eta, the weight of a new sample in the pacer's rate, 0 to 1.
    pub eta: f64,
    /// beta, the weight of the pacer's backlog in its rate, per second.
    pub beta: f64,
    /// Token bucket, bytes.
    pub bucket_bytes: u32,
    /// Largest backlog of the pacer, bytes.
    pub fifo_bytes: u32,
    /// p_a, the probability that an ECN-Echo associates its flow, 0 to 1.
    pub association_probability: f64,
    /// T_i, the duration of an association, ns.
    pub association_timeout_ns: u64,
    /// Whether the NIC continues to segment: `gso_max_segs` stays unchanged.
    pub keep_gso: bool,
}

impl Settings {
    /// Default settings for a link of `rate_bps`.
    pub fn for_rate(rate_bps: u64) -> Self {
        let fast = rate_bps >= 10_000_000_000;
        // Below 1 Gbps a packet takes longer, so intervals that span a number of packets grow.
        let slower = (1e9 / rate_bps.max(1) as f64).clamp(1.0, 1000.0);
        Settings {
            phantom: Phantom::Ingress,
            drain_bps: rate_bps / 100 * 95,
            threshold_bytes: if fast { 3000 } else { 1000 },
            count_arriving: false,
            pacer: true,
            rate_bps,
            min_rate_bps: (rate_bps / 100).max(MIN_RATE_BPS),
            update_interval_ns: if fast {
                7_200
            } else {
                (64_000.0 * slower) as u64
            },
            eta: 0.125,
            beta: if fast { 375.0 } else { 16.0 / slower },
            bucket_bytes: if fast { 30_000 } else { 3_000 },
            fifo_bytes: if fast { 1_000_000 } else { 128_000 },
            association_probability: 0.125,
            association_timeout_ns: if fast {
                1_000_000
            } else {
                (1e7 * slower) as u64
            },
            keep_gso: false,
        }
    }

    /// Rejects settings that the programs do not support.
    pub fn check(&self) -> Result<(), Problem> {
        let (rate, drain) = (self.rate_bps, self.drain_bps);
        if !(MIN_RATE_BPS..RATE_LIMIT_BPS).contains(&rate) {
            return input(format!(
                "--rate: {rate} bps is invalid; expected 64Kbps to 1000Gbps"
            ));
        }
        if self.phantom != Phantom::Off && (drain == 0 || drain > rate) {
            return input(format!(
                "--drain: {} is invalid; expected more than 0bps and at most the link's rate, {}",
                bps(drain),
                bps(rate)
            ));
        }
        if self.phantom == Phantom::Off && !self.pacer {
            return input(
                "--phantom off and --pacer off: nothing to attach; expected at least one of them on",
            );
        }
        if !(MIN_RATE_BPS..=rate).contains(&self.min_rate_bps) {
            return input(format!(
                "--min-rate: {} is invalid; expected 64Kbps to {}",
                bps(self.min_rate_bps),
                bps(rate)
            ));
        }
        if !(1000..=1_000_000_000).contains(&self.update_interval_ns) {
            return input(format!(
                "--update-interval: {} ns is invalid; expected 1us to 1s",
                self.update_interval_ns
            ));
        }
        if !(1..=MAX_BUCKET_BYTES).contains(&self.bucket_bytes) {
            return input(format!(
                "--bucket: {}B is invalid; expected 1B to 1MB",
                self.bucket_bytes
            ));
        }
        if self.fifo_bytes > MAX_FIFO_BYTES {
            return input(format!(
                "--fifo: {}B is invalid; expected at most 67MB",
                self.fifo_bytes
            ));
        }
        if !(0.0..=1e6).contains(&self.beta) {
            return input(format!(
                "--beta: {} is invalid; expected 0 to 1000000 a second",
                self.beta
            ));
        }
        Ok(())
    }

    /// Settings of the phantom queue for hull-core.
    pub fn phantom_queue(&self) -> PhantomQueueConfig {
        PhantomQueueConfig {
            drain_bps: self.drain_bps,
            threshold_bytes: self.threshold_bytes,
            count_arriving: self.count_arriving,
            drain: Drain::Continuous,
        }
    }

    /// Settings of the pacer for hull-core.
    pub fn departure_pacer(&self) -> DeparturePacerConfig {
        DeparturePacerConfig {
            max_rate_bps: self.rate_bps,
            min_rate_bps: self.min_rate_bps,
            initial_rate_bps: self.rate_bps,
            bucket_bytes: self.bucket_bytes,
            fifo_bytes: self.fifo_bytes,
            update_interval_ns: self.update_interval_ns,
            eta: (self.eta * 65536.0).round() as u32,
            beta: (self.beta * 256.0).round() as u32,
            when_full: WhenFifoFull::Drop,
        }
    }

    /// p_a scaled by 2^32; the largest value means always.
    pub fn probability(&self) -> u32 {
        (self.association_probability * 4_294_967_296.0).min(4_294_967_295.0) as u32
    }
}

/// Text of a rate, such as `9.5Gbps`.
pub fn bps(rate_bps: u64) -> String {
    let rate = rate_bps as f64;
    match rate_bps {
        1_000_000_000.. => format!("{}Gbps", rate / 1e9),
        1_000_000.. => format!("{}Mbps", rate / 1e6),
        1_000.. => format!("{}Kbps", rate / 1e3),
        _ => format!("{rate}bps"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_units() {
        assert_eq!(rate("9.5Gbps"), Ok(9_500_000_000));
        assert_eq!(rate("950 Mbps"), Ok(950_000_000));
        assert_eq!(size("1KB"), Ok(1000));
        assert_eq!(time("7.2us"), Ok(7200));
        assert_eq!(share("12.5%"), Ok(0.125));
        for wrong in [
            "", "1", "Gbps", "1 KB", "-1Mbps", "nanMbps", "1e99Gbps", "1gbps",
        ] {
            let message = rate(wrong).expect_err(wrong);
            assert!(message.contains("expected"), "{message}");
        }
        assert!(share("101%").is_err());
        assert!(size("5000MB").is_err());
    }

    #[test]
    fn defaults_match_the_paper() {
        let settings = Settings::for_rate(1_000_000_000);
        settings.check().expect("they can be used");
        assert_eq!(
            (settings.drain_bps, settings.threshold_bytes),
            (950_000_000, 1000)
        );
        assert_eq!(settings.probability(), 1 << 29);
        let pacer = settings.departure_pacer();
        assert_eq!(
            (pacer.eta, pacer.beta, pacer.update_interval_ns),
            (8192, 4096, 64_000)
        );
        Settings::for_rate(100_000_000_000)
            .check()
            .expect("they can be used");
    }

    #[test]
    fn invalid_settings_are_rejected() {
        let good = Settings::for_rate(1_000_000_000);
        let wrong = [
            (
                Settings {
                    drain_bps: 1_100_000_000,
                    ..good.clone()
                },
                "--drain",
            ),
            (
                Settings {
                    drain_bps: 0,
                    ..good.clone()
                },
                "--drain",
            ),
            (
                Settings {
                    bucket_bytes: 0,
                    ..good.clone()
                },
                "--bucket",
            ),
            (
                Settings {
                    update_interval_ns: 10,
                    ..good.clone()
                },
                "--update-interval",
            ),
            (
                Settings {
                    min_rate_bps: 2_000_000_000,
                    ..good.clone()
                },
                "--min-rate",
            ),
            (
                Settings {
                    phantom: Phantom::Off,
                    pacer: false,
                    ..good.clone()
                },
                "nothing to attach",
            ),
        ];
        for (settings, key) in wrong {
            let problem = settings.check().expect_err(key);
            assert_eq!(problem.status(), 2);
            assert!(problem.to_string().contains(key), "{problem}");
        }
    }
}
