"""The drawings in docs/hardware agree with the modules."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_diagrams_have_the_latencies_of_their_modules(tmp_path: Path) -> None:
    """hardware_timing.py fails where they differ."""
    draw = [sys.executable, str(ROOT / "tools" / "hardware_drawings.py"), str(tmp_path)]
    done = subprocess.run(draw, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.iterdir())
