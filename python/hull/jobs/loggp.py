"""LogGP, the simplest network of a job: `loggp:L=2500ns,o=1500ns,...` on the command line."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hull import _core
from hull.errors import UsageError

DEFAULTS = {"L": "2500ns", "o": "1500ns", "g": "1000ns", "G": "6ns", "O": "0ns", "S": "65535B"}
"""LogGOPSim's defaults: an InfiniBand cluster of 2010."""
CHARGES = ("receiver", "wire")
_FORM = "loggp:L=2500ns,o=1500ns,g=1000ns,G=6ns,O=0ns,S=65535B,charge=receiver"


@dataclass(frozen=True)
class LogGP:
    """Parameters as text, each with its unit, and where the bytes take their time."""

    values: dict[str, str]
    charge: str

    @classmethod
    def parse(cls, text: str) -> "LogGP":
        """The parameters of `--network`; UsageError names what is wrong."""
        kind, _, rest = text.partition(":")
        if kind != "loggp":
            raise UsageError(f"--network: found {text!r}; expected {_FORM}")
        values, charge = dict(DEFAULTS), CHARGES[0]
        for pair in filter(None, rest.split(",")):
            key, equals, value = pair.partition("=")
            if key == "charge" and value in CHARGES:
                charge = value
            elif equals and key in values:
                values[key] = value
            else:
                raise UsageError(f"--network: found {pair!r} in {text!r}; expected {_FORM}")
        return cls(values, charge)

    def run(self, schedule: Path) -> dict[str, Any]:
        """What a schedule takes: ends of its ranks in ns, and what waits for ever."""
        try:
            found = _core.loggp(
                schedule,
                [self._ns(key) for key in "LogGO"],
                int(_quantity("size", "S", self.values["S"])),
                self.charge == "wire",
            )
        except OSError as error:
            raise UsageError(f"{schedule}: {error.strerror}; expected a schedule") from None
        except ValueError as error:
            raise UsageError(f"{schedule}: {error}") from None
        result: dict[str, Any] = json.loads(found)
        return result

    def _ns(self, key: str) -> float:
        # The text has at most a picosecond's digits.
        return round(_quantity("time", key, self.values[key]) * 1e12) / 1000


def _quantity(kind: str, key: str, text: str) -> float:
    try:
        return float(_core.quantity(kind, text))
    except ValueError as error:
        raise UsageError(f"--network: {key}: {error}") from None
