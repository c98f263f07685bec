"""Vale's styles, as far as ours use them: `existence` and `substitution`, in text and Markdown.

Tokens are regular expressions between word boundaries. In Markdown code is left out, as Vale does.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

FOLDER = Path(__file__).parent / "styles"


@dataclass(frozen=True)
class Rule:
    """A token with what Vale says about it."""

    pattern: re.Pattern[str]
    message: str
    style: str
    """Name of its file, such as "Chains"."""


def read_rules(folder: Path = FOLDER) -> list[Rule]:
    """The rules of every style in a folder."""
    return [rule for path in sorted(folder.glob("*/*.yml")) for rule in _rules(path)]


def _rules(path: Path) -> Iterator[Rule]:
    style = yaml.safe_load(path.read_text(encoding="utf-8"))
    unknown = set(style) - {"extends", "message", "level", "ignorecase", "swap", "tokens"}
    if unknown or style["extends"] not in ("existence", "substitution"):
        raise ValueError(f"{path}: {', '.join(unknown) or style['extends']}: not read here")
    flags = re.IGNORECASE if style.get("ignorecase") else 0
    tokens = style.get("swap") or dict.fromkeys(style["tokens"], "")
    for token, preferred in tokens.items():
        message = style["message"]
        # Of the two places of a substitution the first is for what is preferred.
        filled = message.replace("%s", preferred, 1) if preferred else message
        yield Rule(re.compile(rf"\b(?:{token})\b", flags), filled, path.stem)


def found(rules: list[Rule], text: str, *, markdown: bool) -> Iterator[tuple[int, str]]:
    """Line and message of each match."""
    plain = without_code(text) if markdown else text
    for rule in rules:
        for match in rule.pattern.finditer(plain):
            words = " ".join(match[0].split())
            told = rule.message.replace("%s", words)
            yield plain.count("\n", 0, match.start()) + 1, told


def without_code(text: str) -> str:
    """Markdown with blank lines and blanks in place of code; the lines keep their numbers."""
    blocks = re.compile(r"^( *)(```+|~~~+|:::+\{raw\})[^\n]*\n.*?^\1\2[^\n]*$", re.M | re.S)
    plain = blocks.sub(lambda match: "\n" * match[0].count("\n"), text)
    spans = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.S)
    return spans.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), plain)
