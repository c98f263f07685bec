//! A random time, ps: a server's service time (report III-B), or the variable part of a stack's delay.
//! It is `offset + gamma(kappa, theta)`, exponential, or constant.
//!
//! The report's `180 gamma(0.7, 20000) + 10000 ns` has the scale 180 * 20000 ns = 3.6 ms: mean
//! 0.7 * 3.6 ms + 10 us = 2.53 ms and standard deviation sqrt(0.7) * 3.6 ms = 3.0 ms, as it says.
//! Gamma variates come from `rand_distr` (Marsaglia and Tsang's method, with their power rule for
//! shapes below 1).

use rand_distr::Exp1;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::problem::{Problem, quoted, refuse, require};
use crate::random::Stream;
use crate::units::Time;

/// Random time: `offset` plus at most one distribution, drawn independently each time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Service {
    /// Constant part.
    #[serde(default)]
    pub offset: Time,
    /// Mean of an exponential part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exponential: Option<Time>,
    /// Gamma-distributed part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gamma: Option<Gamma>,
}

/// Gamma distribution: mean `shape * scale`, variance `shape * scale^2`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gamma {
    /// Shape (kappa).
    pub shape: f64,
    /// Scale; the report's 180 gamma(kappa, theta) ns has the scale 180 theta ns.
    pub scale: Time,
}

/// Checks the service time at `key`.
pub(crate) fn check(key: &str, service: &Service) -> Result<(), Problem> {
    if service.exponential.is_some() && service.gamma.is_some() {
        refuse(key, "exponential and gamma", "one of exponential, gamma")?;
    }
    let longest = Time(1_000_000_000_000_000);
    let scale = service.gamma.as_ref().map(|gamma| gamma.scale);
    for (name, time) in [
        ("offset", Some(service.offset)),
        ("exponential", service.exponential),
        ("gamma.scale", scale),
    ] {
        let time = time.unwrap_or_default();
        let key = format!("{key}.{name}");
        require(time <= longest, &key, quoted(time), "at most 1000s")?;
    }
    let Some(gamma) = &service.gamma else {
        return Ok(());
    };
    require(
        gamma.shape > 0.0 && gamma.shape <= 1e6,
        &format!("{key}.gamma.shape"),
        gamma.shape,
        "above 0 and at most 1e6",
    )?;
    require(
        gamma.scale.0 > 0,
        &format!("{key}.gamma.scale"),
        quoted(gamma.scale),
        "a time above 0",
    )
}

/// Distribution of service times.
#[derive(Clone, Debug, PartialEq)]
pub struct ServiceTime {
    offset_ps: u64,
    variable: Variable,
}

#[derive(Clone, Debug, PartialEq)]
enum Variable {
    None,
    Exponential { mean_ps: f64 },
    Gamma(rand_distr::Gamma<f64>),
}

impl ServiceTime {
    /// Creates the distribution that the scenario requests at `key`.
    pub fn new(key: &str, service: &Service) -> Result<Self, Problem> {
        let variable = match (&service.gamma, service.exponential) {
            (Some(gamma), _) => {
                let law = rand_distr::Gamma::new(gamma.shape, gamma.scale.0 as f64);
                Variable::Gamma(law.map_err(|error| {
                    Problem::new(
                        format!("{key}.gamma"),
                        format!("{error}; expected a shape and a scale above 0"),
                    )
                })?)
            }
            (None, Some(mean)) => Variable::Exponential {
                mean_ps: mean.0 as f64,
            },
            (None, None) => Variable::None,
        };
        Ok(ServiceTime {
            offset_ps: service.offset.0,
            variable,
        })
    }

    /// Smallest possible draw, ps.
    pub fn least_ps(&self) -> u64 {
        self.offset_ps
    }

    /// Draws a service time, ps.
    pub fn draw(&self, stream: &mut Stream) -> u64 {
        let variable = match &self.variable {
            Variable::None => 0.0,
            Variable::Exponential { mean_ps } => stream.sample(&Exp1) * mean_ps,
            Variable::Gamma(law) => stream.sample(law),
        };
        self.offset_ps.saturating_add(variable.round() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Purpose;
    use crate::scenario;
    use crate::units::Time;

    /// Mean, standard deviation and skewness of 400,000 draws, in us.
    fn moments(service: &Service) -> (f64, f64, f64) {
        let law = ServiceTime::new("k", service).expect("a good law");
        let mut stream = Stream::new(11, Purpose::ServiceTimes, 0);
        let n = 400_000;
        let draws: Vec<f64> = (0..n)
            .map(|_| law.draw(&mut stream) as f64 * 1e-6)
            .collect();
        let mean = draws.iter().sum::<f64>() / f64::from(n);
        let central =
            |power| draws.iter().map(|x| (x - mean).powi(power)).sum::<f64>() / f64::from(n);
        let deviation = central(2).sqrt();
        (mean, deviation, central(3) / deviation.powi(3))
    }

    fn gamma(offset_ns: u64, shape: f64, scale_ns: u64) -> Service {
        Service {
            offset: Time(offset_ns * 1000),
            exponential: None,
            gamma: Some(scenario::Gamma {
                shape,
                scale: Time(scale_ns * 1000),
            }),
        }
    }

    fn close(found: f64, expected: f64, share: f64) {
        assert!((found / expected - 1.0).abs() < share, "{found} {expected}");
    }

    #[test]
    fn search_service_of_the_report() {
        let (mean, deviation, skewness) = moments(&gamma(10_000, 0.7, 180 * 20_000));
        close(mean, 2530.0, 0.01);
        close(deviation, 3012.0, 0.01);
        close(skewness, 2.0 / 0.7_f64.sqrt(), 0.03);
    }

    #[test]
    fn low_latency_service_of_the_report() {
        let (mean, deviation, _) = moments(&gamma(400, 0.7, 180 * 790));
        close(mean, 100.0, 0.01);
        close(deviation, 119.0, 0.01);
    }

    #[test]
    fn gamma_exponential_and_constant() {
        let (mean, deviation, skewness) = moments(&gamma(0, 4.0, 25_000));
        close(mean, 100.0, 0.01);
        close(deviation, 50.0, 0.01);
        close(skewness, 1.0, 0.03);
        let exponential = Service {
            offset: Time(5_000_000),
            exponential: Some(Time(20_000_000)),
            gamma: None,
        };
        let (mean, deviation, skewness) = moments(&exponential);
        close(mean, 25.0, 0.01);
        close(deviation, 20.0, 0.01);
        close(skewness, 2.0, 0.03);
        let constant = Service {
            offset: Time(100_000_000),
            ..Service::default()
        };
        assert_eq!(moments(&constant).0, 100.0);
    }
}
