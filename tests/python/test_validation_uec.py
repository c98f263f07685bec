"""validation/uec/compare.py: recorded runs to the printed digit, missing inputs, bad tables."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HULL = Path(sys.executable).parent / "hull"
# uet-htsim.toml, [current], ids 0 and 94.
TABLE = """
[setup]
mtu_bytes = 4150
[current]
runs = [
  { id = 0, cm = "one.cm", options = "-sender_cc_only", tail = 176.2, first = 176.2, acks = 124 },
  { id = 94, cm = "ten.cm", options = "-receiver_cc_only -conn_reuse", tail = 46.8907, acks = 26 },
  { id = 3, cm = "missing.cm", options = "-sender_cc_only", tail = 1.0 },
  { id = 4, cm = "one.cm", options = "-sender_cc_only -dance", tail = 1.0 },
]
"""


def compare(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "validation/uec/compare.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def inputs(folder: Path, table: str = TABLE) -> list[str | Path]:
    (folder / "table.toml").write_text(table, encoding="utf-8")
    one = "Nodes 16\nConnections 1\n0->13 start 0 size 2000000\n"
    (folder / "one.cm").write_text(one, encoding="utf-8")
    ten = "0->1 id 1 msg start 0 size 40860\n" * 10
    (folder / "ten.cm").write_text(f"Nodes 2\nConnections 10\n{ten}", encoding="utf-8")
    out: list[str | Path] = ["--out", folder / "out", "--hull", HULL, "--jobs", "1"]
    return [folder / "table.toml", "--formats", folder, *out]


def test_recorded_runs_match_to_the_printed_digit(tmp_path: Path) -> None:
    done = compare(*inputs(tmp_path), "--format", "json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    rows = {row["id"]: row for row in told["rows"]}
    for number in (0, 94):
        tail = rows[number]["tail"]
        assert f"{tail['measured']:.6g}" == f"{tail['published']:.6g}"
        assert rows[number]["acks"]["ratio"] == 1
    assert rows[3]["reason"].startswith("missing.cm is not in ")
    assert "-dance" in rows[4]["reason"]
    summary = told["summary"]
    assert (summary["compared"], summary["skipped"], summary["failed"]) == (2, 2, 0)
    assert summary["share_within_3_percent"] == 1


def test_far_tail_exits_with_status_1(tmp_path: Path) -> None:
    table = TABLE.replace("176.2,", "150.0,", 1)
    done = compare(*inputs(tmp_path, table), "--only", "0")
    assert done.returncode == 1, done.stderr
    assert "0 of 1 tails within 3%" in done.stdout
    assert "| 150      | 176.2    | 1.1747 |" in done.stdout


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("tail = 176.2,", 'tail = "x",', "current.runs[0].tail: x is invalid; expected a number"),
        ('cm = "one.cm"', "cm = 3", "current.runs[0].cm: 3 is invalid; expected a text"),
        ("[current]\nruns", "[other]\nruns", "current.runs: None is invalid; expected a list"),
        ("mtu_bytes = 4150", "mtu_bytes = -1", "setup.mtu_bytes: -1 is invalid; expected a number"),
        ("[setup]", "[setup", "expected TOML"),
    ],
)
def test_bad_tables_are_reported(tmp_path: Path, old: str, new: str, told: str) -> None:
    done = compare(*inputs(tmp_path, TABLE.replace(old, new, 1)))
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_bad_options_are_reported(tmp_path: Path) -> None:
    done = compare(*inputs(tmp_path), "--only", "0,77")
    assert (done.returncode, "--only: 77 is invalid" in done.stderr) == (2, True)
    done = compare(tmp_path / "table.toml", "--formats", tmp_path / "none")
    assert (done.returncode, "none is invalid; expected a folder" in done.stderr) == (2, True)
