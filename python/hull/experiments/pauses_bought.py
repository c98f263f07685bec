"""Pauses of a lossless fabric under DCQCN, marked by RED or by a phantom queue.

Storage reads meet at a few hosts (incast) or at all (all-to-all), beside endless flows and small
requests. Measured: how long links pause, what victims of pauses wait, and how much goodput is lost.
hull's own: no document has numbers.
"""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from hull.experiments.common.claims import Claim, Finding, commands
from hull.experiments.common.decided import at_least, at_most, ordered
from hull.experiments.common.experiment import Experiment, Size, Variant
from hull.experiments.common.measured import Results, Summary
from hull.experiments.common.stated import Stated
from hull.report.schemes import BLUE, VERMILION, Scheme

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

RED = ("red_1", "red_4", "red_16", "red_64")
PHANTOM = ("phantom_99", "phantom_98", "phantom_95", "phantom_90")
DEPLOYED, CHOSEN = "red_1", "phantom_95"
HEADROOMS = dict(zip(PHANTOM, (1, 2, 5, 10), strict=True))
"""Percent of the rate."""
LOOKS = (
    *(
        Scheme(name, f"RED, 1/{name.removeprefix('red_')}", BLUE, (5, 2), marker)
        for name, marker in zip(RED, "sDv^", strict=True)
    ),
    *(
        Scheme(name, f"phantom queue, {name.removeprefix('phantom_')}%", VERMILION, (1, 0), marker)
        for name, marker in zip(PHANTOM, "oXPd", strict=True)
    ),
)
TIERS = {"2-tier": 32, "3-tier": 54}
RATES = (100, 400)
READERS = {"2-tier": (0, 8, 16, 24), "3-tier": (0, 18, 36)}
"""Hosts that read in the incasts."""


def condition(traffic: str, tiers: str, gbps: int) -> str:
    """Its name in the results."""
    return f"{traffic}, {tiers}, {gbps} Gbps"


CONDITIONS = tuple(condition("incast", tiers, gbps) for tiers in TIERS for gbps in RATES) + tuple(
    condition("all-to-all", "2-tier", gbps) for gbps in RATES
)


def pause_share(part: Summary) -> float:
    """Time that links pause over the run's time: the mean number of paused links."""
    return float(part["pauses"]["paused_us"]) / (1e6 * float(part["simulated_seconds"]))


def goodput_gbps(part: Summary) -> float:
    """Payload that all hosts receive."""
    return float(part["throughput"]["total_goodput_bps"]) / 1e9


def given_up(results: Results, at: str, scheme: str) -> float:
    """Goodput below RED's as deployed, percent."""
    own, deployed = (results.mean(at, one, goodput_gbps) for one in (scheme, DEPLOYED))
    return 100 * (1 - own / deployed)


def readers(at: str) -> list[int]:
    """Hosts to which many send at once."""
    traffic, tiers, _ = at.split(", ")
    return list(READERS[tiers]) if traffic == "incast" else list(range(0, TIERS[tiers], 2))


def small_us(at: str, quantile: float, *, victims: bool) -> "Callable[[pl.DataFrame], float]":
    """A percentile of the completion times of small requests, us; of victims alone: to hosts that
    do not read."""

    def read(flows: "pl.DataFrame") -> float:
        import polars as pl

        small = flows.filter(pl.col("bytes") == 4000)
        if victims:
            small = small.filter(~pl.col("dst").is_in(readers(at)))
        found = small["fct_ps"].quantile(quantile, "linear")
        return math.nan if found is None else found * 1e-6

    return read


def latency_us(
    results: Results, at: str, scheme: str, quantile: float, *, victims: bool = True
) -> float:
    """The percentile's mean over seeds."""
    found = results.of_table("flows", at, scheme, small_us(at, quantile, victims=victims))
    return math.nan if found is None else found.mean


def _pauses(results: Results, at: str, scheme: str) -> float:
    return results.mean(at, scheme, pause_share)


def _listed(numbers: dict[str, str]) -> str:
    return "; ".join(f"{at} {words}" for at, words in numbers.items())


def _pairs(results: Results, low: str, high: str) -> dict[str, tuple[float, float]]:
    """Pauses of two schemes, in the conditions in which one of them pauses."""
    found = {at: (_pauses(results, at, low), _pauses(results, at, high)) for at in CONDITIONS}
    return {at: pair for at, pair in found.items() if any(pair)}


def _halved(results: Results) -> Finding:
    pairs = _pairs(results, CHOSEN, DEPLOYED)
    words = _listed({at: f"{own:.3g} of {deployed:.3g}" for at, (own, deployed) in pairs.items()})
    shares = [own / deployed if deployed else math.inf for own, deployed in pairs.values()]
    return Finding(f"{words} links", all(at_most(share, 0.5) for share in shares))


def _lower(results: Results, low: str, high: str) -> Finding:
    pairs = _pairs(results, low, high)
    words = _listed({at: f"{a:.3g} of {b:.3g}" for at, (a, b) in pairs.items()})
    return Finding(f"{words} links", all(ordered(a, b) for a, b in pairs.values()))


def _best(results: Results) -> Finding:
    """The larger of two ratios is below 1 if RED pauses less and delivers more."""
    found = {}
    for at in CONDITIONS:
        paused = _pauses(results, at, CHOSEN)
        goodput = results.mean(at, CHOSEN, goodput_gbps)
        for scheme in RED:
            ratio = _pauses(results, at, scheme) / paused if paused else math.inf
            found[f"{at}, {scheme}"] = max(ratio, goodput / results.mean(at, scheme, goodput_gbps))
    words = _listed({name: f"{one:.2f}" for name, one in found.items() if one < 1})
    return Finding(f"{words} < 1", all(at_least(one, 1) for one in found.values()))


def _victims(results: Results) -> Finding:
    pairs = {
        at: tuple(latency_us(results, at, scheme, 0.99) for scheme in (CHOSEN, DEPLOYED))
        for at in CONDITIONS
    }
    words = _listed({at: f"{a:.0f} of {b:.0f}" for at, (a, b) in pairs.items()})
    return Finding(f"{words} us", all(ordered(a, b) for a, b in pairs.values()))


def _cost(results: Results) -> Finding:
    over = {
        f"{at}, {scheme}": given_up(results, at, scheme) - headroom
        for at in CONDITIONS
        for scheme, headroom in HEADROOMS.items()
    }
    worst = max(over, key=lambda name: over[name])
    return Finding(
        f"at most {over[worst]:.0f} points beyond the headroom ({worst})",
        all(at_most(points, 10) for points in over.values()),
    )


_SOURCE = "hull's own"
_TRIED = (
    "In an incast the first round trip makes the pauses: each of 28 or 50 senders starts at the "
    "line rate before a mark can come back. 2-tier, 100 Gbps, one seed of 3 ms: RED as deployed "
    "16.7 paused links, 1328 Gbps; phantom queue 12.1, 972. With a window of one round trip "
    "(DCQCN+w) RED has 6.60, 836. What the phantom queue costs is DCQCN's answer to it: with "
    "marks above 84 KB and 400 KB instead of two packets it has 14.9 and 15.5 links at 1121 and "
    "1319 Gbps. With the paper's constants 9.55 links, 891 Gbps."
)
_SHOWN = commands(
    "pauses-bought",
    *(
        f"--set run.duration=3ms {keys}".rstrip()
        for keys in (
            "",
            "--set transport.dcqcn.window=true",
            "--set transport.dcqcn.variant=paper",
            """--set 'schemes.phantom_95.switch.phantom_queue.threshold="84KB"'""",
            """--set 'schemes.phantom_95.switch.phantom_queue.threshold="400KB"'""",
        )
    ),
)


def _claim(name: str, claim: str, check: Callable[[Results], Finding]) -> Claim:
    return Claim(
        id=f"pauses-bought-{name}",
        source=_SOURCE,
        claim=claim,
        check=check,
        kind="predicted",
        bound="hull",
        cause="mechanism",
        tried=_TRIED,
        shown_by=_SHOWN,
    )


CLAIMS = (
    _claim(
        "halved",
        "a phantom queue at 95% has at most half of the pause time of RED as deployed, in "
        "each condition",
        _halved,
    ),
    _claim(
        "drain",
        "a lower drain pauses less: at 90% less than at 99%",
        lambda results: _lower(results, "phantom_90", "phantom_99"),
    ),
    _claim(
        "best",
        "no setting of RED has both less pause time and more goodput than the phantom queue at 95%",
        _best,
    ),
    _claim(
        "victims",
        "the victims' 99th percentile is lower with the phantom queue at 95% than with RED "
        "as deployed",
        _victims,
    ),
    _claim(
        "cost",
        "the phantom queue's goodput is at most 10 percentage points below RED's as "
        "deployed, beyond the headroom",
        _cost,
    ),
    _claim(
        "red",
        "a lower RED threshold pauses less: a 64th less than the deployed one",
        lambda results: _lower(results, "red_64", "red_1"),
    ),
)


def _range(first: int, last: int) -> str:
    return f'["{first}-{last}"]'


def _endless(pairs: list[tuple[str, str]]) -> str:
    flows = ",".join(f"{{src={src},dst={dst}}}" for src, dst in pairs)
    return f"workload.long_lived.flows=[{flows}]"


def _around(groups: list[str]) -> str:
    """Endless flows from each group to the next one."""
    return _endless(list(zip(groups, groups[1:] + groups[:1], strict=True)))


def _network(tiers: str, gbps: int) -> tuple[str, ...]:
    times = gbps // 100
    if tiers == "3-tier":
        shape = "topology={fat_tree={k=6}}"
    else:
        shape = f'topology.leaf_spine.uplink_rate="{2 * gbps}Gbps"'
    return (
        shape,
        f'host.rate="{gbps}Gbps"',
        f'switch.rate="{gbps}Gbps"',
        f'switch.memory.size="{(3 if tiers == "3-tier" else 8) * times}MB"',
        *(f'schemes.{one}.switch.phantom_queue.threshold="{8400 * times}B"' for one in PHANTOM),
    )


def _traffic(traffic: str, tiers: str, gbps: int) -> tuple[str, ...]:
    times = gbps // 100
    step = TIERS[tiers] // len(READERS[tiers])
    if traffic == "incast":
        total, fan_in = (3584, 28) if tiers == "2-tier" else (3600, 50)
        others = [_range(first + 1, first + step - 1) for first in READERS[tiers]]
        incast = (
            f'load="50%",clients={list(READERS[tiers])},fan_in={fan_in},total="{total * times}KB"'
        )
        return (f"workload.incast={{{incast}}}", _around(others))
    odd = [str(list(range(first + 1, first + step, 2))) for first in READERS[tiers]]
    even = list(range(0, TIERS[tiers], 2))
    incast = f'all_to_all=true,servers={even},fan_in={len(even) - 1},total="{3840 * times}KB"'
    return (f"workload.incast={{{incast}}}", _around(odd))


def _variant(at: str) -> Variant:
    traffic, tiers, rate = at.split(", ")
    gbps = int(rate.removesuffix(" Gbps"))
    return Variant({"": at}, overrides=(*_network(tiers, gbps), *_traffic(traffic, tiers, gbps)))


def draw(results: Results) -> "Figure":
    """Pause time against the bandwidth given up, a panel for each condition."""
    from hull.figures import Line, Panel, plot_sweep

    panels = []
    for at in CONDITIONS:
        lines = [
            Line(one, [given_up(results, at, one)], [_pauses(results, at, one)])
            for one in (*RED, *PHANTOM)
        ]
        panels.append(Panel(at, "Bandwidth given up (%)", "Paused links", lines, joined=False))
    return plot_sweep(panels, looks=LOOKS, columns=2)


EXPERIMENT = Experiment(
    id="pauses-bought",
    title="Pauses of a lossless fabric under DCQCN: RED against a phantom queue",
    source=_SOURCE,
    scenario="pauses-bought",
    completion="delivered",
    variants=tuple(_variant(at) for at in CONDITIONS),
    stated=(
        Stated(_SOURCE, "packets", "transport.mtu", "4200B"),
        Stated(
            "HPCC's simulator",
            "RED's lower threshold at 25 Gbps",
            "switch.marking.threshold",
            "100KB",
            schemes="red_1",
        ),
        Stated(
            "HPCC's simulator",
            "RED's upper threshold at 25 Gbps",
            "switch.marking.max_threshold",
            "400KB",
            schemes="red_1",
        ),
    ),
    claims=CLAIMS,
    looks=LOOKS,
    draw=draw,
    quick=Size(overrides=("run.duration=600us",), seeds=1),
    full=Size(overrides=("run.duration=4ms",), seeds=5),
)
