"""Draws message transports (NSCC, RCCC, both, UnoCC, Swift, rate controls of RoCE), their load
balancing and erasure coding, and switches with trimming or several queues.
"""

import random
from typing import Any

Table = dict[str, Any]
RULES = ("red", "pi", "pie")
QUEUES = ("priorities", "commit", "dwrr", "dualpi2", "fq_codel")
"""Keys of a switch that a message transport excludes, or that are drawn again."""


def draw_messages(draw: random.Random, scenario: Table) -> None:
    """Give a drawn scenario a message transport in place of TCP, and switches that suit it."""
    others = ["swift", "dcqcn", "dctcp-rate", "timely", "line-rate"]
    control = draw.choice(["nscc", "nscc", "rccc", "rccc", "nscc+rccc", "unocc", *others])
    mtu = draw.choice([1500, 4160, draw.randint(600, 9000)])
    scenario["transport"] = {
        "congestion_control": control,
        "ecn": True,
        "mtu": f"{mtu}B",
        "message": _message(draw, control),
    }
    host, switch = scenario["host"], scenario["switch"]
    # Messages have their own NIC: a packet at a time, through one queue, without a pacer.
    for key in ("offload", "nic_queues", "queue", "receive", "stack_jitter"):
        host.pop(key, None)
    scenario.pop("pacer", None)
    scenario["workload"].pop("high_priority_below", None)
    for key in (
        "red",
        "pi",
        "pie",
        "dualpi2",
        "fq_codel",
        "commit",
        "dwrr",
        "priorities",
        "memory",
    ):
        switch.pop(key, None)
    match draw.randrange(4):
        case 0 if control != "unocc":
            switch.pop("ports", None)
            switch |= {"buffer": f"{draw.randint(2, 60)}pkts", "trimming": {}}
            if draw.random() < 0.5:
                switch["trimming"] = {"newcomer": f"{draw.randint(0, 100)}%"}
        case 1:
            switch["priorities"] = 2
            if draw.random() < 0.5:
                switch["dwrr"] = {"weights": [draw.randint(1, 9), draw.randint(1, 9)]}
        case 2:
            switch["fq_codel"] = {"flows": draw.choice([1, 4, 64])}


def _message(draw: random.Random, control: str) -> Table:
    paths = draw.choice([1, 2, 8, 64])
    balancing = ["ecmp", "per_packet", "oblivious", "bitmap", "reps", "mixed"]
    if control == "unocc":
        paths = draw.randint(1, 20)
        balancing = ["ecmp", "per_packet", "plb", "flowlet", "subflows"]
    message: Table = {"paths": paths, "load_balancing": draw.choice(balancing)}
    if message["load_balancing"] == "subflows":
        message["subflows"] = draw.randint(1, paths)
    if control == "unocc" and draw.random() < 0.4:
        message["erasure"] = {"data": draw.randint(1, 10), "parity": draw.randint(1, 4)}
    if draw.random() < 0.5:
        message["ack_bytes"] = f"{draw.randint(1, 40_000)}B"
    if control != "unocc" and draw.random() < 0.5:
        message["initial_window"] = draw.randint(1, 60)
    if draw.random() < 0.7:
        message["timeout"] = f"{draw.randint(100, 2000)}us"
    if "rccc" not in control and draw.random() < 0.3:
        message["admission"] = {"window": f"{draw.randint(10, 500)}KB", "eager": "2KB"}
    return message
