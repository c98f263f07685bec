"""Damages file contents: truncation, bit flips, duplication, other encodings, other numbers."""

import random
import re
from collections.abc import Callable

NUMBERS = (
    *("-1", "0", "1e308", "1e400", "nan", "inf", "9" * 30, "18446744073709551616", "0x10", "1.5"),
    *("-0", "", " ", '"', "'", "\u0661", "null", "true", "2147483648", "9223372036854775807"),
)


_BYTE_VALUES = (0, 1, 0x7F, 0x80, 0xFF)


def damaged(draw: random.Random, content: bytes, *, text: bool) -> tuple[str, bytes]:
    """Return the kind of damage and the damaged content. Half of binary files have one changed
    byte, as lengths, counts, types and offsets are single bytes there.
    """
    if not text and content and draw.random() < 0.5:
        return _one_byte(draw, content)
    ways = [*_BYTES, *3 * list(_TEXTS)] if text else list(_BYTES)
    chosen = draw.choices(ways, k=draw.choice([1, 1, 1, 2, 3]))
    for way in chosen:
        if way in _BYTES:
            content = _BYTES[way](draw, content)
        else:
            lines = content.decode("utf-8", errors="surrogateescape")
            content = _TEXTS[way](draw, lines).encode("utf-8", errors="surrogateescape")
    return ", ".join(chosen), content


def _one_byte(draw: random.Random, content: bytes) -> tuple[str, bytes]:
    place = draw.choice(_places(draw, content))
    byte = content[place]
    other = draw.choice([byte ^ 1 << draw.randrange(8), *_BYTE_VALUES, draw.randrange(256)])
    return f"byte {place} is {other}", content[:place] + bytes([other]) + content[place + 1 :]


def _places(draw: random.Random, content: bytes) -> range:
    """All bytes of a file, or a Parquet file's metadata: lengths and types."""
    start = 0
    if content[-4:] == b"PAR1" and draw.random() < 0.5:
        start = max(0, len(content) - 8 - int.from_bytes(content[-8:-4], "little"))
    return range(start, len(content))


def _range(draw: random.Random, content: bytes) -> tuple[int, int]:
    start = draw.randrange(len(content) + 1)
    return start, min(len(content), start + draw.choice([1, 4, 16, 100, 1000]))


def _flipped(draw: random.Random, content: bytes) -> bytes:
    changed = bytearray(content)
    for _ in range(draw.choice([1, 1, 3, 20]) if changed else 0):
        changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def _zeroed(draw: random.Random, content: bytes) -> bytes:
    start, end = _range(draw, content)
    return content[:start] + bytes(end - start) + content[end:]


def _doubled(draw: random.Random, content: bytes) -> bytes:
    start, end = _range(draw, content)
    return content[:end] + content[start:end] * draw.choice([1, 2, 50]) + content[end:]


def _left_out(draw: random.Random, content: bytes) -> bytes:
    start, end = _range(draw, content)
    return content[:start] + content[end:]


def _with_noise(draw: random.Random, content: bytes) -> bytes:
    start, _ = _range(draw, content)
    return content[:start] + draw.randbytes(draw.choice([1, 4, 100])) + content[start:]


def _utf16(_: random.Random, content: bytes) -> bytes:
    return content.decode("utf-8", errors="replace").encode("utf-16")


_BYTES: dict[str, Callable[[random.Random, bytes], bytes]] = {
    "cut": lambda draw, content: content[: draw.randrange(len(content) + 1)],
    "flipped": _flipped,
    "zeroed": _zeroed,
    "doubled": _doubled,
    "left out": _left_out,
    "noise": _with_noise,
    "empty": lambda draw, content: b"",
    "only noise": lambda draw, content: draw.randbytes(draw.choice([1, 100, 5000])),
    "UTF-16": _utf16,
    "BOM": lambda draw, content: b"\xef\xbb\xbf" + content,
    "Latin-1": lambda draw, content: content + b"\n\xe9\xff",
}


def _other_number(draw: random.Random, text: str) -> str:
    found = list(re.finditer(r"-?\d+(\.\d+)?", text))
    if not found:
        return text
    one = draw.choice(found)
    return text[: one.start()] + draw.choice(NUMBERS) + text[one.end() :]


def _other_word(draw: random.Random, text: str) -> str:
    found = list(re.finditer(r"[A-Za-z_]\w*", text))
    if not found:
        return text
    one, other = draw.choice(found), draw.choice(found)
    word = draw.choice([other[0], "", one[0] * 2, "\u00e9", one[0].upper(), "x" * 300, "\x1b[31m"])
    return text[: one.start()] + word + text[one.end() :]


def _swapped_columns(draw: random.Random, text: str) -> str:
    rows = [line.split(",") for line in text.splitlines()]
    width = max(map(len, rows), default=0)
    order = draw.sample(range(width), width)
    # All rows, or all but the header.
    kept = rows[: draw.randrange(2)]
    moved = [[row[i] for i in order if i < len(row)] for row in rows[len(kept) :]]
    return "\n".join(",".join(row) for row in [*kept, *moved]) + "\n"


def _lines(draw: random.Random, text: str) -> str:
    lines = text.splitlines()
    draw.shuffle(lines)
    return "\n".join(lines[: draw.randrange(len(lines) + 1)])


def _separator(draw: random.Random, text: str) -> str:
    return text.replace(draw.choice([",", ".", '"', "\n", ":"]), draw.choice([";", "\t", "", "\r"]))


def _line_again(draw: random.Random, text: str) -> str:
    lines = text.splitlines()
    if lines:
        lines.insert(draw.randrange(len(lines) + 1), draw.choice(lines))
    return "\n".join(lines)


_TEXTS: dict[str, Callable[[random.Random, str], str]] = {
    "other number": _other_number,
    "other word": _other_word,
    "swapped columns": _swapped_columns,
    "shuffled lines": _lines,
    "other separator": _separator,
    "a line again": _line_again,
    "no header": lambda draw, text: text.partition("\n")[2],
    "CRLF": lambda draw, text: text.replace("\n", "\r\n"),
}
