//! Which ports and classes of a memory, or of a host, ask their peers for a pause, since when and why.
//! Times are ps; a place is a port's number within the memory times the classes, plus the class.

/// Pauses that the ports of a memory, or of a host, ask for.
#[derive(Debug)]
pub(super) struct Asking {
    /// Ports of the memory, in the order of their queues.
    pub(super) ports: Vec<u32>,
    /// Ports and classes that ask for a pause.
    pub(super) asking: Vec<u32>,
    /// Time of the last frame of each port and class, ps.
    pub(super) asked_ps: Vec<u64>,
    /// Cause of the last pause of each port and class.
    pub(super) causes: Vec<u32>,
    /// Time of the next look, ps; in the past if none is due.
    pub(super) look_ps: u64,
}

impl Asking {
    /// Creates the state of ports with this number of classes.
    pub(super) fn new(ports: Vec<u32>, classes: usize) -> Self {
        let places = ports.len() * classes;
        Asking {
            ports,
            asking: Vec::new(),
            asked_ps: vec![0; places],
            causes: vec![0; places],
            look_ps: 0,
        }
    }

    /// Number of classes of each port.
    pub(super) fn classes(&self) -> usize {
        self.asked_ps.len() / self.ports.len()
    }

    /// Begins to ask for a pause with this cause.
    pub(super) fn begin(&mut self, from: u32, cause: u32) {
        self.asking.push(from);
        self.causes[from as usize] = cause;
    }
}
