"""What hull says on stderr: one line a message, without control characters, cut where it is long.
What is wrong with a scenario is one line a mistake.

Arguments, keys, values and file names come into messages as the user wrote them. What would move
the cursor, colour the terminal or end the line is escaped here, for all messages.
"""

import sys

_MOST = 2000
"""Characters of a message; those that hull makes by itself are shorter."""
_BEGINNING, _END = 1200, 600


def escaped(text: str) -> str:
    """The text with what cannot be printed as escapes, such as a line feed as backslash and n."""
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text
    )


def one_line(text: str) -> str:
    """The text escaped; of a long one the beginning and the end, where what is expected stands."""
    line = escaped(text)
    if len(line) <= _MOST:
        return line
    return f"{line[:_BEGINNING]}... ({len(text)} characters) ...{line[-_END:]}"


def say(text: str, speaker: str = "hull") -> None:
    """Write a message to stderr."""
    print(f"{speaker}: {one_line(text)}", file=sys.stderr, flush=True)


def say_lines(lines: str, speaker: str = "hull") -> None:
    """Write a message of several lines to stderr; each line feed in it is meant."""
    text = "\n".join(map(one_line, lines.split("\n")))
    print(f"{speaker}: {text}", file=sys.stderr, flush=True)
