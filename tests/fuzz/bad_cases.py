"""Cases that crash, hang or exhaust the memory of their worker: the pool must report each.
Not part of `make fuzz`.
"""

import os
import time
from dataclasses import dataclass

from fuzz.case import Outcome


@dataclass(frozen=True)
class Bad:
    """A case identified by its number alone."""

    text: str


def make(seed: int, index: int) -> Bad:
    """The case of this number."""
    return Bad(f"bad case {index} of seed {seed}")


def check(seed: int, index: int) -> Outcome:
    """Fail in the way that this number selects."""
    match index:
        case 0:
            os.abort()
        case 1:
            time.sleep(60)
        case 2:
            bytearray(4_000_000_000)
        case 3:
            os.write(2, b"thread '<unnamed>' panicked at nothing")
    return Outcome("fine", make(seed, index).text)
