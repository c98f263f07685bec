"""The numbers of docs/speed.md and README.md match the files that `make speed` writes."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = (ROOT / "docs" / "speed.md", ROOT / "README.md")
TOOL = runpy.run_path(str(ROOT / "tools" / "speed_page.py"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_page_has_the_measured_numbers(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    made = TOOL["page"](text, TOOL["read"]("bench"), TOOL["read"]("peers"))
    assert made == text, "python tools/speed_page.py"


def test_each_table_is_on_a_page() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    for name in TOOL["TABLES"]:
        assert f"<!-- numbers: {name} -->" in text
