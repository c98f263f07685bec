//! Traffic inside a server, as over NVLink: at a rate and latency of its own, message by message, without packets.
//! Each rank has one link to the others of its server, and its messages follow each other on it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::problem::{Problem, quoted, require};
use crate::units::{Rate, Size, Time};
use crate::workload::time;

/// Servers of several ranks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "JobServers")]
pub struct Servers {
    /// Ranks of a server; they follow each other.
    pub ranks: u32,
    /// Rate of each rank's link to the others of its server (default: their messages use the network).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Time of a message besides its bytes.
    #[serde(default)]
    pub latency: Time,
}

impl Servers {
    pub(super) fn check(&self) -> Result<(), Problem> {
        let key = "workload.job.servers";
        require(
            self.ranks > 0,
            &format!("{key}.ranks"),
            self.ranks,
            "1 or more",
        )?;
        if let Some(rate) = self.rate {
            require(
                rate.0 > 0,
                &format!("{key}.rate"),
                quoted(rate),
                "a rate above 0",
            )?;
        }
        time("workload.job.servers.latency", self.latency)?;
        let expected = "workload.job.servers.rate beside it";
        let is_used = self.rate.is_some() || self.latency.0 == 0;
        require(
            is_used,
            &format!("{key}.latency"),
            quoted(self.latency),
            expected,
        )
    }
}

impl Servers {
    /// Time of a ring all-reduce of `bytes` among `ranks` ranks of a server, ns: 2 (n-1) steps of a n-th of the bytes;
    /// `None` if it uses the network.
    pub(super) fn ring_ns(&self, ranks: u32, bytes: u64) -> Option<f64> {
        let rate = self.rate?;
        let is_inside = self.ranks.is_multiple_of(ranks);
        let step_ns = bytes as f64 / f64::from(ranks) * 8e9 / rate.0 as f64;
        let steps = 2.0 * f64::from(ranks - 1);
        is_inside.then(|| steps * (step_ns + self.latency.0 as f64 / 1000.0))
    }
}

/// Links inside servers.
#[derive(Debug)]
pub(super) struct Inside {
    per_server: u32,
    /// Rate, bit/s; 0 if only a rank's messages to itself stay inside.
    rate_bps: u64,
    latency_ps: u64,
    /// When each rank's link is free, ps.
    free_ps: Vec<u64>,
}

impl Inside {
    pub(super) fn new(servers: Option<&Servers>, ranks: u32) -> Self {
        let with_links = servers.and_then(|servers| Some((servers, servers.rate?)));
        match with_links {
            Some((servers, rate)) => Inside {
                per_server: servers.ranks,
                rate_bps: rate.0,
                latency_ps: servers.latency.0,
                free_ps: vec![0; ranks as usize],
            },
            None => Inside {
                per_server: 1,
                rate_bps: 0,
                latency_ps: 0,
                free_ps: vec![0; ranks as usize],
            },
        }
    }

    /// Whether messages between two ranks do not use the network.
    pub(super) fn has(&self, rank: u32, other: u32) -> bool {
        rank / self.per_server == other / self.per_server
    }

    /// Time at which a message of `bytes` from `rank` arrives, ps; one to itself takes no time.
    pub(super) fn arrival_ps(&mut self, now_ps: u64, (rank, to): (u32, u32), bytes: Size) -> u64 {
        if rank == to {
            return now_ps;
        }
        let bits = u128::from(bytes.0) * 8 * 1_000_000_000_000;
        let takes_ps = bits.div_ceil(u128::from(self.rate_bps.max(1)));
        let free_ps = &mut self.free_ps[rank as usize];
        let takes_ps = u64::try_from(takes_ps).unwrap_or(u64::MAX);
        *free_ps = now_ps.max(*free_ps).saturating_add(takes_ps);
        free_ps.saturating_add(self.latency_ps)
    }
}
