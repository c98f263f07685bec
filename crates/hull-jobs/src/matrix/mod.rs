//! htsim's connection matrices (`.cm`, `.tm`) as a graph of work: flows between hosts that start at a time, or when other
//! flows are done at their sender or receiver. Sizes bytes.

mod graph;
mod lines;
#[cfg(test)]
mod tests;

pub use graph::job;
pub use lines::read;

/// What a file says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix {
    /// Number of hosts that the file names; its flows may need more.
    pub nodes: u32,
    /// The flows, in the order of the file.
    pub flows: Vec<Flow>,
    /// The triggers.
    pub triggers: Vec<Trigger>,
    /// Number of failed links.
    pub failures: u64,
}

/// A flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Its line.
    pub line: u64,
    /// Host that sends.
    pub from: u32,
    /// Host that receives.
    pub to: u32,
    /// Its number (`id`).
    pub id: Option<u64>,
    /// Whether it is a message of the connection `id` (`msg`).
    pub is_message: bool,
    /// What begins it.
    pub begin: Begin,
    /// Size; 0 is a flow without end.
    pub bytes: u64,
    /// Trigger that its sender fires when it is done (`send_done_trigger`).
    pub when_sent: Option<u64>,
    /// Trigger that its receiver fires when it has all (`recv_done_trigger`).
    pub when_received: Option<u64>,
    /// Whether it has a priority (`prio`).
    pub has_priority: bool,
}

/// What begins a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Begin {
    /// A time, in the unit of the program that reads the file (`start`).
    Start(f64),
    /// A trigger (`trigger`).
    Trigger(u64),
}

/// A trigger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trigger {
    /// Its line.
    pub line: u64,
    /// Its number.
    pub id: u64,
    /// When it begins flows.
    pub kind: TriggerKind,
}

/// When a trigger begins the flows that name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TriggerKind {
    /// The first time that it is fired.
    OneShot,
    /// Each time that it is fired.
    MultiShot,
    /// When it has been fired this often.
    Barrier(u64),
}
