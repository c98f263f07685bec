"""All user-facing text follows the house style, given as Vale rules in tests/language."""

import tomllib
from pathlib import Path

import pytest

from language.checked import KINDS, claim_lines, files, matches
from language.styles import Rule, found, read_rules, without_code

ROOT = Path(__file__).resolve().parents[2]
RULES = read_rules()


def test_files_follow_the_style() -> None:
    wrong = [line for name in files() for line in matches(RULES, name)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("The page is drawn anew.", "Write 'again' in place of 'anew'."),
        ("What is\nallowed", "Write 'the expected form' in place of 'What is allowed'."),
        ("tell the two apart", "Write 'distinguish' in place of 'tell the two apart'."),
        ("Redone in full", "Write 'reproduce' in place of 'Redone'."),
        ("It is said in words.", "Write 'as text' in place of 'in words'."),
        ("one's own network", "Write 'your own' in place of 'one's own'."),
        ("The rate is that of the link.", "Write 'the noun' in place of 'that of'."),
        ("hosts are those\nof table 1", "Write 'the noun' in place of 'those of'."),
        (
            "It holds whatever\nthe load.",
            "Write 'for any, or regardless of' in place of 'whatever'.",
        ),
        ("of nothing, nothing", "Write 'None if absent' in place of 'of nothing, nothing'."),
    ],
)
def test_phrase_is_found_with_its_replacement(text: str, told: str) -> None:
    assert list(found(RULES, text, markdown=True)) == [(1, told)]


@pytest.mark.parametrize(
    "text",
    [
        "for word in words:",
        'dry = "--dry-run" in words',
        "in words of 4 bytes",
        "again, renewed, a commendable amendment",
        "a proof that of two numbers one is even, so that of the packets none is lost",
        'the paper says "that of the high priority queue"',
        "test_the_list_is_that_of_the_revision",
    ],
)
def test_code_and_word_fragments_do_not_match(text: str) -> None:
    assert list(found(RULES, text, markdown=False)) == []


def test_code_in_markdown_is_left_out() -> None:
    text = "A `nobody` here.\n\n```text\nnobody\n```\nnobody\n"
    assert without_code(text).count("\n") == text.count("\n")
    assert [line for line, _ in found(RULES, text, markdown=True)] == [6]


def test_chain_across_comment_lines_is_found() -> None:
    text = "/// The window is that\n/// of the sender.\n# Each that is\n# not held\n"
    assert [line for line, _ in found(RULES, text, markdown=False)] == [1, 3]


def test_claims_keep_their_wording() -> None:
    source = (
        'Claim("id", "paper 1", "latency is "\n"that of DCTCP", check)\n'
        'Claim(id="id", claim="that of TCP", tried="a")\nx = "that of TCP"\n'
    )
    assert claim_lines(source) == {1, 2, 3}


def test_unsupported_rule_type_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "hull").mkdir()
    (tmp_path / "hull" / "x.yml").write_text("extends: metric\nmessage: m\n", encoding="utf-8")
    with pytest.raises(ValueError, match="metric: not read here"):
        read_rules(tmp_path)


def test_existence_rules_are_read(tmp_path: Path) -> None:
    (tmp_path / "hull").mkdir()
    text = "extends: existence\nmessage: \"'%s' is vague\"\ntokens:\n  - some\\s+kind\n"
    (tmp_path / "hull" / "x.yml").write_text(text, encoding="utf-8")
    rules: list[Rule] = read_rules(tmp_path)
    assert list(found(rules, "a\nsome kind", markdown=False)) == [(2, "'some kind' is vague")]


def test_vale_reads_the_same_files() -> None:
    configuration = (ROOT / ".vale.ini").read_text(encoding="utf-8")
    assert "StylesPath = tests/language/styles\n" in configuration
    assert f"[*.{{{','.join(sorted(kind[1:] for kind in KINDS))}}}]" in configuration


def test_codespell_is_configured_in_pyproject() -> None:
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    assert set(tools["codespell"]) == {"ignore-words-list", "ignore-regex", "skip"}
