"""Figure 2.8 of the thesis: queueing delay of responses on their way to the aggregator, TCP.

The production benchmark runs with the 44 servers of a production rack. The thesis measures the time
from when a worker sends its response until it has the ACK; its idle rack has 100 us. Here the queue
that a response's last packet finds at the aggregator's port replaces this, at some of the
aggregators. As in the thesis, responses whose last packet is lost are not counted. Times are ms.
"""

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from hull.experiments.common.benchmark import PRODUCTION
from hull.experiments.common.claims import Claim, Finding, commands, unshipped, within
from hull.experiments.common.decided import at_least
from hull.experiments.common.experiment import Experiment, Size, Variant
from hull.experiments.common.measured import Results
from hull.experiments.common.stated import statements

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TCP = "tcp"
IDLE_MS = 0.1
"""Round trip of an idle rack (thesis 2.1.3)."""
MOST_MS = 14
AGGREGATORS = tuple(range(8))
_UPDATE_BYTES = 1_000_000
_LAST_PACKET = 2000 - 1460 + 40
"""A response has 2 KB, a full segment 1460 bytes."""
_MS_PER_BYTE = 8e-6


@lru_cache(maxsize=1)
def _waits(results: Results) -> Any:
    """Each response's wait (ms, ascending), and whether an update to its aggregator was on."""
    import polars as pl

    parts = [_waits_of(results, part["seed"]) for part in results.parts("", TCP)]
    return pl.concat(parts).sort("ms")


def _waits_of(results: Results, seed: int) -> Any:
    import numpy as np
    import polars as pl

    queues = results.table("queues", "", TCP, seed).with_columns(
        pl.col("bytes", "packets").cast(pl.Int64)
    )
    before = queues.with_columns(
        pl.col("bytes", "packets").shift(1, fill_value=0).over("port").name.suffix("_before")
    )
    came = before.filter(
        (pl.col("packets") - pl.col("packets_before") == 1)
        & (pl.col("bytes") - pl.col("bytes_before") == _LAST_PACKET)
    )
    updates = results.table("flows", "", TCP, seed).filter(pl.col("bytes") > _UPDATE_BYTES)
    found = []
    for aggregator in AGGREGATORS:
        rows = came.filter(pl.col("port") == f"switch->h{aggregator}")
        times = rows["time_ps"].to_numpy()
        beside = np.zeros(len(times), dtype=bool)
        for start, fct in updates.filter(pl.col("dst") == aggregator)["start_ps", "fct_ps"].rows():
            beside |= (times >= start) & (times <= start + fct)
        waits = rows["bytes_before"].to_numpy() * _MS_PER_BYTE
        found.append(pl.DataFrame({"ms": waits, "beside": beside}))
    queries = results.table("queries", "", TCP, seed)
    asked = queries.filter(pl.col("client").is_in(AGGREGATORS))["servers"].sum()
    # The others found the port idle, which changes no queue.
    idle = max(0, asked - len(came))
    found.append(pl.DataFrame({"ms": np.zeros(idle), "beside": np.zeros(idle, dtype=bool)}))
    return pl.concat(found)


def _most(results: Results) -> Finding:
    waits = _waits(results)["ms"]
    share = float((waits < 1).mean())
    return Finding(f"{100 * share:.1f}% of {len(waits)}", within(share, 0.85, 0.95))


def _tail(results: Results) -> Finding:
    longest = float(_waits(results)["ms"].max())
    return Finding(f"up to {longest:.1f} ms", within(longest / MOST_MS, 0.75, 1.1))


def _long_flows(results: Results) -> Finding:
    waits = _waits(results)
    late = waits.filter(waits["ms"] >= 1)["beside"]
    share = float(late.mean()) if len(late) else float("nan")
    return Finding(f"{100 * share:.1f}% of {len(late)}", at_least(share, 0.9))


_SOURCE = "thesis 2.1.3, figure 2.8"
TRIED = (
    "3.0% of the responses arrive during a flow above 1 MB to the same aggregator, and 82% of "
    "these wait for 1 ms or more: long flows have the effect that the thesis describes, but "
    "fewer of them are concurrent. 94.4% are below 1 ms with updates 3 times as large, 99.1% "
    "with 20% of the flows from outside the rack instead of 80%."
)
SHOWN_BY = (
    *commands(
        "thesis-fig2-8",
        "",
        "--set workload.production.update_factor=3",
        "--set workload.production.outside_share=20%",
    ),
    *unshipped("shares of the responses beside flows of other sizes"),
)
CLAIMS = (
    Claim(
        id="thesis-fig2-8-most",
        source=_SOURCE,
        claim="90% (85 to 95) of the responses queue for less than 1 ms",
        check=_most,
        kind="predicted",
        bound="hull",
        cause="testbed unknown",
        tried=TRIED,
        shown_by=SHOWN_BY,
    ),
    Claim(
        id="thesis-fig2-8-tail",
        source=_SOURCE,
        claim="the others queue for 1 to 14 ms, the limit of a port: the longest delay is near "
        "14 ms (10.5 to 15.4)",
        check=_tail,
        kind="fitted",
        bound="hull",
    ),
    Claim(
        id="thesis-fig2-8-long-flows",
        source=_SOURCE,
        claim="long flows cause the delay, not incast: at least 90% of the delays of 1 ms or "
        "more occur beside a flow above 1 MB to the same aggregator",
        check=_long_flows,
        kind="predicted",
        bound="hull",
        tried="The other 12.5% are beside a flow of 100 KB to 1 MB: all are beside one above 100 "
        "KB. With updates 3 times as large 93.9% are beside a flow above 1 MB.",
        shown_by=SHOWN_BY,
    ),
)


def _cdf(results: Results) -> tuple[list[float], list[float]]:
    """Round trips and shares up to them: about 400 places, denser at the end."""
    waits = _waits(results)["ms"].to_list()
    count = len(waits)
    tail = range(count * 4 // 5, count, max(1, count // 1000))
    places = sorted({*range(0, count, max(1, count // 200)), *tail, count - 1})
    return [IDLE_MS + waits[i] for i in places], [(i + 1) / count for i in places]


def draw(results: Results) -> "Figure":
    """The distribution function of the round trip, all of it and its upper fifth."""
    from hull.figures import Line, Panel, plot_sweep

    lines = [Line(TCP, *_cdf(results))]

    def panel(title: str, least: float) -> Panel:
        return Panel(
            title,
            "Round trip to the aggregator (ms)",
            "Share of the responses",
            lines,
            y_limits=(least, 1 + (1 - least) * 0.03),
            reference=[
                ("", (1 + IDLE_MS, 1 + IDLE_MS), (least, 1)),
                ("published: 90% below" if least else "", (0, 14), (0.9, 0.9)),
            ],
        )

    return plot_sweep([panel("All responses", 0), panel("The upper fifth", 0.8)])


_SETUP = (
    *PRODUCTION,
    "switch.memory.alpha=77.8%",  # 14 ms of 1 Gbps, 1.75 of 4 MB, for one busy port
    "measure.queue_changes=true",
    f"measure.ports={[f'switch->h{host}' for host in AGGREGATORS]}".replace("'", '"'),
)

EXPERIMENT = Experiment(
    id="thesis-fig2-8",
    title="Thesis figure 2.8: round trips to the aggregator in production",
    source=_SOURCE,
    scenario="thesis-benchmark",
    completion="delivered",
    variants=(Variant(overrides=_SETUP, schemes=(TCP,)),),
    stated=statements("thesis", "figure 2.8"),
    claims=CLAIMS,
    draw=draw,
    quick=Size(overrides=("run.duration=10s",), seeds=1),
    full=Size(overrides=("run.duration=20s",), seeds=10),
)
