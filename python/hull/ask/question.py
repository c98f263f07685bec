"""The question as a scenario: today's schemes and HULL at each headroom, on one list of flows.

DCTCP's threshold K is thesis 3.1 for each rate of a link, HULL's phantom queue has the threshold of
`hull design`, and the pacer what hull derives from rate and round trip.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomli_w

from hull.ask.network import Network
from hull.errors import UsageError, shown
from hull.report.schemes import GREEN, GREY, ORANGE, PURPLE, SKY, YELLOW, Scheme
from hull.theory import guidelines
from hull.theory.design import recommended_pacer

TODAY = ("dctcp", "cubic", "bbr")
UNCHANGED = "unchanged"
"""The transport of hosts that keep CUBIC, where only some hosts change."""
REAL_QUEUE = "real-queue"
"""Marks at the phantom queue's threshold in the real queue: what switches without one can do."""
MIN_RTO = "10ms"
WINDOW_BYTES = 6_000_000
"""Largest window: Linux's tcp_rmem and tcp_wmem."""
INITIAL_WINDOW = 10
QUICK_ACKS = 16
"""First packets of a connection that a receiver acknowledges at once, as Linux does."""
_CUBIC = {"congestion_control": "cubic", "ecn": False}
_BBR = {"congestion_control": "bbr", "ecn": False}
_LONGEST_DRAIN = "20s"
_COLOURS = (GREEN, ORANGE, PURPLE, SKY, YELLOW)


@dataclass(frozen=True)
class Settings:
    """What is set on switches and hosts."""

    thresholds: dict[float, int]
    """DCTCP's K by the rate of a link: bit/s to bytes."""
    g: float
    phantom_threshold_bytes: int
    pacer: dict[str, float]
    """As `hull design` has them."""


@dataclass(frozen=True)
class Question:
    """What is compared."""

    network: Network
    give_up: tuple[float, ...]
    """Headrooms, as parts of the rate, ascending."""
    today: tuple[str, ...]
    settings: Settings
    partly: bool = False
    """Whether only some hosts change."""
    replays: bool = False
    """Whether each seed has the recorded flows, and not new ones drawn from them."""
    real_queue: bool = False
    """Whether HULL's hosts are tried with switches that have no phantom queue."""

    @property
    def schemes(self) -> tuple[str, ...]:
        """Names, today's first."""
        names = (*self.today, *map(hull_name, self.give_up))
        return (*names, REAL_QUEUE) if self.real_queue else names

    @property
    def looks(self) -> tuple[Scheme, ...]:
        """How reports name and draw them."""
        return (
            Scheme("dctcp", "DCTCP", "#0072B2", (5, 2), "s"),
            Scheme("cubic", "CUBIC", "#D55E00", (2, 2), "o"),
            Scheme("bbr", "BBR", GREY, (4, 1, 1, 1), "X"),
            Scheme(REAL_QUEUE, "Paced DCTCP, real queue", GREY, (1, 1), "d"),
            *(
                Scheme(
                    hull_name(part),
                    f"HULL, {percent(part)} given up",
                    _COLOURS[place % len(_COLOURS)],
                    ((), (8, 2), (3, 1), (6, 2, 1, 2), (9, 4))[place % 5],
                    "D^vP*"[place % 5],
                )
                for place, part in enumerate(self.give_up)
            ),
        )


def percent(part: float) -> str:
    """A part as per cent, without digits that say nothing."""
    return f"{100 * part:.4g}%"


def hull_name(part: float) -> str:
    """The scheme that gives up this part of the rate."""
    return f"hull-{percent(part).removesuffix('%')}"


def read_give_up(text: str) -> tuple[float, ...]:
    """Headrooms such as `2%,5%,10%` or `0.05`, ascending. Raises UsageError for any other text."""
    found = set()
    for word in text.split(","):
        number, sign, _ = word.strip().partition("%")
        try:
            part = float(number) / (100 if sign else 1)
        except ValueError:
            part = math.nan
        if not 0 < part <= 0.5:
            raise UsageError(
                f"--give-up: {shown(word.strip())} is invalid; expected shares above 0% and at "
                "most 50%, such as 2%,5%,10%"
            )
        found.add(round(part, 6))
    return tuple(sorted(found))


def read_today(text: str) -> tuple[str, ...]:
    """Names among `dctcp`, `cubic` and `bbr` with commas between them, the first compared with."""
    names = tuple(dict.fromkeys(word.strip().lower() for word in text.split(",")))
    for name in names:
        if name not in TODAY:
            raise UsageError(
                f"--today: {shown(name)} is invalid; expected names among dctcp, cubic and bbr, "
                "such as cubic,dctcp"
            )
    return names


def settings_for(network: Network) -> Settings:
    """What the guidelines say for this network."""
    mtu = network.mtu_bytes

    def packets(rate_bps: float) -> float:
        return rate_bps * network.round_trip_s / (8 * mtu)

    thresholds = {
        rate_bps: max(mtu, round(guidelines.threshold(packets(rate_bps)) * mtu))
        for rate_bps in network.rates_bps
    }
    window = max(2.0, packets(network.rate_bps) * (1 + guidelines.PART_OF_BDP))
    low, high = guidelines.gain_range(window)
    pacer = recommended_pacer(network.rate_bps, network.round_trip_s, mtu)
    return Settings(
        thresholds=thresholds,
        g=math.sqrt(low * high) if low <= high else high,
        phantom_threshold_bytes=round(
            guidelines.phantom_threshold(packets(network.rate_bps)) * mtu
        ),
        pacer=dict(vars(pacer)),
    )


def scenario_text(
    question: Question, flows: Sequence[Path], duration_ps: int, seeds: int, title: str
) -> str:
    """The scenario as TOML; several lists of flows are conditions."""
    network, settings = question.network, question.settings
    mtu = network.mtu_bytes
    window = math.ceil(WINDOW_BYTES / mtu)
    dctcp = {"congestion_control": "dctcp", "ecn": True, "dctcp": {"g": round(settings.g, 6)}}
    common = {
        **network.tables.get("transport", {}),
        "initial_window": INITIAL_WINDOW,
        "ack_every": 2,
        "delayed_ack": "1ms",
        "quick_acks": QUICK_ACKS,
        "max_window": window,
        "receive_window": window,
        "min_rto": MIN_RTO,
        "initial_rto": MIN_RTO,
    }
    marking = _marking(network, settings)
    schemes: dict[str, Any] = {}
    for name in question.today:
        ours = {"dctcp": dctcp, "cubic": _CUBIC, "bbr": _BBR}[name]
        schemes[name] = {"transport": dict(ours)}
        if name == "dctcp":
            schemes[name]["switch"] = marking
        if question.partly:
            schemes[name]["transports"] = {UNCHANGED: dict(ours)}
    for part in question.give_up:
        drain = percent(1 - part)
        threshold = f"{settings.phantom_threshold_bytes}B"
        schemes[hull_name(part)] = {
            "transport": dctcp,
            "switch": {"phantom_queue": {"drain": drain, "threshold": threshold}},
            "pacer": {},
        }
    if question.real_queue:
        threshold = f"{settings.phantom_threshold_bytes}B"
        schemes[REAL_QUEUE] = {
            "transport": dctcp,
            "switch": {"marking": {"threshold": threshold}},
            "pacer": {},
        }
    content: dict[str, Any] = {
        "name": "ask",
        "title": title,
        "run": {
            "duration": f"{duration_ps}ps",
            "drain": _LONGEST_DRAIN,
            "seeds": seeds,
        },
        **{key: table for key, table in network.tables.items() if key != "transport"},
        "transport": common,
        "workload": {"flows": str(flows[0])},
        "schemes": schemes,
    }
    if question.partly:
        content["transports"] = {UNCHANGED: {**_CUBIC, "paced": False}}
    if len(flows) > 1:
        content["sweep"] = {"workload.flows": [str(path) for path in flows]}
    return tomli_w.dumps(content)


def _marking(network: Network, settings: Settings) -> dict[str, Any]:
    """DCTCP's threshold at ports of each rate."""
    slowest = network.rate_bps
    ports = [
        {"rate": f"{rate_bps:.0f}bps", "marking": {"threshold": f"{threshold}B"}}
        for rate_bps, threshold in settings.thresholds.items()
        if rate_bps != slowest
    ]
    own = settings.thresholds.get(slowest, min(settings.thresholds.values()))
    table: dict[str, Any] = {"marking": {"threshold": f"{own}B"}}
    return {**table, "ports": ports} if ports else table
