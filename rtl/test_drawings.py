"""The drawings in docs/hardware match their sources, which agree with the modules."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_drawings_are_up_to_date(tmp_path: Path) -> None:
    draw = [sys.executable, str(ROOT / "tools" / "hardware_drawings.py"), str(tmp_path)]
    done = subprocess.run(draw, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    made = sorted(tmp_path.iterdir())
    assert made
    for path in made:
        kept = ROOT / "docs" / "drawings" / path.name
        assert kept.read_text() == path.read_text(), (
            f"{path.name}: differs from tools/hardware_drawings.py"
        )
