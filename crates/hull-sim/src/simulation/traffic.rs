//! The workload joined to the transport: who writes on which flow, and what a delivery means.
//!
//! Requests: connection c has two flows, 2c from the client to the server and 2c + 1 back. Bulk:
//! flow i is bulk flow i.

use super::{CLIENT, Simulation};
use crate::engine::{Entity, Kind};
use crate::measure::FlowRecord;
use crate::workload::RequestPlan;

/// The workload of a run.
#[derive(Debug)]
pub(super) enum Traffic {
    Requests(RequestPlan),
    Bulk(BulkPlan),
}

/// Flows that begin one after the other and send `size` bytes, or as much as there is time for.
#[derive(Debug)]
pub(super) struct BulkPlan {
    pub size: Option<u64>,
    pub start_interval_ps: u64,
    pub flows: usize,
    pub completed: usize,
}

/// Bytes of a flow that lasts: a thousandth of the sequence space, never used up.
const ENDLESS: u64 = u64::MAX / 1000;

impl Traffic {
    /// Whether nothing is left to wait for after the measured time.
    pub fn is_complete(&self) -> bool {
        match self {
            Traffic::Requests(plan) => plan.outstanding() == 0,
            Traffic::Bulk(plan) => plan.size.is_none() || plan.completed == plan.flows,
        }
    }
}

impl Simulation {
    /// Puts the first arrivals into the event queue.
    pub(super) fn start_traffic(&mut self) {
        match &mut self.traffic {
            Traffic::Requests(plan) => {
                for class in 0..plan.classes() {
                    let at_ps = plan.next_gap_ps(class);
                    self.events.push(at_ps, Entity::new(Kind::Arrival, class));
                }
            }
            Traffic::Bulk(plan) => {
                for flow in 0..plan.flows {
                    let at_ps = flow as u64 * plan.start_interval_ps;
                    self.events.push(at_ps, Entity::new(Kind::Arrival, flow));
                }
            }
        }
    }

    pub(super) fn serve_arrival(&mut self, index: usize) {
        if self.now_ps >= self.end_ps {
            return;
        }
        let (flow, bytes) = match &mut self.traffic {
            Traffic::Requests(plan) => {
                let (connection, bytes) = plan.arrive(self.now_ps, index);
                let at_ps = self.now_ps + plan.next_gap_ps(index);
                self.events.push(at_ps, Entity::new(Kind::Arrival, index));
                (2 * connection, bytes)
            }
            Traffic::Bulk(plan) => (index, plan.size.unwrap_or(ENDLESS)),
        };
        self.senders[flow].write(bytes);
        self.pump(flow as u32);
    }

    /// A flow's data has arrived in order up to `position`.
    #[inline]
    pub(super) fn on_delivered(&mut self, flow: u32, position: u64) {
        match &mut self.traffic {
            Traffic::Requests(plan) if flow.is_multiple_of(2) => {
                let connection = flow as usize / 2;
                let completed = plan.requests_completed(connection, position);
                for _ in 0..completed {
                    self.answer_later(connection);
                }
            }
            Traffic::Requests(plan) => {
                let connection = flow as usize / 2;
                while let Some(request) = plan.response_completed(connection, position) {
                    let fct_ps = self.now_ps + self.application_delay_ps - request.start_ps;
                    if (self.warmup_ps..self.end_ps).contains(&request.start_ps) {
                        self.flows.push(FlowRecord {
                            start_ps: request.start_ps,
                            fct_ps,
                            class: request.class,
                            src: self.paths[flow as usize].src,
                            connection: connection as u32,
                        });
                    }
                }
            }
            Traffic::Bulk(plan) => {
                if Some(position) == plan.size {
                    plan.completed += 1;
                    let start_ps = u64::from(flow) * plan.start_interval_ps;
                    self.flows.push(FlowRecord {
                        start_ps,
                        fct_ps: self.now_ps - start_ps,
                        class: 0,
                        src: self.paths[flow as usize].src,
                        connection: flow,
                    });
                }
            }
        }
    }

    fn answer_later(&mut self, connection: usize) {
        if self.application_delay_ps == 0 {
            self.answer(connection);
            return;
        }
        let at_ps = self.now_ps + self.application_delay_ps;
        if self.answers.is_empty() {
            self.events.push(at_ps, Entity::new(Kind::Application, 0));
        }
        self.answers.push_back((at_ps, connection));
    }

    pub(super) fn serve_answers(&mut self) {
        while let Some(&(at_ps, connection)) = self.answers.front() {
            if at_ps > self.now_ps {
                self.events.push(at_ps, Entity::new(Kind::Application, 0));
                return;
            }
            self.answers.pop_front();
            self.answer(connection);
        }
    }

    fn answer(&mut self, connection: usize) {
        if let Traffic::Requests(plan) = &mut self.traffic {
            let bytes = plan.answer(connection);
            let flow = 2 * connection + 1;
            self.senders[flow].write(bytes);
            self.pump(flow as u32);
        }
    }

    /// Payload that has reached the client, bytes.
    pub(super) fn delivered_to_client(&self) -> u64 {
        let to_client = self.paths.iter().zip(&self.receivers);
        to_client
            .filter(|(path, _)| usize::from(path.dst) == CLIENT)
            .map(|(_, receiver)| receiver.next())
            .sum()
    }
}
