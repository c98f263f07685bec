"""The repository itself: locks, stubs, size of files."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def names(text: str) -> set[str]:
    lines = (line.strip() for line in text.splitlines())
    return {re.split(r"[^\w-]", line)[0] for line in lines if line and line[0] not in "#-"}


def test_requirements_are_the_dependencies() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert names((ROOT / "requirements.in").read_text()) == names(
        "\n".join(project["dependencies"])
    )


def test_locks_pin_everything_and_name_no_address() -> None:
    lock = (ROOT / "requirements.lock").read_text()
    pinned = dict(re.findall(r"^([\w-]+)==(\S+)", lock, flags=re.MULTILINE))
    for source in ("requirements.in", "requirements-dev.in"):
        assert names((ROOT / source).read_text()) <= set(pinned)
    assert not re.search(r"://|^--|\s@\s|file:", lock, flags=re.MULTILINE)


@pytest.mark.parametrize("pattern", ["python/**/*.py", "crates/**/*.rs", "linux/*/src/**/*.rs"])
def test_sources_are_short_and_say_what_they_are(pattern: str) -> None:
    for path in ROOT.glob(pattern):
        lines = path.read_text().splitlines()
        written_by_hand = path.name != "scenario_types.py"
        assert len(lines) < 500 or not written_by_hand, path
        assert not lines or lines[0].startswith(('"""', "//!", "//")), path


def test_stubs_match_the_built_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "hull._core", "--concise"],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_rows_are_grouped_in_their_order() -> None:
    """polars gives groups in any order otherwise, and a mean over them another last digit."""
    for path in (ROOT / "python").rglob("*.py"):
        for call in re.findall(r"\.group_by\((?:[^()]|\([^()]*\))*\)", path.read_text()):
            assert "maintain_order=True" in call, f"{path}: {call}"
