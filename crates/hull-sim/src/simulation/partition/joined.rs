//! The parts of a run as one simulation, for a while: a single thread that serves all parts then
//! sends no messages and maintains one network. Times are ps.
//!
//! The parts meet at a time: each has served its events before it and none after, and all messages
//! have been received. The edge then takes over the ports, packets and events of the others and
//! continues like a run in one part. The parts are divided again at a time with the same property,
//! before the end of the measured time or of the run is decided.

use std::ops::DerefMut;

use super::part::{Part, Phase};
use super::plan::Plan;
use crate::engine::{Due, Kind};
use crate::network::Hop;
use crate::simulation::{Control, Failure, Simulation};

/// Number of events between two checks whether to continue: some tenths of a millisecond.
const FEW_EVENTS: u64 = 1 << 12;
const MANY_EVENTS: u64 = 1 << 13;

/// Initial simulated time between two checks, ps.
const STRIDE_PS: u64 = 1_000_000;

/// Lets all parts meet. Returns the time, or `None` if a part is at the end of the run or of the
/// measured time.
pub fn meet<'a>(parts: &mut [impl DerefMut<Target = Part<'a>>]) -> Result<Option<u64>, Failure> {
    let Some((phase, at_ps)) = common(parts) else {
        return Ok(None);
    };
    parts.iter_mut().for_each(|part| part.stop_at(at_ps));
    while parts
        .iter()
        .any(|part| part.progress() != Some((phase, at_ps)))
    {
        for part in &mut *parts {
            part.step(true)?;
        }
        if common(parts).is_none() {
            parts.iter_mut().for_each(|part| part.stop_at(u64::MAX));
            return Ok(None);
        }
    }
    let mut are_settled = false;
    while !are_settled {
        let settled = parts.iter_mut().map(|part| part.settle());
        are_settled = settled.fold(true, |all, one| all & one);
    }
    Ok(Some(at_ps))
}

/// Common phase of all parts, and the latest time up to which one has served its events.
fn common<'a>(parts: &[impl DerefMut<Target = Part<'a>>]) -> Option<(Phase, u64)> {
    let (phase, mut latest_ps) = parts.first()?.progress()?;
    for part in parts {
        let (other, served_ps) = part.progress()?;
        if other != phase {
            return None;
        }
        latest_ps = latest_ps.max(served_ps);
    }
    Some((phase, latest_ps))
}

/// Makes the edge take over everything from the other parts, which have met. `moved` is empty
/// before and after, so that its memory can be reused.
pub fn join<'a>(plan: &Plan, parts: &mut [impl DerefMut<Target = Part<'a>>], moved: &mut Vec<Due>) {
    let Some((edge, others)) = parts.split_first_mut() else {
        return;
    };
    let edge = edge.simulation();
    for other in others {
        let other = other.simulation();
        other.fabric.let_all_in(&mut other.clock);
        let (here, there) = (&mut edge.fabric.network, &mut other.fabric.network);
        here.exchange_ports(there);
        other.clock.events.move_to(moved);
        for due in moved.drain(..) {
            let packet_ref = match due.entity.kind() {
                Kind::Warmup => continue, // the edge has it too
                Kind::Held => continue,   // what it was for has been let in
                Kind::Link => here.take_packet(there, due.packet_ref),
                _ => due.packet_ref,
            };
            edge.clock.events.push(due.at_ps, due.entity, packet_ref);
        }
    }
    let ports = &mut edge.fabric.network.ports;
    plan.cut.iter().for_each(|&port| ports[port].cut(false));
}

/// Serves the events from `from_ps` on while `goes_on` returns true, but not beyond the end of the
/// run or of the measured time. Returns the time before which all events were served.
pub fn serve(
    (simulation, control): (&mut Simulation, &Control),
    from_ps: u64,
    mut goes_on: impl FnMut() -> bool,
) -> Result<u64, Failure> {
    let (mut served_ps, mut stride_ps) = (from_ps, STRIDE_PS);
    loop {
        let next_ps = simulation.clock.events.next_not_before_ps();
        served_ps = served_ps.max(next_ps).saturating_add(stride_ps);
        let before = simulation.tally.events_served;
        simulation.serve_before(served_ps, control)?;
        let limit_ps = simulation.clock.limit_ps;
        if served_ps >= limit_ps || !goes_on() {
            return Ok(served_ps.min(limit_ps));
        }
        let events = simulation.tally.events_served - before;
        if events > MANY_EVENTS {
            stride_ps = stride_ps.div_ceil(2);
        } else if events < FEW_EVENTS {
            stride_ps = stride_ps.saturating_mul(2);
        }
    }
}

/// Returns its own ports, packets and events to each part, after all events before `at_ps` were
/// served. `moved` is empty before and after.
pub fn divide<'a>(
    plan: &Plan,
    parts: &mut [impl DerefMut<Target = Part<'a>>],
    at_ps: u64,
    moved: &mut Vec<Due>,
) {
    let Some((first, others)) = parts.split_first_mut() else {
        return;
    };
    let edge = first.simulation();
    edge.fabric.let_all_in(&mut edge.clock);
    let ports = &mut edge.fabric.network.ports;
    plan.cut.iter().for_each(|&port| ports[port].cut(true));
    for other in &mut *others {
        let other = other.simulation();
        edge.fabric
            .network
            .exchange_ports(&mut other.fabric.network);
        let warmup_ps = other.clock.warmup_ps;
        if at_ps <= warmup_ps {
            other.clock.schedule(warmup_ps, Kind::Warmup, 0);
        }
    }
    edge.fabric.network.for_each_new_route(|at, entries| {
        for other in &mut *others {
            let network = &mut other.simulation().fabric.network;
            network.set_route(at as usize, entries);
        }
    });
    edge.clock.events.move_to(moved);
    for due in moved.drain(..) {
        let hop = match due.entity.kind() {
            Kind::Held => continue, // as above
            Kind::Link => Hop::of(due.packet_ref),
            Kind::Transmit => Hop::Port(due.entity.index()),
            _ => Hop::Host(0),
        };
        let number = match hop {
            Hop::Port(port) => usize::from(plan.of_ports[port]),
            Hop::Host(_) => 0,
        };
        let Some(other) = number.checked_sub(1).and_then(|i| others.get_mut(i)) else {
            edge.clock
                .events
                .push(due.at_ps, due.entity, due.packet_ref);
            continue;
        };
        let other = other.simulation();
        let packet_ref = match due.entity.kind() {
            Kind::Link => {
                let network = &mut other.fabric.network;
                network.take_packet(&mut edge.fabric.network, due.packet_ref)
            }
            _ => due.packet_ref,
        };
        other.clock.events.push(due.at_ps, due.entity, packet_ref);
    }
    parts.iter_mut().for_each(|part| part.resume(at_ps));
}
