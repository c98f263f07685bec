"""The files whose sentences keep to the house style, and the matches of its rules in them."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

from language.styles import Rule, found

ROOT = Path(__file__).resolve().parents[2]
KINDS = (".css", ".html", ".js", ".md", ".py", ".rs", ".sv")
NOT_OURS = ("/vendor/", "/generated/", "tests/language/", "test_language.py")


def files() -> Iterator[str]:
    """What git keeps of the kinds that .vale.ini names."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    for name in sorted(done.stdout.splitlines()):
        ours = not any(part in f"/{name}" for part in NOT_OURS)
        if ours and name.endswith(KINDS) and (ROOT / name).is_file():
            yield name


def matches(rules: list[Rule], name: str) -> list[str]:
    """File, line and message of each match in a file."""
    text = (ROOT / name).read_text(encoding="utf-8")
    markdown = name.endswith(".md")
    return [f"{name}:{line}: {told}" for line, told in found(rules, text, markdown=markdown)]
