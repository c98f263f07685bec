"""`make bench` fails if a figure exceeds its bound, with a one-line reason."""

import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """bench.py with every fixed-cost measurement replaced by 0.121 s."""
    for folder in ("benches", "validation/ns3"):
        monkeypatch.syspath_prepend(str(ROOT / folder))
    loaded = runpy.run_path(str(ROOT / "benches" / "bench.py"))
    too_slow = {"seconds_beside_simulation": 0.121}
    monkeypatch.setitem(loaded["MEASURES"], "fixed", lambda *_: too_slow)
    return loaded


def test_a_fixed_cost_above_the_bound_fails_with_one_line(
    bench: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    out = str(tmp_path / "bench.json")
    arguments = ["bench.py", "--only", "fixed cost of a run", "--runs", "1", "--times"]
    monkeypatch.setattr(sys, "argv", [*arguments, "--out", out])
    assert bench["main"]() == 1
    said = capsys.readouterr().err
    assert said == "bench: fixed cost of a run is 0.121 CPU s; allowed are 0.12\n"


def test_bounds(bench: dict[str, Any]) -> None:
    figures = {figure.name: figure for figure in bench["FIGURES"]}
    missed = bench["missed"]
    assert missed(figures["fixed cost of a run"], {"seconds_beside_simulation": 0.12}) is None
    star = figures["star dctcp_30k"]
    assert missed(star, {"million_hops_per_cpu_second": 8.0}) is None
    assert "required are 8.0" in missed(star, {"million_hops_per_cpu_second": 7.9})
