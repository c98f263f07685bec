"""Figure 3.11 of the thesis: a second flow joins at 10 Gbps; time until both are within 10% of
their share, 100 packets, with TCP, and with DCTCP at three gains.

Times are in ms since it joined.
"""

from typing import TYPE_CHECKING

from hull.experiments.common.claims import Claim, Finding, commands, ratio, within
from hull.experiments.common.decided import at_most, less_than, more_than, ordered
from hull.experiments.common.experiment import Experiment, Point, Size, published
from hull.experiments.common.gains import GAINS, LOOKS
from hull.experiments.common.measured import Estimate, Results
from hull.experiments.common.stated import statements
from hull.theory.bottleneck import Bottleneck

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

TCP = "tcp"
FAIR_PACKETS = 100
TITLES = {
    TCP: "TCP",
    "g_high": "g = 0.0707, 1/root of W_max",
    "g_guideline": "g = 0.025, 5/W_max",
    "g_low": "g = 0.005, 1/W_max",
}
_SEGMENT = 1460
_LINK = Bottleneck(10e9 / 12000, 200e-6, 35, 2)
_TABLE = published("thesis-dctcp", "figure3_11")
PUBLISHED = {
    "g_high": _TABLE["g_1_over_sqrt_wmax_ms"],
    "g_guideline": _TABLE["g_5_over_wmax_ms"],
    "g_low": _TABLE["g_1_over_wmax_ms"],
}


def _join_ms(results: Results) -> float:
    return 1000 if results.is_full else 300


def _time(results: Results, scheme: str) -> Estimate | None:
    """Mean over the seeds of the first time at which both windows are within 10%."""
    from hull.results.fairness import convergence_time

    def read(series: "pl.DataFrame") -> float:
        found = convergence_time(series, FAIR_PACKETS * _SEGMENT, start=_join_ms(results) / 1e3)
        return float("nan") if found is None else found * 1e3

    return results.of_table("series", "", scheme, read)


def _ms(results: Results, scheme: str) -> float:
    found = _time(results, scheme)
    return float("nan") if found is None else found.mean


def _model_ms(g: float) -> float:
    """The Hybrid Model's time, from a first event with windows of W_max - 1 and 1 packet."""
    from hull.theory.hybrid import convergence_time

    round_trips = convergence_time([_LINK.max_window - 1, 1], [0, 1], g)
    return round_trips * _LINK.round_trip_s * 1e3


def _published(results: Results) -> Finding:
    times = {scheme: _ms(results, scheme) for scheme in GAINS}
    words = ", ".join(
        f"{time:.0f} ms (published {PUBLISHED[scheme]}, model {_model_ms(GAINS[scheme]):.0f})"
        for scheme, time in times.items()
    )
    holds = all(within(time / PUBLISHED[scheme], 0.75, 1.25) for scheme, time in times.items())
    return Finding(words, holds)


def _model(results: Results) -> Finding:
    ratios = {scheme: _ms(results, scheme) / _model_ms(g) for scheme, g in GAINS.items()}
    return Finding(
        "measured over model " + ", ".join(f"{ratio:.2f}" for ratio in ratios.values()),
        all(within(ratio, 0.75, 1.25) for ratio in ratios.values()),
    )


def _gains(results: Results) -> Finding:
    high, guideline, low = (_ms(results, scheme) for scheme in GAINS)
    return Finding(
        f"{guideline / high:.2f} and {low / high:.2f} times the time of g = 1/root of W_max",
        less_than(ratio(guideline, high), 1.25 * 67 / 55) and more_than(ratio(low, high), 2),
    )


def _tcp(results: Results) -> Finding:
    tcp = _ms(results, TCP)
    slower = [_ms(results, scheme) / tcp for scheme in ("g_high", "g_guideline")]
    return Finding(
        f"TCP {tcp:.0f} ms, DCTCP {slower[0]:.2f} and {slower[1]:.2f} times that",
        all(ordered(1, ratio) and at_most(ratio, 2.5) for ratio in slower),
    )


CLAIMS = (
    Claim(
        id="thesis-fig3-11-times",
        source="thesis 3.3.3, figure 3.11",
        claim="DCTCP converges in 55, 67 and 185 ms with g of 1/root of W_max, 5/W_max and 1/W_max "
        "(within 25%)",
        check=_published,
        kind="predicted",
        bound="document",
        cause="documents contradict",
        tried="The thesis's own model has 68, 80 and 209 ms, which the simulation meets within "
        "8%. If the round trip were 200 us instead of 242 with the queue at K, the model would "
        "have 57, 66 and 173. 35 packets are 17% of 206, as printed, not of 10 Gbps times 200 "
        "us. DCTCP, ms, one key at a time; means of 5 seeds: jitter of 100 ns 81, 96, 235; "
        "single runs: no jitter 80, 86, 218; an initial window of 3 packets 60, 133, 226; "
        "hold_after_cut 101, 89, 227; the first flow's window not held at 200 109, 107, 208; the "
        "second's alpha 0 65, 60, 64.",
        shown_by=commands(
            "thesis-fig3-11",
            "--seeds 5 --set host.stack_jitter.exponential=100ns",
            "--seeds 1 --set host.stack_jitter.exponential=0s",
            "--seeds 1 --set transport.initial_window=3",
            "--seeds 1 --set transport.dctcp.hold_after_cut=true",
            "--seeds 1 --set transport.max_window=5000",
            "--seeds 1 --set transport.dctcp.initial_alpha=0%",
        ),
    ),
    Claim(
        id="thesis-fig3-11-model",
        source="thesis 3.3.3",
        claim="simulations verify the Hybrid Model (time to converge within 25%)",
        check=_model,
        kind="predicted",
        bound="document",
    ),
    Claim(
        id="thesis-fig3-11-gains",
        source="thesis 3.3.3",
        claim="g of 5/W_max converges little slower than 1/root of W_max (1.2 times, within 25%), "
        "1/W_max significantly (more than twice)",
        check=_gains,
        kind="predicted",
        bound="hull",
    ),
    Claim(
        id="thesis-fig3-11-tcp",
        source="thesis 3.3.3",
        claim="with g in the guideline's range DCTCP takes up to about twice as long as TCP (2, "
        "within 25%)",
        check=_tcp,
        kind="predicted",
        bound="document",
    ),
)


def _drawn(results: Results, scheme: str, flow: int, until_ms: float) -> tuple[list[float], ...]:
    """Time and window of a flow from the joining on, every fifth sample of the first seed."""
    import polars as pl

    start = _join_ms(results)
    rows = results.table("series", "", scheme).filter(pl.col("flow") == flow)
    since = rows["time_ps"].to_numpy() / 1e9 - start
    shown = (since >= 0) & (since <= until_ms)
    windows = rows["cwnd_bytes"].to_numpy() / _SEGMENT
    return list(since[shown][::5]), list(windows[shown][::5])


def _hybrid(g: float, until_ms: float) -> list[tuple[list[float], list[float]]]:
    """Time and window of both flows in the Hybrid Model: before and after each cut."""
    from hull.theory.hybrid import episodes

    unit = _LINK.round_trip_s * 1e3
    times: list[float] = []
    windows: tuple[list[float], list[float]] = ([], [])
    for episode in episodes([_LINK.max_window - 1, 1], [0, 1], g):
        now = episode.time * unit
        if now > until_ms:
            break
        times += [now, now]
        for flow, drawn in enumerate(windows):
            window = float(episode.windows[flow])
            drawn += [window, window * (1 - float(episode.alphas[flow]) / 2)]
    return [(times, drawn) for drawn in windows]


def draw(results: Results) -> "Figure":
    """Both windows over time, a panel for each scheme, over the Hybrid Model's windows."""
    from hull.figures import Line, Panel, plot_sweep

    panels = []
    for scheme, title in TITLES.items():
        until = 350 if scheme == "g_low" else 150
        reference = [("", *path) for path in _hybrid(GAINS.get(scheme, 1), until)]
        panels.append(
            Panel(
                title,
                "Time since the second flow joined (ms)",
                "Window (packets)",
                [Line(scheme, *_drawn(results, scheme, flow, until)) for flow in (0, 1)],
                y_limits=(0, 210),
                reference=reference if scheme in GAINS else (),
            )
        )
    return plot_sweep(panels, looks=LOOKS)


EXPERIMENT = Experiment(
    id="thesis-fig3-11",
    title="Thesis figure 3.11: convergence of two flows, Hybrid Model and simulation",
    source="thesis 3.3.3, figure 3.11",
    scenario="thesis-convergence",
    stated=statements("thesis", "convergence"),
    points=tuple(
        Point(
            "",
            scheme,
            "convergence_ms",
            "mean",
            value,
            lambda results, scheme=scheme: _time(results, scheme),  # type: ignore[misc]
        )
        for scheme, value in PUBLISHED.items()
    ),
    claims=CLAIMS,
    looks=LOOKS,
    draw=draw,
    quick=Size(
        overrides=(
            "run.warmup=300ms",
            'workload.long_lived.flows=[{src=1,dst=0},{src=2,dst=0,start="300ms"}]',
        ),
        seeds=3,
    ),
    full=Size(overrides=(), seeds=20),
)
