//! Pauses in a look at a live run: links that pause over the samples, and the trees of their pauses so
//! far. Times s, rates bit/s.

use serde::Serialize;

use super::Live;
use super::digits::{rounded, seconds};
use crate::measure::PauseCause;
use crate::simulation::instruments::look::{PauseRow, Row};

/// Largest number of rows of the trees: those with the longest pauses.
const MOST_CAUSES: usize = 64;

/// Class of a link in one direction. The node at `from` pauses; the switch at `to` asks for it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PausedLink {
    from: String,
    to: String,
    class: u8,
    /// Time for which it was paused so far.
    pub time: f64,
    /// Share of the time since the sample before for which it was paused.
    pub share: Vec<f64>,
}

/// Pauses of a port with one cause. Ports are written as `FROM->TO`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShownCause {
    root: String,
    cause: String,
    paused: String,
    class: u32,
    depth: u32,
    /// Frames to pause so far.
    pauses: u64,
    time: f64,
}

/// Pauses since the last look and so far.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShownPauses {
    /// Links in the order of their first pause.
    pub links: Vec<PausedLink>,
    /// Mean number of links that were paused since the sample before, each class counted.
    pub paused: Vec<f64>,
    /// Recent rate of the payload that arrives, by displayed flow.
    pub rates: Vec<Vec<f64>>,
    /// Mean rate of this payload since the end of the warm-up, by displayed flow.
    pub goodput: Vec<f64>,
    /// Frames to pause so far.
    frames: u64,
    /// Sum of the times for which links were paused so far.
    pub time: f64,
    causes: Vec<ShownCause>,
}

/// Pauses at the sample before the next look's first.
#[derive(Clone, Debug, Default)]
pub struct Before {
    at_ps: u64,
    all_ps: u64,
    paused_ps: Vec<u64>,
}

impl Before {
    fn of(at_ps: u64, pauses: &PauseRow) -> Self {
        Before {
            at_ps,
            all_ps: pauses.all_ps,
            paused_ps: pauses.paused_ps.clone(),
        }
    }

    /// Mean number of links that were paused from that sample to `at_ps`; a share for one link.
    fn paused(&self, at_ps: u64, until_ps: u64, since_ps: u64) -> f64 {
        let lasted_ps = at_ps.saturating_sub(self.at_ps).max(1);
        rounded((until_ps - since_ps) as f64 / lasted_ps as f64, 1e4)
    }
}

impl Live {
    /// Pauses of these samples; `None` if no link may pause.
    pub(super) fn pauses(&mut self, rows: &[Row]) -> Option<ShownPauses> {
        if !self.simulation.fabric.network.has_pauses() {
            return None;
        }
        let known = (self.simulation.instruments.live.as_ref()).map(|look| look.links.clone());
        let graph = &self.simulation.fabric.graph;
        let node = |node: usize| graph.name(node);
        let link = |&(port, class): &(u32, u8)| PausedLink {
            from: node(graph.port_owner(port as usize)),
            to: node(graph.port_far_end(port as usize)),
            class,
            time: 0.0,
            share: Vec::with_capacity(rows.len()),
        };
        let mut links = Vec::from_iter(known.iter().flatten().map(link));
        let mut paused = Vec::with_capacity(rows.len());
        let mut rates = Vec::new();
        for (row, pauses) in rows
            .iter()
            .filter_map(|row| Some((row, row.pauses.as_ref()?)))
        {
            let before = &self.before;
            paused.push(before.paused(row.at_ps, pauses.all_ps, before.all_ps));
            for (at, link) in links.iter_mut().enumerate() {
                let of = |times: &[u64]| times.get(at).copied().unwrap_or(0);
                let (until_ps, since_ps) = (of(&pauses.paused_ps), of(&before.paused_ps));
                link.share
                    .push(before.paused(row.at_ps, until_ps, since_ps));
            }
            rates.resize_with(pauses.rates_bps.len(), Vec::new);
            for (of_flow, rate_bps) in rates.iter_mut().zip(&pauses.rates_bps) {
                of_flow.push(rate_bps.round());
            }
            self.before = Before::of(row.at_ps, pauses);
        }
        for (link, &paused_ps) in links.iter_mut().zip(&self.before.paused_ps) {
            link.time = seconds(paused_ps);
        }
        let mut causes = self.simulation.fabric.pause_causes(self.reached_ps);
        let frames = causes.iter().map(|cause| cause.pauses).sum();
        let all_ps: u64 = causes.iter().map(|cause| cause.paused_ps).sum();
        causes.sort_by_key(|cause| std::cmp::Reverse(cause.paused_ps));
        causes.truncate(MOST_CAUSES);
        Some(ShownPauses {
            links,
            paused,
            rates,
            goodput: self.goodput_of_shown(),
            frames,
            time: seconds(all_ps),
            causes: causes.iter().map(ShownCause::of).collect(),
        })
    }

    fn goodput_of_shown(&self) -> Vec<f64> {
        let simulation = &self.simulation;
        let warm = &simulation.instruments.at_warmup;
        let lasted_s = seconds(self.reached_ps.saturating_sub(warm.at_ps).max(1));
        let flows = (simulation.instruments.live.as_ref()).map_or(0..0, |look| look.flows.clone());
        let goodput = |flow: u64| {
            let numbers = flow..flow + 1;
            let table = &simulation.endpoints.table;
            let bytes = simulation.instruments.delivered(table, &numbers);
            (8.0 * bytes as f64 / lasted_s).round()
        };
        flows.map(goodput).collect()
    }
}

impl ShownCause {
    fn of(cause: &PauseCause) -> Self {
        let port = |[from, to]: &[String; 2]| format!("{from}->{to}");
        ShownCause {
            root: port(&cause.root),
            cause: port(&cause.cause),
            paused: port(&cause.paused),
            class: cause.class,
            depth: cause.depth,
            pauses: cause.pauses,
            time: seconds(cause.paused_ps),
        }
    }
}
