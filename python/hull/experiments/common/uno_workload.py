"""The workload of figures 10 to 12 of Uno (SC'25): flows within and between two data centres.

The list is drawn as the authors' script draws theirs: each host starts flows as a Poisson process,
one in five goes to the other data centre, and the sizes (bytes) are drawn from two distributions.
The first 5000 flows of all hosts count. Times us.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING

from hull.experiments.common import decided
from hull.experiments.common.acked import Kept, acked_us
from hull.experiments.common.claims import Bound, Cause, Claim, Finding, about, commands
from hull.experiments.common.experiment import Point, SizeName, Variant, published
from hull.experiments.common.measured import Estimate, Measure, Results, from_table, value
from hull.experiments.common.stated import Stated
from hull.report.schemes import GREEN, VERMILION, Scheme

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

    from hull.figures import Line

WORKLOAD = published("uno", "workload")
ECMP, UNO = "uno_ecmp", "uno"
PUBLISHED = (ECMP, UNO)
"""The scenario's schemes, in the order of their published values."""
HOSTS_EACH = 128
SEED = 15
"""Seed of the list. The loads have the same flows with scaled starts; the page of figure 10 has the
results with other seeds."""
PAYLOAD = 4096
"""Bytes of a packet; the source sends whole packets."""
LINK_BYTES_PER_US = 12_500
ROUND_TRIP_US = 14.02752
"""Within a data centre, unloaded; between the two: 19.04128 and twice the border's delay."""
BETWEEN_US = 19.04128

LOOKS = (
    Scheme(ECMP, "UnoCC, one path per flow", VERMILION, (2, 2), "o"),
    Scheme(UNO, "UnoCC and UnoLB", GREEN, (), "D"),
)

STATED = (
    Stated("Uno, htsim", "packets", "transport.mtu", "4160B"),
    Stated("Uno, htsim", "header, acknowledgment", "transport.header", "64B"),
    Stated("Uno, htsim", "host links", "host.rate", "100Gbps"),
    Stated(
        "Uno, figures 10 to 12",
        "slowdown",
        "switch.uno_phantom_queue.slowdown",
        "10%",
        schemes="uno.*",
    ),
    Stated(
        "Uno, figures 10 to 12",
        "ecnAlpha",
        "transport.message.unocc.gain",
        "50%",
        schemes="uno.*",
    ),
)


def flows(load: int) -> str:
    """The override with the list of a load (percent of the hosts' links)."""
    random = Random(SEED)
    inside, between = WORKLOAD["intra_sizes"], WORKLOAD["inter_sizes"]
    share = WORKLOAD["intra_pct"] / 100
    mean = share * _mean(inside) + (1 - share) * _mean(between)
    interval = mean / (LINK_BYTES_PER_US * load / 100)
    count = WORKLOAD["flows"]
    horizon = 2 * count * interval / (2 * HOSTS_EACH)
    found = []
    for src in range(2 * HOSTS_EACH):
        start = random.expovariate(1 / interval)
        while start < horizon:
            stays = random.random() < share
            there = src // HOSTS_EACH if stays else 1 - src // HOSTS_EACH
            dst = src
            while dst == src:
                dst = there * HOSTS_EACH + random.randrange(HOSTS_EACH)
            size = _draw(inside if stays else between, random.random())
            packets = max(1, -(-int(size) // PAYLOAD))
            found.append((int(start), src, dst, packets * PAYLOAD))
            start += random.expovariate(1 / interval)
    found.sort()
    listed = ",".join(
        f'{{src={src},dst={dst},start="{start}us",size="{size}B"}}'
        for start, src, dst, size in found[:count]
    )
    return f"workload.long_lived.flows=[{listed}]"


def _mean(table: list[list[float]]) -> float:
    """Mean of a distribution function between whose points sizes are equally likely."""
    return sum((a + b) / 2 * (q - p) for (a, p), (b, q) in pairwise(table)) / 100


def _draw(table: list[list[float]], uniform: float) -> float:
    """The size below which a share of the flows is."""
    percent = 100 * uniform
    place = max(1, bisect_left([p for _, p in table], percent))
    (a, p), (b, q) = table[place - 1], table[place]
    return a + (b - a) * (percent - p) / (q - p)


def _all(table: "pl.DataFrame") -> "pl.DataFrame":
    return table


def _inside(table: "pl.DataFrame") -> "pl.DataFrame":
    return table.filter(table["src"] // HOSTS_EACH == table["dst"] // HOSTS_EACH)


def _between(table: "pl.DataFrame") -> "pl.DataFrame":
    return table.filter(table["src"] // HOSTS_EACH != table["dst"] // HOSTS_EACH)


KEPT: dict[str, Kept] = {"all": _all, "intra": _inside, "inter": _between}
PLACES = {"intra": "within a data centre", "inter": "between the two"}


def completion(kept: str, statistic: str) -> Measure:
    """A statistic of the completion times of a class of flows, us."""
    return acked_us(statistic, KEPT[kept])


def slowdown(statistic: str, border_delay_us: float) -> Measure:
    """Mean or percentile of completion time over size at the link's rate plus a round trip, at
    least 1: as the authors' script computes it."""

    def read(table: "pl.DataFrame") -> float:
        import polars as pl

        stays = pl.col("src") // HOSTS_EACH == pl.col("dst") // HOSTS_EACH
        trip = pl.when(stays).then(ROUND_TRIP_US).otherwise(BETWEEN_US + 2 * border_delay_us)
        ideal = trip + pl.col("bytes") / LINK_BYTES_PER_US
        found = table.filter(pl.col("acked_ps").is_not_null()).select(
            ratio=pl.max_horizontal(pl.col("acked_ps") / 1e6 / ideal, 1.0)
        )["ratio"]
        if statistic == "mean":
            return float(found.mean())  # type: ignore[arg-type]
        return float(found.quantile(float(statistic[1:]) / 100, "linear") or 0)

    return from_table("flows", read)


def point(
    condition: str, scheme: str, metric: str, statistic: str, known: float, measure: Measure
) -> Point:
    """A published number beside hull's."""

    def read(results: Results) -> Estimate | None:
        return measure(results, condition, scheme)

    return Point(condition, scheme, metric, statistic, known, read)


Read = Callable[[Results], float]


def read(measure: Measure, condition: str, scheme: str) -> Read:
    """The mean over seeds of a number of a cell."""
    return lambda results: value(measure, results, condition, scheme)


@dataclass(frozen=True)
class Why:
    """What was tried where a claim fails, and the options that show it."""

    tried: str = ""
    options: tuple[str, ...] = ()
    cause: Cause = ""


def ordered(
    id_: str,
    source: str,
    claim: str,
    low: Read,
    high: Read,
    *,
    factor: float = 1,
    unit: str = "us",
    why: Why = Why(),
) -> Claim:
    """`factor` times the first number is below the second."""

    def check(results: Results) -> Finding:
        less, more = low(results), high(results)
        return Finding(
            f"{less:,.4g} against {more:,.4g} {unit}".strip(), decided.ordered(factor * less, more)
        )

    bound: Bound = "document" if factor == 1 else "hull"
    return _claim(id_, source, claim, check, bound, why)


def met(
    id_: str,
    source: str,
    what: str,
    known: dict[str, float],
    reads: dict[str, Read],
    unit: str = "",
    why: Why = Why(),
) -> Claim:
    """Each published number is met within 25%."""
    expected = " and ".join(f"{name} {number:g}" for name, number in known.items())

    def check(results: Results) -> Finding:
        found = {name: take(results) for name, take in reads.items()}
        words = ", ".join(
            f"{n} {v:.4g} ({100 * (v / known[n] - 1):+.0f}%)" for n, v in found.items()
        )
        return Finding(words, all(about(v, known[n]) for n, v in found.items()))

    claim = f"{what}: {' '.join((expected, unit)).strip()} (within 25%)"
    return _claim(id_, source, claim, check, "document", why)


def _claim(
    id_: str, source: str, claim: str, check: Callable[[Results], Finding], bound: Bound, why: Why
) -> Claim:
    experiment = "-".join(id_.split("-")[:2])
    return Claim(
        id_,
        source,
        claim,
        check,
        kind="predicted",
        bound=bound,
        cause=why.cause,
        tried=why.tried,
        shown_by=commands(experiment, *why.options),
    )


Known = Callable[[str, str, str], float]
"""Published completion time, us, of a class of flows, a statistic and a scheme."""
STATISTICS = ("mean", "p99")
NAMES = {ECMP: "one path per flow", UNO: "UnoLB"}


def time_of(condition: str, scheme: str, kept: str, statistic: str) -> Read:
    """A statistic of a class's completion times in a cell, us."""
    return read(completion(kept, statistic), condition, scheme)


def points(condition: str, known: Known) -> Iterator[Point]:
    """Published completion times of a condition: each class, statistic and scheme."""
    for kept in KEPT:
        for statistic in STATISTICS:
            for scheme in PUBLISHED:
                yield point(
                    condition,
                    scheme,
                    f"{kept}_fct_us",
                    statistic,
                    known(kept, statistic, scheme),
                    completion(kept, statistic),
                )


def tails(experiment: str, source: str, condition: str, known: Known, when: str) -> Iterator[Claim]:
    """UnoLB's 99th percentiles are below those with one path per flow, within by half."""

    def at(scheme: str, kept: str) -> Read:
        return time_of(condition, scheme, kept, "p99")

    low, high = (known("intra", "p99", scheme) for scheme in (UNO, ECMP))
    yield ordered(
        f"{experiment}-intra-tail",
        source,
        f"{when}UnoLB's 99th percentile within a data centre is less than half of that with one "
        f"path per flow ({low:g} against {high:g} us)",
        at(UNO, "intra"),
        at(ECMP, "intra"),
        factor=2,
    )
    yield ordered(
        f"{experiment}-inter-tail",
        source,
        f"{when}UnoLB's 99th percentile between the two is below that with one path per flow",
        at(UNO, "inter"),
        at(ECMP, "inter"),
    )


def numbers(
    experiment: str,
    source: str,
    condition: str,
    known: Known,
    when: str,
    whys: Mapping[tuple[str, str], Why],
) -> Iterator[Claim]:
    """Both statistics of each scheme and place are met; `whys` is by scheme and class."""
    for scheme, words in NAMES.items():
        for kept, where in PLACES.items():
            yield met(
                f"{experiment}-{scheme.replace('_', '-')}-{kept}",
                source,
                f"{words}, {when}{where}",
                {s: known(kept, s, scheme) for s in STATISTICS},
                {s: time_of(condition, scheme, kept, s) for s in STATISTICS},
                "us",
                why=whys.get((scheme, kept), Why()),
            )


def draw_places(
    results: Results,
    condition: str,
    schemes: Sequence[str],
    looks: tuple[Scheme, ...],
    titles: Mapping[str, str],
) -> "Figure":
    """The distributions of the completion times, a panel for each class of `titles`."""
    from hull.figures import Panel, plot_sweep

    panels = [
        Panel(
            title,
            "Completion time (ms)",
            "Share of the flows",
            [_distribution(results, condition, scheme, kept) for scheme in schemes],
            log_x=True,
            y_limits=(0, 1.02),
        )
        for kept, title in titles.items()
    ]
    return plot_sweep(panels, looks=looks)


def _distribution(results: Results, condition: str, scheme: str, kept: str) -> "Line":
    """Shares of the flows by completion time, ms; first seed."""
    from hull.figures import Line

    table = KEPT[kept](results.table("flows", condition, scheme))
    times = sorted(table["acked_ps"].drop_nulls() / 1e9)
    return Line(scheme, times, [(i + 1) / len(times) for i in range(len(times))])


def variant(
    condition: str,
    load: int,
    *overrides: str,
    sizes: tuple[SizeName, ...] = ("quick", "full"),
    schemes: tuple[str, ...] | None = None,
) -> Variant:
    """The workload of a load under a condition's name."""
    return Variant({"": condition}, (flows(load), *overrides), schemes, sizes=sizes)
