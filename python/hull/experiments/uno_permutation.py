"""Permutation of 256 hosts in two data centres, 25 MB each (Uno, figure 9 with larger flows).

Completion times (us) until the senders have the last acknowledgment, with one path for each flow
and with a random path for each packet. Of subflows with re-routing (UnoLB) the source has no log.
"""

from typing import TYPE_CHECKING

from hull.experiments.common.acked import Kept, acked_point, acked_us
from hull.experiments.common.claims import Claim, Finding, commands, unshipped, within
from hull.experiments.common.decided import ordered
from hull.experiments.common.experiment import Experiment, Size, Variant, published
from hull.experiments.common.measured import Results, value
from hull.experiments.common.stated import Stated
from hull.report.schemes import BLUE, GREEN, VERMILION, Scheme

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

PUBLISHED = published("uno", "permutation_25mb")
SCHEMES = ECMP, PER_PACKET, SUBFLOWS = ("ecmp", "per_packet", "subflows")
HOSTS_EACH = 128
LOOKS = (
    Scheme(ECMP, "One path per flow", VERMILION, (2, 2), "o"),
    Scheme(PER_PACKET, "Random path per packet", GREEN, (), "D"),
    Scheme(SUBFLOWS, "UnoLB", BLUE, (5, 2), "s"),
)


def _flows() -> str:
    """Each host's flow, to the host that the authors' list has."""
    pairs = enumerate(PUBLISHED["pairs"]["destinations"].split())
    flows = (f'{{src={src},dst={dst},size="25001984B"}}' for src, dst in pairs)
    return f"workload.long_lived.flows=[{','.join(flows)}]"


def _all(flows: "pl.DataFrame") -> "pl.DataFrame":
    return flows


def _between(flows: "pl.DataFrame") -> "pl.DataFrame":
    return flows.filter(flows["src"] // HOSTS_EACH != flows["dst"] // HOSTS_EACH)


def _inside(flows: "pl.DataFrame") -> "pl.DataFrame":
    return flows.filter(flows["src"] // HOSTS_EACH == flows["dst"] // HOSTS_EACH)


KEPT: dict[str, Kept] = {"all": _all, "intra": _inside, "inter": _between}


def _ms(results: Results, scheme: str, statistic: str) -> float:
    return value(acked_us(statistic, _all), results, "", scheme) / 1e3


def _spraying(results: Results) -> Finding:
    one, spread = (_ms(results, scheme, "p99") for scheme in (ECMP, PER_PACKET))
    return Finding(f"{spread:.2f} against {one:.2f} ms", ordered(2 * spread, one))


def _about(kept: str, statistic: str) -> Claim:
    expected = PUBLISHED[PER_PACKET][kept][statistic]

    def check(results: Results) -> Finding:
        found = value(acked_us(statistic, KEPT[kept]), results, "", PER_PACKET)
        ratio = found / expected
        return Finding(f"{found:.0f} us, {ratio:.2f} of it", within(ratio, 0.75, 1.25))

    return Claim(
        id=f"uno-permutation-{kept}-{statistic}",
        source="Uno's log tes.tmo",
        claim=f"with a random path per packet the {statistic} of {kept} flows is {expected:.0f} us",
        check=check,
        kind="predicted",
        bound="document",
        cause="chance",
        tried="Among 114 flows the 99th percentile is the second slowest. Of the quick form's one "
        "seed it is 5416 us, 27% above the recorded one, while mean and all numbers of the flows "
        "between data centres are within 2%. The authors' simulator (commit 68d164e, the log's "
        "seed and settings, without collecting data) gives 5497 us.",
        shown_by=(*commands("uno-permutation", ""), *unshipped("a run of the authors' simulator")),
    )


def _unolb(results: Results) -> Finding:
    one, subflows = (_ms(results, scheme, "p99") for scheme in (ECMP, SUBFLOWS))
    return Finding(f"{subflows:.2f} against {one:.2f} ms", ordered(subflows, one))


CLAIMS = (
    Claim(
        id="uno-permutation-spraying",
        source="Uno's logs ecmp.tmo, tes.tmo",
        claim="a random path per packet has less than half the 99th percentile of one path per "
        "flow (6.27 against 34.6 ms)",
        check=_spraying,
        kind="predicted",
        bound="hull",
    ),
    *(_about(kept, statistic) for kept in KEPT for statistic in ("mean", "p99")),
    Claim(
        id="uno-permutation-unolb",
        source="Uno 4.3",
        claim="UnoLB's tail is below that of one path per flow",
        check=_unolb,
        kind="predicted",
        bound="document",
    ),
)


def draw(results: Results) -> "Figure":
    """The distribution of completion times, up to the worst."""
    from hull.figures import Line, Panel, plot_sweep

    panels = []
    for kept, title in (("intra", "Inside a data centre"), ("inter", "Between two")):
        lines = []
        for scheme in SCHEMES:
            flows = KEPT[kept](results.table("flows", "", scheme))
            times = sorted(flows["acked_ps"].drop_nulls() / 1e9)
            lines.append(Line(scheme, times, [(i + 1) / len(times) for i in range(len(times))]))
        panels.append(
            Panel(title, "Completion time (ms)", "Share of the flows", lines, y_limits=(0, 1.02))
        )
    return plot_sweep(panels, looks=LOOKS)


EXPERIMENT = Experiment(
    id="uno-permutation",
    title="Uno: permutation of two data centres, ECMP against spraying",
    source="Uno figure 9, logs with flows of 25 MB",
    scenario="uno-permutation",
    completion="acked",
    variants=(Variant(overrides=(_flows(),)),),
    points=tuple(
        acked_point(
            scheme,
            f"{kept}_fct_us",
            statistic,
            PUBLISHED[scheme][kept][statistic],
            acked_us(statistic, KEPT[kept]),
        )
        for scheme in (ECMP, PER_PACKET)
        for kept in KEPT
        for statistic in ("mean", "p99")
    ),
    stated=(
        Stated("Uno, htsim", "packets", "transport.mtu", "4160B"),
        Stated("Uno, htsim", "header, acknowledgment", "transport.header", "64B"),
        Stated("Uno, htsim", "border delay", "topology.two_datacentres.border_delay", "886.5us"),
        Stated("Uno, htsim", "host links", "host.rate", "100Gbps"),
    ),
    claims=CLAIMS,
    looks=LOOKS,
    draw=draw,
    quick=Size(seeds=1),
    full=Size(seeds=5),
)
