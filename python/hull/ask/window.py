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
_PIECE = 1_000_000
_LONGEST_PS = 10**18
"""The latest start of hull's flow lists."""
MOST_GIVEN = 3_000_000
"""Flows of a window that is given."""
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

    start = _column(placed, pl.col("start_ps"))
    sizes = _column(placed, pl.col("bytes").cast(pl.Int64))
    tick = placed.trace.resolution_ps
    said = []
    if tick >= SPREAD_FROM_PS:
        start = _spread(start, tick, seed)
        said.append(
            f"The trace's clock has steps of {duration(tick)}: each start is moved by a uniform "
            f"draw within its step (seed {seed})."
        )
    span = int(start.max()) + 1
    if window is None and len(start) > most_flows:
        begin, end = _busiest(start, sizes, most_flows)
        why = (
            f", the part of at most {number(most_flows)} flows with the most bytes; "
            "choose another with --window"
        )
    elif window is None or window.strip() == "all":
        begin, end, why = 0, span, ""
    else:
        begin, end = _given(window)
        why = ", as given with --window"
    if end - begin > _LONGEST_PS:
        raise UsageError(
            f"--window: {duration(end - begin)} is invalid; expected at most "
            f"{duration(_LONGEST_PS)}: give a part, such as --window 0s,100s"
        )
    chosen = np.flatnonzero((start >= begin) & (start < end))
    if len(chosen) > MOST_GIVEN:
        raise UsageError(
            f"--window: {window} has {counted(len(chosen), 'flow')}; expected at most "
            f"{number(MOST_GIVEN)}, such as --window 0s,1s"
        )
    if len(chosen) == 0:
        raise UsageError(
            f"--window: {window} has no flow; expected a part of the trace's {duration(span)}"
        )
    total = len(start)
    moved = pl.Series("start_ps", start[chosen] - begin)
    del start
    # A join would hold all rows; a filter keeps their order, the same as in `chosen`.
    rows = pl.Series(chosen.astype(np.uint32))
    flows = (
        placed.flows.with_row_index("place")
        .filter(pl.col("place").is_in(rows.implode()))
        .drop("place")
        .collect(engine="streaming")
        .with_columns(moved)
        .sort("start_ps", maintain_order=True)
    )
    before = _before(placed, begin)
    if before[0]:
        said.append(
            "Flows in progress when the window begins are left out: "
            f"{counted(before[0], 'flow')}, {size(before[1])}."
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


def _column(placed: Placed, column: "pl.Expr") -> "np.ndarray":
    return placed.flows.select(column).collect(engine="streaming").to_series().to_numpy()


def _spread(start: "np.ndarray", tick: int, seed: int) -> "np.ndarray":
    """Each start moved by less than a tick."""
    import numpy as np

    draw = np.random.default_rng(seed)
    moved = start.copy()
    for first in range(0, len(moved), _PIECE):
        piece = moved[first : first + _PIECE]
        piece += draw.integers(0, tick, len(piece))
    return moved


def _before(placed: Placed, begin: int) -> tuple[int, int]:
    """Flows that last into the window, as far as durations say, and all their bytes."""
    import polars as pl

    into = (pl.col("start_ps") < begin) & (pl.col("start_ps") + pl.col("duration_ps") > begin)
    asked = placed.flows.filter(into).select(pl.len().alias("flows"), pl.col("bytes").sum())
    flows, bytes_ = asked.collect(engine="streaming").row(0)
    return int(flows), int(bytes_)


def _busiest(start: "np.ndarray", sizes: "np.ndarray", most_flows: int) -> tuple[int, int]:
    """Start and end of the consecutive flows, up to a maximum number, with the most bytes."""
    import numpy as np

    # Of millions of flows each array is large: none is kept longer than it is needed.
    order = np.argsort(start, kind="stable")
    start, sizes = start[order], sizes[order]
    del order
    sums = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=sums[1:])
    del sizes
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
