"""Licences and bill of materials of the wheel match its contents."""

import json
import re
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


@pytest.fixture(scope="module")
def crates(tool: dict[str, Any]) -> tuple[list[dict[str, Any]], dict[str, list[str]]]:
    found: tuple[list[dict[str, Any]], dict[str, list[str]]] = tool["linked"]()
    return found


def test_each_crate_has_its_licence(tool: dict[str, Any], crates: Any) -> None:
    packages, _ = crates
    text = tool["licenses"](packages)
    others = [package for package in packages if package["source"]]
    assert len(others) > 50
    for package in others:
        assert re.search(rf"(?<![\w-]){re.escape(package['name'])}[ \n]", text), package["name"]
    for name in ("uPlot (MIT)", "For Zstandard software", "vega-lite: BSD-3-Clause"):
        assert name in text, name


def test_materials_name_each_crate_with_its_checksum(tool: dict[str, Any], crates: Any) -> None:
    packages, uses = crates
    text = tool["materials"](packages, uses)
    assert text == tool["materials"](packages, uses)
    found = json.loads(text)
    by_name = {(one["name"], one["version"]): one for one in found["components"]}
    for package in packages:
        component = by_name[package["name"], package["version"]]
        assert bool(package["source"]) == ("hashes" in component), component
    references = {one["bom-ref"] for one in found["components"]}
    assert {one for dep in found["dependencies"] for one in dep["dependsOn"]} <= references


def test_the_javascript_of_reports_has_its_licences() -> None:
    pytest.importorskip("vl_convert", reason="needs hullnet[report]")
    tool = runpy.run_path(str(ROOT / "tools" / "vega_licenses.py"))
    text: str = tool["TARGET"].read_text(encoding="utf-8")
    assert text.startswith(tool["heading"]()), "tools/vega_licenses.py"
    for name in ("vega, vega-canvas", "vega-lite: BSD-3-Clause", "vega-embed: BSD-3-Clause"):
        assert name in text
