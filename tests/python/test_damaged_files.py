"""Damaged binary inputs: one message that the file cannot be read, and no text of a panic."""

import io
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from shutil import copytree
from typing import Any

import polars as pl
import pytest

import hull
from conftest import Hull
from hull import _core
from hull.files.parquet_probe import problem_of
from hull.sweeps.store import Store

FLOWS: dict[str, list[Any]] = {
    "start_ps": [0, 500_000, 900_000],
    "src": [1, 2, 3],
    "dst": [0, 0, 1],
    "bytes": [1000, 20_000, 1],
}
TRACE: dict[str, list[Any]] = {
    "start_us": [0, 5, 9],
    "src": ["10.0.0.1", "10.0.0.2", "10.0.0.3"],
    "dst": ["10.0.0.9", "10.0.0.9", "10.0.0.9"],
    "bytes": [1000, 20_000, 1],
}
SCENARIO = """
name = "damaged"
run = {{ duration = "2ms", warmup = "0s" }}
topology.star.hosts = 6
host = {{ rate = "10Gbps", delay = "500ns" }}
switch = {{ rate = "10Gbps", delay = "500ns" }}
workload = {{ {} }}
"""

TRIES = """
import sys
from pathlib import Path
import polars as pl
whole = Path(sys.argv[1]).read_bytes()
for place in range(int(sys.argv[2]), len(whole)):
    byte = whole[place]
    for other in sorted({byte ^ 1, byte ^ 128, (byte + 1) % 256, byte ^ 255, 0, 127} - {byte}):
        Path("tried.parquet").write_bytes(whole[:place] + bytes([other]) + whole[place + 1 :])
        print("at", place, other, flush=True)
        try:
            pl.read_parquet("tried.parquet", glob=False)
        except pl.exceptions.PanicException:
            print("panic", place, other, flush=True)
        except pl.exceptions.PolarsError:
            pass
print("end", flush=True)
"""
"""Reads a file with polars after each change of a byte, from a place on; polars may end it."""


def parquet(rows: dict[str, list[Any]]) -> bytes:
    buffer = io.BytesIO()
    pl.DataFrame(rows).write_parquet(buffer, compression="uncompressed")
    return buffer.getvalue()


def changes(whole: bytes) -> Iterator[bytes]:
    """The content with one byte changed, each byte to several values."""
    for place, byte in enumerate(whole):
        for other in {byte ^ 1, byte ^ 0x80, (byte + 1) % 256, byte ^ 0xFF, 0, 0x7F} - {byte}:
            yield whole[:place] + bytes([other]) + whole[place + 1 :]


@pytest.fixture(scope="module")
def fatal(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Traces at which polars panics, and at which it ends its process."""
    folder = tmp_path_factory.mktemp("fatal")
    whole = parquet(TRACE)
    (folder / "whole.parquet").write_bytes(whole)
    found: dict[str, bytes] = {}
    place = 0
    while len(found) < 2:
        done = subprocess.run(
            [sys.executable, "-c", TRIES, "whole.parquet", str(place)],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        lines = [line.split() for line in done.stdout.splitlines()]
        panics = [line[1:] for line in lines if line[0] == "panic"]
        ends = [lines[-1][1:]] if done.returncode < 0 else []
        for kind, cases in (("panic", panics), ("end", ends)):
            for at, other in cases[:1]:
                content = bytearray(whole)
                content[int(at)] = int(other)
                found.setdefault(kind, bytes(content))
        if lines[-1][0] == "end":
            break
        place = int(lines[-1][1]) + 1
    if not found:
        pytest.skip("polars reads or refuses each changed file")
    return found


def test_flow_list_with_a_changed_byte(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "flows.parquet"
    text = SCENARIO.format(f'flows = "{path}"')
    read = 0
    # A test of hull-sim tries all.
    tried = list(changes(parquet(FLOWS)))[::7]
    for content in tried:
        path.write_bytes(content)
        with suppress(hull.ScenarioError):
            _core.expand(text, "s.toml", [])
            read += 1
    assert 0 < read < len(tried)
    assert capfd.readouterr().err == ""


def test_traces(fatal: dict[str, bytes], place: Path, hull: Hull) -> None:
    for kind, content in fatal.items():
        (place / f"{kind}.parquet").write_bytes(content)
        done = hull("ask", f"{kind}.parquet", "--topology", "4@10G", "--out", "answer")
        assert done.returncode == 2, done.stderr
        assert done.stderr.count("\n") == 1
        assert f"{kind}.parquet: cannot be read: its content is damaged" in done.stderr
        assert not (place / "answer").exists()


def test_tables_without_checksums(fatal: dict[str, bytes], place: Path, hull: Hull) -> None:
    (place / "s.toml").write_text(SCENARIO.format('bulk = { flows = 3, size = "3KB" }'))
    assert hull("run", "s.toml", "--out", "whole").returncode == 0
    for kind, content in fatal.items():
        copytree(place / "whole", place / kind)
        for record in (place / kind).rglob("run.json"):
            said = json.loads(record.read_text())
            record.write_text(json.dumps({**said, "sha256": {}}))
        for table in (place / kind).rglob("*.parquet"):
            table.write_bytes(content)
        for command in ("report", "trace"):
            done = hull(command, kind)
            assert done.returncode == 2, done.stderr
            assert done.stderr.count("\n") == 1
            assert "cannot be read: its content is damaged" in done.stderr


def test_tables_in_python(fatal: dict[str, bytes], tmp_path: Path) -> None:
    (tmp_path / "summary.json").write_text('{"name": "x"}')
    for content in fatal.values():
        (tmp_path / "flows.parquet").write_bytes(content)
        with pytest.raises(hull.UsageError, match="cannot be read: its content is damaged"):
            _ = hull.load(tmp_path).flows
    (tmp_path / "flows.parquet").write_bytes(b"PAR1")
    with pytest.raises(hull.UsageError, match="cannot be read"):
        _ = hull.load(tmp_path).flows


def test_stores_without_checksums(fatal: dict[str, bytes], tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    store.create()
    keys = [f"{number:064x}" for number in range(1 + len(fatal))]
    labels = (keys[0], "x", "", "", "{}")
    for key in keys:
        store.path(key).parent.mkdir(parents=True, exist_ok=True)
    _core.write_statistics(str(store.path(keys[0])), labels, 1, [("marks", "", 3.0)])
    for key, content in zip(keys[1:], fatal.values(), strict=True):
        store.path(key).write_bytes(content)
    found, broken = store.read(keys)
    assert found == {keys[0]: [("marks", "", 3.0)]}
    assert broken == [store.path(key) for key in keys[1:]]


def test_intact_files_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "-x *.parquet"
    path.write_bytes(parquet(TRACE))
    assert problem_of([path]) is None
    path.write_bytes(parquet(TRACE)[:-1])
    assert problem_of([path])
