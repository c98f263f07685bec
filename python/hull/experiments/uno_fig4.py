"""Figure 4 of Uno (SC'25): 1000 small flows beside 8 of 1 GB from another data centre.

Completion times (us) of the small flows until their senders have the last acknowledgment, with
marking by the ports' queues and by Uno's phantom queues. The log does not say the phantom queue's
slowdown and thresholds: the full form sweeps them.
"""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from hull.experiments.common.acked import acked_point, acked_us
from hull.experiments.common.claims import Claim, Finding, commands, ratio, unshipped, within
from hull.experiments.common.decided import less_than
from hull.experiments.common.deviations import Deviation
from hull.experiments.common.experiment import (
    Experiment,
    Size,
    SizeName,
    Variant,
    published,
)
from hull.experiments.common.measured import Measure, Results, value
from hull.experiments.common.stated import Stated
from hull.report.schemes import GREEN, VERMILION, Scheme

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

PUBLISHED = published("uno", "figure4")
SCHEMES = NORMAL, PHANTOM = ("normal", "phantom")
STATISTICS = ("mean", "p50", "p90", "p99")
WITHIN = 0.05
"""What the numbers are to be met by."""

SCRIPTS = ("10%", "2%", "60%")
RECORDED = ("5%", "2%", "30%")
SWEPT = (
    ("1%", "2%", "60%"),
    ("2%", "2%", "60%"),
    ("5%", "2%", "80%"),
    ("5%", "20%", "80%"),
    ("10%", "20%", "80%"),
)
"""Slowdown and thresholds of the phantom queue: from the scripts of figures 10 to 12, the values
with which the authors' simulator gives the recorded results, and others."""

LOOKS = (
    Scheme(NORMAL, "Marking by the queue", VERMILION, (2, 2), "o"),
    Scheme(PHANTOM, "Phantom queue", GREEN, (), "D"),
)


def _flows() -> str:
    """The large flows, and the small ones in whole packets, as their list has them."""
    packets = "".join(PUBLISHED["small"]["packets"].split())
    small = (
        f'{{src=241,dst=240,start="{15_000 + 25 * i}us",size="{4096 * int(digit)}B"}}'
        for i, digit in enumerate(packets)
    )
    large = '{src="1-8",dst=240,size="1GB"}'
    return f"workload.long_lived.flows=[{','.join((large, *small))}]"


def _small(flows: "pl.DataFrame") -> "pl.DataFrame":
    return flows.filter(flows["src"] == 241)


def completion(statistic: str) -> Measure:
    """A statistic of the small flows' completion times, us."""
    return acked_us(statistic, _small)


def _condition(slowdown: str, low: str, high: str) -> str:
    return f"{slowdown}, {low} to {high}"


def _variant(setting: tuple[str, str, str], sizes: tuple[SizeName, ...]) -> Variant:
    """The phantom queue with another slowdown and other thresholds."""
    slowdown, low, high = setting
    settings = f'slowdown="{slowdown}",low="{low}",high="{high}",size="22400515B"'
    return Variant(
        conditions={"": _condition(*setting)},
        overrides=(_flows(), f"schemes.phantom.switch.uno_phantom_queue={{{settings}}}"),
        schemes=(PHANTOM,),
        sizes=sizes,
    )


def _swept() -> Iterator[Variant]:
    """Variants of the phantom queue, most of them of the full form alone."""
    for setting in (SCRIPTS, RECORDED):
        yield _variant(setting, ("quick", "full"))
    for setting in SWEPT:
        yield _variant(setting, ("full",))


TRIED = (
    "The recorded run seems to have had another setting. The authors' simulator (commit 68d164e, "
    "the log's seed) gives a mean of 7.10 and a 99th percentile of 20.0 us with 5%, 2% and 60%, "
    "and 6.245 and 7.519 us, the recorded values, with 5%, 2% and 30%. hull gives 7.18 and 21.6 "
    "us with the former and 6.23 and 7.48 us with the latter (means of 5 seeds)."
)
TRIED_NORMAL = (
    "The authors' simulator (commit 68d164e) does not give the recorded values either: with the "
    "settings and the seed of the log, a mean of 14.2 and a 99th percentile of 57.5 us; over five "
    "seeds, 11.0 to 14.8 and 55.9 to 63.7 us. hull gives 13.0 to 14.8 and 59.3 to 61.7 us (5 "
    "seeds). Why that simulator differs from its log was not found."
)


def _within(scheme: str, statistic: str) -> Claim:
    expected = PUBLISHED[scheme][statistic]

    def check(results: Results) -> Finding:
        found = value(completion(statistic), results, "", scheme)
        deviation = found / expected - 1
        return Finding(
            f"{found:.3f} us, {100 * deviation:+.1f}%", within(deviation, -WITHIN, WITHIN)
        )

    label = "with the phantom queue" if scheme == PHANTOM else "without it"
    return Claim(
        id=f"uno-fig4-{scheme}-{statistic}",
        source="Uno figure 4",
        claim=f"{label} the {statistic} of the small flows is {expected:.3f} us (within 5%)",
        check=check,
        kind="predicted",
        bound="hull",
        cause="documents contradict",
        tried=TRIED if scheme == PHANTOM else TRIED_NORMAL,
        shown_by=(*commands("uno-fig4", "--full"), *unshipped("runs of the authors' simulator")),
    )


def _better(results: Results) -> Finding:
    normal, phantom = (value(completion("p99"), results, "", scheme) for scheme in SCHEMES)
    return Finding(f"{phantom:.1f} against {normal:.1f} us", less_than(ratio(phantom, normal), 0.5))


def _fits(setting: tuple[str, str, str], results: Results) -> Finding:
    condition = _condition(*setting)
    found = {s: value(completion(s), results, condition, PHANTOM) for s in ("mean", "p99")}
    deviations = {s: found[s] / PUBLISHED[PHANTOM][s] - 1 for s in found}
    measured = ", ".join(f"{s} {found[s]:.3f} us ({100 * d:+.1f}%)" for s, d in deviations.items())
    return Finding(measured, all(within(d, -WITHIN, WITHIN) for d in deviations.values()))


CLAIMS = (
    Claim(
        id="uno-fig4-tail",
        source="Uno figure 4",
        claim="the phantom queue cuts the 99th percentile (to less than half)",
        check=_better,
        kind="predicted",
        bound="hull",
    ),
    Claim(
        id="uno-fig4-setting",
        source="Uno figures 4 and 10",
        claim="with a slowdown of 10%, as in the scripts of figures 10 to 12, mean and 99th "
        "percentile with the phantom queue are met (within 5%)",
        check=partial(_fits, SCRIPTS),
        kind="fitted",
        bound="hull",
    ),
    Claim(
        id="uno-fig4-recorded",
        source="Uno figure 4",
        claim="with 5%, 2% and 30%, with which the authors' simulator gives the recorded values, "
        "mean and 99th percentile with the phantom queue are met (within 5%)",
        check=partial(_fits, RECORDED),
        kind="fitted",
        bound="hull",
    ),
    *(_within(scheme, statistic) for scheme in SCHEMES for statistic in ("mean", "p99")),
)


def draw(results: Results) -> "Figure":
    """The distribution of the small flows' completion times, up to the worst."""
    from hull.figures import Line, Panel, plot_sweep

    lines = []
    for scheme in SCHEMES:
        flows = _small(results.table("flows", "", scheme))
        times = sorted(flows["acked_ps"].drop_nulls() / 1e6)
        shares = [(i + 1) / len(times) for i in range(len(times))]
        lines.append(Line(scheme, times, shares))
    panel = Panel(
        "1000 small flows",
        "Completion time (µs)",
        "Share of the flows",
        lines,
        y_limits=(0, 1.02),
    )
    return plot_sweep([panel], width=4.6, height=3.2, looks=LOOKS)


EXPERIMENT = Experiment(
    id="uno-fig4",
    title="Uno figure 4: small flows beside flows between data centres",
    source="Uno figure 4",
    scenario="uno-fig4",
    completion="acked",
    variants=(Variant(conditions={"": ""}, overrides=(_flows(),)), *_swept()),
    points=tuple(
        acked_point(
            scheme,
            "small_fct_us",
            statistic,
            PUBLISHED[scheme][statistic],
            completion(statistic),
        )
        for scheme in SCHEMES
        for statistic in STATISTICS
    ),
    stated=(
        Stated("Uno, htsim", "packets", "transport.mtu", "4160B"),
        Stated("Uno, htsim", "header, acknowledgment", "transport.header", "64B"),
        Stated("Uno, htsim", "border delay", "topology.two_datacentres.border_delay", "886.5us"),
        Stated("Uno, htsim", "host links", "host.rate", "100Gbps"),
    ),
    claims=CLAIMS,
    deviations=(
        Deviation(
            PHANTOM,
            "small_fct_us",
            ("p99",),
            "the authors' simulator gives the recorded values with an upper threshold of 30%",
        ),
    ),
    looks=LOOKS,
    draw=draw,
    quick=Size(seeds=1),
    full=Size(seeds=5),
)
