"""The part of a trace that is simulated, and start times finer than the trace's clock.

Times are ps. Collectors note starts in ticks (NetFlow: 1 ms): flows of one tick would start
together, a burst that never was. Each start is moved by a uniform draw within its tick.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hull import _core
from hull.ask.counts import counted, duration, number, size
from hull.ask.placement import Placed
from hull.errors import UsageError, shown

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

MOST_FLOWS = 200_000
SPREAD_FROM_PS = 10_000_000
"""10 us: shorter ticks make no burst that a queue notices."""
_FORM = "all or START,LENGTH, such as 10s,2s"


@dataclass(frozen=True)
class Window:
    """The flows that are simulated."""

    flows: "pl.DataFrame"
    """As `Placed.flows`, by start_ps, which counts from the window's start."""
    begin_ps: int
    """From the trace's first start."""
    length_ps: int
    how: str
    """A sentence for the page: which part, and why."""
    said: tuple[str, ...]


def choose(
    placed: Placed, window: str | None = None, seed: int = 1, most_flows: int = MOST_FLOWS
) -> Window:
    """The flows of `--window`; without it all, or of a long trace the busiest part."""
    import numpy as np
    import polars as pl

    both = placed.flows.select("start_ps", "bytes").collect(engine="streaming")
    start = both.get_column("start_ps").to_numpy().copy()
    sizes = both.get_column("bytes").to_numpy().astype(np.int64)
    del both
    tick = placed.trace.resolution_ps
    said = []
    if tick >= SPREAD_FROM_PS:
        start += np.random.default_rng(seed).integers(0, tick, len(start))
        said.append(
            f"The trace's clock has steps of {duration(tick)}: each start is moved by a uniform "
            f"draw within its step (seed {seed})."
        )
    span = int(start.max()) + 1
    if window is None and len(start) > most_flows:
        begin, end = _busiest(start, sizes, most_flows)
        why = (
            f", the part with the most bytes among those of at most {number(most_flows)} flows; "
            "choose another with --window"
        )
    elif window is None or window.strip() == "all":
        begin, end, why = 0, span, ""
    else:
        begin, end = _given(window)
        why = ", as given with --window"
    chosen = np.flatnonzero((start >= begin) & (start < end))
    if len(chosen) == 0:
        raise UsageError(
            f"--window: {window} has no flow; expected a part of the trace's {duration(span)}"
        )
    rows = pl.DataFrame({"place": chosen.astype(np.uint32), "moved": start[chosen] - begin})
    total = len(start)
    del start
    flows = (
        placed.flows.with_row_index("place")
        .join(rows.lazy(), on="place", how="inner", maintain_order="left")
        .collect(engine="streaming")
        .with_columns(pl.col("moved").alias("start_ps"))
        .drop("place", "moved")
        .sort("start_ps", maintain_order=True)
    )
    before = _before(placed, begin)
    if before[0]:
        said.append(
            f"{counted(before[0], 'flow')} ({size(before[1])}) that began before the window and "
            "last into it are left out."
        )
    if len(chosen) == total:
        how = f"All {counted(total, 'flow')} of the trace are simulated, {duration(span)}."
    else:
        bytes_, share = int(sizes[chosen].sum()), int(sizes.sum())
        how = (
            f"{number(len(chosen))} of {counted(total, 'flow')} are simulated: "
            f"{duration(end - begin)} from {duration(begin)} of the trace, {size(bytes_)} "
            f"({100 * bytes_ / share:.3g}% of its bytes){why}."
        )
    return Window(flows, begin, end - begin, how, tuple(said))


def _before(placed: Placed, begin: int) -> tuple[int, int]:
    """Flows that last into the window, as far as durations say, and all their bytes."""
    import polars as pl

    into = (pl.col("start_ps") < begin) & (pl.col("start_ps") + pl.col("duration_ps") > begin)
    asked = placed.flows.filter(into).select(pl.len().alias("flows"), pl.col("bytes").sum())
    flows, bytes_ = asked.collect(engine="streaming").row(0)
    return int(flows), int(bytes_)


def _busiest(start: "np.ndarray", sizes: "np.ndarray", most_flows: int) -> tuple[int, int]:
    """Begin and end of the consecutive flows, at most so many, with the most bytes."""
    import numpy as np

    order = np.argsort(start, kind="stable")
    start = start[order]
    sums = np.concatenate([[0], np.cumsum(sizes[order])])
    first = int(np.argmax(sums[most_flows:] - sums[:-most_flows]))
    end = int(start[first + most_flows]) if first + most_flows < len(start) else int(start[-1]) + 1
    begin = int(start[first])
    if first and start[first - 1] == begin:
        # All that start with the first would be more than asked for: begin after them.
        later = start[np.searchsorted(start, begin, side="right") :]
        begin = int(later[0]) if len(later) and later[0] < end else begin
    # More flows of one instant than asked for are there together.
    return begin, max(end, begin + 1)


def _given(window: str) -> tuple[int, int]:
    start, comma, length = window.partition(",")
    try:
        if not comma:
            raise ValueError
        begin, long = (round(_core.quantity("time", t.strip()) * 1e12) for t in (start, length))
    except ValueError:
        raise UsageError(f"--window: {shown(window)} is invalid; expected {_FORM}") from None
    if long <= 0:
        raise UsageError(f"--window: the length {length.strip()} is invalid; expected more than 0s")
    return begin, begin + long
