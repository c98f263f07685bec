"""Traces in each form, and the errors in them."""

import gzip
import itertools
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from ask.generator import (
    BEGIN_S,
    Flow,
    collector_csv,
    frames_of,
    icmp,
    nfdump_csv,
    packet,
    pcap,
    pcapng,
    some_flows,
)
from hull.ask.trace import Trace, read_trace
from hull.errors import UsageError

FLOWS = some_flows(200)
HEADER = "start_ms,src,dst,bytes\n"


def rows_of(trace: Trace) -> list[tuple[int, str, str, int, int | None]]:
    columns = ["start_ps", "src", "dst", "bytes", "duration_ps"]
    return trace.flows.select(columns).collect().rows()


def expected(flows: list[Flow], tick_us: int = 1) -> list[tuple[int, str, str, int, int]]:
    first = min(f.start_us // tick_us for f in flows)
    return [
        (
            (f.start_us // tick_us - first) * tick_us * 10**6,
            f.src,
            f.dst,
            f.bytes,
            f.duration_us // tick_us * tick_us * 10**6,
        )
        for f in flows
    ]


def text_of(folder: Path, text: str) -> Path:
    path = folder / "trace.csv"
    path.write_text(text)
    return path


def refusal(path: Path, columns: str | None = None, unit: str | None = None) -> str:
    with pytest.raises(UsageError) as caught:
        read_trace(path, columns, unit)
    return str(caught.value)


def test_collector_csv(tmp_path: Path) -> None:
    trace = read_trace(collector_csv(tmp_path / "flows.csv", FLOWS))
    assert rows_of(trace) == expected(FLOWS)
    assert (trace.counts.rows, trace.counts.flows, trace.counts.dropped) == (200, 200, ())
    assert trace.counts.bytes == sum(f.bytes for f in FLOWS)
    assert trace.resolution_ps == 10**6
    assert trace.columns["bytes"] == "octets"
    ports = trace.flows.select("src_port", "dst_port").collect()
    assert ports.row(0) == (FLOWS[0].src_port, 443)


def test_the_order_of_rows_does_not_matter(tmp_path: Path) -> None:
    turned = read_trace(collector_csv(tmp_path / "turned.csv", FLOWS[::-1]))
    assert rows_of(turned)[::-1] == expected(FLOWS)


def test_gzip_and_parquet_are_the_same_as_csv(tmp_path: Path) -> None:
    plain = collector_csv(tmp_path / "flows.csv", FLOWS)
    packed = tmp_path / "flows.csv.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert rows_of(read_trace(packed)) == expected(FLOWS)
    parquet = tmp_path / "flows.parquet"
    pl.read_csv(plain, try_parse_dates=True).write_parquet(parquet)
    assert rows_of(read_trace(parquet)) == expected(FLOWS)


@pytest.mark.parametrize("form", ["old", "new", "fast"])
def test_nfdump(tmp_path: Path, form: str) -> None:
    trace = read_trace(nfdump_csv(tmp_path / "nfdump.csv", FLOWS, form))
    assert trace.form == "nfdump CSV"
    assert rows_of(trace) == expected(FLOWS, 1000)
    assert trace.resolution_ps == 10**9
    lines = [(d.rows, d.why) for d in trace.counts.dropped]
    assert lines == ([] if form == "fast" else [(3, "lines of nfdump's summary")])


def test_nfdump_of_several_files(tmp_path: Path) -> None:
    first, second = (
        nfdump_csv(tmp_path / name, flows, "old").read_text()
        for name, flows in (("a", FLOWS[:50]), ("b", FLOWS[50:]))
    )
    trace = read_trace(text_of(tmp_path, first + second))
    assert rows_of(trace) == expected(FLOWS, 1000)
    assert [d.rows for d in trace.counts.dropped] == [6, 1]


@pytest.mark.parametrize("write", [pcap, pcapng])
def test_captures(tmp_path: Path, write: Callable[..., Path]) -> None:
    file = write(tmp_path / "capture", [*frames_of(FLOWS), (0, icmp("10.0.0.1", "10.0.0.2"))])
    for packed in (False, True):
        if packed:
            file.write_bytes(gzip.compress(file.read_bytes()))
        trace = read_trace(file)
        found = sorted(rows_of(trace))
        wanted = sorted(  # a single packet has no duration
            (start, src, dst, size, lasts if size > 1460 else 0)
            for start, src, dst, size, lasts in expected(FLOWS)
        )
        assert found == wanted
        dropped = {d.why.split(",")[0]: d.rows for d in trace.counts.dropped}
        assert dropped["ICMP packets"] == 1
        assert dropped["packets without data: acknowledgements"] == len(frames_of(FLOWS)) // 2
        assert trace.resolution_ps == (10**6 if write is pcap else 10**3)


def test_a_capture_by_connection_and_gap(tmp_path: Path) -> None:
    one = ("10.0.0.1", "10.0.0.2", (1000, 80))
    other = ("10.0.0.2", "10.0.0.1", (80, 1000))
    frames = [
        (0, packet(*one, 0, 0x02)),
        (10, packet(*one, 100)),
        (20, packet(*other, 1000)),
        (30, packet(*other, 1000, sequence=1000)),
        (2_000_000, packet(*one, 7)),
        (2_000_010, packet(*one, 0, 0x02)),
        (2_000_020, packet(*one, 9)),
    ]
    trace = read_trace(pcap(tmp_path / "a.pcap", frames))
    sizes = [(start // 10**6, src, size) for start, src, _, size, _ in rows_of(trace)]
    assert sizes == [
        (0, "10.0.0.1", 100),
        (10, "10.0.0.2", 2000),
        (1_999_990, "10.0.0.1", 7),
        (2_000_010, "10.0.0.1", 9),
    ]
    longer = read_trace(tmp_path / "a.pcap", idle_ps=3 * 10**12)
    assert longer.counts.flows == 3


def test_bad_captures(tmp_path: Path) -> None:
    file = pcap(tmp_path / "a.pcap", frames_of(FLOWS))
    content = file.read_bytes()
    file.write_bytes(content[:-5])
    assert "ends within a packet" in " ".join(read_trace(file).counts.guessed)
    file.write_bytes(content[:20] + b"\x69" + content[21:])
    assert "link type 105; expected Ethernet" in refusal(file)
    pcap(file, [(0, icmp("10.0.0.1", "10.0.0.2"))])
    assert "has no data of TCP or UDP (ICMP packets: 1)" in refusal(file)
    assert refusal(file, "start=ts").startswith("--columns: must not be given")
    file.write_bytes(content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hull.ask.packets.MOST_FLOWS", 10)
        assert "has more than 10 flows" in refusal(file)
        patch.setattr("hull.ask.packets.MOST_BYTES", 10)
        assert "expected a capture of at most 10:" in refusal(file)


def test_dropped_rows_are_counted(tmp_path: Path) -> None:
    rows = (
        "ts,src,dst,bytes,proto\n"
        "2026-01-01 12:00:01,10.0.0.1,10.0.0.2,1000,6\n"
        "2026-01-01 12:00:02,,10.0.0.2,50,6\n"
        "2026-01-01 12:00:02,10.0.0.1,-,60,6\n"
        "0000-00-00 00:00:00,10.0.0.1,10.0.0.2,70,6\n"
        "2026-01-01 12:00:03,10.0.0.1,10.0.0.2,many,6\n"
        "2026-01-01 12:00:03,10.0.0.1,10.0.0.2,0,6\n"
        "2026-01-01 12:00:03,10.0.0.1,10.0.0.2,64,icmp\n"
        "2026-01-01 12:00:00,10.0.0.2,10.0.0.1,2000,17\n"
    )
    counts = read_trace(text_of(tmp_path, rows)).counts
    assert (counts.rows, counts.flows, counts.bytes) == (8, 2, 3000)
    assert [(d.why, d.rows, d.bytes, d.unknown) for d in counts.dropped] == [
        ("rows without an address", 2, 110, 0),
        ("rows without a readable start", 1, 70, 0),
        ("rows without a readable size", 1, 0, 1),
        ("rows of zero bytes", 1, 0, 0),
        ("rows of ICMP", 1, 64, 0),
    ]
    assert counts.sentences[2] == (
        "Dropped: rows without a readable size: 1 (size unknown; the first is row 5, column bytes: "
        "many)."
    )


def test_packets_become_estimated_bytes(tmp_path: Path) -> None:
    trace = read_trace(text_of(tmp_path, "start_us,src,dst,pkts\n5,a,b,3\n"))
    assert rows_of(trace)[0][3] == 3 * 1460
    assert "a packet (pkts) counts as 1460 bytes" in trace.counts.guessed[-1]


def test_acks_and_reverse_bytes_are_reported(tmp_path: Path) -> None:
    rows = "start_us,src,dst,bytes,packets,out_bytes\n1,a,b,104,2,0\n2,a,b,9000,6,70\n"
    said = " ".join(read_trace(text_of(tmp_path, rows)).counts.guessed)
    assert "at most 60 bytes a packet, but replayed as data: 1 flow, 104 B." in said
    assert "not replayed (column out_bytes): 1 row, 70 B;" in said


BAD = {
    "negative": (HEADER + "1,a,b,5\n2,a,b,-7\n", "row 2, column bytes: -7 is invalid"),
    "huge": (HEADER + "1,a,b,1000000000001\n", "expected a size from 0 to 1 TB in bytes"),
    "backwards": (
        "start_ms,end_ms,src,dst,bytes\n9,9,a,b,5\n9,7,a,b,5\n",
        "row 2, column end_ms: the flow ends 0.002 s before it starts",
    ),
    "duration": (
        "start_ms,duration_ms,src,dst,bytes\n9,-4,a,b,5\n",
        "row 1, column duration_ms: the flow ends 0.004 s before it starts",
    ),
    "no source": (
        "start_ms,source_adr,dst,bytes\n1,a,b,5\n",
        "expected one that holds src, the sender's address; did you mean --columns src=source_adr?",
    ),
    "no size": (
        "start_ms,src,dst,volume\n1,a,b,5\n",
        "columns: start_ms, src, dst, volume is invalid; expected one that holds bytes, a flow's "
        "size (or packets); name it, such as --columns start=ts:ms",
    ),
    "no unit": (
        "start,src,dst,bytes\n17,a,b,5\n",
        "the unit of column start cannot be inferred from its name or values (17); expected it "
        "with the column, such as --columns start=start:us",
    ),
    "no time": ("start,src,dst,bytes\nnoon,a,b,5\n", "start: noon in column start is invalid"),
    "no header": ("1,10.0.0.1,10.0.0.2,5\n", "expected a header with the names of the columns"),
    "no rows": (HEADER, "has the columns start_ms, src, dst, bytes and no row"),
    "nothing": ("", "is empty"),
    "no flows": (
        HEADER + "1,a,b,0\n2,,b,7\n",
        "none of 2 rows is a flow (rows without an address: 1, rows of zero",
    ),
    "far apart": (
        "start,src,dst,bytes\n1970-01-01 00:00:00,a,b,5\n2026-01-01 00:00:00,a,b,5\n",
        "starts lie 20454 days apart, the first in row 1",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(tmp_path: Path, name: str) -> None:
    text, message = BAD[name]
    told = refusal(text_of(tmp_path, text))
    assert message in told
    assert "\n" not in told


def test_not_a_trace(tmp_path: Path) -> None:
    assert refusal(tmp_path).endswith("Is a directory")
    assert refusal(tmp_path / "none").endswith("No such file or directory")
    assert refusal(Path("/dev/null")).endswith("is a character device; expected a file")
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xa5\x0c\x01\x00" * 10)
    assert "nfdump -r FILE -o csv" in refusal(binary)
    binary.write_bytes(b"ab\0c" * 10)
    assert "is not text" in refusal(binary)
    binary.write_bytes(b"PAR1" * 10)
    assert "cannot be read" in refusal(binary)
    binary.write_bytes(gzip.compress(b"start_ms,src,dst,bytes\n1,a,b,5\n" * 9)[:-12])
    assert str(binary) in refusal(binary)


def test_columns_are_named(tmp_path: Path) -> None:
    path = text_of(tmp_path, "when;from whom;whither;volume\n5;a;b;2\n7;b;a;3\n")
    given = "start=when:ms,src=from whom,dst=whither,bytes=volume:KB"
    assert rows_of(read_trace(path, given)) == [
        (0, "a", "b", 2000, None),
        (2 * 10**9, "b", "a", 3000, None),
    ]
    for columns, message in (
        ("start", "--columns: start is invalid; expected ROLE=COLUMN"),
        ("strat=when", "did you mean start?"),
        ("start=wen", "--columns: start: wen is invalid; expected a column of the trace"),
        ("start=when:hours", "--columns: start: hours is invalid; expected s, ms, us"),
        ("src=whither:ms", "expected no unit for src"),
        ("bytes=volume:packs", "expected B, KB"),
        ("start=when,start=when", "start is given twice"),
    ):
        assert message in refusal(path, columns)
    assert "--time-unit: h is invalid" in refusal(path, given, "h")


def test_a_trace_leaves_nothing_behind(tmp_path: Path) -> None:
    file = collector_csv(tmp_path / "flows.csv", FLOWS)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    trace = read_trace(file, scratch=scratch)
    assert len(list(scratch.iterdir())) == 1
    del trace
    assert not list(scratch.iterdir())
    bad = text_of(tmp_path, HEADER + "1,a,b,-5\n")
    with pytest.raises(UsageError):
        read_trace(bad, scratch=scratch)
    assert not list(scratch.iterdir())


MEASURE = """
import resource, sys
from pathlib import Path
from hull.ask.placement import place
from hull.ask.trace import read_trace
from hull.ask.window import choose
placed = place(read_trace(Path(sys.argv[1])), [list(range(20)), list(range(20, 40))])
window = choose(placed, most_flows=50_000)
print(placed.counts.rows, window.flows.height, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.parametrize(
    "rows",
    [
        200_000,
        pytest.param(
            10_000_000,
            marks=pytest.mark.skipif(
                "HULL_TEN_MILLION" not in os.environ, reason="set HULL_TEN_MILLION=1: minutes"
            ),
        ),
    ],
)
def test_long_traces_take_little_memory(tmp_path: Path, rows: int) -> None:
    path = tmp_path / "long.csv"
    piece = 100_000
    with open(path, "wb") as file:
        for first in range(0, rows, piece):
            index = pl.int_range(first, first + piece, eager=True).alias("index")
            near = pl.format("10.0.{}.{}", index * 7919 % 20, index * 104_729 % 200)
            far = pl.format("10.1.{}.{}", index * 7907 % 20, index * 104_723 % 200)
            frame = index.to_frame().select(
                pl.from_epoch(BEGIN_S * 10**6 + index * 13, "us").dt.to_string("iso").alias("ts"),
                near.alias("src_ip"),
                far.alias("dst_ip"),
                (index * 31 % 100_000 + 1).alias("octets"),
            )
            frame.write_csv(file, include_header=first == 0)
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    read, chosen, peak_kb = map(int, done.stdout.split())
    assert (read, chosen) == (rows, 50_000)
    assert peak_kb < 1_000_000
    print(f"{rows} rows: {time.monotonic() - began:.1f} s, {peak_kb / 1e6:.2f} GB")


def test_the_unit_is_kept_to_the_nanosecond(tmp_path: Path) -> None:
    rows = "time,src,dst,bytes\n1767268800.000000001,a,b,1\n1767268801.5,a,b,1\n"
    trace = read_trace(text_of(tmp_path, rows))
    assert [row[0] for row in rows_of(trace)] == [0, 1_499_999_999_000]
    assert re.search(r"time is in seconds since 1970, by its values", trace.counts.guessed[0])


def test_damaged_gzip(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv.gz"
    whole = gzip.compress(b"start_us,src,dst,bytes\n1,10.0.0.1,10.0.0.2,5\n", mtime=0)
    refused = 0
    for place, other in itertools.product(range(2, len(whole)), (0, 0x7F, 0xFF)):
        path.write_bytes(whole[:place] + bytes([other]) + whole[place + 1 :])
        try:
            read_trace(path)
        except UsageError:  # and nothing else
            refused += 1
    assert refused > len(whole)


def test_hidden_characters_in_names_of_columns(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    path.write_text("start_us,\x7frc,dst,bytes\n1,10.0.0.1,10.0.0.2,5\n")
    with pytest.raises(UsageError, match="columns") as caught:
        read_trace(path)
    assert str(caught.value).isprintable()
