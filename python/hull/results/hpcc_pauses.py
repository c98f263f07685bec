"""The pauses of a run in the columns of HPCC's `pfc.txt`.

Source: alibaba-edu/High-Precision-Congestion-Control, `scratch/third.cc`, `get_pfc`; conweave-ns3
has the same. A line has the time (ns), the id of the node that pauses, its kind (0 host, 1 switch),
its interface, and 1 for a frame to pause or 0 for the end of a pause.

HPCC's simulator has a line for each frame. So have the pauses here, renewed ones too; an end is one
however it came: by a frame to resume, by its time, by the watchdog or by a failed link. All classes
are in one file.
"""

from collections.abc import Sequence

import polars as pl

from hull.results.hpcc_nodes import Interface

_KINDS = {"begin": 1, "renewal": 1, "ignored": 1, "end": 0}
"""Of an event of `pause_events.parquet`."""


def pfc_text(events: pl.DataFrame, interfaces: Sequence[Interface]) -> str:
    """The lines of `pfc.txt`, in the order of time."""
    lines = []
    for time_ps, link, event in events.select("time_ps", "link", "event").iter_rows():
        one = interfaces[link]
        place = f"{one.node} {int(one.is_of_switch)} {one.number}"
        lines.append(f"{time_ps // 1000} {place} {_KINDS[event]}\n")
    return "".join(lines)
