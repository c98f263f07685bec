"""Flows of two observation points, without a column that names the points; rows that look alike."""

from pathlib import Path

import polars as pl
import pytest

from ask.generator import Flow, collector_csv, nfdump_csv, some_flows
from ask.test_cases import CASES, add_up, traffic_of
from hull.ask import twins
from hull.ask.trace import Trace, read_trace

HEADER = "start_ms,src,dst,sport,dport,bytes\n"
WHY = "rows of flows that another row has as well"


def read(path: Path, rows: list[str], header: str = HEADER) -> Trace:
    path.write_text(header + "".join(f"{row}\n" for row in rows))
    trace = read_trace(path)
    add_up(trace)
    return trace


def dropped(trace: Trace) -> dict[str, tuple[int, int]]:
    return {one.why: (one.rows, one.bytes) for one in trace.counts.dropped}


def later(flows: list[Flow], us: int) -> list[Flow]:
    """The same flows as another point saw them."""
    return [Flow(**{**vars(flow), "start_us": flow.start_us + us}) for flow in flows]


@pytest.mark.parametrize("us", [0, 150, -3000, 900_000])
def test_each_flow_of_two_points_counts_once(tmp_path: Path, us: int) -> None:
    flows = some_flows(200)
    both = collector_csv(tmp_path / "both.csv", later(flows, us) + flows)
    trace = read_trace(both)
    add_up(trace)
    assert trace.counts.bytes == sum(flow.bytes for flow in flows)
    assert dropped(trace) == {WHY: (200, sum(flow.bytes for flow in flows))}
    said = (
        "Of 400 rows 200 repeat a flow (addresses, ports and size, starts within 1 s), as two "
        "observation points export it; the first row counts."
    )
    assert said in traffic_of(both)


def test_two_routers_without_the_column(tmp_path: Path) -> None:
    """The case with a column of exporters, without it."""
    table = pl.read_csv(CASES / "nfdump-two-exporters.csv", infer_schema=False)
    name = read_trace(CASES / "nfdump-two-exporters.csv").columns["exporter"]
    path = tmp_path / "trace.csv"
    table.drop(name).write_csv(path)
    counts = read_trace(path).counts
    # Two flows of 40 have the ports and the size of another one 1 and 5 ms later.
    assert (counts.rows, counts.flows) == (79, 38)
    assert read_trace(CASES / "nfdump-two-exporters.csv").counts.flows == 40


def test_some_flows_pass_both_points(tmp_path: Path) -> None:
    flows = some_flows(300)
    twice = [flow for flow in flows if flow.src < flow.dst]
    trace = read_trace(nfdump_csv(tmp_path / "trace.csv", flows + later(twice, 2000), "new"))
    add_up(trace)
    assert trace.counts.bytes == sum(flow.bytes for flow in flows)


def test_sizes_with_the_headers_of_a_tunnel(tmp_path: Path) -> None:
    # By packets, as the tunnel adds 4 bytes to each.
    header = "start_ms,src,dst,sport,dport,packets,bytes\n"
    rows = ["1,a,b,9,80,10,10000", "2,a,b,9,80,10,10040", "2,a,b,9,80,10,10600"]
    trace = read(tmp_path / "trace.csv", rows, header)
    assert dropped(trace) == {WHY: (1, 10040)}


@pytest.mark.parametrize(
    "rows",
    [
        # Another size, other ports, the other direction, a second later.
        ["1,a,b,9,80,90000", "1,a,b,9,80,90001"],
        ["1,a,b,9,80,90000", "1,a,b,8,80,90000"],
        ["1,a,b,9,80,90000", "1,b,a,80,9,90000"],
        ["1,a,b,9,80,90000", "1002,a,b,9,80,90000"],
        # Packets of one flow.
        ["1,a,b,9,80,1460", "1,a,b,9,80,1460", "2,a,b,9,80,1460"],
        # A program that writes the same piece again and again.
        [f"{place},a,b,9,80,100000" for place in range(9)],
        # Few ports: most flows with the same ends differ in size.
        [f"{place},a,b,9,80,{90000 + max(place - 2, 0)}" for place in range(9)],
        # Without ports.
        ["1,a,b,,,90000", "1,a,b,,,90000"],
        ["1,a,b,0,0,90000", "1,a,b,0,0,90000"],
    ],
)
def test_rows_that_are_flows_of_their_own(tmp_path: Path, rows: list[str]) -> None:
    trace = read(tmp_path / "trace.csv", rows)
    assert (trace.counts.flows, dropped(trace)) == (len(rows), {})


def test_samples_are_no_twins(tmp_path: Path) -> None:
    header = HEADER.replace("bytes", "sampling_rate,bytes")
    rows = ["1,a,b,9,80,100,90000", "1,a,b,9,80,100,90000"]
    assert dropped(read(tmp_path / "trace.csv", rows, header)) == {}


def test_long_traces_are_searched_in_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(twins, "_PIECE", 50)
    flows = some_flows(200)
    trace = read_trace(collector_csv(tmp_path / "both.csv", flows + flows))
    assert trace.counts.flows == 200
    once = read_trace(collector_csv(tmp_path / "once.csv", flows))
    assert once.flows.collect().equals(trace.flows.collect())
