//! Requests that wait for a free connection of a group. The wait is part of their latency, because the loop is
//! open (paper 6.2) and latency runs from the time at which a request is due.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::arrivals::Arrival;

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Arrival>,
    /// Number of idle connections.
    idle: usize,
    closed: bool,
}

/// FIFO for any number of connections.
#[derive(Debug, Default)]
pub struct Queue {
    state: Mutex<State>,
    news: Notify,
}

impl Queue {
    /// Adds a request. Returns whether it must wait, because no connection is free.
    pub fn push(&self, arrival: Arrival) -> bool {
        let mut state = self.state();
        state.waiting.push_back(arrival);
        let must_wait = state.waiting.len() > state.idle;
        drop(state);
        self.news.notify_one();
        must_wait
    }

    /// Waits for the next request; `None` if the queue is closed and empty.
    pub async fn next(&self) -> Option<Arrival> {
        let mut waited = false;
        loop {
            let news = self.news.notified();
            tokio::pin!(news);
            // From here on no notification is missed.
            news.as_mut().enable();
            {
                let mut state = self.state();
                if waited {
                    state.idle -= 1;
                }
                if let Some(arrival) = state.waiting.pop_front() {
                    return Some(arrival);
                }
                if state.closed {
                    return None;
                }
                state.idle += 1;
                waited = true;
            }
            news.await;
        }
    }

    /// Closes the queue: no more requests follow.
    pub fn close(&self) {
        self.state().closed = true;
        self.news.notify_waiters();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn arrival(at_ps: u64) -> Arrival {
        Arrival {
            at_ps,
            class: 0,
            bytes: 1,
            service_ns: 0,
            group: 0,
        }
    }

    #[tokio::test]
    async fn served_in_order_and_drained_before_the_end() {
        let queue = Arc::new(Queue::default());
        assert!(queue.push(arrival(1)), "no taker is free");
        let taker = |queue: Arc<Queue>| async move {
            let mut taken = Vec::new();
            while let Some(arrival) = queue.next().await {
                taken.push(arrival.at_ps);
            }
            taken
        };
        let tasks: Vec<_> = (0..3)
            .map(|_| tokio::spawn(taker(Arc::clone(&queue))))
            .collect();
        while queue.state().idle < 3 {
            tokio::task::yield_now().await;
        }
        let must_wait: Vec<bool> = (2..6).map(|at_ps| queue.push(arrival(at_ps))).collect();
        assert_eq!(must_wait, [false, false, false, true]);
        queue.close();
        let mut all = Vec::new();
        for task in tasks {
            let taken = task.await.expect("ends");
            assert!(taken.is_sorted());
            all.extend(taken);
        }
        all.sort_unstable();
        assert_eq!(all, [1, 2, 3, 4, 5]);
    }
}
