"""Flows of a packet capture: TCP and UDP data between two addresses and ports; ns, bytes.

Each direction is a flow of its own from its first packet with data, so a download goes from the
server to the client, and a direction that only acknowledges is none. A gap longer than the idle
timeout, or a new connection, begins another flow. The extension module reads the file (see
crates/hull-capture): it keeps the flows in memory and not the packets.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hull import _core
from hull.ask.counts import Dropped, counted, duration, number
from hull.ask.records import refused

if TYPE_CHECKING:
    import polars as pl

MOST_BYTES = 20 * 10**9
"""Of the file: minutes of reading."""
MOST_FLOWS = 3_000_000
"""200 bytes of memory each."""
IDLE_PS = 10**12
_KINDS = {
    "start_ns": "<i8",
    "end_ns": "<i8",
    "bytes": "<u8",
    "src": "<u4",
    "dst": "<u4",
    "src_port": "<u2",
    "dst_port": "<u2",
}
_DROPPED = {
    "fragments": "fragments of IP packets, which have no ports",
    "unreadable": "packets with headers cut off or wrong",
    "without_time": "packets without a time",
    "without_data": "packets without data: acknowledgements, opening and closing",
    "repeated": "packets that the capture has twice, as from two interfaces",
}


@dataclass(frozen=True)
class Capture:
    """What a capture holds."""

    flows: "pl.DataFrame"
    """start_ps from the first flow, src, dst, bytes, duration_ps, src_port, dst_port."""
    packets: int
    dropped: tuple[Dropped, ...]
    said: tuple[str, ...]
    resolution_ps: int


def read_capture(path: Path, idle_ps: int = IDLE_PS) -> Capture:
    """The flows of a pcap or pcapng file, plain or gzip."""
    import numpy as np
    import polars as pl

    size = path.stat().st_size
    if size > MOST_BYTES:
        raise refused(
            path,
            f"has {number(size)} bytes; expected a capture of at most {number(MOST_BYTES)}: cut it "
            "with editcap -A START -B END, or give flows as CSV",
        )
    try:
        columns, addresses, text = _core.capture_flows(path, idle_ps // 1000, MOST_FLOWS)
    except ValueError as error:
        raise refused(path, str(error)) from None
    counts = json.loads(text)
    values = {name: np.frombuffer(data, _KINDS[name]) for name, data in columns}
    start = values["start_ns"]
    first = int(start.min()) if len(start) else 0
    names = pl.Series("address", addresses, dtype=pl.String)
    flows = pl.DataFrame(
        {
            "start_ps": (start - first) * 1000,
            "src": names.gather(values["src"]),
            "dst": names.gather(values["dst"]),
            "bytes": values["bytes"],
            "duration_ps": (values["end_ns"] - start) * 1000,
            "src_port": values["src_port"].astype(np.int32),
            "dst_port": values["dst_port"].astype(np.int32),
        }
    )
    dropped = (
        *(Dropped(why, *found) for why, found in counts["others"].items()),
        *(Dropped(why, *counts[key]) for key, why in _DROPPED.items() if counts[key][0] > 0),
    )
    said = [
        f"Packets of the same addresses and ports are one flow in each direction until a gap of "
        f"{duration(idle_ps)} or a new connection. A flow's size is the payload of TCP and UDP, "
        "retransmissions included."
    ]
    if counts["cut_off"]:
        said.append(
            f"The capture ends within a packet, after {counted(counts['packets'], 'packet')}."
        )
    resolution_ps = 1000 * int(counts["resolution_ns"])
    return Capture(flows, counts["packets"], dropped, tuple(said), resolution_ps)
