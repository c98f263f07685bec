"""Rows of a table of recorded runs of uet-htsim, and the scenario that each of them becomes."""

import math
import shlex
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from hull.errors import UsageError, reason_of, shown
from hull.formats import htsim_connections, htsim_topology
from hull.formats.htsim_connections import FlowRow
from hull.formats.htsim_topology import Topology

HEADER = 64
PS_PER_US = 1_000_000
FAILED_SHARE = 0.25
"""Ratio of a failed link's rate, buffer and thresholds to the other links'."""

_CONTROLS = {
    "-sender_cc_only": "nscc",
    "-receiver_cc_only": "rccc",
    "-sender_cc": "nscc",
    "-receiver_cc": "rccc",
}
_NUMBERS = ("-paths", "-failed", "-q", "-cwnd", "-sack_threshold", "-seed", "-mtu", "-linkspeed")
_NUMBERS = (*_NUMBERS, "-tiers", "-hop_latency", "-switch_latency", "-nodes")
_TEXTS = ("-topo", "-load_balancing_algo", "-sender_cc_algo")
_LEFT_ALONE = {"-end": 1, "-strat": 1, "-o": 1, "-debug": 0}
"""What does not change what is compared, with the number of its arguments."""
_BALANCING = ("oblivious", "bitmap", "reps", "mixed", "ecmp")
HULLS_CONTROLS = ("nscc", "rccc", "nscc+rccc")
"""Controls of the program that hull has by these names."""


class SkippedError(Exception):
    """A row that cannot be run here; the message says why."""


@dataclass(frozen=True)
class Options:
    """What a row's options say."""

    controls: frozenset[str]
    reuse: bool
    ecn: tuple[int, int] | None
    numbers: dict[str, float]
    texts: dict[str, str]

    @property
    def control(self) -> str:
        """As `transport.congestion_control`, or the program's name of the sender's control."""
        return self.texts.get("-sender_cc_algo", "+".join(sorted(self.controls)))


def read_options(text: str) -> Options:
    """Parses the options of a row; SkippedError for one that is not known here."""
    words = iter(shlex.split(text))
    controls: set[str] = set()
    reuse, ecn = False, None
    numbers: dict[str, float] = {}
    texts: dict[str, str] = {}

    def following(option: str) -> str:
        try:
            return next(words)
        except StopIteration:
            raise SkippedError(f"option {option} has no value") from None

    def number(option: str) -> float:
        value = following(option)
        try:
            return float(value)
        except ValueError:
            raise SkippedError(f"option {option} {value}: expected a number") from None

    for option in words:
        if option in _CONTROLS:
            controls.add(_CONTROLS[option])
        elif option == "-conn_reuse":
            reuse = True
        elif option == "-ecn":
            ecn = (int(number(option)), int(number(option)))
        elif option in _NUMBERS:
            numbers[option] = number(option)
        elif option in _TEXTS:
            texts[option] = following(option)
        elif option in _LEFT_ALONE:
            for _ in range(_LEFT_ALONE[option]):
                following(option)
        else:
            raise SkippedError(f"option {option} is not known to this comparison")
    balancing = texts.get("-load_balancing_algo", "mixed")
    if balancing not in _BALANCING:
        raise SkippedError(f"load balancing {balancing} is not known to this comparison")
    return Options(frozenset(controls or {"nscc"}), reuse, ecn, numbers, texts)


@dataclass(frozen=True)
class Setup:
    """The defaults of the program that the table states."""

    mtu: int
    link_gbps: float
    link_delay_us: float
    switch_latency_us: float
    paths: int
    balancing: str
    ack_bytes: int
    seed: int

    @classmethod
    def of(cls, path: Path, table: dict[str, Any]) -> "Setup":
        """From the `[setup]` of a table."""

        def number(key: str, default: float) -> float:
            value = table.get(key, default)
            if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
                refuse(path, f"setup.{key}", value, "a number, not negative")
            return value

        return cls(
            mtu=int(number("mtu_bytes", 4150)),
            link_gbps=number("link_gbps", 100),
            link_delay_us=number("link_delay_us", 1.0),
            switch_latency_us=number("switch_latency_us", 0.0),
            paths=int(number("paths", 64)),
            balancing=str(table.get("load_balancing", "mixed")),
            ack_bytes=int(number("ack_every_bytes", 16384)),
            seed=int(number("seed", 13)),
        )


def refuse(path: Path, key: str, found: object, expected: str) -> NoReturn:
    """Raises UsageError about a key of the table."""
    raise UsageError(f"{path}: {key}: {shown(found)} is invalid; expected {expected}")


def read_toml(path: Path) -> dict[str, Any]:
    """The content of a table's file; UsageError where it cannot be read."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: {reason_of(error)}; expected a TOML file") from None
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: {error}; expected TOML") from None


def find(formats: Path, name: str) -> Path:
    """A file of `--formats`, in it or in a folder of it; SkippedError where it is not there."""
    places = [formats / name, formats / "htsim-cm" / name, formats / "htsim-topo" / name]
    for place in places:
        if place.is_file():
            return place
    raise SkippedError(f"{name} is not in {formats}")


@dataclass(frozen=True)
class Prepared:
    """A scenario without its flow list, and the list."""

    scenario: dict[str, Any]
    flows: list[FlowRow]


def prepare(row: dict[str, Any], setup: Setup, formats: Path) -> Prepared:
    """Makes the scenario of a row; SkippedError where an input is missing."""
    options = read_options(row["options"])
    if options.control not in HULLS_CONTROLS:
        raise SkippedError(f"control {options.control} is not known to this comparison")
    connections = htsim_connections.read(find(formats, row["cm"]))
    if connections.failures:
        raise SkippedError(f"{row['cm']} has failures of its own")
    unit_ps = PS_PER_US if options.reuse else 1
    flows = htsim_connections.flow_rows(connections, unit_ps)
    network = Network.of(options, setup, formats, connections.nodes)
    if connections.nodes == 2:
        last = network.hosts - 1
        flows = [
            FlowRow(f.start_ps, f.src * last, f.dst * last, f.bytes, f.connection, f.after)
            for f in flows
        ]
    return Prepared(scenario(f"uec-{row['id']}", options, setup, network), flows)


def scenario(name: str, options: Options, setup: Setup, network: "Network") -> dict[str, Any]:
    """Network, switches and transport of a row; its traffic is still to be added."""
    numbers = options.numbers
    mtu = int(numbers.get("-mtu", setup.mtu))
    bps = network.gbps * 1e9
    rtt_s = 2 * network.links * network.delay_us * 1e-6 + network.links * (mtu + HEADER) * 8 / bps
    round_trip_packets = math.ceil(round(rtt_s * bps / 8 / mtu, 9))
    queue = int(numbers.get("-q", round_trip_packets)) * mtu
    low, high = options.ecn or (
        math.ceil(round_trip_packets * 0.2),
        math.ceil(round_trip_packets * 0.8),
    )
    thresholds = (low * mtu, high * mtu)
    message: dict[str, Any] = {
        "paths": int(numbers.get("-paths", setup.paths)),
        "load_balancing": options.texts.get("-load_balancing_algo", setup.balancing),
        "ack_bytes": f"{int(numbers.get('-sack_threshold', setup.ack_bytes))}B",
    }
    if numbers.get("-cwnd", 0) > 0:
        message["initial_window"] = int(numbers["-cwnd"])
    ports: list[dict[str, Any]] = []
    if "rccc" in options.controls:
        # No marks at the ports to hosts where receivers grant credit: no queue is as long.
        ports.append({"tier": network.last_tier, "marking": _marking(queue - 2, queue - 1)})
    slow = network.slow_links(int(numbers.get("-failed", 0)))
    if slow:
        rate = f"{network.gbps * FAILED_SHARE:g}Gbps"
        low, high = (int(bytes_ * FAILED_SHARE) for bytes_ in thresholds)
        buffer = f"{int(queue * FAILED_SHARE)}B"
        ports.append({"rate": rate, "buffer": buffer, "marking": _marking(low, high)})
        links = [{"link": link, "rate": rate} for link in slow]
        network.topology["links"] = links
        # The round trip over the links that work.
        message["round_trip"] = f"{round(rtt_s * 1e9, 3):.15g}ns"
    rate, delay = f"{network.gbps:g}Gbps", f"{network.delay_us:g}us"
    return {
        "name": name,
        "run": {
            "duration": "1s",
            "seed": int(numbers.get("-seed", setup.seed)),
        },
        "topology": network.topology,
        "host": {"rate": rate, "delay": delay, "queue": "fifo"},
        "switch": {
            "rate": rate,
            "delay": delay,
            "latency": f"{network.switch_latency_us:g}us",
            "buffer": f"{queue}B",
            "count_in_service": True,
            "trimming": {},
            "marking": _marking(*thresholds),
            "ports": ports,
        },
        "transport": {
            "congestion_control": options.control,
            "ecn": True,
            "mtu": f"{mtu}B",
            "header": f"{HEADER}B",
            "message": message,
        },
    }


def _radix_of_fat_tree(hosts: int) -> int:
    k = round((4 * hosts) ** (1 / 3))
    if k % 2 or k**3 != 4 * hosts:
        raise SkippedError(f"no fat tree has {hosts} hosts")
    return k


def _leaf_spine(hosts: int) -> dict[str, int]:
    """The program's network of two tiers: switches of k ports, half of a leaf's to hosts."""
    k = round((2 * hosts) ** 0.5)
    if k % 2 or k**2 != 2 * hosts:
        raise SkippedError(f"no leaf-spine of the program has {hosts} hosts")
    return {"leaves": k, "hosts_per_leaf": k // 2, "spines": k // 2}


def _marking(low: int, high: int) -> dict[str, Any]:
    return {"threshold": f"{low}B", "max_threshold": f"{high}B", "on": "sent"}


@dataclass
class Network:
    """The network of a row, and what else the scenario takes from it."""

    topology: dict[str, Any]
    hosts: int
    links: int
    gbps: float
    delay_us: float
    switch_latency_us: float

    @classmethod
    def of(cls, options: Options, setup: Setup, formats: Path, nodes: int) -> "Network":
        """The network of the row's file, or the program's own for so many hosts."""
        name = options.texts.get("-topo")
        if name is not None:
            return cls._of_file(htsim_topology.read(find(formats, name)), name, nodes)
        numbers = options.numbers
        tiers = numbers.get("-tiers", 3)
        hosts = 16 if nodes == 2 else nodes
        if tiers == 2:
            topology, links = {"leaf_spine": _leaf_spine(hosts)}, 4
        elif tiers == 3:
            topology, links = {"fat_tree": {"k": _radix_of_fat_tree(hosts)}}, 6
        else:
            raise SkippedError(f"the program's own network has no {tiers:g} tiers")
        return cls(
            topology,
            hosts,
            links,
            numbers["-linkspeed"] / 1000 if "-linkspeed" in numbers else setup.link_gbps,
            numbers.get("-hop_latency", setup.link_delay_us),
            numbers.get("-switch_latency", setup.switch_latency_us),
        )

    @classmethod
    def _of_file(cls, topology: Topology, name: str, nodes: int) -> "Network":
        if topology.nodes != nodes:
            raise SkippedError(f"{name} has {topology.nodes} hosts, the connections {nodes}")
        tiers = topology.tiers
        latencies = {tier.switch_latency_ns for tier in tiers}
        if len(latencies) > 1 or len({tier.downlink_latency_ns for tier in tiers}) > 1:
            raise SkippedError(f"{name} has tiers with different delays")
        if len({tier.downlink_speed_gbps for tier in tiers}) > 1:
            raise SkippedError(f"{name} has tiers with different speeds")
        return cls(
            htsim_topology.scenario_topology(topology),
            nodes,
            topology.diameter,
            tiers[0].downlink_speed_gbps,
            tiers[0].downlink_latency_ns / 1000,
            tiers[0].switch_latency_ns / 1000,
        )

    @property
    def last_tier(self) -> str:
        """The ports to hosts."""
        return "leaf-host" if "leaf_spine" in self.topology else "tor-host"

    def slow_links(self, count: int) -> list[str]:
        """The links of `-failed`: of two tiers all of the first spines, of three the first ports
        from cores down to aggregation switches."""
        if count == 0:
            return []
        if "leaf_spine" in self.topology:
            shape = self.topology["leaf_spine"]
            spines = range(min(count, shape["spines"]))
            return [f"leaf{i}--spine{j}" for j in spines for i in range(shape["leaves"])]
        if "fat_tree" in self.topology:
            half = self.topology["fat_tree"]["k"] // 2
            pods, per_pod, group = 2 * half, half, half
        elif "tree" in self.topology:
            shape = self.topology["tree"]
            pods, per_pod = shape["pods"], shape["aggs_per_pod"]
            group = shape["cores"] // per_pod
        else:
            raise SkippedError(
                "failed links of a network with bundles are not known to this comparison"
            )
        return [
            f"core{i * group + core}->agg{pod}_{i}"
            for pod in range(pods)
            for i in range(per_pod)
            for core in range(group)
            if core + (pod * per_pod + i) * per_pod < count
        ]
