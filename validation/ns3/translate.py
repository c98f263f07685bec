"""From hull's resolved scenario to the command line and the flow list of the ns-3 program.

hull writes the resolved scenario of each part; everything that ns-3 is told comes from there, so
that no value is written twice. A scenario that the ns-3 programs cannot express is refused.
"""

import re
from typing import Any

from flow_lists import LASTS, LISTS, Row

UNITS = {
    "ps": 1,
    "ns": 10**3,
    "us": 10**6,
    "ms": 10**9,
    "s": 10**12,
    "B": 1,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "bps": 1,
    "Kbps": 10**3,
    "Mbps": 10**6,
    "Gbps": 10**9,
    "pkts": 1,
    "%": 0.01,
}


def number(text: str) -> float:
    """A number with its unit, in ps, bytes, bit/s, packets or as a share of 1."""
    found = re.fullmatch(r"([\d.]+)(\D+)", text)
    if not found or found[2] not in UNITS:
        raise ValueError(f'"{text}" has no unit that is known here')
    value = float(found[1]) * UNITS[found[2]]
    return round(value) if found[2] != "%" else value


def require(ok: bool, what: str) -> None:
    """Refuses a scenario that the two simulators would not understand alike."""
    if not ok:
        raise ValueError(f"the ns-3 programs need {what}")


def arguments(scenario: dict[str, Any]) -> list[str]:
    """Program and options, the flow list apart."""
    host, switch, tcp, run = (scenario[key] for key in ("host", "switch", "transport", "run"))
    require(host["delay"] == switch["delay"], "host.delay = switch.delay")
    require(number(host["stack_delay"]) == 0, "host.stack_delay = 0")
    require(switch["buffer"].endswith("pkts"), "switch.buffer in packets")
    require(not switch["count_in_service"], "switch.count_in_service = false")
    dctcp = tcp["congestion_control"] == "dctcp"
    require(tcp["byte_counting"] == dctcp, "byte_counting with DCTCP and only there")
    mtu, header = number(tcp["mtu"]), number(tcp["header"])
    require(header == 42, "transport.header = 42B")
    options = {
        "durationS": number(run["duration"]) * 1e-12,
        "warmupS": number(run["warmup"]) * 1e-12,
        "drainS": number(run["drain"]) * 1e-12,
        "hostRateBps": number(host["rate"]),
        "switchRateBps": number(switch["rate"]),
        "bufferPackets": number(switch["buffer"]),
        "congestionControl": tcp["congestion_control"],
        "segmentBytes": mtu - header,
        "handshake": int(tcp["handshake"]),
        "initialRtoPs": number(tcp["initial_rto"]),
        "initialWindow": tcp["initial_window"],
        "windowPackets": tcp["receive_window"],
        "ackEvery": tcp["ack_every"],
        "delayedAckPs": number(tcp["delayed_ack"]),
        "minRtoPs": number(tcp["min_rto"]),
        "dctcpG": number(tcp["dctcp"]["g"]),
        "dctcpInitialAlpha": number(tcp["dctcp"]["initial_alpha"]),
        "holdAfterCut": int(tcp["dctcp"]["hold_after_cut"]),
    }
    if "marking" in switch:
        require(not switch["marking"]["count_arriving"], "marking.count_arriving = false")
        # The first whole number of packets whose bytes are above the threshold.
        options["markFromPackets"] = number(switch["marking"]["threshold"]) // mtu + 1
        options["markAboveBytes"] = number(switch["marking"]["threshold"])
    program, more = topology(scenario)
    return [program, *(f"--{key}={value}" for key, value in (options | more).items())]


def topology(scenario: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The program for the network, and its own options."""
    host, switch = scenario["host"], scenario["switch"]
    delay_ps = number(host["delay"])
    if "star" in scenario["topology"]:
        hosts = scenario["topology"]["star"]["hosts"]
        return "star", {"hosts": hosts, "delayPs": delay_ps}
    if "tree" in scenario["topology"]:
        return "tree", tree(scenario["topology"]["tree"], switch)
    dumbbell = scenario["topology"]["dumbbell"]
    middle_ps = number(dumbbell.get("bottleneck_delay", switch["delay"]))
    rtts = [number(rtt) for rtt in dumbbell["rtts"]]
    pairs = dumbbell["pairs"]
    # hull gives the sender's link what the other two leave of the round trip.
    own = [str(round(rtts[i % len(rtts)] / 2 - middle_ps - delay_ps)) for i in range(pairs)]
    return "dumbbell", {
        "delayPs": delay_ps,
        "senderDelaysPs": ",".join(own),
        "bottleneckRateBps": number(dumbbell.get("bottleneck_rate", switch["rate"])),
        "bottleneckDelayPs": middle_ps,
    }


def tree(shape: dict[str, Any], switch: dict[str, Any]) -> dict[str, Any]:
    """The options of the tree."""
    return {
        # Data and acknowledgments share each queue, so the unit of the threshold matters.
        "markBy": "bytes",
        "delayPs": number(switch["delay"]),
        "pods": shape["pods"],
        "torsPerPod": shape["tors_per_pod"],
        "hostsPerTor": shape["hosts_per_tor"],
        "aggsPerPod": shape["aggs_per_pod"],
        "cores": shape["cores"],
        "uplinkRateBps": number(shape.get("uplink_rate", switch["rate"])),
        "uplinkDelayPs": number(shape.get("uplink_delay", switch["delay"])),
        "coreRateBps": number(shape.get("core_rate", switch["rate"])),
        "coreDelayPs": number(shape.get("core_delay", switch["delay"])),
    }


def flows(scenario: dict[str, Any]) -> list[Row]:
    """The workload as a flow list."""
    workload = scenario["workload"]
    if "flows" in workload:
        return LISTS[workload["flows"].rsplit("/", 1)[-1]]()
    bulk = workload["bulk"]
    apart_ps = round(number(bulk["start_interval"]))
    size = round(number(bulk["size"])) if "size" in bulk else LASTS
    others = scenario["topology"]["star"]["hosts"] - 1
    return [(i * apart_ps, 1 + i % others, 0, size) for i in range(bulk["flows"])]
