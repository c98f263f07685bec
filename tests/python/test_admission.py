"""The table of docs/pauses.md about admission has the numbers of the page's scenario."""

import re
import tomllib
from pathlib import Path
from typing import Any

import hull

PAGE = Path(__file__).parents[2] / "docs" / "pauses.md"


def section() -> str:
    """The page's section."""
    found = re.search(
        r"^\(pauses-and-admission\)=\n(.*?)^## Deadlock$", PAGE.read_text(), re.M | re.S
    )
    assert found
    return found[1]


def row(part: dict[str, Any]) -> str:
    """The table's row of a run."""
    pauses, small = part["pauses"], part["fct"][0]
    query_us = part["queries"]["mean_us"]
    cells = (
        f"`{part['scheme']}`",
        f"{pauses['sent']:,}",
        f"{pauses['paused_us']:,.0f}",
        f"{part['switch_latency']['occupancy']['max_us'] * 12.5:,.0f}",
        f"{query_us:,.1f}",
        f"{16 * 8e3 / query_us:.1f}",
        f"{small['p50_us']:.2f}",
        f"{small['p99_us']:.2f}",
    )
    return f"| {' | '.join(cells)} |"


def test_the_table_has_the_numbers_of_its_scenario(tmp_path: Path) -> None:
    text = section()
    blocks = re.findall(r"^```toml\n(.*?)^```$", text, re.M | re.S)
    parts = hull.run(tomllib.loads(blocks[0]), out=tmp_path / "run").summary["parts"]
    rows = [row(part) for part in parts]
    assert [line for line in text.splitlines() if line.startswith("| `")] == rows
