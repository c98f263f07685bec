"""The numbers of docs/speed.md are those of the files that `make speed` writes."""

import runpy
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "speed.md"
TOOL = runpy.run_path(str(ROOT / "tools" / "speed_page.py"))


def test_the_page_has_the_measured_numbers() -> None:
    text = PAGE.read_text(encoding="utf-8")
    made = TOOL["page"](text, TOOL["read"]("bench"), TOOL["read"]("peers"))
    assert made == text, "python tools/speed_page.py"


def test_each_table_is_on_the_page() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for name in TOOL["TABLES"]:
        assert f"<!-- numbers: {name} -->" in text
