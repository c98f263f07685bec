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
    assert not re.search(r"://|^--|\s@\s|file:\S", lock, flags=re.MULTILINE)
    entries = re.split(r"^(?=\S+==)", lock, flags=re.MULTILINE)[1:]
    assert len(entries) == len(pinned)
    assert not [entry for entry in entries if not re.search(r"--hash=sha256:[0-9a-f]{64}\b", entry)]
    assert {"pip", "pip-tools"} <= set(pinned)
    makefile = (ROOT / "Makefile").read_text()
    assert re.findall(r"\$\(PIP\) install.*", makefile) == [
        "$(PIP) install -q --require-hashes -r requirements.lock"
    ]


def test_a_python_without_ensurepip_gets_the_pinned_pip(tmp_path: Path) -> None:
    python, calls, folder = (tmp_path / name for name in ("python", "calls", "venv"))
    python.write_text(
        f'''#!/bin/sh
case "$*" in
*ensurepip*) exit 1 ;;
*venv*--without-pip*) mkdir "{folder}" ;;
*install*) echo "$*" >"{calls}" ;;
esac
'''
    )
    python.chmod(0o755)
    subprocess.run([ROOT / "tools" / "make-venv", python, folder], check=True)
    pinned = (folder / "pip.txt").read_text()
    assert calls.read_text().endswith(f" install --require-hashes -r {folder}/pip.txt\n")
    assert re.fullmatch(r"pip==[\d.]+( \\\n    --hash=sha256:[0-9a-f]{64})+\n", pinned)
    assert pinned in (ROOT / "requirements.lock").read_text()


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
