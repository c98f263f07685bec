//! What a congestion control in Python is told by an acknowledgment: progress of the flow, marks, and the
//! fields that switches wrote into data. Bytes, ps, bit/s.

use hull_sim::network::{Answer, HopRecord};
use hull_sim::transport::Feedback;
use pyo3::prelude::*;
use pyo3::types::PyList;

/// Record that a port wrote into data.
#[pyclass(frozen, get_all)]
pub struct Hop {
    /// Bytes that waited behind the packet.
    queue_bytes: u64,
    /// Bytes that the port had sent before it.
    sent_bytes: u64,
    /// Start of its transmission, ps.
    at_ps: u64,
    /// Rate of the link, bit/s.
    link_bps: u64,
}

impl From<&HopRecord> for Hop {
    fn from(record: &HopRecord) -> Self {
        Hop {
            queue_bytes: record.queue_bytes,
            sent_bytes: record.sent_bytes,
            at_ps: record.at_ps,
            link_bps: record.link_bps,
        }
    }
}

#[pymethods]
impl Hop {
    fn __repr__(&self) -> String {
        let (queue, sent, at_ps) = (self.queue_bytes, self.sent_bytes, self.at_ps);
        let link_bps = self.link_bps;
        format!(
            "<hull.Hop queue_bytes={queue} sent_bytes={sent} at_ps={at_ps} link_bps={link_bps}>"
        )
    }
}

/// Acknowledgment of new data, or a duplicate with an echo.
#[pyclass(frozen, get_all)]
pub struct Ack {
    /// Current time, ps.
    now_ps: u64,
    /// First unacknowledged byte after the event.
    una: u64,
    /// Next new byte to be sent.
    nxt: u64,
    /// Newly acknowledged bytes.
    acked: u64,
    /// Whether the acknowledgment carried ECN-Echo.
    ece: bool,
    /// Rate offered by the path, bit/s, if data requests one.
    offered_bps: Option<u64>,
    /// Records of the hops of the most recent data, if data asks for telemetry and switches write it.
    telemetry: Option<Py<PyList>>,
    /// Number of these hops, including those that found no room for a record.
    hops: u16,
    /// Whether the acknowledged data was sent before a loss for which the window has been reduced.
    after_loss: bool,
    /// Whether the window may grow.
    may_grow: bool,
    /// Measured round-trip time, ps.
    rtt_ps: Option<u64>,
    /// Smoothed round-trip time, ps; 0 before the first measurement.
    srtt_ps: u64,
}

impl Ack {
    /// Creates the event for a Python class; the list of records only if there are some.
    pub fn of(py: Python<'_>, ack: &Feedback<'_>) -> PyResult<Self> {
        let (mut offered_bps, mut telemetry, mut hops) = (None, None, 0);
        match ack.echo.answer {
            Answer::Nothing => {}
            Answer::Rate(rate) => offered_bps = Some(rate.rate_kbps * 1000),
            Answer::Telemetry(records) => {
                hops = records.hops();
                let records = records.as_slice().iter().map(Hop::from);
                telemetry = Some(PyList::new(py, Vec::from_iter(records))?.unbind());
            }
        }
        Ok(Ack {
            now_ps: ack.now_ps,
            una: ack.una,
            nxt: ack.nxt,
            acked: ack.acked,
            ece: ack.echo.marked,
            offered_bps,
            telemetry,
            hops,
            after_loss: ack.after_loss,
            may_grow: ack.may_grow,
            rtt_ps: ack.rtt_ps,
            srtt_ps: ack.srtt_ps,
        })
    }
}

#[pymethods]
impl Ack {
    fn __repr__(&self) -> String {
        let (now_ps, una, acked, ece) = (self.now_ps, self.una, self.acked, self.ece);
        format!("<hull.Ack now_ps={now_ps} una={una} acked={acked} ece={ece}>")
    }
}
