"""What a recorded run becomes in hull: its scenario, and the faults that exclude a run.

Each value comes from the run's `resolved`, its control's table, `differs` or `[base]`. A recorded
simulator cuts the time of a packet to whole ns; links here have the rate at which a full packet
takes its recorded time, and the round trip is the one for which the window is the recorded one.
"""

import re
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Run:
    """A recorded run with what it shares with others."""

    name: str
    given: dict[str, Any]
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

    @property
    def values(self) -> dict[str, Any]:
        """Keys of the recorded program."""
        of_control = {k: v for k, v in self.table["cc"][self.control].items() if k != "about"}
        return self.table["base"] | of_control | self.given.get("differs", {})

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
    marking = {}
    for i in range(0, len(fields), 4):
        rate, low, high, most = fields[i : i + 4]
        if float(most) > 0:
            ramp = {
                "max_threshold": f"{high}KB",
                "max_probability": f"{float(most) * 100:g}%",
            }
            marking[float(rate) / 1e9] = {
                "threshold": f"{low}KB",
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
        keys["telemetry"] = {"fields": "hpcc"}
    rules = RULES.get(run.simulator, "conweave")
    static = "pfc_static" in values or "c_static" in values
    if str(values.get("pfc", "1")) == "0":
        keys["memory"] = {"size": f"{values['buffer_bytes']}B", "alpha": 1000}
        return keys
    pfc: dict[str, Any] = {"rules": rules}
    if "pfc_static" in values:
        pfc["xoff"] = f"{values['pfc_static']}B"
    if "c_static" in values:
        pfc |= {"xoff": "20960B", "reserve": "0B", "hysteresis": "2096B"}
    if "xon_offset" in values:
        pfc["hysteresis"] = f"{values['xon_offset']}B"
    if not static:
        keys["memory"] = {"size": f"{values['buffer_bytes']}B", "alpha": 1000}
        if rules != "conweave":
            pfc["alpha"] = f"{float(values['pfc_alpha']) * 100:g}%"
    keys["pfc"] = pfc
    if int(values["ack_prio"]) == 2 or run.simulator == "C":
        keys["priorities"] = 2
        pfc["classes"] = [1]
    return keys


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
        window_ns = nominal_ns  # its own key says the window
    message: dict[str, Any] = {
        "paths": 1,
        "ack_size": f"{resolved['ack_bytes']}B",
        "round_trip": f"{round((window_ns or nominal_ns) * 1000)}ps",
        "gap_interval": f"{values['nack_interval_us'][run.simulator[0]]}us",
        "timeout": "4ms" if run.simulator == "C" else "1s",
    }
    if str(values.get("irn", "0")) == "1":
        packets = -(-int(values["irn_bdp"]) // resolved["payload_bytes"])
        message["recovery"] = "selective"
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
