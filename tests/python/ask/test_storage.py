"""A trace of 60 hosts with storage traffic and small requests: what hosts' queues do to the advice,
and what switches without a phantom queue do to the result.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest

from conftest import COMMAND

TRACE = Path(__file__).parent / "cases" / "storage-60.csv.gz"
NETWORK = "3x20@25G,2x100G"


def ask(folder: Path, *arguments: str) -> tuple[dict[str, object], str]:
    done = subprocess.run(
        [*COMMAND, "ask", str(TRACE), "--topology", NETWORK, "--out", "answer", *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=folder,
        env={**os.environ, "COLUMNS": "200"},
    )
    assert done.returncode == 0, done.stderr
    summary = json.loads((folder / "answer" / "summary.json").read_text(encoding="utf-8"))
    return summary, done.stdout


def test_the_advice_is_that_of_hosts_with_a_queue_per_flow(tmp_path: Path) -> None:
    """DCTCP alone; a FIFO in each host would make small flows wait an order of magnitude longer."""
    found, told = ask(tmp_path, "--today", "cubic,dctcp", "--seeds", "5")
    advice = found["advice"]
    assert isinstance(advice, dict)
    assert (advice["scheme"], advice["base"]) == ("dctcp", "cubic")
    assert told.startswith("Use DCTCP, and give up no bandwidth")
    frontier = found["frontier"]
    assert isinstance(frontier, list)
    p99_us = {row["scheme"]: row["small_p99_us"]["mean"] for row in frontier}
    # With 1,024 queues in each NIC, recorded with the case.
    assert p99_us["dctcp"] == pytest.approx(31, rel=0.15)
    assert p99_us["cubic"] == pytest.approx(176, rel=0.25)
    checks = found["checks"]
    assert isinstance(checks, list)
    fifo, later = checks
    assert fifo.startswith('If hosts have one FIFO for all flows (host.queue = "fifo"), ')
    assert "us with CUBIC" in fifo
    assert later.startswith("In the later half of the trace alone, the advice stays")
    page = (tmp_path / "answer" / "ask.html").read_text(encoding="utf-8")
    assert "one FIFO for all flows" in page


def test_switches_without_a_phantom_queue_are_simulated(tmp_path: Path) -> None:
    """Against CUBIC a headroom is recommended, which such switches cannot offer."""
    found, told = ask(tmp_path, "--today", "cubic", "--give-up", "5%", "--replay")
    advice = found["advice"]
    assert isinstance(advice, dict)
    assert advice["scheme"] == "hull-5"
    shallow = found["without_phantom_queue"]
    assert isinstance(shallow, str)
    assert "the 99th percentile of small flows falls by" in shallow
    assert shallow in " ".join(told.split())
    assert "All seeds replay the recorded flows" in told
    assert "No other headroom was tried" in told
