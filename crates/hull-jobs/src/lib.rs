//! Graphs of work: what the ranks of a job compute, send and receive, and what must be done before.
//!
//! A [`Schedule`] is such a graph, in memory or on disk; it comes from GOAL (text or binary). A
//! [`Graph`] follows one through a run on any network: it tells which operations may start, and pairs messages
//! with receives. [`loggp`] is the simplest network. Times are whole nanoseconds, sizes bytes, as in GOAL.

pub mod aicb;
#[cfg(test)]
mod alpha_beta;
pub mod chakra;
mod choices;
mod collective;
mod files;
mod form;
mod goal_text;
mod goal_writer;
mod graph;
mod groups;
mod job;
pub mod loggp;
mod maker;
mod matching;
pub mod matrix;
mod op;
mod pairs;
mod problem;
mod program;
mod remarks;
mod schedule;
pub mod simai;
mod text;
mod training;

pub use choices::Choices;
pub use collective::{AllReduce, AllToAll, Broadcast, Collective, Halves, Operation};
pub use files::{open, open_job};
pub use form::Form;
pub use goal_text::{Notes, compile};
pub use goal_writer::{write_goal, write_goal_binary, write_goal_text};
pub use graph::{Graph, Started};
pub use groups::Group;
pub use job::Job;
pub use matching::{Arrival, Matching};
pub use op::{ANY, Kind, Op};
pub use pairs::{Pairs, check_pairs};
pub use problem::Problem;
pub use program::{After, Program, Stage, stage_of};
pub use remarks::Remarks;
pub use schedule::{Counts, Schedule, Writer};
pub use training::{Model, Training};
