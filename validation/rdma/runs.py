"""What a recorded run becomes in hull: its scenario, and the faults that exclude a run.

Each value comes from the run's `resolved`, its control's table, `differs` or `[base]`. A recorded
simulator cuts the time of a packet to whole ns; links here have the rate at which a full packet
takes its recorded time, and the round trip is the one for which the window is the recorded one.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from networks import Network

CONTROLS = {
    "dcqcn": "dcqcn",
    "dcqcn-win": "dcqcn",
    "hpcc": "hpcc",
    "timely": "timely",
    "timely-win": "timely",
    "dctcp": "dctcp-rate",
    "powertcp": "powertcp",
    "theta": "theta-powertcp",
    "none": "line-rate",
}
"""hull's name of each recorded control."""
RULES = {"P": "ns3-datacenter", "PZ": "ns3-datacenter", "PS": "ns3-datacenter", "H": "hpcc"}
"""Rules of the switch's memory by simulator; C's are "conweave"."""
ADDITIVE = "150Mbps"
"""PowerTCP's additive increase, a constant of the recorded program."""


C_PACKET = 1048
"""Bytes of a packet in C's accounting."""
C_CLASSES = 8
"""Classes of a port in C's accounting."""
C_HEADROOM = 25_000 + 2 * C_PACKET
"""C's headroom of a port with 100 Gbps and 1 us: two delays and two packets."""
C_PORT_0 = 12_500 + 2 * C_PACKET
"""Headroom of C's port 0, which is not used."""

FIXED: dict[str, Any] = {
    "multi_rate": 0,
    "sample_feedback": 0,
    "global_t": 1,
    "l2_chunk_size": 4000,
    "l2_ack_interval": 1,
    "rate_on_first_cnp": 1.0,
    "pause_time_us": 5,
    "rate_bound": True,
    "l2_back_to_zero": False,
    "priority_group": 3,
    "seed": 1,
    "run": 1,
    "timely": {
        "alpha": 0.875,
        "beta": 0.8,
        "t_low_ns": 50_000,
        "t_high_ns": 500_000,
        "min_rtt_ns": 20_000,
    },
}
"""Keys with the only value that the comparison repeats."""
NAMED = {"cc_mode", "power", "power_delay", "var_win", "packet_payload_size"}
"""Keys that follow from the control's name or from what the program resolved."""


OWNERS = {
    "alpha_resume_interval": ("dcqcn",),
    "clamp_target_rate": ("dcqcn",),
    "dctcp_rate_ai": ("dctcp",),
    "ewma_gain": ("dcqcn", "dctcp"),
    "fast_react": ("hpcc",),
    "fast_recovery_times": ("dcqcn",),
    "has_win": ("dcqcn", "timely"),
    "int_multi": ("hpcc", "powertcp"),
    "mi_thresh": ("hpcc",),
    "min_rate": ("dcqcn", "dctcp", "hpcc", "powertcp", "theta", "timely"),
    "rate_ai": ("dcqcn", "hpcc", "timely"),
    "rate_decrease_interval": ("dcqcn",),
    "rate_hai": ("dcqcn", "timely"),
    "rp_timer": ("dcqcn",),
    "timely": ("timely",),
    "u_target": ("hpcc", "powertcp", "theta"),
}
"""Controls of the recorded programs that read a key; a key that is not here is every control's."""


class Reading(dict[str, Any]):
    """A table that remembers which keys were read."""

    def __init__(self, table: dict[str, Any]) -> None:
        super().__init__(table)
        self.read: set[str] = set()

    def __getitem__(self, key: str) -> Any:
        self.read.add(key)
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a key that is now read."""
        self.read.add(key)
        return super().get(key, default)

    def __contains__(self, key: object) -> bool:
        self.read.add(str(key))
        return super().__contains__(key)

    @property
    def unread(self) -> list[str]:
        """Keys that were not read."""
        return [key for key in self if key not in self.read]


@dataclass(frozen=True)
class Run:
    """A recorded run with what it shares with others."""

    name: str
    given: "Reading"
    table: dict[str, Any]

    @property
    def simulator(self) -> str:
        """Letter of the simulator."""
        return str(self.given["simulator"])

    @property
    def control(self) -> str:
        """Name of the control in the table."""
        return str(self.given["cc"])

    @property
    def scenario(self) -> dict[str, Any]:
        """The recorded scenario."""
        scenario: dict[str, Any] = self.table["scenario"][self.given["scenario"]]
        return scenario

    @cached_property
    def values(self) -> Reading:
        """Keys of the recorded program."""
        of_control = {k: v for k, v in self.table["cc"][self.control].items() if k != "about"}
        return Reading(self.table["base"] | of_control | self.given.get("differs", {}))

    def unread(self) -> list[str]:
        """Keys of the row that were not read: settings of its control with a value that is not
        repeated, and recorded quantities that are not compared.
        """
        control, usual = self.control.split("-")[0], self.table["base"] | FIXED
        others = {key for key, controls in OWNERS.items() if control not in controls}
        settings = [
            f"differs.{key}"
            for key in self.values.unread
            if key not in others | NAMED and self.values[key] != usual.get(key)
        ]
        return [*settings, *self.given.unread]

    @property
    def resolved(self) -> dict[str, int]:
        """What the recorded program computed."""
        resolved: dict[str, int] = self.given["resolved"]
        return resolved


def fault(run: Run) -> str:
    """Name of the recorded program's fault that excludes the run; "" if none does."""
    values, drops = run.values, run.given["drops"]
    if run.control in ("powertcp", "theta") and run.simulator == "P":
        return "PowerTCP's first ACK reads memory that was never set"
    if run.simulator == "PZ":
        return "PowerTCP's first ACK computes with a made-up record; PS's only stores its own"
    if str(values.get("pfc", "1")) == "0" and run.given["flows_done"] < run.given["flows"]:
        return "no retransmission timer: flows never end"
    if drops["egress"] and str(values.get("pfc", "1")) != "0":
        return "a limit at the output drops packets of a lossless class"
    return ""


def bits(rate: str) -> float:
    """A rate as the recorded programs write it, bit/s."""
    number, unit = re.fullmatch(r"([\d.]+)([MG])b/s", rate).groups()  # type: ignore[union-attr]
    return float(number) * {"M": 1e6, "G": 1e9}[unit]


def bps(rate: str) -> str:
    """The same as hull writes it."""
    return f"{round(bits(rate))}bps"


def scaled_rates(run: Run, network: Network) -> dict[float, str]:
    """Rate at which a full packet takes the recorded time, by the nominal rate in Gbps."""
    wire_bits = 8 * run.resolved["wire_bytes"]
    of_nic = network.links[0].gbps
    rates = {}
    for gbps in {link.gbps for link in network.links}:
        ns = run.resolved["nic_tx_ns"] if gbps == of_nic else int(wire_bits / gbps)
        rates[gbps] = f"{round(wire_bits / ns * 1e9)}bps"
    return rates


def of_control(run: Run) -> dict[str, Any]:
    """Table of the control's own keys."""
    values = run.values
    window = bool(int(values.get("has_win", 0)))
    ai, hai = bps(values.get("rate_ai", "0Mb/s")), bps(values.get("rate_hai", "0Mb/s"))
    min_rate = bps(values["min_rate"])
    us = lambda key: f"{float(values[key]):g}us"  # noqa: E731
    name = CONTROLS[run.control]
    if name == "dcqcn":
        return {
            "dcqcn": {
                "alpha_interval": us("alpha_resume_interval"),
                "decrease_interval": us("rate_decrease_interval"),
                "increase_interval": us("rp_timer"),
                "gain": f"{float(values['ewma_gain']) * 100:.10g}%",
                "recovery_cycles": int(values["fast_recovery_times"]),
                "additive": ai,
                "hyper": hai,
                "min_rate": min_rate,
                "clamp_target": bool(int(values["clamp_target_rate"])),
                "loss_is_mark": run.simulator == "C",
                "window": window,
            }
        }
    if name == "timely":
        return {
            "timely": {
                "additive": ai,
                "hyper": hai,
                "min_rate": min_rate,
                "window": window,
            }
        }
    if name == "dctcp-rate":
        return {
            "dctcp_rate": {
                "additive": bps(values["dctcp_rate_ai"]),
                "gain": f"{float(values['ewma_gain']) * 100:.10g}%",
                "min_rate": min_rate,
            }
        }
    if name == "hpcc":
        return {
            "hpcc": {
                "eta": f"{float(values['u_target']) * 100:g}%",
                "max_stage": int(values["mi_thresh"]),
                "rate_ai": ai,
                "min_rate": min_rate,
                "fast_react": bool(int(values["fast_react"])),
                "window": f"{run.resolved['window_bytes']}B",
            }
        }
    if name in ("powertcp", "theta-powertcp"):
        return {"powertcp": {"rate_ai": ADDITIVE, "min_rate": min_rate}}
    return {}


def flows(run: Run, network: Network) -> list[list[int]]:
    """Recorded flows: source, destination, bytes, start, stop (ns)."""
    if "flows" in run.scenario:
        return [flow[:5] for flow in run.scenario["flows"]]
    others = [n for n in range(1, network.hosts) if n != 16]
    return [[0, 16, 2_000_000_000, 0, 0], *([n, 16, 2_000_000_000, 1_000_000, 0] for n in others)]


def ecn(run: Run) -> dict[float, dict[str, Any]]:
    """Marking by the nominal rate of a link in Gbps; empty where nothing marks."""
    text = str(run.values["ecn_map"])
    numbers = "100000000000 400 1600 0.2" if "kmin" in text else text
    fields = numbers.split()
    uncounted = C_PACKET + 1 if run.simulator == "C" else 0
    marking = {}
    for i in range(0, len(fields), 4):
        rate, low, high, most = fields[i : i + 4]
        if float(most) > 0:
            ramp = {
                "max_threshold": f"{int(high) * 1000 + uncounted}B",
                "max_probability": f"{float(most) * 100:g}%",
            }
            marking[float(rate) / 1e9] = {
                "threshold": f"{int(low) * 1000 + uncounted}B",
                **(ramp if float(high) > float(low) else {}),
                "on": "dequeue",
            }
    return marking


def switch(run: Run, network: Network) -> dict[str, Any]:
    """Table of the switches."""
    values = run.values
    link = network.links[0]
    keys: dict[str, Any] = {"rate": f"{link.gbps:g}Gbps", "delay": f"{link.delay_ns:g}ns"}
    if marking := ecn(run):
        first = network.links[0].gbps
        at = first if first in marking else next(iter(marking))
        keys["marking"] = marking[at]
        if len(marking) > 1:
            keys["marking"]["at_rate"] = scaled_rates(run, network)[at]
    if "error_rate_per_link" in values:
        keys["loss"] = f"{float(values['error_rate_per_link']) * 100:g}%"
    if run.control in ("hpcc", "powertcp"):
        keys["telemetry"] = {"fields": "hpcc", "unit_factor": int(values["int_multi"])}
    ports = network.ports(run.given["queue"]["switch"])
    size = int(values["buffer_bytes"])
    if str(values.get("pfc", "1")) == "0":
        keys["memory"] = {"size": f"{size}B", "alpha": 1000}
        if run.simulator == "C":
            keys["memory"] = {"size": f"{egress_pool(size, ports)}B", "alpha": 1}
        return keys
    keys["pfc"] = pauses(run, network)
    if "xoff" not in keys["pfc"]:
        size = ingress_pool(size, ports) if run.simulator == "C" else size
        keys["memory"] = {"size": f"{size}B", "alpha": 1000}
    if int(values["ack_prio"]) == 2 or run.simulator == "C":
        keys["priorities"] = 2
        keys["pfc"]["classes"] = [1]
    return keys


def egress_pool(size: int, ports: int) -> int:
    """Memory of which C's queue may hold as much as is free: a packet for each port and class is
    not in it, and the first packet of a queue and a byte are not counted.
    """
    return size - ports * C_CLASSES * C_PACKET + 2 * (C_PACKET + 1)


def ingress_pool(size: int, ports: int) -> int:
    """Memory whose pool is as large as C's: without the headrooms, of which C leaves out the last
    port's and takes in port 0's, and without a packet for each port and class. hull takes its own
    reserves off.
    """
    headrooms = (ports - 1) * C_HEADROOM + C_PORT_0
    return size - headrooms - ports * (C_CLASSES - 2) * C_PACKET


def pauses(run: Run, network: Network) -> dict[str, Any]:
    """Table of the pauses."""
    values = run.values
    rules = RULES.get(run.simulator, "conweave")
    pfc: dict[str, Any] = {"rules": rules}
    if "pfc_static" in values:
        pfc["xoff"] = f"{values['pfc_static']}B"
    if "c_static" in values:
        pfc |= {"xoff": "20960B", "reserve": "0B", "hysteresis": "2096B"}
    if "xon_offset" in values:
        pfc["hysteresis"] = f"{values['xon_offset']}B"
    if "xoff" not in pfc and rules != "conweave":
        pfc["alpha"] = f"{float(values['pfc_alpha']) * 100:g}%"
    if rules == "conweave":
        # No limit but the memory's stops what comes above the threshold.
        pfc |= {"headroom": f"{values['buffer_bytes']}B", "headroom_outside": True}
    elif len({(link.gbps, link.delay_ns) for link in network.links}) == 1:
        # In hull it would follow from the scaled rate.
        link = network.links[0]
        pfc["headroom"] = f"{int(3 * link.gbps * link.delay_ns / 8)}B"
    return pfc


def prepare(
    run: Run, network: Network, graph: str, listed: str, starts_ps: list[int]
) -> dict[str, Any]:
    """The scenario of a run, whose network and flows are in the files `graph` and `listed`, with
    the starts of the flows.
    """
    resolved, values = run.resolved, run.values
    header = resolved["wire_bytes"] - resolved["payload_bytes"]
    rates = scaled_rates(run, network)
    rate_bps = float(rates[network.links[0].gbps].removesuffix("bps"))
    nominal_ns = resolved["base_rtt_ns"] * network.links[0].gbps * 1e9 / rate_bps
    window_ns = resolved["window_bytes"] * 8e9 / rate_bps
    if run.control == "hpcc":
        window_ns = resolved["base_rtt_ns"]  # T; its own key says the window
    message: dict[str, Any] = {
        "paths": 1,
        "ack_size": f"{resolved['ack_bytes']}B",
        "round_trip": f"{round((window_ns or nominal_ns) * 1000)}ps",
        "gap_interval": f"{values['nack_interval_us'][run.simulator[0]]}us",
        "timeout": "4ms" if run.simulator == "C" else "1s",
    }
    if str(values.get("irn", "0")) == "1":
        message["timeout"] = "320us"
        packets = -(-int(values["irn_bdp"]) // resolved["payload_bytes"])
        message["recovery"] = "selective_go_back"
        message["max_in_flight"] = f"{packets * resolved['wire_bytes']}B"
    window_ns_of = int(run.scenario["window_ns"])
    stop_ns = int(run.scenario["stop_ns"])
    watched = run.given["queue"]
    switches = switch(run, network)
    scenario: dict[str, Any] = {
        "name": "recorded",
        "run": {"duration": f"{stop_ns}ns", "drain": "1ns"},
        "topology": {"file": {"path": graph}},
        "host": {
            "queue": "fifo",
            "rate": f"{network.links[0].gbps:g}Gbps",
            "delay": f"{network.links[0].delay_ns:g}ns",
            **({"loss": switches["loss"]} if "loss" in switches else {}),
        },
        "switch": switches,
        "transport": {
            "congestion_control": CONTROLS[run.control],
            "ecn": bool(ecn(run)),
            "mtu": f"{resolved['wire_bytes']}B",
            "header": f"{header}B",
            "framing": "0B",
            "message": message,
            **of_control(run),
        },
        "workload": {"flows": listed},
        "measure": {
            "queue_changes": True,
            "ports": [network.port(watched["switch"], watched["port"])],
            "flows": {"interval": f"{window_ns_of}ns", "count": 300},
        },
    }
    if any(flow[4] for flow in flows(run, network)):
        scenario["workload"] = {
            "long_lived": {
                "flows": [
                    {
                        "src": src,
                        "dst": dst,
                        "start": f"{start_ps}ps",
                        **({"stop": f"{stop}ns"} if stop else {"size": f"{size}B"}),
                    }
                    for (src, dst, size, _, stop), start_ps in zip(
                        flows(run, network), starts_ps, strict=True
                    )
                ]
            }
        }
    return scenario
