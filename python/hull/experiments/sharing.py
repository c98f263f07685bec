"""Two transports share a bottleneck: DCTCP or HULL beside CUBIC, in one queue and in strict
classes.

Two long flows and small flows of 10 KB of each transport, one link of 10 Gbps, a buffer of 300 KB;
no document has it. The claims were written before the first run, from the rules of the algorithms
and the port. Goodput in Gbit/s, completion times and waits in us.
"""

from typing import TYPE_CHECKING

from hull.experiments.common.claims import Claim, Finding, about, ratio, within
from hull.experiments.common.decided import at_least, at_most, ordered
from hull.experiments.common.experiment import Experiment, Size
from hull.experiments.common.measured import (
    Reader,
    Results,
    fct_of,
    goodput,
    occupancy,
    queue_of,
)
from hull.experiments.common.stated import Stated
from hull.report.schemes import BLUE, GREEN, ORANGE, PURPLE, SKY, Scheme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OWN, BESIDE = TRANSPORTS = ("default", "tcp")
"""[transport] and [transports.tcp]."""
SMALL = {OWN: "10KB", BESIDE: "10KB tcp"}
"""Classes of the small flows."""
TCP, DCTCP, HULL = ("tcp", "dctcp", "hull")
DCTCP_BESIDE, DCTCP_BESIDE_ECN, HULL_BESIDE = (
    *("dctcp_beside_tcp", "dctcp_beside_tcp_ecn", "hull_beside_tcp"),
)
DCTCP_BEFORE, HULL_BEFORE = ("dctcp_before_tcp", "hull_before_tcp")
GROUPS = {
    TCP: "all\nCUBIC",
    DCTCP: "all\nDCTCP",
    HULL: "all\nHULL",
    DCTCP_BESIDE: "DCTCP,\nCUBIC",
    DCTCP_BESIDE_ECN: "DCTCP,\nCUBIC+ECN",
    HULL_BESIDE: "HULL,\nCUBIC",
    DCTCP_BEFORE: "DCTCP\nfirst",
    HULL_BEFORE: "HULL\nfirst",
}
"""How the figure calls the schemes."""
LOOKS = (
    Scheme(DCTCP_BESIDE, "DCTCP beside CUBIC", SKY, (6, 2, 1, 2), "P"),
    Scheme(DCTCP_BESIDE_ECN, "DCTCP beside CUBIC with ECN", PURPLE, (9, 4), "v"),
    Scheme(HULL_BESIDE, "HULL beside CUBIC", ORANGE, (10, 3), "^"),
    Scheme(DCTCP_BEFORE, "DCTCP in a class before CUBIC", BLUE, (2, 1), "X"),
    Scheme(HULL_BEFORE, "HULL in a class before CUBIC", GREEN, (5, 2), "*"),
)
BUFFER_US = 240.0
K_US = 78.0
"""300 KB and 65 packets at 10 Gbit/s."""


def _small(transport: str, statistic: str) -> Reader:
    return fct_of(transport, SMALL[transport], statistic)


def _share(results: Results, scheme: str) -> float:
    """Of [transport], of all goodput."""
    own, beside = (results.mean("", scheme, goodput(of)) for of in TRANSPORTS)
    return own / (own + beside)


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"


def _starves(results: Results) -> Finding:
    shares = [_share(results, scheme) for scheme in (DCTCP_BESIDE, HULL_BESIDE)]
    words = f"DCTCP {_percent(shares[0])}, HULL {_percent(shares[1])} of the goodput"
    return Finding(words, all(at_most(share, 0.05) for share in shares))


def _one_queue(results: Results) -> Finding:
    waits = [results.mean("", s, occupancy("mean")) for s in (DCTCP_BESIDE, HULL_BESIDE)]
    words = f"{waits[0]:.0f} and {waits[1]:.0f} us"
    return Finding(words, all(within(wait, BUFFER_US / 2, BUFFER_US) for wait in waits))


def _small_in_one_queue(results: Results) -> Finding:
    beside, alone = (
        results.mean("", scheme, _small(OWN, "mean")) for scheme in (HULL_BESIDE, HULL)
    )
    words = f"{alone:.0f} to {beside:.0f} us, {beside / alone:.1f} times"
    return Finding(words, at_least(ratio(beside, alone), 4))


def _marks_are_a_penalty(results: Results) -> Finding:
    own, beside = (results.mean("", HULL_BESIDE, _small(of, "mean")) for of in TRANSPORTS)
    return Finding(f"HULL {own:.0f} us, CUBIC {beside:.0f} us", ordered(beside, own))


def _with_ecn(results: Results) -> Finding:
    share = _share(results, DCTCP_BESIDE_ECN)
    wait = results.mean("", DCTCP_BESIDE_ECN, occupancy("mean"))
    drops = results.mean("", DCTCP_BESIDE_ECN, lambda part: float(part["drops"]))
    words = f"DCTCP {_percent(share)} of the goodput, mean wait {wait:.0f} us, {drops:.0f} drops"
    return Finding(words, within(share, 0.6, 0.9) and at_most(wait, 1.25 * K_US) and drops == 0)


def _dctcp_first(results: Results) -> Finding:
    share = _share(results, DCTCP_BEFORE)
    own, alone = (results.mean("", scheme, _small(OWN, "mean")) for scheme in (DCTCP_BEFORE, DCTCP))
    words = f"{_percent(share)} of the goodput, small flows {own:.0f} us (all DCTCP {alone:.0f})"
    return Finding(words, at_least(share, 0.95) and about(own, alone))


def _hull_first_waits(results: Results) -> Finding:
    tail = results.mean("", HULL_BEFORE, queue_of("switch->h0:class0", "p99"))
    first, beside = (
        results.mean("", scheme, _small(OWN, "mean")) for scheme in (HULL_BEFORE, HULL_BESIDE)
    )
    words = f"99th percentile {tail:.1f} us, small flows {beside:.0f} to {first:.0f} us"
    return Finding(words, at_most(tail, 5) and at_least(ratio(beside, first), 3))


def _hull_first_is_marked(results: Results) -> Finding:
    share = _share(results, HULL_BEFORE)
    first, alone = (results.mean("", scheme, _small(OWN, "mean")) for scheme in (HULL_BEFORE, HULL))
    words = f"{_percent(share)} of the goodput, small flows {first:.0f} us (all HULL {alone:.0f})"
    return Finding(words, at_most(share, 0.25) and at_least(ratio(first, alone), 1.25))


def _expected(id_: str, claim: str, check: object) -> Claim:
    assert callable(check)
    return Claim(f"sharing-{id_}", "no document", claim, check, kind="predicted", bound="hull")


CLAIMS = (
    _expected(
        "one-queue",
        "beside CUBIC without ECN, CUBIC sets the queue: at least half of the buffer on average, "
        "both with DCTCP's threshold and with HULL's phantom queue",
        _one_queue,
    ),
    _expected(
        "starves",
        "so every packet of DCTCP or HULL is marked, and they get at most 5% of the goodput",
        _starves,
    ),
    _expected(
        "headroom",
        "without classes HULL's headroom does not help its small flows: beside CUBIC they take "
        "at least 4 times as long as with HULL alone",
        _small_in_one_queue,
    ),
    _expected(
        "penalty",
        "and longer than equal CUBIC flows in the same queue, which no mark slows down",
        _marks_are_a_penalty,
    ),
    _expected(
        "ecn",
        "CUBIC with ECN obeys DCTCP's threshold: the mean wait is at most 1.25 K, nothing is "
        "dropped, and DCTCP, which cuts less, gets 60 to 90% of the goodput",
        _with_ecn,
    ),
    _expected(
        "dctcp-first",
        "in a class before CUBIC, DCTCP performs as without CUBIC: 95% of the goodput or more, "
        "and small flows as fast as with DCTCP alone (within 25%)",
        _dctcp_first,
    ),
    _expected(
        "hull-first",
        "in a class before CUBIC, HULL's packets do not wait behind it (99th percentile at most "
        "5 us), and its small flows take a third of the time in one queue, or less",
        _hull_first_waits,
    ),
    _expected(
        "one-phantom",
        "but the phantom queue belongs to the port and counts CUBIC's bytes, so HULL's packets "
        "are still marked: its long flows get at most 25% of the goodput, and its small flows "
        "take at least 1.25 times as long as with HULL alone",
        _hull_first_is_marked,
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
                "Flows of 10 KB (behind DCTCP none of CUBIC ends)",
                "Mean completion time (us)",
                lambda of: _small(of, "mean"),
                log_y=True,
            ),
            panel(
                "Flows of 10 KB (behind DCTCP none of CUBIC ends)",
                "99th percentile (us)",
                lambda of: _small(of, "p99"),
                log_y=True,
            ),
        ],
        columns=1,
        width=7.2,
        height=2.3,
    )


EXPERIMENT = Experiment(
    id="sharing",
    title="Two transports share a bottleneck, in one queue and in strict classes",
    source="no document; expected from the algorithms",
    scenario="sharing",
    completion="delivered",
    stated=(
        Stated(
            "thesis 2.2.4",
            "K at 10 Gbps",
            "switch.marking.threshold",
            "65pkts",
            schemes="dctcp.*",
        ),
        Stated(
            "paper 6.3, settings",
            "drain rate of the phantom queue",
            "drain_rate",
            "9.5Gbps",
            schemes="hull.*",
        ),
    ),
    claims=CLAIMS,
    looks=LOOKS,
    draw=draw,
    quick=Size(seeds=1),
    full=Size(overrides=("run.duration=2s",), seeds=5),
)
