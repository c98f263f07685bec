"""JSON lines of Zeek and Suricata: the same flows as in other forms, in both directions."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from ask.test_cases import CASES, add_up, refusal, traffic_of
from hull.ask.trace import read_trace

ZEEK_NUMBERS = {"ts", "duration", "orig_bytes", "resp_bytes", "orig_pkts", "id.orig_p", "id.resp_p"}


def zeek_objects() -> list[dict[str, Any]]:
    """The records of the log, as Zeek's JSON writer has them: unset ones are absent."""
    lines = (CASES / "zeek-conn.log").read_text().splitlines()
    names = next(line for line in lines if line.startswith("#fields")).split("\t")[1:]
    found = []
    for line in lines:
        if line.startswith("#"):
            continue
        cells = dict(zip(names, line.split("\t"), strict=True))
        found.append(
            {
                name: json.loads(cell) if name in ZEEK_NUMBERS else cell
                for name, cell in cells.items()
                if cell not in ("-", "(empty)")
            }
        )
    return found


def written(path: Path, objects: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in objects))
    return path


def test_zeeks_json_is_read_like_its_log(tmp_path: Path) -> None:
    path = written(tmp_path / "conn.json", zeek_objects())
    log, found = read_trace(CASES / "zeek-conn.log"), read_trace(path)
    assert found.form == "JSON lines"
    assert found.flows.collect().equals(log.flows.collect())
    add_up(found)
    assert (found.counts.rows, found.counts.replies) == (log.counts.rows, log.counts.replies)
    assert [(one.why, one.rows) for one in found.counts.dropped] == [
        (one.why, one.rows) for one in log.counts.dropped
    ]
    packed = tmp_path / "conn.json.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert read_trace(packed).flows.collect().equals(found.flows.collect())
    assert "The other direction (column resp_bytes) is replayed" in traffic_of(path)


def eve(place: int, sent: int, received: int, event: str = "flow") -> dict[str, Any]:
    """An event of Suricata."""
    at = f"2026-01-05T10:00:0{place}.000000+0000"
    flow = {"bytes_toserver": sent, "bytes_toclient": received, "start": at, "end": at}
    ends = {"src_ip": f"10.1.0.{place}", "dest_ip": "10.1.1.1", "src_port": 5, "dest_port": 80}
    return {"timestamp": at, "event_type": event, **ends, "proto": "TCP", "flow": flow}


def test_suricatas_events(tmp_path: Path) -> None:
    path = written(
        tmp_path / "eve.json",
        [eve(1, 100, 9000), eve(2, 10, 20, "alert"), eve(3, 300, 0), {"event_type": "stats"}],
    )
    trace = read_trace(path)
    add_up(trace)
    assert trace.flows.select("start_ps", "src", "dst", "bytes").collect().rows() == [
        (0, "10.1.0.1", "10.1.1.1", 100),
        (2 * 10**12, "10.1.0.3", "10.1.1.1", 300),
        (0, "10.1.1.1", "10.1.0.1", 9000),
    ]
    (dropped,) = trace.counts.dropped
    assert (dropped.why, dropped.rows) == ("records of other events than flows (event_type)", 2)


def test_lines_that_are_no_objects(tmp_path: Path) -> None:
    row = '{"start_us": 1, "src": "10.0.0.1", "dst": "10.0.0.2", "bytes": "1,500"}\n'
    path = tmp_path / "flows.json"
    path.write_text(row + "\n" + "[1]\nnonsense {\n" + row.replace("1,500", "-") + row)
    trace = read_trace(path)
    add_up(trace)
    assert (trace.counts.rows, trace.counts.flows, trace.counts.bytes) == (5, 2, 3000)
    assert [(one.why, one.rows, one.unknown) for one in trace.counts.dropped] == [
        ("rows without an address", 2, 2),
        ("rows without a readable size", 1, 1),
    ]
    # The line of the file, although one is empty.
    assert trace.counts.dropped[1].first == "row 5, column bytes: -"


@pytest.mark.parametrize("text", ['[{"start_us": 1}]\n', '{\n "start_us": 1\n}\n', "{broken\n"])
def test_other_json_is_rejected(tmp_path: Path, text: str) -> None:
    path = tmp_path / "flows.json"
    path.write_text(text)
    assert refusal(path).endswith(
        "is JSON, but its first line is no object; expected an object per line (of a list: jq -c "
        "'.[]' FILE)"
    )


def test_missing_columns_are_named(tmp_path: Path) -> None:
    path = tmp_path / "flows.json"
    path.write_text('{"start_us": 1, "flow": {"a": {"octets_in": 2}}}\n')
    assert "columns: start_us, flow.a.octets_in is invalid; expected one that holds src" in refusal(
        path
    )
