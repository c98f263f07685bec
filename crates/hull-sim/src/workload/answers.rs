//! Answers of partition/aggregate in levels (thesis 2.1.1): how many were asked for, came in time or
//! late, by level, and the quality of the results. "When a node misses its deadline, the computation
//! continues without that response, lowering the quality of the result": quality is the share of the
//! workers' answers that are part of the result of their query.

use indexmap::IndexMap;
use serde::Serialize;

/// Answers of the queries that began in the measured time.
#[derive(Clone, Debug, Default)]
pub(super) struct Answers {
    queries: u64,
    /// Queries of which no answer is missing.
    full: u64,
    quality_sum: f64,
    levels: Vec<LevelCount>,
}

/// Answers of a level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LevelCount {
    /// Number of requests.
    pub asked: u64,
    /// Number of answers within the deadline.
    pub in_time: u64,
    /// Number of answers that arrived after it.
    pub late: u64,
}

/// Quality of the results of partition/aggregate in levels, in the summary of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Quality {
    /// Mean over the queries of the share of the workers' answers that are part of the result.
    pub quality: f64,
    /// Share of the queries of which no answer is missing.
    pub full_share: f64,
    /// Answers by level, "1" below the client.
    pub levels: IndexMap<String, LevelAnswers>,
}

/// Answers of a level in the summary of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LevelAnswers {
    /// Number of requests to hosts of the level.
    pub asked: u64,
    /// Number of answers within the deadline.
    pub in_time: u64,
    /// Number of answers that arrived after the deadline.
    pub late: u64,
    /// Number of requests without an answer when the run ended.
    pub unanswered: u64,
    /// Share of the requests that were answered in time.
    pub in_time_share: f64,
}

impl Answers {
    /// Creates the counts of so many levels.
    pub fn new(levels: usize) -> Self {
        Answers {
            levels: vec![LevelCount::default(); levels],
            ..Answers::default()
        }
    }

    /// Adds a query: how many of its `workers` answers its result has, and the counts of its levels. A query
    /// without a result when the run ended has none.
    pub fn add(&mut self, in_time: u32, workers: u32, levels: &[LevelCount]) {
        self.queries += 1;
        self.full += u64::from(in_time == workers);
        self.quality_sum += f64::from(in_time) / f64::from(workers);
        for (all, of_query) in self.levels.iter_mut().zip(levels) {
            all.asked += of_query.asked;
            all.in_time += of_query.in_time;
            all.late += of_query.late;
        }
    }

    /// The summary; `None` without queries.
    pub fn quality(&self) -> Option<Quality> {
        let levels = self.levels.iter().enumerate().map(|(i, level)| {
            let answers = LevelAnswers {
                asked: level.asked,
                in_time: level.in_time,
                late: level.late,
                unanswered: level.asked - level.in_time - level.late,
                in_time_share: level.in_time as f64 / level.asked.max(1) as f64,
            };
            ((i + 1).to_string(), answers)
        });
        (self.queries > 0).then(|| Quality {
            quality: self.quality_sum / self.queries as f64,
            full_share: self.full as f64 / self.queries as f64,
            levels: levels.collect(),
        })
    }
}
