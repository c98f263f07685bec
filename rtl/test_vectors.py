"""Each file of tests/vectors has a row in docs/hardware/testing.md: where it is run, or why not."""

from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_each_vector_file_is_documented() -> None:
    page = (ROOT / "docs" / "hardware" / "testing.md").read_text(encoding="utf-8")
    rows = "\n".join(line for line in page.splitlines() if line.startswith("| `"))
    files = [path.name for path in (ROOT / "tests" / "vectors").glob("*.json")]
    assert not [name for name in files if f"`{name}`" not in rows]
