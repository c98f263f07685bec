"""The files whose sentences keep to the house style, and the matches of its rules in them."""

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path

from language.styles import Rule, found

ROOT = Path(__file__).resolve().parents[2]
KINDS = (".css", ".html", ".js", ".md", ".py", ".rs", ".sv")
EXPERIMENTS = "python/hull/experiments/"
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
    is_experiment = name.startswith(EXPERIMENTS) and name.endswith(".py")
    frozen = claim_lines(text) if is_experiment else set()
    chains = [rule for rule in rules if rule.style == "Chains"]
    others = [rule for rule in rules if rule.style != "Chains"]
    told = list(found(others, text, markdown=markdown))
    told += [one for one in found(chains, text, markdown=markdown) if one[0] not in frozen]
    return [f"{name}:{line}: {message}" for line, message in told]


def claim_lines(source: str) -> set[int]:
    """Lines with the text of a claim, whose wording docs/claims-frozen.json keeps."""
    lines: set[int] = set()
    for call in ast.walk(ast.parse(source)):
        if (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Name)
            and call.func.id == "Claim"
        ):
            given = [argument.value for argument in call.keywords if argument.arg == "claim"]
            for text in (*given, *call.args[2:3]):
                lines.update(range(text.lineno, (text.end_lineno or text.lineno) + 1))
    return lines
