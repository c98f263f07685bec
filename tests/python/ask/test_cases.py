"""Traces as people's own tools write them: what was read adds up, and the page has all of it."""

import gzip
import html
import os
import re
import subprocess
from pathlib import Path

import pytest

from ask.generator import nfdump_csv, some_flows
from conftest import COMMAND
from hull.ask.network import read_network
from hull.ask.trace import Trace, read_trace
from hull.ask.traffic import TrafficOptions, read_traffic
from hull.errors import UsageError

CASES = Path(__file__).parent / "cases"
NETWORK = "2x4@25G,2x100G"


def add_up(trace: Trace) -> None:
    """Rows, and flows of the other direction, are flows or dropped."""
    counts = trace.counts
    kept = trace.flows.collect()
    assert (kept.height, int(kept["bytes"].sum())) == (counts.flows, counts.bytes)
    if counts.unit == "row":
        dropped = sum(one.rows for one in counts.dropped)
        assert counts.rows + counts.replies == counts.flows + dropped


def traffic_of(path: Path, **options: object) -> str:
    """What the page says of the traffic."""
    asked = TrafficOptions(path, **options)  # type: ignore[arg-type]
    return "\n".join(read_traffic(asked, read_network(NETWORK)).sentences)


def test_notes_reach_the_page_and_the_terminal(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            *(*COMMAND, "ask", str(CASES / "lost-notes.csv"), "--topology", NETWORK),
            *("--give-up", "5%", "--seeds", "1", "--today", "dctcp", "--out", "answer"),
        ],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "COLUMNS": "200"},
    )
    assert done.returncode == 0, done.stderr
    page = html.unescape((tmp_path / "answer" / "ask.html").read_text(encoding="utf-8"))
    sentences = (
        "lost-notes.csv is CSV: 5 rows, 3 flows, of which 3 flows with 1.5 MB can be replayed; ",
        "Dropped: rows without a readable size: 1 (size unknown; the first is row 3, column "
        "orig_bytes: -).",
        "Dropped: rows of ICMP: 1 (64 B).",
        "ts is in seconds since 1970, by its values",
        "Bytes of the other direction are not replayed (column resp_bytes): 3 rows, 10 MB; replay "
        "them with --columns reply_bytes=resp_bytes.",
        "Places are guessed: 4 addresses in 1 block",
    )
    for sentence in sentences:
        assert re.search(f"^{re.escape(sentence)}", done.stdout, re.MULTILINE), sentence
        assert f"<li>{sentence}" in page


def refusal(path: Path, *given: str) -> str:
    with pytest.raises(UsageError) as caught:
        read_trace(path, *given)
    return str(caught.value)


def test_rows_with_more_cells_than_the_header(tmp_path: Path) -> None:
    told = refusal(CASES / "nfdump-comma-in-name.csv")
    assert told.endswith(
        "nfdump-comma-in-name.csv: row 1: 1 is beyond the 8 columns of the header; expected a cell "
        "for each column: quote text that contains the separator"
    )
    path = tmp_path / "trace.csv"
    rows = "".join(f"{index},a,b,7\n" for index in range(3000))
    path.write_text(f"start_us,src,dst,bytes\n{rows}3000,a,b,7,8\n")
    assert "row 3,001: 8 is beyond the 4 columns" in refusal(path)
    # A separator at the end of each line adds no cell.
    path.write_text(f"start_us,src,dst,bytes\n{rows}3000,a,b,7,\n")
    assert read_trace(path).counts.flows == 3001


def test_a_list_of_packets(tmp_path: Path) -> None:
    assert refusal(CASES / "wireshark-packet-list.csv").endswith(
        "wireshark-packet-list.csv: the header No., Time, Source, Destination, Protocol, Length, "
        "Info belongs to a list of packets; expected flows: give the capture itself (pcap or "
        "pcapng)"
    )
    path = tmp_path / "trace.csv"
    path.write_text("frame.time_epoch\tip.src\tip.dst\tframe.len\n1.5\t10.0.0.1\t10.0.0.2\t90\n")
    given = "start=frame.time_epoch:s,src=ip.src,dst=ip.dst,bytes=frame.len"
    assert "belongs to a list of packets" in refusal(path, given)


def test_samples_of_packets() -> None:
    path = CASES / "sflow-samples.csv"
    assert refusal(path).endswith(
        "sflow-samples.csv: row 1, column sampling_rate: 1024 of a single packet: the rows are "
        "sampled packets, from which the sizes of flows are unknown; expected flows; --sampling "
        "1024 replays each row as a flow of 1024 times its bytes"
    )
    trace = read_trace(path, sampling=1024)
    add_up(trace)
    assert trace.flows.collect()["bytes"][:2].to_list() == [70 * 1024] * 2
    said = traffic_of(path, sampling=1024)
    assert "Sizes are multiplied by the sampling rate, 1,024 (--sampling): 119 rows." in said
    assert (
        "A single sampled packet does not tell its flow's size, yet is replayed as a flow" in said
    )


SAMPLED = "start_us,src,dst,bytes,packets,sampling_interval\n1,a,b,900,{}\n2,b,a,70,{}\n"


def test_rates_are_multiplied_in(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    path.write_text(SAMPLED.format("2,1:100", "1,1000"))
    trace = read_trace(path)
    assert trace.flows.collect()["bytes"].to_list() == [90_000, 70_000]
    assert trace.counts.guessed[1:] == (
        "Sizes are multiplied by the sampling rate, 100 to 1,000 (column sampling_interval): 2 "
        "rows; override with --sampling N (1: as they are). They are estimates, and flows of which "
        "no packet was sampled are missing.",
        "A single sampled packet does not tell its flow's size, yet is replayed as a flow: 1 row.",
    )
    unscaled = read_trace(path, sampling=1)
    assert unscaled.flows.collect()["bytes"].to_list() == [900, 70]
    path.write_text(SAMPLED.format("2,1", "1,1"))
    assert "ampling" not in " ".join(read_trace(path).counts.guessed)
    path.write_text(SAMPLED.format("2,0", "1,"))
    assert "counts as 1 (column sampling_interval): 2 rows" in read_trace(path).counts.guessed[-1]


@pytest.mark.parametrize(
    ("rates", "told"),
    [
        (("2,100", "1,0"), "row 2, column sampling_interval: 0 is invalid; expected the sampling"),
        (("2,100", "1,"), "row 2, column sampling_interval: empty is invalid"),
        (("2,often", "1,1"), "row 1, column sampling_interval: often is invalid"),
        (("2,1", "1,-4"), "row 2, column sampling_interval: -4 is invalid"),
    ],
)
def test_unknown_rates(tmp_path: Path, rates: tuple[str, str], told: str) -> None:
    path = tmp_path / "trace.csv"
    path.write_text(SAMPLED.format(*rates))
    assert told in refusal(path)


def test_flow_logs_of_a_cloud(tmp_path: Path) -> None:
    path = CASES / "vpc-flow.log"
    text = path.read_text()
    counts = read_trace(path).counts
    assert (counts.rows, counts.flows) == (59, 50)
    rows = [line.split() for line in text.splitlines()[1:]]
    assert counts.bytes == sum(int(row[9]) for row in rows if row[12] == "ACCEPT")
    rejected = sum(int(row[9]) for row in rows if row[12] == "REJECT")
    assert [(one.why, one.rows, one.bytes, one.unknown) for one in counts.dropped] == [
        ("records of an interval without traffic (NODATA)", 2, 0, 0),
        ("flows that a firewall rejected", 7, rejected, 0),
    ]
    other = tmp_path / "trace"
    # Blanks may align the columns.
    other.write_text(text.replace(" ", "   ").replace("NODATA", "SKIPDATA"))
    skipped = read_trace(other).counts
    assert (skipped.flows, skipped.bytes) == (counts.flows, counts.bytes)
    assert skipped.sentences[0] == (
        "Dropped: records that the collector skipped (SKIPDATA): 2 (size unknown)."
    )
    other.write_text("start_us src dst bytes\n1 a b 5 6\n")
    assert "row 1: 6 is beyond the 4 columns" in refusal(other)
    other.write_text("start_us src dst src bytes\n1 a b 5 6\n")
    assert "has a name twice" in refusal(other)


def test_flows_of_two_exporters(tmp_path: Path) -> None:
    path = CASES / "nfdump-two-exporters.csv"
    rows = [line.split(",") for line in path.read_text().splitlines()[1:]]
    # The first has all that the second has, and a row more.
    sizes = [int(row[8]) for row in rows if row[10] == "r1"]
    trace = read_trace(path)
    add_up(trace)
    assert (trace.counts.rows, trace.counts.flows) == (79, len(sizes)) == (79, 40)
    assert trace.counts.bytes == sum(sizes)
    assert trace.counts.dropped[0].bytes == sum(int(row[8]) for row in rows) - trace.counts.bytes
    assert trace.counts.guessed[-1] == (
        "Several exporters (column router: r1, r2) saw the same connections, by addresses and "
        "ports: 29; of each the exporter with the most bytes counts."
    )


def test_an_exporter_of_its_own_flows_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    header = "start_us,src,dst,bytes,exporter_ip"
    # Without ports, a flow is the same if start and size are.
    rows = ["1,a,b,5,r2", "1,a,b,5,r1", "2,a,b,5,r2", "1,b,a,5,r1", "3,b,a,7,", "3,b,a,7,r1"]
    path.write_text("\n".join([header, *rows, ""]))
    trace = read_trace(path)
    add_up(trace)
    assert trace.counts.flows == 4
    assert "(column exporter_ip: , r1, r2)" in trace.counts.guessed[-1]
    # The exporter that saw most of a flow counts, whichever row comes first.
    header = "start_us,src,dst,bytes,exporter_ip,sport,dport"
    rows = ["1,a,b,5,r1,9,80", "2,a,b,6,r2,9,80", "3,a,b,5,r1,8,80"]
    path.write_text("\n".join([header, *rows, ""]))
    trace = read_trace(path)
    assert trace.flows.collect()["bytes"].to_list() == [6, 5]
    # Ports are used again, here after 100 s.
    rows[1] = "100000001,a,b,6,r2,9,80"
    path.write_text("\n".join([header, *rows, ""]))
    again = read_trace(path).counts
    assert (again.flows, again.dropped) == (3, ())
    assert "exporter" not in " ".join(again.guessed)


def test_both_directions_are_flows(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    header = "start_us,src,dst,sport,dport,bytes,resp_bytes\n"
    path.write_text(
        header + "5,a,b,9,80,7,100\n1,b,c,8,80,0,200\n6,a,c,7,80,-,300\n7,c,a,6,80,1,-\n"
    )
    given = "reply_bytes=resp_bytes"
    trace = read_trace(path, given)
    add_up(trace)
    assert trace.flows.select("start_ps", "src", "dst", "src_port", "bytes").collect().rows() == [
        (4_000_000, "a", "b", 9, 7),
        (6_000_000, "c", "a", 6, 1),
        (4_000_000, "b", "a", 80, 100),
        (0, "c", "b", 80, 200),
        (5_000_000, "c", "a", 80, 300),
    ]
    assert "left out (column resp_bytes): 1 row." in trace.counts.guessed[-1]
    path.write_text(header + "5,a,b,9,80,7,-100\n")
    assert "row 1, column resp_bytes: -100 is invalid; expected a size from" in refusal(path, given)


def test_zeek_logs_have_both_directions(tmp_path: Path) -> None:
    path = CASES / "zeek-conn.log"
    rows = [line.split("\t") for line in path.read_text().splitlines() if not line.startswith("#")]
    trace = read_trace(path)
    add_up(trace)
    counts = trace.counts
    assert trace.form == "Zeek log"
    assert (counts.rows, counts.flows, counts.dropped) == (62, 118, counts.dropped)
    assert [(one.why, one.rows, one.unknown) for one in counts.dropped] == [
        ("rows without a readable size", 3, 3)
    ]
    assert counts.bytes == sum(int(cell) for row in rows for cell in row[9:11] if cell != "-")
    first = trace.flows.collect().sort("start_ps", maintain_order=True)[:2]
    row = rows[0]
    assert first.select("src", "dst", "bytes", "dst_port").rows() == [
        (row[2], row[4], int(row[9]), int(row[5])),
        (row[4], row[2], int(row[10]), int(row[3])),
    ]
    assert "is replayed as flows of its own" in " ".join(counts.guessed)
    assert "cknowledgement" not in " ".join(counts.guessed)
    other = tmp_path / "conn.log"
    other.write_text(path.read_text() + "\t".join([*rows[0], "more"]) + "\n")
    assert f"row {len(rows) + 1}: more is beyond the 21 columns" in refusal(other)


def test_times_with_and_without_a_zone(tmp_path: Path) -> None:
    path = CASES / "iso-mixed-zones.csv"
    trace = read_trace(path)
    assert (trace.counts.rows, trace.counts.flows, trace.counts.dropped) == (300, 300, ())
    said = "Times without a zone count as UTC, like the others (column ts): 144 rows of 300."
    assert said in trace.counts.guessed
    whole = tmp_path / "trace.csv"
    text = path.read_text()
    whole.write_text(re.sub(r"^([^,]*\d)Z?,", r"\1Z,", text, flags=re.MULTILINE))
    other = read_trace(whole)
    assert other.flows.collect().equals(trace.flows.collect())
    assert "zone" not in " ".join(other.counts.guessed)
    whole.write_text(text.replace("Z,", "+02:00,"))
    assert refusal(whole).endswith(
        "row 2, column ts: the time has no zone, but another row has +02:00; expected a zone in "
        "each row or in none"
    )


def test_estimated_sizes_are_said() -> None:
    path = CASES / "packets-not-bytes.csv"
    assert read_trace(path).counts.bytes == 300 * 1460
    said = "The trace has no bytes: a packet (pkts) counts as 1460 bytes."
    assert said in traffic_of(path).splitlines()


@pytest.mark.parametrize("name", ["vpc-flow.log", "zeek-conn.log", "nfdump-human-sizes.csv"])
def test_compressed_traces(tmp_path: Path, name: str) -> None:
    plain = read_trace(CASES / name)
    packed = tmp_path / f"{name}.gz"
    packed.write_bytes(gzip.compress((CASES / name).read_bytes()))
    trace = read_trace(packed)
    assert (trace.counts, trace.form) == (plain.counts, plain.form)
    assert trace.flows.collect().equals(plain.flows.collect())


def test_nfdump_summary_below_few_columns(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    few = (CASES / "nfdump-human-sizes.csv").read_text()
    summary = "Summary\nflows,bytes,packets,avg_bps,avg_pps,avg_bpp\n79,28100000,9,1,1,1\n"
    path.write_text(few + summary)
    counts = read_trace(path).counts
    assert (counts.flows, [one.rows for one in counts.dropped]) == (79, [3])


def test_nfdump_summary_below_few_rows(tmp_path: Path) -> None:
    """The lines of the summary are no times that tell the column's unit."""
    trace = read_trace(nfdump_csv(tmp_path / "trace.csv", some_flows(2), "new"))
    add_up(trace)
    assert (trace.counts.flows, [one.rows for one in trace.counts.dropped]) == (2, [3])


def test_short_rows_are_not_nfdumps_summary(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    path.write_text(
        "ts,sa,da,ibyt,pr,flg,note\n1.5,10.0.0.1,10.0.0.2,5,6,S,\n2.5,10.0.0.1,10.0.0.2,7,6\n"
        "3.5,10.0.0.1,10.0.0.2,9,6,S,x\nSummary\nflows,bytes,packets,avg_bps,avg_pps,avg_bpp\n"
        "3,21,3,100,0,7\n"
    )
    trace = read_trace(path)
    add_up(trace)
    assert (trace.counts.bytes, [one.rows for one in trace.counts.dropped]) == (21, [3])


def test_sizes_with_units() -> None:
    trace = read_trace(CASES / "nfdump-human-sizes.csv")
    counts = trace.counts
    assert (counts.rows, counts.flows, counts.dropped) == (79, 79, ())
    sizes = trace.flows.collect()["bytes"]
    assert sizes.unique().sort().to_list() == [600, 9000, 40_000, 1_500_000]
    assert sizes[2] == 1_500_000
    assert counts.guessed[-1] == (
        "Sizes with units (K is 1,000, Ki is 1,024) or with separators between thousands are read "
        "to the digits written: 16 rows; the first is row 3, column bytes: 1.5 M, 1,500,000 bytes."
    )


@pytest.mark.parametrize(
    ("cell", "bytes_"),
    [
        ("1.5M", 1_500_000),
        ("12 KB", 12_000),
        ("1.5 KiB", 1536),
        ("2 B", 2),
        ('"1,500,000"', 1_500_000),
        ("1'500'000", 1_500_000),
        ("1 500 000", 1_500_000),
        ("1.5e6", 1_500_000),
        ("12.0", 12),
        # Bits, decimal commas and other groups of digits are not guessed at.
        ("1.5 Mb", None),
        ('"1,5 M"', None),
        ('"1,500 M"', None),
        ('"15,00"', None),
        ("1.500.000", None),
        ("-1.5 M", None),
    ],
)
def test_written_sizes(tmp_path: Path, cell: str, bytes_: int | None) -> None:
    path = tmp_path / "trace.csv"
    path.write_text(f"start_us,src,dst,bytes\n1,a,b,7\n2,a,b,{cell}\n")
    trace = read_trace(path)
    add_up(trace)
    assert trace.flows.collect()["bytes"].to_list() == [7, *([bytes_] if bytes_ else [])]
    assert trace.counts.rows == 2


def test_units_of_the_column_and_of_the_cell(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    path.write_text("start_us,src,dst,volume\n1,a,b,7\n2,a,b,1.5 M\n")
    given = read_trace(path, "bytes=volume:KB")
    assert given.flows.collect()["bytes"].to_list() == [7000, 1_500_000]
    path.write_text("start_us,src,dst,pkts\n1,a,b,1\n2,a,b,1.5 K\n")
    packets = read_trace(path)
    assert packets.flows.collect()["bytes"].to_list() == [1460, 1500 * 1460]
