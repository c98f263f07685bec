"""Every reader: what the page says was read and dropped is what the file has."""

import gzip
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

from ask.generator import collector_csv, frames_of, nfdump_csv, pcap, pcapng, some_flows
from ask.test_cases import CASES, add_up, traffic_of
from ask.test_json_lines import eve, written, zeek_objects
from ask.test_twins import later
from hull.ask.trace import read_trace

FLOWS = some_flows(60)
BYTES = sum(flow.bytes for flow in FLOWS)
FRAMES = frames_of(FLOWS)


@dataclass(frozen=True)
class Reader:
    """A trace, and what is in it by count: rows (packets of a capture), flows and those dropped."""

    make: Callable[[Path], Path]
    rows: int
    flows: int
    dropped: tuple[int, ...] = ()
    replies: int = 0
    """Flows of the other direction."""
    bytes: int | None = None
    """Of the flows that are read; None where other tests count them."""


def packed(path: Path) -> Path:
    """The same file in gzip."""
    path.write_bytes(gzip.compress(path.read_bytes()))
    return path


def parquet(path: Path) -> Path:
    """The collector's table."""
    table = pl.read_csv(collector_csv(path, FLOWS))
    table.write_parquet(path)
    return path


def events(path: Path) -> Path:
    """Two flows, one of them in both directions, and an alert."""
    return written(path, [eve(1, 100, 9000), eve(2, 10, 20, "alert"), eve(3, 300, 0)])


def case(name: str) -> Callable[[Path], Path]:
    return lambda _: CASES / name


def twins(path: Path) -> Path:
    """Each flow as two observation points export it."""
    return collector_csv(path, FLOWS + later(FLOWS, 150))


ACKS = len(FRAMES) // 2
READERS = {
    "collector": Reader(lambda path: collector_csv(path, FLOWS), 60, 60, bytes=BYTES),
    "collector, gzip": Reader(lambda path: packed(collector_csv(path, FLOWS)), 60, 60, bytes=BYTES),
    "parquet": Reader(parquet, 60, 60, bytes=BYTES),
    "twins": Reader(twins, 120, 60, (60,), bytes=BYTES),
    "twins, gzip": Reader(lambda path: packed(twins(path)), 120, 60, (60,), bytes=BYTES),
    # Three lines of the summary.
    "nfdump old": Reader(lambda path: nfdump_csv(path, FLOWS, "old"), 63, 60, (3,), bytes=BYTES),
    "nfdump new": Reader(lambda path: nfdump_csv(path, FLOWS, "new"), 63, 60, (3,), bytes=BYTES),
    "nfdump fast": Reader(lambda path: nfdump_csv(path, FLOWS, "fast"), 60, 60, bytes=BYTES),
    # Each packet with data has an acknowledgement.
    "pcap": Reader(lambda path: pcap(path, FRAMES), 2 * ACKS, 60, (ACKS,), bytes=BYTES),
    "pcap, gzip": Reader(
        lambda path: packed(pcap(path, FRAMES)), 2 * ACKS, 60, (ACKS,), bytes=BYTES
    ),
    "pcapng": Reader(lambda path: pcapng(path, FRAMES), 2 * ACKS, 60, (ACKS,), bytes=BYTES),
    "pcapng of two interfaces": Reader(
        lambda path: pcapng(path, FRAMES, FRAMES), 4 * ACKS, 60, (2 * ACKS, ACKS), bytes=BYTES
    ),
    "events": Reader(events, 3, 3, (1,), replies=1, bytes=9400),
    "json lines": Reader(lambda path: written(path, zeek_objects()), 62, 118, (3,), replies=59),
    "json lines, gzip": Reader(
        lambda path: packed(written(path, zeek_objects())), 62, 118, (3,), replies=59
    ),
    "zeek": Reader(case("zeek-conn.log"), 62, 118, (3,), replies=59),
    "lost notes": Reader(case("lost-notes.csv"), 5, 3, (1, 1)),
    "cloud": Reader(case("vpc-flow.log"), 59, 50, (2, 7)),
    "packets": Reader(case("packets-not-bytes.csv"), 2, 2),
    "zones": Reader(case("iso-mixed-zones.csv"), 300, 300),
    "two exporters": Reader(case("nfdump-two-exporters.csv"), 79, 40, (39,)),
    "human sizes": Reader(case("nfdump-human-sizes.csv"), 79, 79),
}


@pytest.mark.parametrize("name", READERS)
def test_all_that_was_read_is_said(tmp_path: Path, name: str) -> None:
    reader = READERS[name]
    path = reader.make(tmp_path / "trace")
    trace = read_trace(path)
    add_up(trace)
    said = traffic_of(path)
    counts = trace.counts
    if reader.bytes is not None:
        assert counts.bytes == reader.bytes
    assert (
        f"{trace.form}: {reader.rows:,} {counts.unit}s, {reader.flows:,} flows, of which " in said
    )
    for sentence in counts.sentences:
        assert sentence in said
    # On the page, flows that have no path in the network are dropped as well.
    told = [
        int(number.replace(",", ""))
        for why, number in re.findall(r"^Dropped: (.*): ([\d,]+)[ .]", said, re.MULTILINE)
        if not why.startswith("flows that begin and end")
    ]
    assert tuple(told) == reader.dropped
    replies = re.search(r"is replayed as flows of its own .*: ([\d,]+) flow", said)
    assert (int(replies[1]) if replies else 0) == reader.replies
    if counts.unit == "row":
        assert reader.rows + reader.replies == reader.flows + sum(reader.dropped)
