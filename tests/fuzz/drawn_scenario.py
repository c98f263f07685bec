"""Draws every part of a scenario: network, failures, hosts, switches, transport, pacer, traffic.
A third has a message transport (`drawn_messages`).

Nearly all scenarios are valid: a key that requires another setting is omitted without it.
"""

import random
from collections.abc import Callable
from typing import Any

from fuzz.drawn_messages import draw_messages

Table = dict[str, Any]

_LOSSES = ("0.5%", 0.01, "20%", "30%")


def drawn(draw: random.Random) -> tuple[Table, int]:
    """Draw one scenario of 1 to 3 ms; also return its number of hosts."""
    topology, hosts, uplink = _network(draw)
    transport = _transport(draw)
    control = transport["congestion_control"]
    by_rate = control in ("qcn", "qcn-aimd", "rcp")
    switch = _switch(draw, by_rate, topology)
    if control == "rcp":
        switch["rcp"] = _rcp(draw)
    elif by_rate:
        switch["qcn"] = _qcn(draw)
    scenario: Table = {
        "name": "random",
        "run": {
            "duration": f"{draw.randint(1000, 3000)}us",
            "warmup": draw.choice(["0s", "200us"]),
            "drain": draw.choice(["0s", "1ms", "15ms"]),
        },
        "topology": topology,
        "host": _host(draw, by_rate),
        "switch": switch,
        "transport": transport,
        "workload": _workload(draw, hosts),
        "measure": {"sample_interval": f"{draw.randint(5, 300)}us"},
    }
    if uplink and control not in ("qcn", "qcn-aimd") and draw.random() < 0.3:
        scenario["topology"] |= _failure(draw, uplink)
    if not by_rate and draw.random() < 0.4:
        scenario["pacer"] = _pacer(draw)
    if "offload" not in scenario["host"]:
        transport.pop("tso_win_divisor", None)
    if "star" in topology and draw.random() < 0.4:
        scenario["topology"] |= _host_links(draw, hosts)
    if not by_rate and draw.random() < 0.35:
        draw_messages(draw, scenario)
    return scenario, hosts


def _host_links(draw: random.Random, hosts: int) -> Table:
    """Links of hosts to the star's switch that differ from each other."""
    keys = {"delay": _us(draw, 5), "loss": lambda: draw.choice(_LOSSES)}

    def link(host: int) -> Table:
        name = draw.choice([f"h{host}--switch", f"h{host}->switch", f"switch->h{host}"])
        return {"link": name, "rate": _rate(draw), **some(draw, keys)}

    return {"links": [link(host) for host in range(hosts) if draw.random() < 0.6]}


def flow_list(draw: random.Random, hosts: int) -> str:
    """A flow list as CSV: some flows start after others, some share a connection."""
    rows = ["start_ps,src,dst,bytes,after,reuse"]
    for row in range(1, draw.randint(2, 30)):
        src, dst = draw.sample(range(hosts), 2)
        after = draw.sample(range(1, row), min(row - 1, draw.randint(0, 2)))
        chained = " ".join(map(str, after)) if draw.random() < 0.5 else ""
        start_ps = draw.randint(0, 2_000_000_000)
        reuse = f"{src}-{dst}" if draw.random() < 0.3 else ""
        rows.append(f"{start_ps},{src},{dst},{draw.randint(1, 300_000)},{chained},{reuse}")
    return "\n".join(rows) + "\n"


def some(draw: random.Random, keys: dict[str, Callable[[], Any]], share: float = 0.5) -> Table:
    """Return a table with a random subset of the keys."""
    return {key: value() for key, value in keys.items() if draw.random() < share}


def _rate(draw: random.Random) -> str:
    return draw.choice(["300Mbps", "1Gbps", "10Gbps", f"{draw.randint(100, 5000)}Mbps"])


def _us(draw: random.Random, most: int) -> Callable[[], str]:
    return lambda: f"{draw.randint(0, most * 1000)}ns"


def _network(draw: random.Random) -> tuple[Table, int, str]:
    """Return the network, its number of hosts, and a link that may fail."""

    def uplinks(of: str) -> Table:
        return some(draw, {f"{of}_rate": lambda: _rate(draw), f"{of}_delay": _us(draw, 5)}, 0.3)

    a, b, c = (draw.randint(1, 3) for _ in range(3))
    match draw.randrange(8):
        case 0:
            return {"star": {"hosts": a + b}}, a + b, "h1--switch"
        case 1:
            rtts = [f"{draw.randint(500, 560)}us" for _ in range(draw.randint(1, a))]
            shape = {"pairs": a, "rtts": rtts, **uplinks("bottleneck")}
            shape["bottleneck_delay"] = "3us"
            return {"dumbbell": shape}, 2 * a, "left--right"
        case 2:
            shape = {"s1": a, "s2": b, "s3": c, "r2": b, **uplinks("trunk")}
            return {"multihop": shape}, a + 2 * b + c + 1, ""
        case 3:
            shape = {"leaves": a, "spines": b, "hosts_per_leaf": 1 + c, **uplinks("uplink")}
            return {"leaf_spine": shape}, a * (1 + c), "leaf0--spine0"
        case 4:
            shape = {"pods": a, "tors_per_pod": 2, "hosts_per_tor": c, "aggs_per_pod": b}
            shape |= {"cores": 2 * b, **uplinks("uplink"), **uplinks("core")}
            return {"tree": shape}, 2 * a * c, "tor0_0--agg0_0"
        case 5:
            k = draw.choice([2, 4])
            return {"fat_tree": {"k": k, **uplinks("uplink")}}, k**3 // 4, ""
        case 6:
            return {"file": {"path": "network.graphml"}}, 4, "leaf0--spine1"
        case _:
            return {"graph": {"text": _graph(draw, a, 1 + b)}}, a * (1 + b), ""


def _graph(draw: random.Random, switches: int, hosts: int) -> str:
    """Switches in a row, with hosts, as GraphML."""
    lines = []
    for s in range(switches):
        lines.append(f'<node id="s{s}"><data key="k">switch</data></node>')
        if s:
            lines.append(f'<edge source="s{s - 1}" target="s{s}"><data key="r">2Gbps</data></edge>')
        for h in range(hosts):
            lines.append(f'<node id="h{s}_{h}"><data key="k">host</data></node>')
            lines.append(f'<edge source="s{s}" target="h{s}_{h}"/>')
    draw.shuffle(lines)
    return (
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
        '<key id="k" for="node" attr.name="kind" attr.type="string"/>'
        '<key id="r" for="edge" attr.name="rate" attr.type="string"/>'
        f'<graph edgedefault="undirected">{"".join(lines)}</graph></graphml>'
    )


def _failure(draw: random.Random, link: str) -> Table:
    at = draw.randint(0, 900)
    failure = {"link": link, "at": f"{at}us"}
    if draw.random() < 0.7:
        failure["until"] = f"{at + draw.randint(1, 900)}us"
    return {"failures": [failure]}


def _host(draw: random.Random, by_rate: bool) -> Table:
    receive = {
        "frames": lambda: draw.randint(1, 40),
        "wait": _us(draw, 90),
        "adaptive": lambda: draw.random() < 0.5,
        "join": lambda: f"{draw.randint(0, 65_535)}B",
        "interrupt_cost": _us(draw, 2),
        "packet_cost": _us(draw, 1),
        "frame_cost": _us(draw, 1),
    }
    keys: dict[str, Callable[[], Any]] = {
        "nic_buffer": lambda: draw.choice(["unlimited", "30pkts", "70KB"]),
        "loss": lambda: draw.choice(_LOSSES),
        "stack_delay": _us(draw, 3),
        "application_delay": _us(draw, 3),
        "stack_jitter": lambda: draw.choice(
            [
                {"exponential": f"{draw.randint(0, 30)}us"},
                {"offset": "1us", "gamma": {"shape": draw.uniform(0.1, 5), "scale": "2us"}},
            ]
        ),
        "receive": lambda: some(draw, receive),
    }
    if not by_rate:
        keys["offload"] = lambda: f"{draw.randint(9000, 65_535)}B"
        keys["nic_queues"] = lambda: draw.choice([1, 2, 64, 8191])
        keys["queue"] = lambda: draw.choice(["fifo", "fair", "fq", "fq_codel"])
    host = {"rate": _rate(draw), "delay": _us(draw, 9)(), **some(draw, keys, 0.35)}
    if host.get("queue", "fifo") != "fifo":
        host.pop("nic_queues", None)
    return host


def _switch(draw: random.Random, by_rate: bool, topology: Table) -> Table:
    keys: dict[str, Callable[[], Any]] = {
        "latency": _us(draw, 1),
        "cut_through": lambda: f"{draw.randint(14, 2000)}B",
        "loss": lambda: draw.choice(_LOSSES),
        "buffer": lambda: draw.choice(["unlimited", f"{draw.randint(20, 60)}pkts", "150KB"]),
        "memory": lambda: draw.choice(
            [
                {"preset": draw.choice(["triumph", "scorpion", "cat4948"])},
                {"size": f"{draw.randint(200, 900)}KB", "alpha": f"{draw.randint(1, 300)}%"},
                {"size": "400KB", "reserved": f"{draw.randint(0, 400)}B"},
            ]
        ),
        "count_in_service": lambda: draw.random() < 0.5,
    }
    switch = {"rate": _rate(draw), "delay": _us(draw, 5)(), **some(draw, keys, 0.35)}
    if not by_rate:
        switch |= _marking(draw)
        if draw.random() < 0.4:
            switch["priorities"] = draw.randint(1, 8)
        if switch.get("priorities", 1) > 1:
            switch |= some(draw, {"commit": lambda: f"{draw.randint(0, 3000)}B"})
            if draw.random() < 0.4:
                weights = [draw.randint(1, 9) for _ in range(switch["priorities"])]
                switch["dwrr"] = {"weights": weights}
        if "star" in topology and draw.random() < 0.3:
            switch["ports"] = [{"node": "switch", "buffer": "90KB", **_threshold(draw)}]
        if draw.random() < 0.3:
            manager = _manager(draw)
            for key in ("memory", "red", "pi", "priorities", "commit", "dwrr"):
                switch.pop(key, None)
            switch |= manager
    return switch


def _manager(draw: random.Random) -> Table:
    """A rule that controls a whole port. `_switch` removes the keys that it excludes."""
    target = draw.randint(1, 500)
    match draw.randrange(3):
        case 0:
            keys: dict[str, Callable[[], Any]] = {
                "step_after": lambda: draw.randint(0, 3),
                "coupling": lambda: draw.randint(1, 4),
                "virtual_queue": lambda: "95%",
            }
            return {"dualpi2": {"typical_rtt": f"{10 * target}us", **some(draw, keys)}}
        case 1:
            times = {"target": f"{target}us", "interval": f"{draw.randint(1, 20) * target}us"}
            return {"fq_codel": {"flows": draw.choice([1, 8, 1024]), **times}}
        case _:
            return {"pie": {"target": f"{target}us", "interval": f"{draw.randint(1, 500)}us"}}


def _threshold(draw: random.Random) -> Table:
    marking: Table = {"threshold": f"{draw.randint(0, 40_000)}B"}
    return {"marking": marking | some(draw, {"on": lambda: draw.choice(["enqueue", "dequeue"])})}


def _marking(draw: random.Random) -> Table:
    found: Table = {}
    low = draw.randint(1, 30)
    choices = ("gentle", "by_size", "hard_drop", "early_drop")
    red = {key: (lambda: draw.random() < 0.5) for key in choices}
    match draw.randrange(5):
        case 0:
            found = _threshold(draw)
        case 1:
            bounds = {"min": f"{low}KB", "max": f"{2 * low}KB", "weight": draw.randint(2, 24)}
            found = {"red": bounds | some(draw, red)}
        case 2:
            times = {"interval": "10us", "flows": low, "round_trip": "300us"}
            found = {"pi": {"reference": f"{low}pkts", **times}}
    if draw.random() < 0.4:
        found["phantom_queue"] = {
            "drain": draw.choice([f"{draw.randint(50, 100)}%", "200Mbps"]),
            "threshold": f"{draw.randint(0, 9000)}B",
            **some(draw, {"placement": lambda: draw.choice(["series", "parallel"])}),
            **some(draw, {"tick": lambda: draw.choice(["800ns", "continuous"])}),
        }
    return found


def _rcp(draw: random.Random) -> Table:
    return {
        "algorithm": draw.choice(["rcp", "ap-rcp", "ap2-rcp", "pd-rcp"]),
        "alpha": f"{draw.randint(0, 300)}%",
        "beta": f"{draw.randint(0, 300)}%",
        "interval": f"{draw.randint(1, 500)}us",
        "round_trip": f"{draw.randint(1, 900)}us",
        **some(draw, {"initial": lambda: "30%", "round_trip_gain": lambda: "2%"}, 0.3),
    }


def _qcn(draw: random.Random) -> Table:
    keys: dict[str, Callable[[], Any]] = {
        "equilibrium": lambda: f"{draw.randint(3, 60)}KB",
        "weight": lambda: f"{draw.randint(0, 400)}%",
        "sampling": lambda: f"{draw.randint(1, 100)}%",
        "rounding": lambda: draw.choice(["up", "down"]),
    }
    return some(draw, keys)


def _transport(draw: random.Random) -> Table:
    controls = ["newreno", "cubic", "bic", "bbr", "dctcp", "vegas", "prague"]
    control = draw.choice([*3 * controls, "qcn", "qcn-aimd", "rcp"])
    yes_or_no = ("limited_transmit", "handshake", "cwnd_validation", "byte_counting")
    keys: dict[str, Callable[[], Any]] = {
        **{key: (lambda: draw.random() < 0.5) for key in yes_or_no},
        "mtu": lambda: draw.choice(["1500B", "9000B", f"{draw.randint(300, 9000)}B"]),
        "framing": lambda: f"{draw.randint(0, 90)}B",
        "initial_window": lambda: draw.randint(1, 30),
        "ack_every": lambda: draw.randint(1, 4),
        "quick_acks": lambda: draw.randint(0, 16),
        "rto_granularity": lambda: f"{draw.randint(0, 2)}ms",
        "tso_win_divisor": lambda: draw.randint(0, 5),
    }
    transport = {
        "congestion_control": control,
        "ecn": control in ("dctcp", "prague") or draw.random() < 0.5,
        "delayed_ack": "500us",
        "min_rto": "1ms",
        "initial_rto": "2ms",
        "max_rto": "20ms",
        **some(draw, keys),
    }
    if draw.random() < 0.4:
        transport |= {"idle_restart": True, "idle_decay": draw.random() < 0.5}
    match control:
        case "dctcp":
            transport["dctcp"] = draw.choice([{}, {"g": "10%"}, {"rtt_fair": True}])
        case "qcn" | "qcn-aimd" | "rcp":
            transport["ecn"] = False
            transport.pop("tso_win_divisor", None)
    if control in ("qcn", "qcn-aimd") and draw.random() < 0.5:
        transport["qcn"] = {"rate_limiters": draw.randint(1, 8)}
    return transport


def _pacer(draw: random.Random) -> Table:
    keys: dict[str, Callable[[], Any]] = {
        "bucket": lambda: f"{draw.randint(9000, 20_000)}B",
        "buckets": lambda: draw.randint(1, 3),
        "fifo": lambda: f"{draw.randint(20, 200)}KB",
        "overtaking": lambda: draw.choice(["any", "other_flows", "none", "held"]),
        "association_draw": lambda: draw.choice(["echo", "packet"]),
        "association_end": lambda: draw.choice(["draw", "packet"]),
        "table_entries": lambda: draw.randint(1, 64),
        "when_table_full": lambda: draw.choice(["ignore", "evict_oldest"]),
        "when_fifo_full": lambda: draw.choice(["drop", "bypass"]),
        "clocks": lambda: draw.choice(["free", "synchronized"]),
    }
    return some(draw, keys, 0.4)


def _workload(draw: random.Random, hosts: int) -> Table:
    last = hosts - 1

    def size(least: int = 1, most: int = 300_000) -> str:
        return f"{draw.randint(least, most)}B"

    def sizes() -> Table:
        cut = {"cut": "1MB"} if draw.random() < 0.7 else {}
        csv = draw.choice(["websearch", "datamining", "hadoop", "production"])
        pareto = {"shape": draw.uniform(1.01, 3), "mean": "20KB", **cut}
        return draw.choice([{"fixed": size()}, {"pareto": pareto}, {"csv": csv}])

    def flows() -> Table:
        keys: dict[str, Callable[[], Any]] = {
            "count": lambda: draw.randint(1, 60),
            "connections": lambda: draw.choice(["per_flow", "persistent"]),
        }
        how_many = {"flows_per_second": draw.uniform(500, 20_000)}
        if draw.random() < 0.3:
            how_many = {"load": round(draw.uniform(0.01, 0.9), 4)}
        return {**how_many, "sizes": sizes(), **some(draw, keys)}

    gamma = {"gamma": {"shape": draw.uniform(0.1, 3), "scale": "20us"}}
    kinds: dict[str, Callable[[], Table]] = {
        "bulk": lambda: {
            "flows": draw.randint(1, 6),
            **some(draw, {"size": size, "start_interval": _us(draw, 400)}),
        },
        "requests": lambda: {
            "load": f"{draw.randint(0, 98)}%",
            "client": draw.choice([0, last]),
            "classes": [{"size": size(), "share": "70%"}, {"size": "1B", "share": "30%"}],
            **some(draw, {"pick": lambda: draw.choice(["random", "random_idle", "round_robin"])}),
        },
        "flows": flows,
        "incast": lambda: {
            "total": size(100),
            "queries": draw.randint(1, 9),
            "jitter": _us(draw, 50)(),
            **some(draw, {"deadline": lambda: "1ms", "batch": lambda: draw.randint(1, 3)}, 0.3),
            **draw.choice(
                [
                    {},
                    {"all_to_all": True},
                    {"load": "2%"},
                    {"queries_per_second": 20_000, "fan_in": 1},
                ]
            ),
        },
        "partition_aggregate": lambda: {
            "interval": f"{draw.randint(50, 1000)}us",
            "request_size": "100B",
            "response_size": size(most=20_000),
            **some(draw, {"service": lambda: gamma, "arrivals": lambda: "fixed"}),
        },
        "aggregation_tree": lambda: {
            "interval": f"{draw.randint(50, 1000)}us",
            "jitter": _us(draw, 50)(),
            "levels": [
                {"hosts": last, "iterations": draw.randint(1, 3), "deadline": "1ms"},
                {
                    "hosts": 0,
                    "response_size": size(most=20_000),
                    **some(draw, {"service": lambda: gamma, "deadline": _us(draw, 400)}),
                },
            ],
        },
        "all_to_all": lambda: {"size": size(most=20_000), "jitter": _us(draw, 90)()},
        "permutation": lambda: {"size": size(most=20_000), "start": _us(draw, 90)()},
        "long_lived": lambda: {
            "flows": [
                {"src": 0, "dst": last, "stop": f"{draw.randint(1, 4000)}us"},
                {"src": last, "dst": 0, "start": "300us"},
            ]
        },
    }
    if hosts > 2:
        kinds["production"] = lambda: {
            "outside": last,
            **some(draw, {"response_total": lambda: size(200)}),
        }
    chosen = draw.sample(sorted(kinds), draw.randint(1, 3))
    workload: Table = {kind: kinds[kind]() for kind in chosen}
    if draw.random() < 0.6:
        workload["high_priority_below"] = size(100, 20_000)
    return workload
