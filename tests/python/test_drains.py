"""Pages and shipped scenarios give drains as shares of the rate, which fit each link, except where
a source has one rate on one kind of link.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# Of a key or an option: `drain = "950Mbps"`, `scheme.drain=900Mbps,950Mbps`, `--drain 9Gbps`.
ABSOLUTE = re.compile(
    r"""(?:\bdrain["']?\s*[=:]\s*["'\[]*|--drain\s+)(?P<drain>[0-9][0-9.e]*\s*(?:[kmgt]?b(?:ps|it)|[gmt]\b|["',}\]\s]))""",
    re.IGNORECASE,
)
TESTBED = "the paper's testbed: 950 Mbps on links of 1 Gbps (table 3)"
ON_PURPOSE = {
    "docs/linux/attach.md": "hull linux: one device, whose rate it knows",
    "python/hull/scenarios/drain-rate.toml": TESTBED,
    "python/hull/scenarios/epfl-static.toml": "the report's 900 Mbps on 1 Gbps (III-A)",
    "python/hull/scenarios/hull-incast.toml": TESTBED,
    "python/hull/scenarios/rate-limiters.toml": TESTBED,
    "python/hull/scenarios/static.toml": TESTBED,
    "python/hull/scenarios/table4.toml": TESTBED,
    "python/hull/scenarios/table5.toml": TESTBED,
}
"""Why a file has an absolute drain."""


def test_drains_are_shares_of_the_rate() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").rglob("*.ipynb")]
    files = [
        *(ROOT / "examples/notebooks").rglob("*.py"),
        *(ROOT / "python/hull/scenarios").glob("*.toml"),
    ]
    found = {
        str(path.relative_to(ROOT))
        for path in [*pages, *filter(Path.is_file, files)]
        if ABSOLUTE.search(path.read_text(encoding="utf-8", errors="replace"))
    }
    assert found == set(ON_PURPOSE)


@pytest.mark.parametrize(
    ("text", "is_absolute"),
    [
        ('drain = "950Mbps"', True),
        ("--over scheme.drain=900Mbps,950Mbps", True),
        ('"drain": 9.5e8, ', True),
        ("drain=95G ", True),
        ("--drain 9500000000bps", True),
        ('drain = "95%"', False),
        ("--over scheme.drain=80%,90%", False),
        ("switch.phantom_queue.drain=0.95", False),
    ],
)
def test_what_is_an_absolute_drain(text: str, is_absolute: bool) -> None:
    assert bool(ABSOLUTE.search(text)) == is_absolute
