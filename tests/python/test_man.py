"""The manual page and completions in the wheel match the commands."""

import runpy
import shutil
import subprocess
from pathlib import Path

import pytest

from hull.cli.completion import SCRIPTS

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "wheel" / "data" / "share" / "man" / "man1" / "hull.1"


def test_the_page_is_up_to_date() -> None:
    tool = runpy.run_path(str(ROOT / "tools" / "make_man.py"))
    assert PAGE.read_text(encoding="utf-8") == tool["source"](), "make man"


def test_the_completions_are_up_to_date() -> None:
    tool = runpy.run_path(str(ROOT / "tools" / "make_completion.py"))
    written = {shell: file.read_text(encoding="utf-8") for shell, file in tool["FILES"].items()}
    assert written == SCRIPTS, "make man"


@pytest.mark.skipif(shutil.which("man") is None, reason="no man")
def test_man_shows_it() -> None:
    done = subprocess.run(
        ["man", "--warnings=w", "-l", str(PAGE)], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    for words in ("hull check FILE", "--set KEY=VALUE", "EXIT STATUS"):
        assert words in done.stdout
