//! How the parts of a run agree on its end, and what they do when they have served all their events. Times
//! are ps.
//!
//! The parts publish with their clocks since when their flows are complete. A run ends when all are, after
//! the network's notice, which is at least the time that a part can be ahead of the others.

use super::neighbour::Neighbour;
use super::part::{Part, Phase, Step};
use crate::simulation::completion::{self, NOT_YET, Since};
use crate::simulation::measured::Measured;
use crate::workload::{Progress, Workload};

impl Part<'_> {
    /// Time since when the flows of this part are complete, as far as the others must know.
    pub(super) fn complete(&self) -> Since {
        let (workload, table) = (&self.simulation.workload, &self.simulation.endpoints.table);
        let is_last = self.is_measured || workload.traffic.progress() == Progress::Done;
        match is_last && workload.is_complete(table) {
            true => workload.completion.since(),
            false => NOT_YET,
        }
    }

    /// Times since when the flows of all parts are complete.
    fn all_complete(&self) -> impl Iterator<Item = Since> {
        let others = self.neighbours.iter();
        let others = others.map(|other| other.theirs.complete);
        others.chain([self.complete()])
    }

    /// Adopts the end of the run if it has become known: before the part has served what follows.
    #[inline]
    pub(super) fn take_end(&mut self) {
        if let Some(done_ps) = completion::done_ps(self.all_complete()) {
            let end_ps = done_ps + self.simulation.workload.linger_ps;
            assert!(
                self.served_ps <= end_ps,
                "part {} has served events until {} ps of a run that ends at {end_ps} ps",
                self.number,
                self.served_ps
            );
            let clock = &mut self.simulation.clock;
            clock.limit_ps = clock.limit_ps.min(end_ps);
            self.simulation.workload.done = true;
        }
    }

    /// Decides whether the run is over at the end of the measured time: it is if the flows of all
    /// parts are complete. A part whose flows are not goes on, and its clock tells the others.
    pub(super) fn decide(&mut self) -> Step {
        let received = self.receive();
        let limit_ps = self.simulation.clock.limit_ps;
        let others = &self.neighbours;
        if others
            .iter()
            .any(|other| other.theirs.clock_ps < limit_ps - 1)
        {
            return received; // messages may arrive that complete flows
        }
        self.is_measured = true;
        let is_over = self.complete() != NOT_YET && {
            self.tell(limit_ps);
            let others = &self.neighbours;
            // A part that went on may have completed its flows since.
            let goes_on = others.iter().any(|other| other.theirs.clock_ps >= limit_ps);
            let is_open = |other: &Neighbour| other.theirs.complete == NOT_YET;
            if !goes_on && others.iter().any(is_open) {
                return received;
            }
            !goes_on
        };
        if is_over {
            self.simulation.workload.done = true;
            self.phase = Phase::Ending;
        } else {
            self.simulation.clock.aim_at_last();
            self.phase = Phase::Draining;
            self.drains = true;
        }
        Step::Ahead
    }

    /// Receives messages until all parts are done.
    pub(super) fn end(&mut self) -> Step {
        let all_done = self.board.are_all_done();
        let received = self.receive();
        if all_done {
            self.phase = Phase::Over;
            return Step::Over;
        }
        if !self.is_done {
            self.tell(self.simulation.clock.limit_ps);
            self.is_done = !self.is_behind();
            if self.is_done {
                self.board.count_done();
                return Step::Ahead;
            }
        }
        received
    }

    /// Receives, after the end of all threads, what this part's thread has left: it may end between
    /// the last message and its arrival here. The packets count as in flight.
    pub fn receive_rest(&mut self) {
        self.phase = Phase::Ending;
        self.receive();
    }

    /// Sends notes after the end. Returns true if there were any.
    pub fn send_rest(&mut self) -> bool {
        let sent: u64 = self.neighbours.iter().map(|other| other.sent).sum();
        self.send_notes();
        self.neighbours.iter_mut().for_each(Neighbour::publish);
        self.is_behind() || self.neighbours.iter().map(|other| other.sent).sum::<u64>() > sent
    }

    /// Adopts the end of the run if the part has reached the end of the drain before, and logs all
    /// rows. Returns the readings at the end of the measured time.
    pub fn close(&mut self) -> Measured {
        if self.drains {
            self.take_end();
            self.simulation.end_drain();
        }
        if let Some(ledger) = &mut self.ledger {
            ledger.log_before(u64::MAX, &mut self.simulation.instruments.records.flows);
            self.simulation.endpoints.table.most_flows = ledger.most_in_use;
        }
        self.measured.take().unwrap_or_default()
    }

    /// Logs the rows that no part can precede any more.
    #[inline]
    pub(super) fn log_rows(&mut self) {
        if let Some(ledger) = &mut self.ledger {
            let clocks = self.neighbours.iter().map(|other| other.theirs.clock_ps);
            let clock_ps = clocks.min().unwrap_or(0).min(self.served_ps);
            let log = &mut self.simulation.instruments.records.flows;
            ledger.log_before(clock_ps.saturating_sub(self.late_ps), log);
        }
    }
}
