"""A table as plain text: the first column to the left, numbers to the right, two spaces between."""

from collections.abc import Sequence
from itertools import zip_longest

_GAP = "  "


def text_table(head: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[list[str]]:
    """The lines of the head, and the lines of the rows. A cell may have several lines; headings are
    broken between words where the table is wider than `width`.
    """
    body = [[cell.split("\n") for cell in row] for row in rows]
    needed = [max(_widest(row[i]) for row in body) for i in range(len(head))]
    if sum(map(max, needed, map(len, head))) + len(_GAP) * (len(head) - 1) > width:
        top = [_broken(text, room) for text, room in zip(head, needed, strict=True)]
    else:
        top = [[text] for text in head]
    widths = [max(_widest(top[i]), needed[i]) for i in range(len(head))]
    return [_lines(top, widths), [line for row in body for line in _lines(row, widths)]]


def _lines(cells: Sequence[Sequence[str]], widths: Sequence[int]) -> list[str]:
    lines = []
    for first, *others in zip_longest(*cells, fillvalue=""):
        words = [f"{first:{widths[0]}}"]
        words += [f"{text:>{width}}" for text, width in zip(others, widths[1:], strict=True)]
        lines.append(_GAP.join(words).rstrip())
    return lines


def _broken(text: str, width: int) -> list[str]:
    """The text in lines of at most `width`, or of its longest word."""
    words = text.split()
    width = max(width, *map(len, words))
    lines = [words[0]]
    for word in words[1:]:
        if len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _widest(lines: Sequence[str]) -> int:
    return max(map(len, lines))
