"""Cases that end their worker, or take it too long or too much memory: that such are found at all.
Not part of `make fuzz`.
"""

import os
import time
from dataclasses import dataclass

from fuzz.case import Outcome


@dataclass(frozen=True)
class Bad:
    """A case of which the number alone counts."""

    text: str


def make(seed: int, index: int) -> Bad:
    """The case of this number."""
    return Bad(f"bad case {index} of seed {seed}")


def check(seed: int, index: int) -> Outcome:
    """Be bad in the way of this number."""
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
