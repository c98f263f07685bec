"""Thesis 2.3.2, "Other settings": the incast of figures 2.18 and 2.19 with responses of 100 KB and
10 MB in all, and over links of 10 Gbps.

Mean completion time (ms) and share of the queries with a timeout, TCP and DCTCP, floor of 10 ms.
"""

from typing import TYPE_CHECKING, NamedTuple

from hull.experiments.common.claims import Claim, Finding, commands, unshipped
from hull.experiments.common.decided import at_most, more_than
from hull.experiments.common.experiment import Experiment, Size, Variant
from hull.experiments.common.incast import mean_ms, timeout_share
from hull.experiments.common.measured import Results
from hull.experiments.common.stated import statements

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TCP, DCTCP = SCHEMES = ("tcp", "dctcp")
SMALL, LARGE = (5, 10, 15, 20, 30, 40), (5, 10, 15, 20, 23)
"""Servers at 1 Gbps, and behind a Scorpion with 24 ports."""
_TEN = (
    "host.rate=10Gbps",
    "switch.rate=10Gbps",
    "switch.memory.preset=scorpion",
    "topology.star.hosts=24",
    "switch.marking.threshold=97.5KB",  # K = 65 packets for 10 Gbps (2.2.4)
)


class Setting(NamedTuple):
    """One of the other settings."""

    name: str
    gbps: int
    total_kb: int
    queries: int
    overrides: tuple[str, ...]

    @property
    def servers(self) -> tuple[int, ...]:
        """How many are asked."""
        return LARGE if self.gbps > 1 else SMALL

    def condition(self, servers: int) -> str:
        """Its name in the results."""
        return f"{self.name}/{servers}"

    @property
    def least_ms(self) -> float:
        """What the client's link takes for the payload."""
        return self.total_kb * 8e-3 / self.gbps


SETTINGS = (
    Setting("100 KB at 1 Gbps", 1, 100, 200, ("workload.incast.total=100KB",)),
    Setting("10 MB at 1 Gbps", 1, 10_000, 5, ("workload.incast.total=10MB",)),
    Setting("1 MB at 10 Gbps", 10, 1000, 50, _TEN),
    Setting("10 MB at 10 Gbps", 10, 10_000, 5, (*_TEN, "workload.incast.total=10MB")),
)


def _shares(results: Results, scheme: str) -> dict[str, list[float]]:
    return {
        setting.name: [
            timeout_share(results, setting.condition(n), scheme) for n in setting.servers
        ]
        for setting in SETTINGS
    }


def _words(shares: dict[str, list[float]]) -> str:
    return ", ".join(f"{100 * max(found):.0f}% ({name})" for name, found in shares.items())


def _tcp_suffers(results: Results) -> Finding:
    shares = _shares(results, TCP)
    return Finding(
        "at most " + _words(shares), all(more_than(max(s), 0.05) for s in shares.values())
    )


def _dctcp_none(results: Results) -> Finding:
    shares = _shares(results, DCTCP)
    return Finding("at most " + _words(shares), all(max(s) == 0 for s in shares.values()))


def _no_slower(results: Results) -> Finding:
    ratios = {
        setting.name: max(
            mean_ms(results, setting.condition(n), DCTCP)
            / mean_ms(results, setting.condition(n), TCP)
            for n in setting.servers
        )
        for setting in SETTINGS
    }
    return Finding(
        "at most " + ", ".join(f"{ratio:.2f} ({name})" for name, ratio in ratios.items()),
        all(at_most(ratio, 1.1) for ratio in ratios.values()),
    )


def _near_least(results: Results) -> Finding:
    ratios = {
        setting.name: max(
            mean_ms(results, setting.condition(n), DCTCP) / setting.least_ms
            for n in setting.servers
        )
        for setting in SETTINGS
    }
    return Finding(
        "at most "
        + ", ".join(f"{ratio:.2f} ({name})" for name, ratio in ratios.items())
        + " of it",
        all(at_most(ratio, 1.5) for ratio in ratios.values()),
    )


_OTHER = "thesis 2.3.2, other settings"
CLAIMS = (
    Claim(
        id="thesis-incast-other-tcp",
        source=_OTHER,
        claim="qualitatively as in figure 2.19: TCP suffers timeouts (more than 5% of the queries "
        "with some number of servers) in each setting",
        check=_tcp_suffers,
        kind="predicted",
        bound="hull",
        cause="documents contradict",
        tried="The 100 KB of all servers together fit into the 667 KB of a busy port, so nothing "
        "can be lost. Nothing is lost with the fixed buffer of figure 2.18, 100 KB, and 40 "
        "servers either: 0.94 ms with TCP and DCTCP, 100 queries, no drop.",
        shown_by=(
            *commands("thesis-incast-other", ""),
            *unshipped("thesis-incast-static with workload.incast.total=100KB"),
        ),
    ),
    Claim(
        id="thesis-incast-other-dctcp",
        source=_OTHER,
        claim="... and DCTCP suffers none, with any number of servers",
        check=_dctcp_none,
        kind="predicted",
        bound="document",
    ),
    Claim(
        id="thesis-incast-other-no-slower",
        source=_OTHER,
        claim="... so that DCTCP is nowhere slower than TCP (mean, within 10%)",
        check=_no_slower,
        kind="predicted",
        bound="hull",
    ),
    Claim(
        id="thesis-incast-other-all-sizes",
        source=_OTHER,
        claim="DCTCP performs well at all response sizes: its mean is at most 1.5 times the "
        "transmission time on the client's link",
        check=_near_least,
        kind="predicted",
        bound="hull",
    ),
)


def draw(results: Results) -> "Figure":
    """Mean time over what the link takes, and share of queries with a timeout, by setting."""
    from hull.figures import Line, Panel, plot_sweep

    panels = []
    for setting in SETTINGS:
        cells = [setting.condition(n) for n in setting.servers]
        panels.append(
            Panel(
                setting.name,
                "Servers",
                "Mean completion time / least",
                [
                    Line(
                        s,
                        setting.servers,
                        [mean_ms(results, c, s) / setting.least_ms for c in cells],
                    )
                    for s in SCHEMES
                ],
            )
        )
        panels.append(
            Panel(
                "Timeouts",
                "Servers",
                "Share of queries with a timeout",
                [
                    Line(s, setting.servers, [timeout_share(results, c, s) for c in cells])
                    for s in SCHEMES
                ],
                y_limits=(-0.02, 1.05),
            )
        )
    return plot_sweep(panels, height=2.3)


EXPERIMENT = Experiment(
    id="thesis-incast-other",
    title="Thesis 2.3.2, other settings: incast of 100 KB and 10 MB, and at 10 Gbps",
    source="thesis 2.3.2, other settings",
    scenario="thesis-rack",
    completion="delivered",
    variants=tuple(
        Variant(
            {"": setting.condition(n)},
            overrides=(
                *setting.overrides,
                f"workload.incast.fan_in={n}",
                f"workload.incast.queries={setting.queries}",
            ),
            schemes=SCHEMES,
        )
        for setting in SETTINGS
        for n in setting.servers
    ),
    stated=statements("thesis", "other incasts"),
    claims=CLAIMS,
    draw=draw,
    quick=Size(seeds=1),
    full=Size(seeds=10),
)
