"""The `config.txt` of HPCC's simulator (alibaba-edu/High-Precision-Congestion-Control,
`scratch/third.cc`) and of its forks conweave-ns3 and ns3-datacenter: a key and its values in each
line.

These programs skip words that they do not know. Here a key of another program keeps its line, a key
that comes twice must have the same values, and each value must have the form that its key needs.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from hull import _core
from hull.formats.numbered_lines import Lines

_FLAG = "0 or 1"
_WHOLE = "a whole number"
_NUMBER = "a number"
_RATE = "a rate such as 50Mb/s"
_TEXT = "a word"
_MAP = "a count, and for each link rate in bit/s the rate and its value"
_DOWN = "a time in us and two nodes"
_KINDS = {
    _FLAG: "ENABLE_QCN ENABLE_PFC ENABLE_IRN USE_DYNAMIC_PFC_THRESHOLD CLAMP_TARGET_RATE "
    "L2_BACK_TO_ZERO HAS_WIN GLOBAL_T VAR_WIN FAST_REACT MULTI_RATE SAMPLE_FEEDBACK RATE_BOUND "
    "ACK_HIGH_PRIO ENABLE_TRACE",
    _WHOLE: "PACKET_PAYLOAD_SIZE CC_MODE LB_MODE L2_CHUNK_SIZE L2_ACK_INTERVAL FAST_RECOVERY_TIMES "
    "MI_THRESH INT_MULTI BUFFER_SIZE QLEN_MON_START QLEN_MON_END RANDOM_SEED "
    "SW_MONITORING_INTERVAL",
    _NUMBER: "SIMULATOR_STOP_TIME FLOWGEN_START_TIME FLOWGEN_STOP_TIME ALPHA_RESUME_INTERVAL "
    "RATE_DECREASE_INTERVAL RP_TIMER EWMA_GAIN ERROR_RATE_PER_LINK U_TARGET PINT_LOG_BASE "
    "PINT_PROB PAUSE_TIME LOAD",
    _RATE: "RATE_AI RATE_HAI MIN_RATE DCTCP_RATE_AI DATA_RATE",
    _MAP: "KMAX_MAP KMIN_MAP PMAX_MAP",
    _DOWN: "LINK_DOWN",
}
_KIND_OF = {key: kind for kind, keys in _KINDS.items() for key in keys.split()}


@dataclass(frozen=True)
class Entry:
    """A key's line, its words and their value."""

    line: int
    words: tuple[str, ...]
    value: Any
    """bool, int, float, text; bit/s of a rate, {bit/s: number} of a map, numbers of a link."""


class Config:
    """The keys of a file."""

    def __init__(self, path: Path) -> None:
        """Reads the file; UsageError with the line where it contradicts itself or its form."""
        self._lines = Lines(path)
        self.path = path
        self.entries: dict[str, Entry] = {}
        for words in self._lines.words():
            key, values = words[0], _without_comment(words[1:])
            found = Entry(self._lines.number, tuple(values), self._value(key, values))
            known = self.entries.setdefault(key, found)
            if known.words != found.words:
                told = f"{key} {' '.join(values)}"
                self._lines.refuse(told, f"{' '.join(known.words)} as in line {known.line}")
        if not self.entries:
            self._lines.refuse("an empty file", "keys such as CC_MODE 3")

    def refuse(self, key: str, expected: str) -> NoReturn:
        """Raises UsageError about the value of a key."""
        entry = self.entries[key]
        self._lines.refuse(f"{key} {' '.join(entry.words)}", expected, entry.line)

    def _value(self, key: str, words: list[str]) -> Any:
        kind = _KIND_OF.get(key, _TEXT)
        try:
            value = _parsed(kind, words)
        except ValueError:
            value = None
        if value is None and (key in _KIND_OF or key.endswith("_FILE")):
            self._lines.refuse(" ".join([key, *words]), f"{key} with {kind}")
        return value


def _without_comment(words: list[str]) -> list[str]:
    """The words before a comment in braces, as in HPCC's `config_doc.txt`."""
    starts = (number for number, word in enumerate(words) if word.startswith("{"))
    return words[: next(starts, len(words))]


def _parsed(kind: str, words: list[str]) -> Any:
    """The value; None or ValueError if the words are not of this kind."""
    if kind == _MAP:
        return _map(words)
    if kind == _DOWN:
        return tuple(map(int, words)) if len(words) == 3 else None
    if len(words) != 1:
        return None
    (word,) = words
    if kind == _FLAG:
        return {"0": False, "1": True}.get(word)
    if kind == _WHOLE:
        return int(word) if word.isascii() and word.isdigit() else None
    if kind == _NUMBER:
        number = float(word)
        return number if 0 <= number < float("inf") else None
    return _core.quantity("rate", word.replace("b/s", "bps")) if kind == _RATE else word


def _map(words: list[str]) -> Mapping[int, float] | None:
    """Values by link rate."""
    count, *pairs = words
    found = {int(rate): float(value) for rate, value in zip(pairs[::2], pairs[1::2], strict=True)}
    return found if len(found) == int(count) == len(pairs) / 2 else None
