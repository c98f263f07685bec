"""HULL's targets under real TCP, on Debian's kernel with a clock of its own."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = [Path(sys.executable).with_name(name) for name in ("hull-linux", "hull-traffic")]
BOOT = Path(__file__).parents[2] / "linux" / "guest" / "boot"
RATE_BPS = 100e6
LIMIT_S = 300
"""Processor time of the emulator: four times what it takes."""
UP = "hull-linux rack up --hosts 4 --rate 100Mbps --delay 1ms --buffer 300KB --burst 100B"
RUN = (
    "hull-linux rack run static --duration 2s --out /results "
    "--scheme tcp_droptail --scheme dctcp_30k --scheme dctcp_pq_pacer"
)


@pytest.mark.skipif(
    not all(program.exists() for program in PROGRAMS), reason="the rack needs `make linux`"
)
def test_hull_against_dctcp_and_tcp(tmp_path: Path) -> None:
    """Queueing is 5 (DCTCP) and 20 (TCP) times lower, for at most 15% of the drain rate."""
    for program in PROGRAMS:
        shutil.copy(program, tmp_path)
    command = f"{UP} >/dev/null && {RUN} >/dev/null 2>&1 && cat /results/rows.json"
    done = subprocess.run(
        [BOOT, tmp_path, command],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "GUEST_CLOCK": "instructions", "GUEST_SECONDS": str(LIMIT_S)},
    )
    if done.returncode == 77:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr + done.stdout
    rows = {row["scheme"]: row for row in json.loads(done.stdout)}
    wait = {name: row["switch"]["mean_us"] - row["idle"]["p50_us"] for name, row in rows.items()}
    assert wait["dctcp_pq_pacer"] * 5 < wait["dctcp_30k"], wait
    assert wait["dctcp_pq_pacer"] * 20 < wait["tcp_droptail"], wait
    assert rows["dctcp_pq_pacer"]["goodput_bps"] > 0.85 * 0.95 * RATE_BPS
