"""Prague behind DualPI2 with the constants of a data centre, beside HULL.

iproute2 derives the constants from round trips of 50 and 300 us; no document has the experiment.
The claims were written before the first run, from the rules of the algorithms and the port.
Goodput in Gbit/s, completion times and waits in us.
"""

from typing import TYPE_CHECKING

from hull.experiments.common.claims import Cause, Claim, Finding, commands, ratio, within
from hull.experiments.common.decided import at_least, at_most
from hull.experiments.common.experiment import Experiment, Size
from hull.experiments.common.measured import Reader, Results, fct_of, goodput, occupancy
from hull.experiments.common.stated import Stated
from hull.report.schemes import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION, Scheme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OWN, BESIDE = TRANSPORTS = ("default", "tcp")
"""[transport] and [transports.tcp]."""
SMALL = {OWN: "10KB", BESIDE: "10KB tcp"}
"""Classes of the small flows."""
HULL, PRAGUE, VIRTUAL, INTERNET = ("hull", "prague", "prague_virtual", "prague_internet")
HULL_CUBIC, PRAGUE_CUBIC, VIRTUAL_CUBIC = (
    *("hull_beside_tcp", "prague_beside_tcp", "prague_virtual_beside_tcp"),
)
GROUPS = {
    HULL: "all\nHULL",
    PRAGUE: "all\nPrague",
    VIRTUAL: "all Prague,\nvirtual",
    INTERNET: "all Prague,\nLinux's",
    HULL_CUBIC: "HULL,\nCUBIC",
    PRAGUE_CUBIC: "Prague,\nCUBIC",
    VIRTUAL_CUBIC: "virtual,\nCUBIC",
}
"""How the figure calls the schemes."""
LOOKS = (
    Scheme(PRAGUE, "Prague, DualPI2", BLUE, (), "o"),
    Scheme(VIRTUAL, "Prague, DualPI2 with a virtual queue", SKY, (6, 2, 1, 2), "P"),
    Scheme(INTERNET, "Prague, DualPI2 with Linux's constants", PURPLE, (9, 4), "v"),
    Scheme(HULL_CUBIC, "HULL beside CUBIC", ORANGE, (10, 3), "^"),
    Scheme(PRAGUE_CUBIC, "Prague beside CUBIC", VERMILION, (2, 1), "X"),
    Scheme(VIRTUAL_CUBIC, "Prague, virtual queue, beside CUBIC", GREEN, (5, 2), "*"),
)


def _small(transport: str, statistic: str) -> Reader:
    return fct_of(transport, SMALL[transport], statistic)


def _share(results: Results, scheme: str) -> float:
    """Of [transport], of all goodput."""
    own, beside = (results.mean("", scheme, goodput(of)) for of in TRANSPORTS)
    return own / (own + beside)


def _both(results: Results, scheme: str) -> float:
    return sum(results.mean("", scheme, goodput(of)) for of in TRANSPORTS)


def _separates(results: Results) -> Finding:
    hull, prague = (100 * _share(results, scheme) for scheme in (HULL_CUBIC, PRAGUE_CUBIC))
    words = f"Prague {prague:.1f}%, HULL {hull:.1f}% of the goodput"
    return Finding(words, within(prague, 35, 75) and at_most(hull, 15))


def _small_beside(results: Results) -> Finding:
    beside, alone = (results.mean("", s, _small(OWN, "mean")) for s in (PRAGUE_CUBIC, PRAGUE))
    return Finding(f"{alone:.0f} to {beside:.0f} us", at_most(ratio(beside, alone), 1.5))


def _hull_waits_less(results: Results) -> Finding:
    hull, prague = (results.mean("", scheme, occupancy("mean")) for scheme in (HULL, PRAGUE))
    return Finding(f"HULL {hull:.1f}, Prague {prague:.1f} us", at_least(ratio(prague, hull), 5))


def _virtual_waits_little(results: Results) -> Finding:
    hull, virtual = (results.mean("", scheme, occupancy("p99")) for scheme in (HULL, VIRTUAL))
    words = f"HULL {hull:.1f}, Prague {virtual:.1f} us"
    return Finding(words, at_most(ratio(virtual, hull), 1.5))


def _virtual_costs_headroom(results: Results) -> Finding:
    rates = [_both(results, scheme) for scheme in (HULL, PRAGUE, VIRTUAL)]
    words = "HULL {:.2f}, Prague {:.2f}, with a virtual queue {:.2f} Gbit/s".format(*rates)
    return Finding(words, at_least(rates[1], 9.2) and at_most(ratio(rates[2], rates[1]), 0.97))


def _internet(results: Results) -> Finding:
    waits = [results.mean("", scheme, occupancy("mean")) for scheme in (PRAGUE, INTERNET)]
    words = f"{waits[0]:.0f} and {waits[1]:.0f} us"
    return Finding(words, at_least(waits[1], 120) and at_most(waits[0], 60))


def _expected(
    id_: str,
    claim: str,
    check: object,
    cause: Cause = "",
    tried: str = "",
    shown_by: tuple[str, ...] = (),
) -> Claim:
    assert callable(check)
    return Claim(
        f"l4s-datacentre-{id_}",
        "no document",
        claim,
        check,
        kind="predicted",
        bound="hull",
        cause=cause,
        tried=tried,
        shown_by=shown_by,
    )


CLAIMS = (
    _expected(
        "separates",
        "DualPI2 with the constants for 50 and 300 us shares the link between Prague and CUBIC "
        "with ECN: Prague gets 35 to 75%, where HULL beside CUBIC in one queue gets at most 15%",
        _separates,
        cause="mechanism",
        tried="CUBIC has ECN here and obeys the marks of HULL's phantom queue, which the claim "
        "overlooked; without ECN HULL has 2.4% of the goodput beside it (sharing)",
        shown_by=commands("sharing", "--full"),
    ),
    _expected(
        "small",
        "small Prague flows beside CUBIC take at most 1.5 times as long as in a network of Prague "
        "alone",
        _small_beside,
    ),
    _expected(
        "wait",
        "without a virtual queue the queue grows to the step: packets wait at least 5 times as "
        "long as with HULL on average",
        _hull_waits_less,
    ),
    _expected(
        "virtual",
        "with a virtual queue of 95% and a step of 10 KB the 99th percentile of the wait is at "
        "most 1.5 times HULL's",
        _virtual_waits_little,
        cause="not found",
        tried="HULL without its pacer waits 10.8 us; an initial window of one segment for all "
        "leaves 18.0 us of Prague",
        shown_by=commands(
            "l4s-datacentre",
            "--set schemes.hull.transport.paced=false "
            "--set schemes.hull.transports.tcp.paced=false",
            "--set transport.initial_window=1",
        ),
    ),
    _expected(
        "headroom",
        "the virtual queue costs as much goodput as HULL's headroom: at least 3% less than without "
        "it, where Prague has 9.2 Gbit/s or more",
        _virtual_costs_headroom,
    ),
    _expected(
        "internet",
        "Linux's constants do not suit this network: target and step exceed the buffer, which is "
        "at least half full on average (120 us); with 50 and 300 us the mean wait is at most 60 us",
        _internet,
    ),
)


def draw(results: Results) -> "Figure":
    """Goodput and completion times of small flows, a bar for each transport."""
    from hull.figures import BarPanel, plot_bars

    names = {OWN: "[transport]", BESIDE: "[transports.tcp]"}

    def panel(title: str, y_label: str, read: object, *, log_y: bool) -> BarPanel:
        assert callable(read)
        values = {
            (group, names[of]): results.mean("", scheme, read(of))
            for scheme, group in GROUPS.items()
            for of in TRANSPORTS
        }
        return BarPanel(
            title, y_label, tuple(GROUPS.values()), tuple(names.values()), values, log_y=log_y
        )

    return plot_bars(
        [
            panel("All flows", "Goodput (Gbit/s)", goodput, log_y=False),
            panel(
                "Flows of 10 KB", "Mean completion (us)", lambda of: _small(of, "mean"), log_y=True
            ),
            panel("Flows of 10 KB", "99th perc. (us)", lambda of: _small(of, "p99"), log_y=True),
        ],
        columns=1,
        width=7.2,
        height=2.3,
    )


EXPERIMENT = Experiment(
    id="l4s-datacentre",
    title="L4S with a data centre's constants, beside HULL",
    source="no document; expected from the algorithms",
    scenario="l4s-datacentre",
    completion="delivered",
    stated=(
        Stated(
            "iproute2, check of tc-dualpi2",
            "typical round trip",
            "switch.dualpi2.typical_rtt",
            "50us",
            schemes="prague(_virtual)?(_beside_tcp)?",
        ),
        Stated(
            "iproute2, check of tc-dualpi2",
            "longest round trip",
            "switch.dualpi2.max_rtt",
            "300us",
            schemes="prague(_virtual)?(_beside_tcp)?",
        ),
    ),
    claims=CLAIMS,
    looks=LOOKS,
    draw=draw,
    quick=Size(seeds=1),
    full=Size(overrides=("run.duration=1s",), seeds=3),
)
