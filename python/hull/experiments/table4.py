"""Table 4 of the paper (table 4.4 of the thesis): the testbed of 6.2, four schemes, 20-60% load.

Switch latency is what the testbed's latency meter saw: probe packets, the unloaded latency
subtracted. Claims are from the paper's abstract, sections 6 and 6.2.1, and thesis 4.5.2.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING

from hull.experiments.common.claims import Claim, Finding, commands, unshipped, within
from hull.experiments.common.decided import at_least, less_than, more_than, ordered
from hull.experiments.common.deviations import Deviation
from hull.experiments.common.dynamic_flows import (
    CONDITIONS,
    DCTCP,
    FULL,
    HULL,
    LOADS,
    QUICK,
    SCHEMES,
    SMALL,
    TCP,
    claims,
    host_part,
    slowdowns_pct,
)
from hull.experiments.common.experiment import Experiment, Size, Variant, table_points
from hull.experiments.common.measured import Reader, Results, fct, probe
from hull.experiments.common.stated import statements

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(results: Results) -> "Figure":
    """Latency gained and bandwidth paid, by load."""
    from hull.figures import plot_overview

    return plot_overview(EXPERIMENT.rows(results), {"table4": "NSDI '12 paper, table 4"})


def listed(values: dict[str, float], form: str = ".1f") -> str:
    """Values by load, as text."""
    return ", ".join(f"{value:{form}} at {load[4:]}%" for load, value in values.items())


def each(
    values: Callable[[Results], dict[str, float]], holds: Callable[[float], bool], form: str = ".1f"
) -> Callable[[Results], Finding]:
    """A check that holds if it holds for each value."""

    def check(results: Results) -> Finding:
        found = values(results)
        return Finding(listed(found, form), all(holds(value) for value in found.values()))

    return check


def ratio(
    over: str, under: str, read: Reader, loads: tuple[str, ...] = LOADS
) -> Callable[[Results], dict[str, float]]:
    """By load, the ratio of a value of scheme `over` to the value of scheme `under`."""
    return lambda results: {
        load: results.mean(load, over, read) / results.mean(load, under, read) for load in loads
    }


def cut_pct(over: str, under: str, read: Reader) -> Callable[[Results], dict[str, float]]:
    """Reduction of a value by scheme `under` against scheme `over`, percent, by load."""
    return lambda results: {
        load: 100 * (1 - value) for load, value in ratio(under, over, read)(results).items()
    }


def _order(results: Results, metrics: dict[str, Reader]) -> Finding:
    """Whether HULL has the least of each metric at each load."""
    higher, holds = [], True
    for load in LOADS:
        for name, read in metrics.items():
            hull, *others = (results.mean(load, s, read) for s in (HULL, TCP, DCTCP, SMALL))
            holds &= all(ordered(hull, other) for other in others)
            higher += [] if hull < min(others) else [f"{name} at {load[4:]}%"]
    return Finding("not lowest: " + ", ".join(higher) if higher else "lowest in all", holds)


def _bigger_at_the_tail(results: Results) -> Finding:
    loads = ("load20", "load40")
    pairs = {
        (scheme, load): tuple(
            ratio(scheme, HULL, probe(statistic), loads)(results)[load]
            for statistic in ("mean", "p99")
        )
        for scheme in (TCP, DCTCP)
        for load in loads
    }
    words = [
        f"{'TCP' if scheme == TCP else 'DCTCP'} {load[4:]}%: {mean:.0f} mean, {tail:.0f} p99"
        for (scheme, load), (mean, tail) in pairs.items()
    ]
    return Finding("; ".join(words), all(ordered(mean, tail) for mean, tail in pairs.values()))


def _abstract(results: Results) -> Finding:
    found = {
        (scheme, statistic): ratio(scheme, HULL, probe(statistic))(results)["load40"]
        for scheme in (DCTCP, TCP)
        for statistic in ("mean", "p99")
    }
    return Finding(
        "DCTCP {:.1f} and {:.1f}, TCP {:.1f} and {:.1f}".format(*found.values()),
        all(
            more_than(value, 10 if scheme == DCTCP else 40) for (scheme, _), value in found.items()
        ),
    )


def _host_share(results: Results) -> dict[str, float]:
    """By load, the largest share of the network's wait in a 1 KB time, in %."""
    return {
        load: max(
            100 * results.mean(load, scheme, probe("mean"))
            / results.mean(load, scheme, fct("1KB", "mean"))
            for scheme in SCHEMES
        )
        for load in LOADS
    }  # fmt: skip


def _host_part(results: Results) -> Finding:
    """1 KB times without the wait at the switch, by load and in the order of the schemes."""
    by_scheme = [host_part(results, scheme) for scheme in SCHEMES]
    parts = dict(zip(LOADS, zip(*by_scheme, strict=True), strict=True))
    words = [
        f"{load[4:]}%: " + " > ".join(f"{us:.0f}" for us in found) for load, found in parts.items()
    ]
    return Finding(
        "; ".join(words) + " us",
        all(ordered(b, a) for found in parts.values() for a, b in pairwise(found)),
    )


def _least_time(results: Results) -> Finding:
    import polars as pl

    flows = results.flows.filter(pl.col("bytes") == 1000)
    least = flows.select(pl.col("fct_ps").min()).collect().item() / 1e6
    return Finding(f"{least:.0f} us", within(least, 0.75 * 160, 1.25 * 160))


def _tail_of_small_flows(results: Results) -> Finding:
    found = {
        scheme: [results.mean(load, scheme, fct("1KB", "p99")) for load in LOADS]
        for scheme in (TCP, DCTCP)
    }
    words = [
        f"{'TCP' if scheme == TCP else 'DCTCP'} " + ", ".join(f"{us:.0f}" for us in values)
        for scheme, values in found.items()
    ]
    return Finding(
        "; ".join(words) + " us", all(ordered(b, a) for v in found.values() for a, b in pairwise(v))
    )


def _slowdown_as_published(results: Results) -> Finding:
    found = slowdowns_pct(results, HULL)
    published = {"load20": 17.0, "load40": 31.0, "load60": 55.0}
    return Finding(
        listed(found, ".0f") + " (percent longer)",
        all(within(found[load], 0.75 * value, 1.25 * value) for load, value in published.items()),
    )


def _slowdown_grows(results: Results) -> Finding:
    found = slowdowns_pct(results, HULL)
    return Finding(
        listed(found, ".0f") + " (percent longer)",
        all(ordered(a, b) for a, b in pairwise(found.values())),
    )


_CLAIMS = (
    Claim(
        "table4-dctcp-vs-tcp",
        "paper 6.2.1",
        "With DCTCP-30K the mean switch latency is 3 to 6 times lower than with TCP, at each load",
        each(ratio(TCP, DCTCP, probe("mean")), lambda value: within(value, 3, 6)),
        kind="predicted",
        bound="document",
        cause="documents contradict",
        tried="With a switch.buffer of 350 KB instead of 700 (2 seeds of 50 s, hosts of an "
        "earlier version): 2.2, 4.0, 5.2. DCTCP's mean is within 15% of the published one, TCP's "
        "is 1.1 to 1.4 times it: the testbed's busy port had less than 700 KB on average. The "
        "table itself has 6.05 at 60% load.",
        shown_by=(
            *commands(
                "table4", "--full", "--seeds 2 --set switch.buffer=350KB --set run.duration=50s"
            ),
            *unshipped("the hosts of an earlier version"),
        ),
    ),
    Claim(
        "table4-6k-vs-30k",
        "paper 6.2.1",
        "The 6 KB threshold lowers the mean switch latency by another factor of 5 (within 25%), at "
        "each load",
        each(ratio(DCTCP, SMALL, probe("mean")), lambda value: within(value, 3.75, 6.25)),
        kind="predicted",
        bound="document",
        cause="testbed unknown",
        tried="DCTCP-6K's mean is 0.67 to 0.80 of the published one, DCTCP-30K's is within 11%, "
        "at each load. The window after an idle time decides: in an earlier version the factors "
        "were 4.3, 3.6 and 3.8 with transport.idle_restart=false.",
        shown_by=(
            *commands("table4", "--full", "--set transport.idle_restart=false"),
            *unshipped("the hosts of an earlier version"),
        ),
    ),
    Claim(
        "table4-6k-jitter",
        "paper 6.2.1",
        "DCTCP-6K-Pacer keeps a jitter of hundreds of microseconds at the 99th percentile (100 us "
        "or more at 40 and 60% load, where the table has it)",
        each(
            lambda results: {
                load: results.mean(load, SMALL, probe("p99")) for load in ("load40", "load60")
            },
            lambda value: at_least(value, 100),
        ),
        kind="fitted",
        bound="document",
        tried="It holds since TCP defers segments (transport.tso_win_divisor); before, it was 79 "
        "us at 40% and 102 at 60% (full size).",
        shown_by=commands("table4", "--full", "--full --set transport.tso_win_divisor=0"),
    ),
    Claim(
        "table4-hull-lowest",
        "paper 6.2.1",
        "HULL has the lowest switch latency: mean, 90th and 99th percentile, at each load",
        lambda results: _order(results, {s: probe(s) for s in ("mean", "p90", "p99")}),
        kind="predicted",
        bound="document",
    ),
    Claim(
        "table4-vs-6k-mean",
        "paper 6, 6.2.1",
        "Against DCTCP-6K-Pacer HULL's mean latency is 46 to 58% lower, at each load",
        each(cut_pct(SMALL, HULL, probe("mean")), lambda value: within(value, 46, 58), ".0f"),
        kind="fitted",
        bound="document",
        cause="testbed unknown",
        tried="66, 55 and 47% in the full size: HULL's mean is 0.59 to 0.79 of the published "
        "one, DCTCP-6K's 0.67 to 0.80. With interrupts after 50 us 70, 61 and 51% (2 seeds of "
        "100 s), after 75 us 65, 53 and 43% (10 seeds of 150 s).",
        shown_by=commands(
            "table4",
            "--full",
            "--seeds 2 --set host.receive.wait=50us --set run.duration=100s",
            "--full --set host.receive.wait=75us",
        ),
    ),
    Claim(
        "table4-vs-6k-p99",
        "paper 6, 6.2.1",
        "Against DCTCP-6K-Pacer HULL's 99th percentile latency is 69 to 78% lower, at each load",
        each(cut_pct(SMALL, HULL, probe("p99")), lambda value: within(value, 69, 78), ".0f"),
        kind="fitted",
        bound="document",
        cause="testbed unknown",
        tried="HULL's own percentile is within 7% of the published one in the full size; "
        "DCTCP-6K's is 1.7 times the published one at 20% load and 0.45 of it at 60%. Interrupt "
        "waits of up to 250 us behind large bursts only (before framing, 2 seeds of 100 s) give "
        "DCTCP-6K 178 and 184 us at 40 and 60% (published 213, 312), but slow HULL's 10 MB down "
        "by 42% at 20% load.",
        shown_by=(
            *commands("table4", "--full"),
            *unshipped("interrupts of up to 250 us behind large pieces only"),
        ),
    ),
    Claim(
        "table4-vs-tcp",
        "paper 6",
        "HULL's mean latency is more than 40 times below TCP's, at each load",
        each(ratio(TCP, HULL, probe("mean")), lambda value: more_than(value, 40)),
        kind="fitted",
        bound="document",
    ),
    Claim(
        "table4-vs-dctcp",
        "paper 6",
        "HULL's mean latency is more than 10 times below DCTCP-30K's, at each load",
        each(ratio(DCTCP, HULL, probe("mean")), lambda value: more_than(value, 10)),
        kind="fitted",
        bound="document",
        tried="10.2 at 60% load in the full size; the table itself has 8.8 (119.1 over 13.5 us).",
        shown_by=commands("table4", "--full", ""),
    ),
    Claim(
        "table4-tail-gains-more",
        "paper 6",
        "The gains over TCP and DCTCP are larger at the 99th percentile than on average, at 20 "
        "and 40% load (at 60% the table itself contradicts this)",
        _bigger_at_the_tail,
        kind="predicted",
        bound="document",
        cause="testbed unknown",
        tried="It fails for DCTCP at 40% load in the full size: 15 on average and 9 at the 99th "
        "percentile, because DCTCP-30K has 388 us (published 556). In 3 seeds of 80 s both are "
        "17.",
        shown_by=commands("table4", "--full", "--seeds 3 --set run.duration=80s"),
    ),
    Claim(
        "table4-abstract",
        "paper abstract, 1",
        "At 40% load, mean and 99th percentile are more than 10 times below DCTCP-30K's and more "
        "than 40 times below TCP's",
        _abstract,
        kind="fitted",
        bound="document",
        cause="testbed unknown",
        tried="It holds in the quick size. In the full size DCTCP-30K's 99th percentile at 40% "
        "load, 388 us (published 556), is only 8.6 times HULL's.",
        shown_by=commands("table4", "--full", ""),
    ),
    Claim(
        "table4-hosts-decide-1kb",
        "paper 6.2.1",
        "1 KB flows spend most of their time at the hosts: the mean delay at the switch is less "
        "than half of their mean time (shown: the largest share of a scheme, %)",
        each(_host_share, lambda value: less_than(value, 50), ".0f"),
        kind="fitted",
        bound="hull",
        cause="not found",
        tried="It fails only for TCP at 60% load (64% in the full size): the hosts add 465 us, "
        "in the paper 1380. The NIC's queue limit, the window size and larger segments change "
        "this little.",
        shown_by=commands(
            "table4",
            "--full",
            "--seeds 2 --set host.nic_buffer=1000pkts --set run.duration=100s",
            "--seeds 2 --set transport.receive_window=1000 --set run.duration=100s",
            "--seeds 2 --set transport.tso_win_divisor=0 --set run.duration=100s",
        ),
    ),
    Claim(
        "table4-1kb-least",
        "paper 6.2.1",
        "The shortest 1 KB completion time is about 160 us (within 25%)",
        _least_time,
        kind="by construction",
        bound="document",
    ),
    Claim(
        "table4-hosts-gain-too",
        "paper 6.2.1",
        "The time of 1 KB flows at the hosts falls with more aggressive marking: TCP, DCTCP-30K, "
        "DCTCP-6K-Pacer, HULL, at each load",
        _host_part,
        kind="fitted",
        bound="document",
        cause="chance",
        tried="It holds in the quick size. In the full size the last three tie at 60% load: 387, "
        "387 and 387 us.",
        shown_by=commands("table4", "--full", ""),
    ),
    Claim(
        "table4-1kb-tail-falls",
        "thesis 4.5.2",
        "With TCP and DCTCP-30K the 99th percentile of 1 KB falls as the load rises",
        _tail_of_small_flows,
        kind="fitted",
        bound="document",
        tried="It holds in the full size (TCP 11.9, 8.8, 5.8 ms, DCTCP 1262, 1022, 948 us). In "
        "the quick size a few timeouts and windows waiting in a server's NIC decide TCP's "
        "percentile.",
        shown_by=commands("table4", "--full", ""),
    ),
    Claim(
        "table4-slowdown-grows",
        "paper 6.2.1",
        "HULL slows 10 MB flows down more at higher load",
        _slowdown_grows,
        kind="fitted",
        bound="document",
    ),
    Claim(
        "table4-slowdown",
        "paper 6.2.1",
        "With HULL the mean 10 MB time is 17, 31 and 55% above the best scheme's at 20, 40 and 60% "
        "load (each within 25%)",
        _slowdown_as_published,
        kind="fitted",
        bound="document",
        tried="It holds in the full size (19, 33 and 53%). In the quick size, 2 seeds of 40 s, "
        "22% at 20% load is just out of bounds.",
        shown_by=commands("table4", "--full", ""),
    ),
    Claim(
        "table4-slowdown-range",
        "paper 6",
        "The bandwidth given up makes 10 MB flows 17 to 55% slower, depending on the load",
        each(
            lambda results: slowdowns_pct(results, HULL),
            lambda value: within(value, 17, 55),
            ".0f",
        ),
        kind="fitted",
        bound="document",
        tried="It holds in the full size (19, 33 and 53%) and in the quick one. But the paper's "
        "range covers its own three numbers: 3 seeds of 80 s give 18, 31 and 60%.",
        shown_by=commands("table4", "--full", "", "--seeds 3 --set run.duration=80s"),
    ),
)

_DEVIATIONS = (
    Deviation(
        "tcp_droptail",
        "fct_1kb_us",
        ("p99",),
        "TCP's 99th percentile of 1 KB is noisy in a short run; 10 seeds of 150 s (--full) give "
        "ratios of 1.13, 1.61 and 1.07",
    ),
    Deviation(
        "tcp_droptail",
        "switch_latency_us",
        ("p99",),
        "a TCP flow that is alone fills its NIC, and its window meets the next flow at the switch",
        ("load20",),
    ),
    *(
        Deviation(
            scheme,
            "switch_latency_us",
            ("p99",),
            "the 99th percentile with DCTCP is the transient of windows that grew while a flow was "
            "alone",
        )
        for scheme in ("dctcp_30k", "dctcp_6k_pacer")
    ),
    Deviation(
        "dctcp_6k_pacer",
        "fct_10mb_ms",
        ("p99",),
        "10 MB at 60% load take less than published with every scheme, TCP included, as equal "
        "transfers do that share unfairly; --full gives 0.74",
        ("load60",),
    ),
)

EXPERIMENT = Experiment(
    id="table4",
    title="Paper table 4: 1 KB and 10 MB responses from nine servers, on the testbed",
    source="paper 6.2.1, table 4",
    scenario="table4",
    completion="delivered",
    variants=(
        Variant(CONDITIONS),
        # The switch's own allocation (paper 6.2.2), 667 KB for one busy port, so that 700 KB never
        # bind; with the other schemes no queue is that long.
        Variant(
            {condition: f"{name} dynamic" for condition, name in CONDITIONS.items()},
            overrides=("switch.memory.preset=triumph",),
            schemes=(TCP,),
        ),
    ),
    stated=statements("paper", "testbed", "table 4", "paced", "dynamic"),
    points=table_points(
        "hull-paper",
        "table4",
        ("mean", "p90", "p99"),
        {
            "switch_latency_us": probe,
            "fct_1kb_us": lambda statistic: fct("1KB", statistic),
            "fct_10mb_ms": lambda statistic: fct("10MB", statistic, unit_us=1e3),
        },
        published_conditions=LOADS,
    ),
    claims=(*_CLAIMS, *claims("table4")),
    deviations=_DEVIATIONS,
    draw=draw,
    quick=Size(overrides=QUICK, seeds=2),
    full=Size(overrides=FULL, seeds=10),
)
