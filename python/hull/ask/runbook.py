"""A runbook: the recommendation as steps that an operator carries out, checks and takes back.

Sections hold sentences and blocks of text (files, commands, configuration). Rates in bit/s, sizes
in bytes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from hull.ask.host_steps import host_sections
from hull.ask.question import Question
from hull.ask.rack_steps import measuring, rack_sections
from hull.ask.rollout import rollout_of
from hull.ask.steps import Section
from hull.ask.switch_steps import switch_sections
from hull.ask.verdict import Advice

FILE = "runbook.md"
"""Its name beside the page."""


@dataclass(frozen=True)
class Runbook:
    """What to do, in order."""

    title: str
    sections: tuple[Section, ...]


def runbook(
    question: Question,
    advice: Advice,
    *,
    prefixes: Sequence[str] = (),
    switch_result: str | None = None,
) -> Runbook:
    """The steps that deploy the recommended scheme; how to measure again if nothing changes.

    `prefixes`: the addresses of the data centre, such as 10.1.0.0/16; `switch_result`: a sentence
    on what switches without phantom queues give, where it was simulated.
    """
    rollout = rollout_of(question, advice, prefixes)
    if rollout is None:
        title = "Nothing is to be changed" if advice.is_known else "Nothing is recommended"
        return Runbook(title, (measuring(),))
    sections = (
        *rack_sections(rollout),
        *host_sections(rollout),
        *switch_sections(rollout, switch_result),
    )
    return Runbook(f"Deploy {rollout.label}", sections)


def markdown(book: Runbook) -> str:
    """The file."""
    parts = [f"# {book.title}"]
    for number, section in enumerate(book.sections, start=1):
        parts.append(f"## {number}. {section.title}")
        for item in section.items:
            if isinstance(item, str):
                parts.append(item)
            else:
                name = f"`{item.name}`:\n\n" if item.name else ""
                parts.append(f"{name}```{item.language}\n{item.text}\n```")
    return "\n\n".join(parts) + "\n"


def html(book: Runbook) -> str:
    """The content of the page's section: each part of the runbook folded below its title."""
    text = ""
    for number, section in enumerate(book.sections, start=1):
        body = ""
        for item in section.items:
            if isinstance(item, str):
                body += f"<p>{escape(item)}</p>"
            else:
                name = f"<p><code>{escape(item.name)}</code></p>" if item.name else ""
                body += f"{name}<pre><code>{escape(item.text)}</code></pre>"
        text += f"<details><summary>{number}. {escape(section.title)}</summary>{body}</details>"
    return text


def terminal_line(book: Runbook, path: str) -> str:
    """What the terminal says of a runbook that was written there."""
    if len(book.sections) == 1:
        return f"{book.title}: {path} says how to measure again."
    return f"{book.title}: {path} has the steps ({len(book.sections)} sections)."
