"""The switches' part of a runbook: marking thresholds by rate of port, as three vendors write them.

DCTCP marks every packet above K of the queue's instantaneous length, so both of WRED's thresholds
are K, the probability is 100% and the average has no weight. Sizes in bytes. The syntax follows
Arista's data model of EOS (arista.avd, eos_cli_config_gen: qos_profiles and uc_tx_queues), the
Cisco Nexus 9000 Series NX-OS Quality of Service Configuration Guide (10.x, queuing and scheduling),
and SONiC's Configuration.md (sonic-buildimage), with the counters of its ECN and WRED statistics
design. hull has tried none of it on a switch.
"""

import json
from collections.abc import Sequence

from hull.ask.rollout import Rollout
from hull.ask.steps import Block, Section
from hull.theory.tiers import PortClass

EOS_QUEUE = 1
SONIC_QUEUE = 0
SONIC_FILE = "dctcp-marking.json"
_UNTRIED = "not tried on a switch by hull."
_EOS_SYNTAX = f"Syntax of Arista's data model of EOS (arista.avd, qos_profiles), {_UNTRIED}"
_NXOS_SYNTAX = (
    "Syntax of the Cisco Nexus 9000 Series NX-OS Quality of Service Configuration Guide, release "
    f"10.x, {_UNTRIED}"
)
_SONIC_SYNTAX = f"Syntax of SONiC's Configuration.md (sonic-buildimage), {_UNTRIED}"
_SONIC_LANES = 4
"""Numbers between SONiC's port names in the example."""


def switch_sections(rollout: Rollout, switch_result: str | None) -> tuple[Section, ...]:
    """What switches do, and the configuration of three vendors."""
    ports = rollout.marked_ports
    if not ports:
        return (_nothing(rollout, switch_result),)
    return (_thresholds(rollout, ports, switch_result), _eos(ports), _nxos(ports), _sonic(ports))


def threshold_line(one: PortClass) -> str:
    """K of a class of ports, such as "25 Gbps, to hosts: 15,938 bytes (10.6 packets)"."""
    packets = f"{one.k_packets:.3g} packets of {one.mtu_bytes:,} bytes"
    return f"{one.name}, {one.ports}: K = {one.k_bytes:,} bytes ({packets})"


def sonic_config(ports: Sequence[PortClass]) -> str:
    """A profile for each class, bound to a queue of one port as an example."""
    profiles, queues = {}, {}
    for place, one in enumerate(ports):
        profile = {"ecn": "ecn_all"}
        for colour in ("green", "yellow", "red"):
            profile[f"wred_{colour}_enable"] = "true"
            profile[f"{colour}_min_threshold"] = str(one.k_bytes)
            profile[f"{colour}_max_threshold"] = str(one.k_bytes)
            profile[f"{colour}_drop_probability"] = "100"
        profiles[_name(one)] = profile
        queues[f"Ethernet{_SONIC_LANES * place}|{SONIC_QUEUE}"] = {"wred_profile": _name(one)}
    return json.dumps({"WRED_PROFILE": profiles, "QUEUE": queues}, indent=2)


def _name(one: PortClass) -> str:
    return f"DCTCP_{one.rate_bps / 1e9:g}G".replace(".", "_")


def _nothing(rollout: Rollout, switch_result: str | None) -> Section:
    if rollout.scheme != "hull":
        return Section(
            "Switches: no change", (f"{rollout.label} needs no marks: switches stay as they are.",)
        )
    items = ["All ports lead to hosts, whose own phantom queues mark in the switch's place."]
    return Section("Switches: no change", (*items, *_limits(rollout, switch_result)))


def _limits(rollout: Rollout, switch_result: str | None) -> list[str]:
    told = [switch_result] if switch_result else []
    if rollout.scheme != "hull":
        return told
    return [
        "Switches of these vendors have no phantom queue: they mark by the real queue, which a "
        "link below its rate does not have. The page simulates phantom queues at all ports; the "
        "hosts' phantom queues stand only behind the ports to hosts.",
        *told,
    ]


def _thresholds(rollout: Rollout, ports: Sequence[PortClass], switch_result: str | None) -> Section:
    where = (
        "All ports mark, uplinks included: a port that does not mark fills its buffer."
        if rollout.scheme == "dctcp"
        else "Ports between switches have no host behind them. They mark by their real queue:"
    )
    return Section(
        "Switches: thresholds by class of port",
        (
            *_limits(rollout, switch_result),
            where,
            Block("text", "\n".join(map(threshold_line, ports))),
            "A switch rounds a threshold to its cells of memory, so read it back. K must stay well "
            "below what the shared buffer lets a port hold. These K are for single packets: with "
            "bursts of segmentation offload (up to 64 KB) throughput may need more. Linux's "
            "documentation of DCTCP starts with 20 packets at 1 Gbps and 65 at 10 Gbps.",
            "A queue of a switch marks, not a port: mark in the queue that carries this traffic. "
            "Where WRED is on, packets without ECN may be dropped above K, not marked. So change "
            "hosts before switches, and give traffic without ECN (storage, UDP, hosts not changed "
            "yet) another queue by its DSCP.",
        ),
    )


def _eos(ports: Sequence[PortClass]) -> Section:
    profiles, interfaces, back = [], [], []
    for place, one in enumerate(ports, start=1):
        name = _name(one).replace("_", "-")
        profiles += [
            f"qos profile {name}",
            f"   tx-queue {EOS_QUEUE}",
            f"      random-detect ecn minimum-threshold {one.k_bytes} bytes maximum-threshold "
            f"{one.k_bytes} bytes max-mark-probability 100 weight 0",
            "      random-detect ecn count",
        ]
        interfaces += [f"interface Ethernet{place}", f"   service-profile {name}"]
        back += [f"interface Ethernet{place}", f"   no service-profile {name}"]
    return Section(
        "Switches: Arista EOS",
        (
            _EOS_SYNTAX,
            "Thresholds may be bytes, kbytes, mbytes or segments, 1 to 256,000,000. "
            f"Some platforms write uc-tx-queue for tx-queue. Replace queue {EOS_QUEUE} and the "
            "interfaces.",
            Block("text", "\n".join([*profiles, *interfaces])),
            "Marks by queue:",
            Block("text", "show qos interfaces ecn counters queue"),
            "Take it back:",
            Block("text", "\n".join(back)),
        ),
    )


def _nxos(ports: Sequence[PortClass]) -> Section:
    policies, interfaces, back = [], [], []
    for place, one in enumerate(ports, start=1):
        name = _name(one).replace("_", "-")
        policies += [
            f"policy-map type queuing {name}",
            "  class type queuing c-out-8q-q-default",
            "    bandwidth remaining percent 100",
            f"    random-detect minimum-threshold {one.k_bytes} bytes maximum-threshold "
            f"{one.k_bytes} bytes drop-probability 100 weight 0 ecn",
        ]
        lines = [f"interface Ethernet1/{place}", f"  service-policy type queuing output {name}"]
        interfaces += lines
        back += [lines[0], lines[1].replace("service", "no service")]
    return Section(
        "Switches: Cisco NX-OS (Nexus 9000)",
        (
            _NXOS_SYNTAX,
            "Thresholds may be bytes, kbytes, mbytes or packets. weight 0 judges the length of the "
            "moment; without the word ecn the switch drops instead of marking. If a queuing policy "
            "is in use, add the random-detect line to its class and keep its other lines.",
            Block("text", "\n".join([*policies, *interfaces])),
            "Marks and drops by queue:",
            Block("text", "show queuing interface ethernet 1/1"),
            "Take it back:",
            Block("text", "\n".join(back)),
        ),
    )


def _sonic(ports: Sequence[PortClass]) -> Section:
    back = "\n".join(
        f"sonic-db-cli CONFIG_DB HDEL 'QUEUE|Ethernet{_SONIC_LANES * place}|{SONIC_QUEUE}' "
        "wred_profile"
        for place in range(len(ports))
    )
    return Section(
        "Switches: SONiC",
        (
            _SONIC_SYNTAX,
            "Thresholds are bytes; Dell's Enterprise SONiC takes 1,000 to 12,480,000. Packets that "
            "no policer has coloured are green. Replace the ports and the queue: each port of a "
            "class has a line in QUEUE.",
            Block("json", sonic_config(ports), SONIC_FILE),
            Block("sh", f"sudo config load {SONIC_FILE} -y\nshow ecn"),
            "Marks and drops by queue, where the platform counts them:",
            Block("sh", "sudo counterpoll wredqueue enable\nshow queue wredcounters Ethernet0"),
            "sudo config save -y keeps it over a restart. Take it back:",
            Block("sh", back),
        ),
    )
