"""Files of 20 GB that are holes, and lines without an end: refused at once and in little memory."""

import gzip
import resource
import struct
import subprocess
from pathlib import Path

import pytest

from conftest import COMMAND
from hull.ask.csv_lines import long_line

HOLE = 20_000_000_000
SCENARIO = """\
name = "sparse"
run = { duration = "1ms", warmup = "0s" }
topology.star.hosts = 4
host = { rate = "10Gbps", delay = "500ns" }
switch = { rate = "10Gbps", delay = "500ns" }
workload.bulk = { flows = 1, size = "1KB" }
"""
ROWS = b"start_ps,src,dst,bytes\n0,0,1,10\n"
TRACE = b"start_ms,src,dst,bytes\n1,a,b,5\n2,b,a,5\n"
PCAP = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
NETWORK = ("--topology", "2x4@25G,2x100G")


def little_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))


def sparse(path: Path, start: bytes) -> str:
    with path.open("wb") as file:
        file.write(start)
        file.truncate(HOLE)
    return str(path)


def refused(folder: Path, *arguments: str) -> str:
    (folder / "scenario.toml").write_text(SCENARIO, encoding="utf-8")
    done = subprocess.run(
        [*COMMAND, *arguments],
        cwd=folder,
        preexec_fn=little_memory,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2, done.stderr[-500:]
    assert "Traceback" not in done.stderr
    return done.stderr


@pytest.mark.parametrize(
    ("key", "start", "told"),
    [
        ("workload={flows='%s'}", b"", "line 1: found more than 1000000 bytes without a line end"),
        ("workload={flows='%s'}", ROWS, "line 3: found more than 1000000 bytes"),
        ("workload={flows='%s'}", b"PAR1", "workload.flows"),
        (
            "workload={flows={load='10%%',sizes={csv='%s'}}}",
            b"bytes,cdf\n",
            "has more than 100000000 bytes",
        ),
        ("topology={file={path='%s'}}", b"<graphml>", "has more than 200000000 bytes"),
        ("topology={file={path='%s'}}", b"{", "has more than 200000000 bytes"),
    ],
)
@pytest.mark.parametrize("command", ["check", "run"])
def test_files_of_a_scenario(
    tmp_path: Path, command: str, key: str, start: bytes, told: str
) -> None:
    file = sparse(tmp_path / "file", start)
    assert told in refused(tmp_path, command, "scenario.toml", "--set", key % file)


def test_scenarios(tmp_path: Path) -> None:
    file = sparse(tmp_path / "large.toml", SCENARIO.encode())
    assert "has more than 20000000 bytes" in refused(tmp_path, "check", file)


@pytest.mark.parametrize(
    ("start", "told"),
    [
        (b"", "is not text"),
        (TRACE, "is not text"),
        (TRACE * 2000, "line 6001 has more than 1000000 bytes"),
        (b"PAR1", "cannot be read"),
        (PCAP, "1000 empty packets"),
        (b"\x0a\x0d\x0d\x0a", "expected pcap or pcapng"),
        (gzip.compress(TRACE + b"5" * 3_000_000), "line 4 has more than 1000000 bytes"),
    ],
)
def test_traces(tmp_path: Path, start: bytes, told: str) -> None:
    file = sparse(tmp_path / "trace", start)
    assert told in refused(tmp_path, "ask", file, *NETWORK)


def test_lines(tmp_path: Path) -> None:
    file = tmp_path / "lines"
    for lines, found in [([9, 1_000_000, 9], None), ([9] * 400_000, None), ([5, 1_100_000], 2)]:
        text = b"".join(b"x" * length + b"\n" for length in lines)
        for content in (text, text.removesuffix(b"\n"), gzip.compress(text, 1)):
            file.write_bytes(content)
            assert long_line(file) == found
