//! Which scenarios may be simulated in parts, and what prevents the others. The code names every key of
//! a scenario that can matter to a port, without `..`, so a new key does not compile until its author has
//! decided it.
//!
//! A feature may be simulated in parts if a port decides it before the packet's transmission starts, using
//! only its own state, or if it concerns each host by itself. Later decisions (marking at dequeue, RCP),
//! feedback from inside (QCN), changes of routes (failing links), state that ports or flows share, and
//! instruments that read several parts need one part. The keys of switches are decided beside them
//! ([`Switch::is_divisible`](crate::scenario::Switch)).

use crate::scenario::{Host, Measure, Run, Scenario, Topology, Transport};
use crate::transport::ControlName;

/// Reason why something has one part; `None` if it may have several.
pub type Obstacle = Option<&'static str>;

/// What prevents that a scenario is divided. The workload must be
/// [open](crate::workload::Workload::is_open), too.
pub fn obstacle(scenario: &Scenario) -> Obstacle {
    let Scenario {
        name: _,
        title: _,
        source: _,
        run,
        topology,
        host: _, // is judged with what hosts share
        switch,
        transport,
        transports,
        groups: _,   // label rows
        pacer: _,    // as host
        workload: _, // is asked itself
        measure,
        schemes: _, // a resolved scenario is one of them
        sweep: _,
    } = scenario;
    let of_switches = || {
        let late =
            "a switch decides after a packet's arrival (marking at dequeue, PIE, QCN or RCP)";
        (!switch.is_divisible()).then_some(late)
    };
    of_run(run)
        .or_else(|| of_topology(topology))
        .or_else(|| of_transport(transport))
        .or_else(|| transports.values().find_map(of_transport))
        .or_else(of_switches)
        .or_else(|| of_hosts(scenario))
        .or_else(|| of_instruments(measure))
}

/// What prevents that hosts are separate, so that each depends on its own flows only and not on the slots
/// that flows have, regardless of what is measured.
pub fn of_hosts(scenario: &Scenario) -> Obstacle {
    let (topology, switch) = (&scenario.topology, &scenario.switch);
    let Host {
        rate: _,
        delay: _,
        loss: _,  // as the loss of a switch's port
        queue: _, // does not depend on slots
        nic_buffer: _,
        nic_queues,
        nic_choice: _, // hosts with several NICs are not divided
        stack_delay: _,
        stack_jitter: _,
        offload,
        transmit: _,
        receive: _,
        application_delay: _,
    } = &scenario.host;
    let has_pods = topology.fat_tree.is_some() || topology.tree.is_some();
    let has_units = has_pods || topology.leaf_spine.is_some();
    let pacer = scenario.pacer.as_ref();
    let has_buckets = pacer.is_some_and(|pacer| pacer.buckets > 1);
    // A sender that waits for more to send at once sends when its timer has an event, and a slot may
    // have one of its last flow.
    let found = first(&[
        (
            !has_units,
            "topology is none of fat_tree, tree and leaf_spine: a packet may cross a third part",
        ),
        (
            *nic_queues > 1,
            "host.nic_queues: a flow's slot selects its queue",
        ),
        (
            offload.is_some(),
            "host.offload: timers of a flow's slot send data",
        ),
        (
            switch.fq_codel.is_some(),
            "switch.fq_codel: a flow's slot selects its queue",
        ),
        (
            has_buckets,
            "pacer.buckets: a flow's slot selects its bucket",
        ),
        (
            switch.memory.is_some(),
            "switch.memory: ports of the top tier in different parts share it",
        ),
        (
            switch.pfc.is_some(),
            "switch.pfc: a pause passes back over the links between parts",
        ),
    ]);
    found
        .or_else(|| of_control(&scenario.transport))
        .or_else(|| scenario.transports.values().find_map(of_control))
}

/// The first reason that is there.
fn first(reasons: &[(bool, &'static str)]) -> Obstacle {
    let found = reasons.iter().find(|(is_there, _)| *is_there);
    found.map(|&(_, reason)| reason)
}

/// What prevents that flows of a transport are separate.
fn of_control(transport: &Transport) -> Obstacle {
    let control = &transport.congestion_control;
    first(&[
        (
            *control == ControlName::ConstantRate,
            "constant_rate: without acknowledgments a sender does not know its flow's end",
        ),
        (
            matches!(control, ControlName::External(_)),
            "a congestion control of the user may share state between flows",
        ),
    ])
}

/// Times and seeds apply to every part.
fn of_run(run: &Run) -> Obstacle {
    let Run {
        duration: _,
        warmup: _,
        drain: _,
        seed: _,
        seeds: _,
        threads: _,
    } = run;
    None
}

fn of_topology(topology: &Topology) -> Obstacle {
    let Topology {
        star: _, // whether there are units is judged with the hosts
        dumbbell: _,
        multihop: _,
        leaf_spine: _,
        tree: _,
        fat_tree: _,
        two_datacentres: _,
        rail_optimized: _,
        dual_tor: _,
        file: _,
        graph: _,
        links: _,
        failures,
    } = topology;
    // They lose what is under way, too.
    (!failures.is_empty()).then_some("topology.failures change routes in all parts at once")
}

fn of_transport(transport: &Transport) -> Obstacle {
    let Transport {
        congestion_control: _, // is in hosts; what it asks of switches is judged there
        own_sha256: _,
        messages: _,
        ecn: _,
        mtu: _,
        header: _,
        framing: _,
        initial_window: _,
        min_window: _,
        max_window: _,
        receive_window: _,
        initial_rto: _,
        min_rto: _,
        max_rto: _,
        rto_granularity: _,
        limited_transmit: _,
        handshake: _,
        ack_every: _,
        delayed_ack: _,
        quick_acks: _,
        idle_restart: _,
        idle_decay: _,
        cwnd_validation: _,
        byte_counting: _,
        tso_win_divisor: _,
        small_queues: _,
        loss_detection: _,
        duplicate_threshold: _,
        spray,
        paced: _,
        dscp: _, // as priority
        priority: _,
        bic: _,
        constant_rate: _,
        cubic: _,
        dcqcn: _,
        dctcp: _,
        dctcp_rate: _,
        prague: _,
        timely: _,
        vegas: _,
        message: _,
        qcn: _,
        hpcc: _,
        powertcp: _,
        swift: _,
    } = transport;
    first(&[
        (
            transport.sends_messages(),
            "the message transport computes routes during the run",
        ),
        (
            spray.is_some(),
            "transport.spray computes routes during the run",
        ),
    ])
}

fn of_instruments(measure: &Measure) -> Obstacle {
    let Measure {
        sample_interval: _, // at the client's port, which is in the first part
        ports,
        queue_changes: _, // at these ports or the client's
        pauses: _,        // such a run is not divided
        probe,
        flows,
        pacers,
        capture,
    } = measure;
    first(&[
        (
            !ports.is_empty(),
            "measure.ports reads ports of several parts",
        ),
        (
            probe.is_some(),
            "measure.probe times its packets in several parts",
        ),
        (
            flows.is_some(),
            "measure.flows reads both ends of a flow at once",
        ),
        (
            pacers.is_some(),
            "measure.pacers reads hosts of several parts",
        ),
        (
            capture.is_some(),
            "measure.capture reads links where they end",
        ),
    ])
}
