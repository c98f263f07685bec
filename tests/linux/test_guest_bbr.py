"""BBR of Debian's kernel at one bottleneck, on a clock of its own, behaves as hull's does."""

import os
import subprocess
from pathlib import Path

import pytest

GUEST = Path(__file__).parents[2] / "linux" / "guest"
PRODUCT_BYTES = 250_000
"""100 Mbps times 20 ms."""
LIMIT_S = 600
"""Processor time of the emulator."""


def run(buffer_bytes: int, seconds: int, controls: str, folder: Path) -> dict[str, list[float]]:
    """Rates by congestion control in Mbps; `backlog`: mean and largest in bytes, and drops."""
    (folder / "bottleneck").symlink_to(GUEST / "bottleneck")
    done = subprocess.run(
        [GUEST / "boot", folder, f"bottleneck {buffer_bytes} {seconds} {controls}"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "GUEST_CLOCK": "instructions", "GUEST_SECONDS": str(LIMIT_S)},
    )
    if done.returncode in (77, 78):
        pytest.skip((done.stderr + done.stdout).strip())
    assert done.returncode == 0, done.stderr + done.stdout
    lines = [line.split() for line in done.stdout.splitlines() if line.strip()]
    return {name: [float(number) for number in numbers] for name, *numbers in lines}


def test_a_lone_flow_fills_the_link_with_a_short_queue(tmp_path: Path) -> None:
    found = run(8 * PRODUCT_BYTES, 9, "bbr", tmp_path)
    mean, _, drops = found["backlog"]
    assert 90 <= found["bbr"][0] <= 101, found
    assert mean <= PRODUCT_BYTES / 4, found
    assert drops == 0, found


def test_cubic_loses_in_a_short_buffer(tmp_path: Path) -> None:
    found = run(PRODUCT_BYTES, 15, "bbr cubic", tmp_path)
    assert found["bbr"][0] > 3 * found["cubic"][0], found
