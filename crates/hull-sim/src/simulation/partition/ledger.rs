//! Rows of completed flows, and the number of slots in use, in the order of a run on one thread, from
//! the reports of all parts of a run that is divided by hosts. Times are ps.
//!
//! Rows are in the order in which messages arrive, and arrivals at the same time in the order of their
//! hosts. A row waits here until no part can report an earlier one.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, VecDeque};

use crate::measure::{AckedFlow, FlowLog};
use crate::simulation::flow::halves::At;
use crate::simulation::flow::halves::Report;
use crate::workload::FlowRecord;

/// Part of a row, and its number there.
type Name = (u8, u64);

/// What happened to a row.
#[derive(Debug)]
enum Entry {
    Row(FlowRecord),
    Acked(AckedFlow),
}

/// Reports that wait.
#[derive(Debug, Default)]
pub struct Ledger {
    /// Rows and acknowledgments, and whose they are.
    entries: BTreeMap<At, (Name, Entry)>,
    /// Numbers in the log of rows that wait for their acknowledgment.
    logged: HashMap<Name, u64>,
    opened: VecDeque<u64>,
    freed: BinaryHeap<Reverse<u64>>,
    in_use: u64,
    /// Largest number of slots in use at the same time.
    pub most_in_use: u64,
}

impl Ledger {
    /// Takes a report of a part.
    pub fn take(&mut self, part: u8, report: Report) {
        match report {
            Report::Row(at, number, record) => {
                let entry = ((part, number), Entry::Row(record));
                self.entries.insert(at, entry);
            }
            Report::Acked(at, acked) => {
                let entry = ((part, acked.flow.row), Entry::Acked(acked));
                self.entries.insert(at, entry);
            }
            Report::Opened(at_ps) => self.opened.push_back(at_ps),
            Report::Freed(at_ps) => self.freed.push(Reverse(at_ps)),
        }
    }

    /// Logs what happened before `until_ps`, and counts the slots until then. The log writes groups
    /// of rows, which depend on what is acknowledged: rows and acknowledgments are in one order.
    pub fn log_before(&mut self, until_ps: u64, log: &mut FlowLog) {
        while let Some(entry) = self.entries.first_entry()
            && entry.key().0 < until_ps
        {
            match entry.remove() {
                (name, Entry::Row(record)) => {
                    self.logged.insert(name, log.push(record));
                }
                (name, Entry::Acked(mut acked)) => {
                    // A message arrives before its acknowledgment.
                    if let Some(row) = self.logged.remove(&name) {
                        acked.flow.row = row;
                        log.acknowledged(acked);
                    }
                }
            }
        }
        while let Some(&opened_ps) = self.opened.front()
            && opened_ps < until_ps
        {
            self.opened.pop_front();
            while let Some(&Reverse(freed_ps)) = self.freed.peek()
                && freed_ps <= opened_ps
            {
                self.freed.pop();
                self.in_use -= 1;
            }
            self.in_use += 1;
            self.most_in_use = self.most_in_use.max(self.in_use);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::LoggedFlow;
    use crate::workload::Acked;

    /// Rows come in the order of arrival, whichever part reports first.
    #[test]
    fn rows_are_in_the_order_of_arrival() {
        let mut log = FlowLog::new(vec!["all".to_owned()], None);
        let mut ledger = Ledger::default();
        let record = |dst: u32| FlowRecord::new(0, 1, (9, dst), 1000, 0);
        let acked = |row, at_ps| {
            let (class, group) = (0, 0);
            let acked = AckedFlow {
                flow: LoggedFlow { row, class, group },
                transport: 0,
                after_ps: at_ps,
            };
            Report::Acked((at_ps, 9, 0), acked)
        };
        ledger.take(1, Report::Row((50, 3, 0), 0, record(3)));
        ledger.take(0, Report::Row((50, 2, 0), 0, record(2)));
        ledger.take(1, Report::Row((40, 1, 0), 1, record(1)));
        ledger.take(1, acked(1, 45));
        ledger.log_before(50, &mut log);
        let dsts = |log: &FlowLog| Vec::from_iter(log.rows().iter().map(|row| row.dst));
        assert_eq!(dsts(&log), [1]);
        ledger.log_before(51, &mut log);
        assert_eq!(dsts(&log), [1, 2, 3]);
        ledger.take(1, acked(0, 77));
        ledger.log_before(78, &mut log);
        let acked = Vec::from_iter(log.rows().iter().map(|row| row.acked));
        assert_eq!(acked, [Acked::After(45), Acked::Pending, Acked::After(77)]);
    }

    /// A slot that is freed when another flow begins is in use once.
    #[test]
    fn slots_in_use() {
        let mut log = FlowLog::new(Vec::new(), None);
        let mut ledger = Ledger::default();
        for report in [
            Report::Opened(10),
            Report::Opened(20),
            Report::Opened(30),
            Report::Freed(20),
        ] {
            ledger.take(0, report);
        }
        ledger.log_before(20, &mut log);
        assert_eq!(ledger.most_in_use, 1);
        ledger.log_before(u64::MAX, &mut log);
        assert_eq!(ledger.most_in_use, 2);
    }
}
