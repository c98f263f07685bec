"""Checks messages: they name the key and show the value as written, contain no Rust or Python
terms and no control characters, and have one line for each mistake.
"""

import re
import unicodedata

from fuzz.places import known_keys
from hull import _core

FOREIGN = (
    "expected u32",
    "expected u64",
    "expected i64",
    "expected f64",
    "expected struct",
    "expected enum",
    "expected a sequence",
    "expected map",
    "invalid type",
    "invalid value: ",
    "missing field",
    "unknown field",
    "unknown variant",
    "untagged enum",
    "did not match any variant",
    "as i128",
    "as u64",
    "a map",
    "Option<",
    "Some(",
    "Err(",
    "Ok(",
    "Utf8Error",
    "ParseIntError",
    "unwrap",
    "panicked",
    "overflow when",
    "attempt to ",
    "os error",
    "Traceback",
    "Exception",
    "NoneType",
    "<dict>",
    "NotConserved",
    " object at 0x",
    "codec can't",
)
"""Words that describe hull's implementation instead of the mistake."""
UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Categories of characters that a terminal interprets or hides."""
LONGEST = 1000
"""Maximum characters of a line; the longest intended line lists all keys of a table."""
MOST_LINES = 21
"""Lines of a message: the mistakes that it shows, and the line that counts the others."""
CUT = 60
"""Minimum number of characters of a long text that a message shows."""


def foreign(message: str, case: str = "") -> str:
    """Return what is wrong with a message's wording; empty if nothing is. `case` is the input,
    whose own words may be shown.
    """
    for words in FOREIGN:
        if re.search(rf"\b{re.escape(words)}", message) and words not in case:
            return f"the message has {words!r}"
    lines = message.split("\n")
    for c in "".join(lines):
        if unicodedata.category(c) in UNSEEN:
            return f"the message has {c!r}"
    longest = max(map(len, lines))
    if longest > LONGEST:
        return f"the message has {longest} characters"
    if len(lines) > MOST_LINES or not all(lines):
        return f"the message has {len(lines)} lines"
    return ""


def has_place(message: str, file: str) -> bool:
    """Return whether each line begins with the file, and with its line and column or an option if
    the mistake was written there.
    """
    place = re.compile(rf"{re.escape(file)}(:[1-9]\d*:[1-9]\d*)?: ")
    return all(place.match(line) for line in message.split("\n"))


def names(message: str, key: str) -> bool:
    """Whether a message names a key such as `workload.flows[0].src`, at least its last part."""
    parts = [part for part in re.split(r"\.|\[\d+\]", key) if part]
    return (escaped(parts[-1])[:CUT] if parts else '""') in message


def known_key(message: str) -> bool:
    """Return whether a message names any key of the schema in full."""
    keys = {re.sub(r"\[\]", "", key) for key in known_keys()}
    without_indexes = re.sub(r"\[\d+\]", "", message)
    return any(word in keys for word in re.split(r"[\s:,;]+", without_indexes))


def shows(message: str, value: object) -> bool:
    """Return whether a message shows a value; tables, lists and dates always pass."""
    match value:
        case bool():
            return str(value).lower() in message
        case str():
            return escaped(value.strip())[:CUT] in message or in_another_unit(value, message)
        case int():
            return str(value)[:30] in message
        case float():
            shown = {float(number) for number in re.findall(NUMBER, message)}
            return value != value or value in shown
        case _:
            return True


def in_another_unit(text: str, message: str) -> bool:
    """Whether a message shows this size or time in another unit: 0.9KB as 900B."""

    def read(of: str, word: str) -> float | None:
        try:
            return _core.quantity(of, word)
        except ValueError:
            return None

    quantities = re.findall(r"[\d.]+[a-zA-Z]+", message)
    return any(
        (value := read(of, text.strip())) is not None
        and value in {read(of, word) for word in quantities}
        for of in ("size", "time")
    )


NUMBER = r"-?(?:inf|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)"


def escaped(text: str) -> str:
    """Return `text` as messages show it: invisible characters as escapes."""
    named = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
    return "".join(named.get(c, c if not _is_hidden(c) else f"\\u{{{ord(c):x}}}") for c in text)


def _is_hidden(c: str) -> bool:
    return c != " " and unicodedata.category(c) in (*UNSEEN, "Zs", "Mn", "Me", "Co", "Cn")
