"""The header of Zeek's logs (conn.log): `#separator`, then `#fields` with the names."""

import re
from collections.abc import Sequence

FORM = "Zeek log"
_MARK = "#fields"
_CODE = re.compile(r"#separator\s+\\x([0-9a-fA-F]{2})")


def header_of(lines: Sequence[str]) -> tuple[str, list[str]] | None:
    """The separator and the names of the columns; None if it is another file."""
    separator = "\t"
    for line in lines:
        if not line.startswith("#"):
            return None
        if code := _CODE.match(line):
            separator = chr(int(code[1], 16))
        elif line.startswith(_MARK + separator):
            return separator, line.split(separator)[1:]
    return None
