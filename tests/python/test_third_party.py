"""Licences and bill of materials of the wheel match its contents."""

import runpy
import shutil
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def tool() -> dict[str, Any]:
    if shutil.which("cargo") is None:
        pytest.skip("no cargo")
    return runpy.run_path(str(ROOT / "tools" / "third_party.py"))


def test_licences_and_materials_are_up_to_date(tool: dict[str, Any]) -> None:
    packages, uses = tool["linked"]()
    assert tool["LICENSES"].read_text(encoding="utf-8") == tool["licenses"](packages), (
        "make third-party"
    )
    assert tool["MATERIALS"].read_text(encoding="utf-8") == tool["materials"](packages, uses), (
        "make third-party"
    )


def test_the_javascript_of_reports_has_its_licences() -> None:
    pytest.importorskip("vl_convert", reason="needs hullnet[report]")
    tool = runpy.run_path(str(ROOT / "tools" / "vega_licenses.py"))
    text: str = tool["TARGET"].read_text(encoding="utf-8")
    assert text.startswith(tool["heading"]()), "tools/vega_licenses.py"
    for name in ("vega, vega-canvas", "vega-lite: BSD-3-Clause", "vega-embed: BSD-3-Clause"):
        assert name in text
