"""Concurrent flows of a server in the production benchmark (thesis 2.1.2, figure 2.4): the flows
that are active during a window of 50 ms. Times in ps.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

UPDATE_BYTES = 1_000_000
_WINDOW_PS = 50_000_000_000


def concurrent_flows(
    flows: "pl.DataFrame", queries: "pl.DataFrame", servers: int, *, per_answer: int = 2
) -> "tuple[NDArray[np.int64], NDArray[np.int64]]":
    """Concurrent flows of each server in each window: all, and those above 1 MB.

    `flows` are the background flows, `queries` the complete queries. A request and its response
    are `per_answer` flows: 2, or 1 if connections are counted.
    """
    import numpy as np
    import polars as pl

    starts = queries["start_ps"].to_numpy()
    windows = int(starts.max() // _WINDOW_PS)
    begun = int(starts.min() // _WINDOW_PS) + 1
    all_of, large_of = [], []
    for server in range(servers):
        own = flows.filter((pl.col("src") == server) | (pl.col("dst") == server))
        asked = queries.filter(pl.col("client") == server)
        count = _active(own, "fct_ps", windows)
        answers = _active(queries, "completion_ps", windows)
        answers += (servers - 2) * _active(asked, "completion_ps", windows)
        count += per_answer * answers
        large = _active(own.filter(pl.col("bytes") > UPDATE_BYTES), "fct_ps", windows)
        all_of.append(count[begun:])
        large_of.append(large[begun:])
    return np.concatenate(all_of), np.concatenate(large_of)


def _active(times: "pl.DataFrame", duration: str, windows: int) -> "NDArray[np.int64]":
    """Number of rows active in each window."""
    import numpy as np

    found = np.zeros(windows + 1, np.int64)
    start = times["start_ps"].to_numpy()
    first = np.minimum(start // _WINDOW_PS, windows)
    last = np.minimum((start + times[duration].to_numpy()) // _WINDOW_PS, windows - 1)
    np.add.at(found, first, 1)
    np.add.at(found, last + 1, -1)
    return found.cumsum()[:windows]
