"""Defaults of `hull linux attach` from `hull design`: the phantom queue's drain rate and threshold.

The link's rate is `--rate` or the driver's, bit/s. The round trip is `--rtt`, an option of hull
that is not passed on; with it the design also sets the pacer's parameters. Options of the user take
precedence.
"""

import sys
from collections.abc import Callable
from pathlib import Path

from hull import _core
from hull.errors import UsageError
from hull.theory.design import Design, Setting, design
from hull.theory.options import read_rtt
from hull.theory.sources import SOURCES

ASSUMED_RTT_S = 300e-6
"""The upper end of 100 to 300 us, for which thesis 2.2.4 simulates; on a link slower than 1 Gbps as
many packets' time."""
FLOWS = 2
"""Large flows that share a port, as in `hull design`."""
LOAD = 0.4
_MTU_BYTES = 1500
_FLAGS = {"--replace", "--count-arriving", "--keep-gso"}
_DEVICES = Path("/sys/class/net")

_Words = Callable[[Design], str]
_ALWAYS: dict[str, tuple[str, _Words]] = {
    "--drain": ("drain_bps", lambda found: f"{found.drain_bps:.0f}bps"),
    "--threshold": ("threshold_bytes", lambda found: f"{found.threshold_bytes:.0f}B"),
}
_WITH_RTT: dict[str, tuple[str, _Words]] = {
    "--update-interval": ("pacer", lambda found: f"{found.pacer.update_interval_s * 1e9:.0f}ns"),
    "--eta": ("pacer", lambda found: f"{100 * found.pacer.eta:g}%"),
    "--beta": ("pacer", lambda found: f"{found.pacer.beta:g}"),
    "--association-probability": (
        "pacer",
        lambda found: f"{100 * found.pacer.association_probability:g}%",
    ),
    "--association-timeout": (
        "pacer",
        lambda found: f"{found.pacer.association_timeout_s * 1e9:.0f}ns",
    ),
}


def with_defaults(arguments: list[str]) -> list[str]:
    """The arguments of `hull linux` with the design's; stderr lists these with their source. Raises
    UsageError for an invalid round trip or rate.
    """
    devices, given = _read(arguments)
    if devices[:1] not in (["attach"], ["set"]) or {"-h", "--help"} & given.keys():
        return arguments
    rtt = given.get("--rtt")
    rate_bps = _rate(devices[1:], given)
    if rate_bps is None:
        if rtt is not None:
            raise UsageError("--rtt: needs the link rate; expected --rate with it")
        return arguments
    wanted = _ALWAYS if rtt is None else _ALWAYS | _WITH_RTT
    if given.get("--phantom") == "off":
        wanted = {option: value for option, value in wanted.items() if option not in _ALWAYS}
    missing = {option: value for option, value in wanted.items() if option not in given}
    if not missing:
        return _without(arguments, "--rtt")
    slower = max(1.0, 1e9 / rate_bps)
    rtt_s = ASSUMED_RTT_S * slower if rtt is None else read_rtt(rtt, rate_bps, _MTU_BYTES)
    found = design(Setting(rate_bps, rtt_s, FLOWS, LOAD, _MTU_BYTES))
    assumed = " (assumed; --rtt sets it)" if rtt is None else ""
    print(
        f"hull design for {rate_bps / 1e9:g} Gbps, round trip {rtt_s * 1e6:g} us{assumed}, "
        f"{FLOWS} large flows:",
        file=sys.stderr,
    )
    added = []
    for option, (source, words) in missing.items():
        added += [option, words(found)]
        print(f"  {option} {words(found)}: {SOURCES[source].equation}", file=sys.stderr)
    return _without(arguments, "--rtt") + added


def _read(arguments: list[str]) -> tuple[list[str], dict[str, str]]:
    """The words that are no options (the subcommand first), and the options with their values."""
    words: list[str] = []
    given: dict[str, str] = {}
    rest = iter(arguments)
    for word in rest:
        if not word.startswith("-"):
            words.append(word)
        elif "=" in word:
            option, _, value = word.partition("=")
            given[option] = value
        elif word in _FLAGS or word in ("-h", "--help"):
            given[word] = ""
        else:
            given[word] = next(rest, "")
    return words, given


def _without(arguments: list[str], option: str) -> list[str]:
    kept: list[str] = []
    rest = iter(arguments)
    for word in rest:
        if word == option:
            next(rest, None)
        elif not word.startswith(f"{option}="):
            kept.append(word)
    return kept


def _rate(devices: list[str], given: dict[str, str]) -> float | None:
    """The common rate of all devices; None if drivers do not report it or differ."""
    if "--rate" in given:
        return _quantity("--rate", "rate", given["--rate"])
    if "--netns" in given:
        return None
    rates = {_speed(device) for device in devices}
    return rates.pop() if len(rates) == 1 else None


def _speed(device: str) -> float | None:
    try:
        mbps = int((_DEVICES / device / "speed").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
    return mbps * 1e6 if mbps > 0 else None


def _quantity(option: str, kind: str, text: str) -> float:
    try:
        return _core.quantity(kind, text)
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from None
