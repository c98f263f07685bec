"""What a message must and must not have: the key, the value as it was written, no word of Rust or
Python, no control character, one line for each mistake.
"""

import re
import unicodedata

from fuzz.places import known_keys

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
"""What says how hull is made instead of what is wrong."""
UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Categories of characters that a terminal obeys or hides."""
LONGEST = 1000
"""Characters of a line; a list of all keys of a table is the longest that is meant."""
MOST_LINES = 21
"""Mistakes that a message shows, and the line that counts the others."""
CUT = 60
"""Characters of a long text that a message shows at least."""


def foreign(message: str, case: str = "") -> str:
    """What is wrong with the words of a message; empty where nothing is. `case` is the input, whose
    own words may be shown.
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
    """Whether each line begins with the file, and with its line and column or an option where that
    is where the mistake was written.
    """
    place = re.compile(rf"{re.escape(file)}(:[1-9]\d*:[1-9]\d*)?: ")
    return all(place.match(line) for line in message.split("\n"))


def names(message: str, key: str) -> bool:
    """Whether a message names a key such as `workload.flows[0].src`, by its last part at least."""
    parts = [part for part in re.split(r"\.|\[\d+\]", key) if part]
    return (escaped(parts[-1])[:CUT] if parts else '""') in message


def known_key(message: str) -> bool:
    """Whether a message names any key of the schema in full."""
    keys = {re.sub(r"\[\]", "", key) for key in known_keys()}
    without_indexes = re.sub(r"\[\d+\]", "", message)
    return any(word in keys for word in re.split(r"[\s:,;]+", without_indexes))


def shows(message: str, value: object) -> bool:
    """Whether a message shows a value; of tables, lists and dates nothing is asked."""
    match value:
        case bool():
            return str(value).lower() in message
        case str():
            return escaped(value.strip())[:CUT] in message or in_bytes(value) in message
        case int():
            return str(value)[:30] in message
        case float():
            shown = {float(number) for number in re.findall(NUMBER, message)}
            return value != value or value in shown
        case _:
            return True


def in_bytes(text: str) -> str:
    """A size of less than 1 KB as hull writes it: 0.9KB is 900B. Other text as it is."""
    found = re.fullmatch(r"(0\.\d+)KB", text)
    return f"{float(found[1]) * 1000:g}B" if found else text


NUMBER = r"-?(?:inf|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)"


def escaped(text: str) -> str:
    """`text` as messages show it: characters that cannot be seen as escapes."""
    named = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
    return "".join(named.get(c, c if not _is_hidden(c) else f"\\u{{{ord(c):x}}}") for c in text)


def _is_hidden(c: str) -> bool:
    return c != " " and unicodedata.category(c) in (*UNSEEN, "Zs", "Mn", "Me", "Co", "Cn")
