//! A query to several servers that some have not answered yet, and its record (thesis 2.3.2, report
//! III-B). Times in ps, sizes in bytes.

use super::QueryRecord;

/// Open query.
#[derive(Debug)]
pub(super) struct Query {
    start_ps: u64,
    /// Number of the client's host.
    client: u32,
    servers: u32,
    answered: u32,
    in_time: u32,
    timeouts: u32,
    bytes: u64,
    response_sum_ps: u128,
}

impl Query {
    /// Creates a query of the host `client` to this number of servers.
    pub fn new(start_ps: u64, client: u32, servers: u32) -> Self {
        Query {
            start_ps,
            client,
            servers,
            answered: 0,
            in_time: 0,
            timeouts: 0,
            bytes: 0,
            response_sum_ps: 0,
        }
    }

    /// Number of servers whose responses have arrived.
    pub fn answered(&self) -> u32 {
        self.answered
    }

    /// Processes a response of `bytes` that the application has at `now_ps`. Returns the record of the
    /// query if it was the last one.
    pub fn answer(
        &mut self,
        now_ps: u64,
        bytes: u64,
        timed_out: bool,
        deadline_ps: u64,
    ) -> Option<QueryRecord> {
        let elapsed_ps = now_ps - self.start_ps;
        self.answered += 1;
        self.in_time += u32::from(elapsed_ps <= deadline_ps);
        self.timeouts += u32::from(timed_out);
        self.bytes += bytes;
        self.response_sum_ps += u128::from(elapsed_ps);
        (self.answered == self.servers).then(|| self.record(Some(elapsed_ps)))
    }

    /// Record of the query, which completed after `completion_ps` or is open.
    pub fn record(&self, completion_ps: Option<u64>) -> QueryRecord {
        let answered = u128::from(self.answered.max(1));
        QueryRecord {
            start_ps: self.start_ps,
            completion_ps,
            client: self.client,
            servers: self.servers,
            in_time: self.in_time,
            timeouts: self.timeouts,
            bytes: self.bytes,
            mean_response_ps: (self.response_sum_ps / answered) as u64,
        }
    }
}
