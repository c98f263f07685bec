"""The scenario of a design: its setting as a star, with DCTCP and HULL as recommended.

The round trip without queueing is for a full packet and its ACK over the two links; the part that
is not transmission is propagation. Hosts send packets singly and acknowledge each. Their stacks
have a little jitter; without it some flows get all the marks and the others all the bandwidth.
"""

import math
from collections.abc import Sequence
from typing import Any

from hull.theory.assumptions import require
from hull.theory.design import Design, Pacer

_ACK_BYTES = 40
_MEASURED_ROUND_TRIPS = 3000
_SERVERS = 9
"""Of the loaded scenario, as on the paper's testbed."""
_JITTER = 0.005
"""Mean stack jitter over the round trip, which has four stack traversals."""
_LOADED_FLOWS = 50
_LONG = 8
"""Duration of a loaded flow over the time in which additive increase alone opens its window."""

_RATES = (("Gbps", 10**9), ("Mbps", 10**6), ("kbps", 10**3), ("bps", 1))
_TIMES = (("s", 10**12), ("ms", 10**9), ("us", 10**6), ("ns", 10**3), ("ps", 1))


def scenario(design: Design) -> dict[str, Any]:
    """N long-lived flows, the last of which joins late, for `hull run` (docs/scenario.md)."""
    settled = design.predicted["dctcp_convergence_s"] or 0.0
    join = max(settled, 100 * design.setting.rtt_s)
    flows = [{"src": _hosts(design.setting.flows), "dst": 0}]
    if design.setting.flows > 1:
        flows = [
            {"src": _hosts(design.setting.flows - 1), "dst": 0},
            {"src": design.setting.flows, "dst": 0, "start": time_text(join)},
        ]
    return {
        **_base(design, "design", design.setting.flows),
        "run": {
            "duration": time_text(_MEASURED_ROUND_TRIPS * design.setting.rtt_s),
            "warmup": time_text(join + 3 * settled),
        },
        "workload": {"long_lived": {"flows": flows}},
        "measure": {"flows": {"interval": time_text(design.setting.rtt_s * 5)}},
    }


def loaded_scenario(design: Design) -> dict[str, Any]:
    """Large flows that arrive at random at the setting's load, for the slowdown (paper 3.2).

    A flow lasts eight times as long as additive increase to the link's window takes, so that it has
    time to reach its share, as equation 1 assumes.
    """
    here = design.setting
    seconds = _LONG * here.bdp_packets * here.rtt_s
    size = math.ceil(here.rate_bps * seconds / 8)
    base = _base(design, "design-loaded", _SERVERS)
    return {
        **base,
        "run": {
            "duration": time_text(_LOADED_FLOWS * seconds / here.load),
            "warmup": time_text(seconds),
            "drain": time_text(100 * seconds),
        },
        "workload": {
            "requests": {
                "load": round(here.load, 9),
                "pick": "random_idle",
                "classes": [{"size": f"{size}B", "share": "100%"}],
            }
        },
    }


def _base(design: Design, name: str, senders: int) -> dict[str, Any]:
    here = design.setting
    on_wire = 2 * 8 * (here.mtu_bytes + _ACK_BYTES) / here.rate_bps
    require(
        on_wire < here.rtt_s,
        "rtt",
        time_text(here.rtt_s),
        f"more than {time_text(on_wire)}, in which a packet and its ACK are sent over two links",
        "the simulator's star",
    )
    jitter = _JITTER * (here.rtt_s - on_wire)
    delay = time_text((here.rtt_s - on_wire) / 4 - jitter)
    link = {"rate": _unit(here.rate_bps, _RATES), "delay": delay}
    buffer = {} if here.buffer_bytes is None else {"buffer": f"{int(here.buffer_bytes)}B"}
    window = math.ceil(2 * max(design.link.max_window, 50))
    return {
        "name": name,
        "title": f"hull design: {here.flows} flows, DCTCP and HULL",
        "topology": {"star": {"hosts": senders + 1}},
        "host": {**link, "stack_jitter": {"exponential": time_text(jitter)}},
        "switch": {**link, **buffer},
        "transport": {
            "congestion_control": "dctcp",
            "ecn": True,
            "mtu": f"{int(here.mtu_bytes)}B",
            "ack_every": 1,
            "max_window": window,
            "receive_window": window,
            "dctcp": {"g": round(design.g, 9)},
        },
        "schemes": {
            "dctcp": {
                "switch": {"marking": {"threshold": f"{round(design.k_packets * here.mtu_bytes)}B"}}
            },
            "hull": {
                "switch": {
                    "phantom_queue": {
                        "drain": _unit(design.drain_bps, _RATES),
                        "threshold": f"{round(design.threshold_bytes)}B",
                    }
                },
                "pacer": pacer_table(design.pacer),
            },
        },
    }


def pacer_table(pacer: Pacer) -> dict[str, Any]:
    """A scenario's `[pacer]` with these parameters."""
    return {
        "update_interval": time_text(pacer.update_interval_s),
        "eta": pacer.eta,
        "beta": round(pacer.beta),
        "association_probability": pacer.association_probability,
        "association_timeout": time_text(pacer.association_timeout_s),
        "bucket": f"{round(pacer.bucket_bytes)}B",
        "fifo": f"{round(pacer.fifo_bytes)}B",
    }


def _hosts(last: int) -> str | int:
    return 1 if last == 1 else f"1-{last}"


def time_text(seconds: float) -> str:
    """A duration as text: rounded to ns above 1000 ns, else to ps."""
    ps = round(seconds * 1e12)
    return _unit(round(ps, -3) if ps >= 10**6 else ps, _TIMES)


def _unit(value: float, units: Sequence[tuple[str, int]]) -> str:
    """Write a whole number in the largest unit that needs at most three decimals."""
    whole = round(value)
    unit, factor = next(
        (unit, factor) for unit, factor in units if whole >= factor and whole * 1000 % factor == 0
    )
    return f"{whole / factor:.3f}".rstrip("0").rstrip(".") + unit
