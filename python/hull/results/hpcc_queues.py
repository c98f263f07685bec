"""The queues of a run's measured ports in the form of HPCC's `qlen.txt`.

Source: alibaba-edu/High-Precision-Congestion-Control, `scratch/third.cc`, `monitor_buffer`. After a
line with the time (ns) comes one for each port of a switch: the node's id, the interface, and how
often the queue had 0, 1, 2, ... whole KB (1000 bytes). HPCC's simulator reads all ports each 100 ns
and writes the counts so far each 100 ms. Here they are written once, at the end of the measured
time. The queue is without the packet in transmission, as there.
"""

from collections.abc import Mapping

import polars as pl

from hull.results.hpcc_nodes import Interface

STEP_PS = 100_000
"""Time between two readings of HPCC's simulator."""
_KB = 1000


def qlen_text(
    queues: pl.DataFrame, ports: Mapping[str, Interface], end_ps: int, *, changes: bool
) -> str:
    """The lines of `qlen.txt` for these ports; other rows are left out.

    Samples count one each. With `changes`, rows hold until the port's next one, the last until
    `end_ps`, and are read at the multiples of 100 ns.
    """
    rows = queues.select("time_ps", "port", "bytes").sort("port", "time_ps", maintain_order=True)
    count = pl.lit(1)
    if changes:
        until = pl.col("time_ps").shift(-1).over("port").fill_null(end_ps)
        first, last = (-(-time // STEP_PS) for time in (pl.col("time_ps"), until))
        count = last - first
    rows = rows.with_columns(kb=pl.col("bytes") // _KB, count=count)
    sums = (
        rows.group_by("port", "kb", maintain_order=True)
        .agg(pl.sum("count"))
        .filter(pl.col("count") > 0)
    )
    counts: dict[str, dict[int, int]] = {port: {} for port in ports}
    for port, kb, times in sums.iter_rows():
        if port in counts:
            counts[port][kb] = times
    lines = [f"time: {end_ps // 1000}\n"]
    for port, one in sorted(ports.items(), key=lambda item: (item[1].node, item[1].number)):
        of_port = counts[port]
        shown = (str(of_port.get(kb, 0)) for kb in range(max(of_port, default=-1) + 1))
        lines.append(" ".join((str(one.node), str(one.number), *shown)) + "\n")
    return "".join(lines)
