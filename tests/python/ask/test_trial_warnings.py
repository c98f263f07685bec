"""Warnings of `hull ask`: one for all seeds of a scheme, on terminal and page; `--strict`."""

import html
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from conftest import COMMAND

TRACE = Path(__file__).parent / "cases" / "zeek-conn.log"
NETWORK = "8@25G"
NEVER = (
    "switch.marking.threshold: 15.938KB is not below 14.5KB, the longest queue that a full-size "
    "packet can meet with switch.buffer = 16KB, so the switches mark none (DCTCP)"
)
"""K is 15,938 bytes at 25 Gbps, and a queue in 16 KB is at most 14,500 when a packet arrives."""
DROPPED = (
    r"DCTCP: transport\.ecn: the switches dropped [\d.]+ packets per seed and marked none; their "
    r"buffers fill before they mark"
)
FIFO_HOSTS = """
name = "own"
topology = { star = { hosts = 8 } }
host = { queue = "fifo", rate = "10Gbps", delay = "1us" }
switch = { rate = "10Gbps", delay = "1us" }
workload = { bulk = { flows = 1 } }
run = { duration = "1ms" }
"""


def ask(folder: Path, *arguments: str, network: str = NETWORK) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            *(*COMMAND, "ask", str(TRACE), "--topology", network, "--out", "answer"),
            *("--give-up", "5%", "--today", "dctcp", *arguments),
        ],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=folder,
        env={**os.environ, "COLUMNS": "400"},
    )


@pytest.mark.parametrize("replay", [(), ("--replay",)])
def test_seeds_share_a_warning(tmp_path: Path, replay: tuple[str, ...]) -> None:
    done = ask(tmp_path, "--buffer", "16KB", "--seeds", "4", *replay)
    assert done.returncode == 0, done.stderr
    told = " ".join(done.stdout.split())
    (dropped,) = re.findall(DROPPED, told)
    assert told.count("mark none") == 1
    assert f" {NEVER}. " in told
    page = html.unescape((tmp_path / "answer" / "ask.html").read_text(encoding="utf-8"))
    for sentence in (NEVER, dropped):
        assert f"<li>{sentence}.</li>" in page
    # The number counts all seeds together.
    runs = json.loads((tmp_path / "answer" / "runs" / "summary.json").read_text(encoding="utf-8"))
    drops = [part["drops"] for part in runs["parts"] if part["scheme"] == "dctcp"]
    assert len(drops) == 4
    assert f"dropped {sum(drops) / 4:,.4g} packets" in dropped


def test_strict_makes_warnings_errors(tmp_path: Path) -> None:
    done = ask(tmp_path, "--buffer", "16KB", "--strict", "--seeds", "1")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"hull: error: {NEVER}\n"
    assert not list(tmp_path.iterdir())
    # One that only a run shows leaves the answer.
    (tmp_path / "own.toml").write_text(FIFO_HOSTS, encoding="utf-8")
    late = ask(tmp_path, "--strict", "--seeds", "1", network="own.toml")
    assert late.returncode == 2
    assert re.search('^hull: error: DCTCP: host.queue = "fifo": ', late.stderr, re.MULTILINE)
    assert (tmp_path / "answer" / "ask.html").is_file()
    fine = ask(tmp_path, "--strict", "--seeds", "1", "--force", "--format", "json")
    assert (fine.returncode, "error" in fine.stderr) == (0, False)
