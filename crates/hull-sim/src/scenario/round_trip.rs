//! The longest unloaded round trip of a network, ps: a full data packet one way and its ACK back, as
//! paper 6.3 counts the 11.8 us of its fat-tree. Links store and forward. The hosts add a packet's time
//! in their stacks (the mean if it varies) and, if the receive path is modelled, an interrupt and the
//! processor's time.

use std::collections::{BTreeMap, VecDeque};

use super::{Scenario, Service};
use crate::topology::{Graph, Kind};

/// Longest unloaded round trip between two hosts over shortest paths, ps. The ACK takes the path of
/// its packet. Links that fail later count as present.
pub fn longest_round_trip_ps(scenario: &Scenario, graph: &Graph) -> u64 {
    let by_links = longest_round_trips_ps(scenario, graph);
    by_links.into_values().max().unwrap_or_default() + hosts_ps(scenario)
}

/// Longest unloaded round trip for each number of links between two hosts, without the hosts' times, ps.
pub fn longest_round_trips_ps(scenario: &Scenario, graph: &Graph) -> BTreeMap<u16, u64> {
    let transport = &scenario.transport;
    let data = transport.mtu.0 + transport.framing.0;
    let ack = transport.header.0 + transport.framing.0;
    let crossing = |port: usize, bytes: u64| {
        let wire = graph.wire(port);
        let sending_ps = u128::from(bytes) * 8_000_000_000_000 / u128::from(wire.rate_bps.max(1));
        wire.delay_ps + sending_ps as u64
    };
    let both = |port: usize| crossing(port, data) + crossing(Graph::opposite(port), ack);
    let mut of_switch: Vec<Option<Attached>> = vec![None; graph.nodes.len()];
    for nic in 0..graph.nics() {
        let up = graph.nic_port(nic);
        let (out_ps, in_ps) = (both(up), both(Graph::opposite(up)));
        Attached::join(&mut of_switch[graph.port_far_end(up)], out_ps, in_ps);
    }
    let with_hosts = of_switch.iter().enumerate();
    let targets = with_hosts.filter_map(|(switch, attached)| Some((switch, attached.as_ref()?)));
    // In a symmetric network one target is enough.
    let most = if graph.is_symmetric() { 1 } else { usize::MAX };
    let mut longest = BTreeMap::new();
    for (target, to) in targets.take(most) {
        for (from_switch, (hops, over_ps)) in longest_to(graph, target, &both) {
            let path_ps = match &of_switch[from_switch] {
                _ if from_switch == target => to.pair_ps,
                from => (from.as_ref()).map(|from| from.out_ps + over_ps + to.in_ps),
            };
            if let Some(path_ps) = path_ps {
                let longest_ps: &mut u64 = longest.entry(hops as u16 + 2).or_default();
                *longest_ps = (*longest_ps).max(path_ps);
            }
        }
    }
    longest
}

/// Longest times of the hosts of one switch, packet and ACK together, ps.
#[derive(Clone)]
struct Attached {
    /// From a host to the switch, ps.
    out_ps: u64,
    /// From the switch to a host, ps.
    in_ps: u64,
    /// From one host to another, ps; `None` with a single host.
    pair_ps: Option<u64>,
}

impl Attached {
    /// Adds a host to a switch.
    fn join(there: &mut Option<Attached>, out_ps: u64, in_ps: u64) {
        let Some(others) = there else {
            *there = Some(Attached {
                out_ps,
                in_ps,
                pair_ps: None,
            });
            return;
        };
        let pair_ps = (others.out_ps + in_ps).max(out_ps + others.in_ps);
        others.pair_ps = others.pair_ps.max(Some(pair_ps));
        others.out_ps = others.out_ps.max(out_ps);
        others.in_ps = others.in_ps.max(in_ps);
    }
}

/// Switches with a path to switch `target`, each with the number of links of its shortest paths and the
/// longest time among them, ps.
fn longest_to(
    graph: &Graph,
    target: usize,
    both: &impl Fn(usize) -> u64,
) -> impl Iterator<Item = (usize, (u32, u64))> {
    // Breadth first, so that a switch is complete before those behind it.
    let mut found = vec![None; graph.nodes.len()];
    found[target] = Some((0_u32, 0_u64));
    let mut open = VecDeque::from([target]);
    while let Some(switch) = open.pop_front() {
        let Some((hops, so_far_ps)) = found[switch] else {
            continue;
        };
        for &port in graph.node_ports(switch) {
            let next = graph.port_far_end(port);
            if graph.nodes[next].kind == Kind::Host {
                continue;
            }
            let ps = so_far_ps + both(Graph::opposite(port));
            match &mut found[next] {
                None => {
                    found[next] = Some((hops + 1, ps));
                    open.push_back(next);
                }
                Some((theirs, longest_ps)) if *theirs == hops + 1 => {
                    *longest_ps = ps.max(*longest_ps);
                }
                Some(_) => {}
            }
        }
    }
    let with_number = found.into_iter().enumerate();
    with_number.filter_map(|(switch, found)| Some((switch, found?)))
}

/// Time that both hosts add to a round trip, ps. Each of the two packets leaves one host and enters
/// the other.
fn hosts_ps(scenario: &Scenario) -> u64 {
    let host = &scenario.host;
    let stack_ps = host.stack_delay.0 + host.stack_jitter.as_ref().map_or(0, mean_ps);
    let receiving_ps = host.receive.as_ref().map_or(0, |receive| {
        let waits = receive.frames > 1 && !receive.adaptive;
        let wait_ps = if waits { receive.wait.0 } else { 0 };
        wait_ps + receive.interrupt_cost.0 + receive.packet_cost.0 + receive.frame_cost.0
    });
    let sending_ps =
        (host.transmit.as_ref()).map_or(0, |costs| costs.packet_cost.0 + costs.frame_cost.0);
    4 * stack_ps + 2 * (sending_ps + receiving_ps)
}

fn mean_ps(service: &Service) -> u64 {
    let exponential_ps = service.exponential.map_or(0, |mean| mean.0);
    let gamma = service.gamma.as_ref();
    let gamma_ps = gamma.map_or(0.0, |gamma| gamma.shape * gamma.scale.0 as f64);
    service.offset.0 + exponential_ps + gamma_ps.round() as u64
}
