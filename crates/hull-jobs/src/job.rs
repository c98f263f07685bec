//! A job that a file describes.

use crate::form::Form;
use crate::program::Stage;
use crate::remarks::Remarks;
use crate::schedule::Schedule;

/// A graph of work and what is known of it.
#[derive(Debug)]
pub struct Job {
    /// Form of its file.
    pub form: Form,
    /// What the ranks do.
    pub schedule: Schedule,
    /// Its collectives, whose first and last operations have tags (see [`crate::stage_of`]).
    pub stages: Vec<Stage>,
    /// What the reader left out or decided by itself.
    pub remarks: Remarks,
}
