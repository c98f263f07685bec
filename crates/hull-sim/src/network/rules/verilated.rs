//! Hardware in the loop: both marking rules of a port are the modules of `rtl/switch`, simulated by
//! Verilator. Behind the feature `verilated`, for the test `rtl/loop/test_loop.py`, which links the
//! library that Verilator generates from `rtl/loop/marking_port.sv`.
//!
//! A departure time is rounded down to a clock; otherwise the port equals the simulator's own. Failing
//! links are not supported, because the hardware's counter has no such input.

#![allow(unsafe_code)]

use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use hull_core::hardware::phantom_queue::Settings;
use hull_core::marking::ThresholdMarker;
use hull_core::phantom_queue::PhantomQueueConfig;

use super::{Arrival, Decision, Departure, Rule};
use crate::network::{OptionTable, Packet};

/// Clock period, ps, for links up to 1 Gbps, as on the NetFPGA, and for faster ones (156.25 MHz).
const CLOCK_PS: u32 = 8_000;
const FAST_CLOCK_PS: u32 = 6_400;

// SAFETY: declared as in rtl/loop/marking_port.cpp.
unsafe extern "C" {
    fn marking_port_new(
        drain_units: u32,
        byte_units: u32,
        threshold_bytes: u32,
        count_arriving: bool,
        tick_clocks: u16,
        marker_enable: bool,
        marker_threshold_bytes: u32,
        marker_count_arriving: bool,
    ) -> *mut c_void;
    fn marking_port_delete(port: *mut c_void);
    fn marking_port_arrives(port: *mut c_void, queue_bytes: u32, bytes: u16) -> bool;
    fn marking_port_departs(port: *mut c_void, clock: u64, bytes: u16, ect: bool) -> bool;
    fn marking_port_clocks(port: *mut c_void) -> u64;
    fn marking_port_skipped(port: *mut c_void) -> u64;
}

/// Total work of all ports of finished runs.
#[derive(Debug, Default)]
pub struct Work {
    /// Number of packets processed by the threshold marker.
    pub arrivals: AtomicU64,
    /// Number of packets processed by the phantom queue.
    pub departures: AtomicU64,
    /// Number of mark decisions of both.
    pub marks: AtomicU64,
    /// Number of simulated clocks.
    pub clocks: AtomicU64,
    /// Number of clocks skipped because nothing changed.
    pub skipped: AtomicU64,
}

/// Total work of all ports of finished runs.
pub static WORK: Work = Work {
    arrivals: AtomicU64::new(0),
    departures: AtomicU64::new(0),
    marks: AtomicU64::new(0),
    clocks: AtomicU64::new(0),
    skipped: AtomicU64::new(0),
};

/// Marking rules of one port.
#[derive(Debug)]
pub struct VerilatedPort {
    port: *mut c_void,
    clock_ps: u64,
    has_marker: bool,
    has_phantom_queue: bool,
}

// SAFETY: this value exclusively owns the model behind the pointer, which uses no thread-local
// data.
unsafe impl Send for VerilatedPort {}

impl VerilatedPort {
    /// Creates the rules of a port with a link of `rate_bps`.
    ///
    /// # Panics
    /// If a setting does not fit the hardware's registers.
    pub fn new(
        rate_bps: u64,
        marker: Option<ThresholdMarker>,
        phantom_queue: Option<&PhantomQueueConfig>,
    ) -> Self {
        let clock_ps = match rate_bps {
            ..=1_000_000_000 => CLOCK_PS,
            _ => FAST_CLOCK_PS,
        };
        let settings = phantom_queue.map(|config| {
            Settings::of(config, clock_ps).expect("the phantom queue fits the registers")
        });
        let has_marker = marker.is_some();
        let marker = marker.unwrap_or(ThresholdMarker {
            threshold_bytes: 0,
            count_arriving: false,
        });
        assert!(marker.threshold_bytes < 1 << 20, "K fits its register");
        // SAFETY: plain numbers; the pointer is deleted in `drop`.
        let port = unsafe {
            marking_port_new(
                settings.map_or(0, |s| s.drain_units),
                settings.map_or(0, |s| s.byte_units),
                settings.map_or(0, |s| s.threshold_bytes),
                settings.is_some_and(|s| s.count_arriving),
                settings.map_or(0, |s| s.tick_clocks),
                has_marker,
                marker.threshold_bytes,
                marker.count_arriving,
            )
        };
        VerilatedPort {
            port,
            clock_ps: u64::from(clock_ps),
            has_marker,
            has_phantom_queue: settings.is_some(),
        }
    }
}

impl Rule for VerilatedPort {
    fn on_arrival(
        &mut self,
        arrival: &Arrival,
        packet: &Packet,
        _options: &OptionTable,
    ) -> Decision {
        if !self.has_marker {
            return Decision::Pass;
        }
        let queue_bytes = u32::try_from(arrival.queue_bytes).expect("a queue below 4 GB");
        assert!(
            queue_bytes < 1 << 20,
            "the queue fits the hardware's 20 bits"
        );
        // SAFETY: `port` is valid until `drop`.
        let marks = unsafe { marking_port_arrives(self.port, queue_bytes, packet.wire_bytes) };
        WORK.arrivals.fetch_add(1, Relaxed);
        WORK.marks.fetch_add(u64::from(marks), Relaxed);
        Decision::mark_if(marks)
    }

    fn on_departure(
        &mut self,
        departure: &Departure,
        packet: &Packet,
        _options: &mut OptionTable,
    ) -> Decision {
        if !self.has_phantom_queue {
            return Decision::Pass;
        }
        let clock = departure.at_ps / self.clock_ps;
        let ect = packet.is_markable();
        // SAFETY: `port` is valid until `drop`.
        let marks = unsafe { marking_port_departs(self.port, clock, packet.wire_bytes, ect) };
        WORK.departures.fetch_add(1, Relaxed);
        WORK.marks.fetch_add(u64::from(marks), Relaxed);
        Decision::mark_if(marks)
    }
}

impl Drop for VerilatedPort {
    fn drop(&mut self) {
        // SAFETY: `port` is valid, and not used afterwards.
        unsafe {
            WORK.clocks
                .fetch_add(marking_port_clocks(self.port), Relaxed);
            WORK.skipped
                .fetch_add(marking_port_skipped(self.port), Relaxed);
            marking_port_delete(self.port);
        }
    }
}
