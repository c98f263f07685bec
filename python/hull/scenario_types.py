"""The keys of a scenario, for type checkers: `scenario: hull.Scenario = {...}`.

Written by tools/make_types.py (`make types`) from the definition in crates/hull-sim; do not edit.
"""

from typing import Any, Literal, NotRequired, TypedDict

Time = str
Rate = str
Buffer = str
Size = str
RelativeRate = str
Tick = str
CongestionControl = Literal["newreno", "dctcp"]
"""Congestion control algorithms."""
Share = str | float
WhenTableFull = Literal["ignore", "evict_oldest"]
"""What a full flow association table does."""
WhenFifoFull = Literal["drop", "bypass"]
"""What a full pacer FIFO does."""
Overtaking = Literal["any", "other_flows", "none"]
"""Which packets may overtake those that wait in a pacer's FIFO."""
Clocks = Literal["free", "synchronized"]
"""How the clocks of the hosts' pacers stand to each other."""
Pick = Literal["random", "random_idle", "round_robin"]
"""How the connection for a request is chosen."""


class Probe(TypedDict):
    """A ping from host 1 to the client, timed across the switch (paper 5.2)."""

    interval: NotRequired[Time]
    """Time between two probes."""
    size: NotRequired[Size]
    """Bytes on the wire."""


class Measure(TypedDict):
    """What is measured; flow completion times and the queue of the client's port always are."""

    sample_interval: NotRequired[Time]
    """Time between two samples of the queue in `latency.parquet`."""
    probe: NotRequired[Probe]
    """The latency probe of paper 5.2; without this table there is none."""


class Bulk(TypedDict):
    """Flows from as many hosts to the client that start with the run."""

    flows: int
    """Number of flows; flow i comes from host 1 + i mod (hosts - 1)."""
    size: NotRequired[Size]
    """Bytes of each; without it they last."""
    start_interval: NotRequired[Time]
    """Time between the starts of two flows."""


class SizeClass(TypedDict):
    """A class of responses of one size."""

    size: Size
    """Bytes of the response."""
    share: Share
    """Share of the requests."""


class Requests(TypedDict):
    """Requests over persistent connections, an open loop with Poisson arrivals."""

    load: Share
    """Response bytes as a share of the rate of the client's link, below 1."""
    connections_per_server: NotRequired[int]
    """Permanent connections to each server."""
    separate_classes: NotRequired[bool]
    """Whether each class of sizes has connections of its own."""
    pick: NotRequired[Pick]
    """How the connection is chosen."""
    request_size: NotRequired[Size]
    """Bytes of a request."""
    classes: list[SizeClass]
    """Sizes of the responses."""


class Workload(TypedDict):
    """The traffic; exactly one table."""

    requests: NotRequired[Requests]
    """Requests of one client to all other hosts (paper 6.2, report III-A)."""
    bulk: NotRequired[Bulk]
    """Bulk flows to the client (paper 6.1)."""


class Pacer(TypedDict):
    """The packet pacer (paper 4.2 and 5.1)."""

    update_interval: NotRequired[Time]
    """Time between two updates of the rate (T_r)."""
    eta: NotRequired[Share]
    """Weight of a new rate sample (eta)."""
    beta: NotRequired[int]
    """Weight of the backlog, bytes per second for each byte (beta)."""
    association_probability: NotRequired[Share]
    """Probability that an ACK with ECE associates its flow (p_a)."""
    association_timeout: NotRequired[Time]
    """Time after which an association ends (T_i)."""
    table_entries: NotRequired[int]
    """Entries of the flow association table."""
    when_table_full: NotRequired[WhenTableFull]
    """What a full table does."""
    bucket: NotRequired[Size]
    """Depth of the token bucket."""
    token_tick: NotRequired[Tick]
    """Step in which tokens arrive (16 us on the NetFPGA)."""
    fifo: NotRequired[Size]
    """Room of the FIFO of paced packets."""
    when_fifo_full: NotRequired[WhenFifoFull]
    """What a full FIFO does."""
    overtaking: NotRequired[Overtaking]
    """Which packets may overtake those that wait in the FIFO."""
    clocks: NotRequired[Clocks]
    """How the pacers' ticks and rate updates of different hosts stand to each other."""
    rate_step: NotRequired[Rate]
    """Granularity of the rate; also its floor."""


class Dctcp(TypedDict):
    """DCTCP's parameters (thesis 2.2.1)."""

    g: NotRequired[Share]
    """Weight g of a new sample of the marked fraction."""
    initial_alpha: NotRequired[Share]
    """First value of alpha."""


class Transport(TypedDict):
    """TCP and its parameters; windows in segments of mtu - header bytes."""

    congestion_control: NotRequired[CongestionControl]
    """Congestion control algorithm."""
    ecn: NotRequired[bool]
    """Whether data packets are ECN-capable; DCTCP needs it."""
    mtu: NotRequired[Size]
    """Largest packet, headers included."""
    header: NotRequired[Size]
    """IP and TCP header, also the size of an ACK."""
    initial_window: NotRequired[int]
    """Initial window, segments."""
    min_window: NotRequired[int]
    """Smallest window after a reduction, segments."""
    max_window: NotRequired[int]
    """Largest congestion window, segments."""
    receive_window: NotRequired[int]
    """The receiver's window, segments."""
    initial_rto: NotRequired[Time]
    """Retransmission timeout before the first round-trip sample."""
    min_rto: NotRequired[Time]
    """Floor of the retransmission timeout."""
    max_rto: NotRequired[Time]
    """Ceiling of the retransmission timeout."""
    ack_every: NotRequired[int]
    """One ACK for every so many data packets."""
    delayed_ack: NotRequired[Time]
    """Longest wait of a delayed ACK."""
    idle_restart: NotRequired[bool]
    """Whether a connection that was idle for an RTO starts again from its initial window."""
    cwnd_validation: NotRequired[bool]
    """Whether the window grows only while it is what limits the sender."""
    byte_counting: NotRequired[bool]
    """Whether the window grows by the bytes that an ACK covers (RFC 3465) or by one step for
    each ACK (RFC 5681, ns-2, Linux until 3.18).
    """
    dctcp: NotRequired[Dctcp]
    """DCTCP's parameters."""


class PhantomQueue(TypedDict):
    """A phantom queue (paper 2.1)."""

    drain: RelativeRate
    """Rate at which the virtual queue drains (gamma times the link's rate)."""
    threshold: Size
    """Virtual backlog above which packets are marked."""
    count_arriving: NotRequired[bool]
    """Whether the packet is added before the comparison (report II-A) or after (the NetFPGA)."""
    tick: NotRequired[Tick]
    """Step in which it drains (800 ns on the NetFPGA)."""


class Marking(TypedDict):
    """ECN marking on the instantaneous queue (thesis 2.2.1)."""

    threshold: Size
    """Packets that find more than this in the queue are marked (the papers' K)."""
    count_arriving: NotRequired[bool]
    """Whether the arriving packet itself is counted in."""


class Switch(TypedDict):
    """A switch and its links to the hosts."""

    rate: Rate
    """Rate of the links from the switch to the hosts."""
    delay: Time
    """Propagation delay of those links."""
    buffer: NotRequired[Buffer]
    """Room of each output port's drop-tail buffer."""
    count_in_service: NotRequired[bool]
    """Whether the packet being sent still occupies the buffer and counts for marking."""
    marking: NotRequired[Marking]
    """ECN marking by queue length; without this table there is none."""
    phantom_queue: NotRequired[PhantomQueue]
    """Phantom queue behind each port; without this table there is none."""


class Host(TypedDict):
    """A host and its link to the switch."""

    rate: Rate
    """Rate of the link from the host to the switch."""
    delay: Time
    """Propagation delay of that link."""
    nic_buffer: NotRequired[Buffer]
    """Room of the NIC's queue."""
    stack_delay: NotRequired[Time]
    """Time that a packet takes through the host's stack and adapter, in each direction."""
    application_delay: NotRequired[Time]
    """Time from the arrival of a message's last byte to the application's next step."""


class Star(TypedDict):
    """One switch with all hosts; host 0 is the client, the port to it is the one that is
    measured.
    """

    hosts: int
    """Number of hosts, the client included."""


class Topology(TypedDict):
    """How hosts and switches are joined."""

    star: Star
    """All hosts at one switch."""


class Run(TypedDict):
    """How long and how often a scenario is run."""

    duration: Time
    """Simulated time that is measured, after the warm-up."""
    warmup: NotRequired[Time]
    """Simulated time before the measurement starts."""
    drain: NotRequired[Time]
    """Longest simulated time after the measurement in which started requests may complete."""
    seed: NotRequired[int]
    """The first seed."""
    seeds: NotRequired[int]
    """Number of seeds: seed, seed + 1, ..."""


class Scenario(TypedDict):
    """A scenario: a network, its hosts, their traffic, what is measured, and which variants of
    it are compared.
    """

    name: str
    """Name of the scenario, used for the output folder: letters, digits, `-`, `_`."""
    title: NotRequired[str]
    """One line that says what is shown."""
    source: NotRequired[str]
    """The document and section that it comes from."""
    run: Run
    """How long and how often."""
    topology: Topology
    """How hosts and switches are joined."""
    host: Host
    """The hosts and their links to the switch."""
    switch: Switch
    """The switch and its links to the hosts."""
    transport: NotRequired[Transport]
    """TCP."""
    pacer: NotRequired[Pacer]
    """The packet pacer behind each host's NIC; without this table there is none."""
    workload: Workload
    """The traffic."""
    measure: NotRequired[Measure]
    """What is measured."""
    schemes: NotRequired[dict[str, dict[str, Any]]]
    """Schemes to compare: for each name, a table of keys that override the scenario's."""
    sweep: NotRequired[dict[str, list[Any]]]
    """Keys to sweep: for each dotted key, a list of values; all combinations are run."""
