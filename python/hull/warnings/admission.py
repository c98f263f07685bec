"""Warnings about receivers that admit less than their link carries."""

from collections.abc import Iterator
from typing import Any

from hull import _core
from hull.warnings.marking import RoundTrip, Scenario, rate_text, size_text, time_text
from hull.warnings.traffic import Network


def admission_warnings(
    scenario: Scenario, network: Network, round_trip: RoundTrip
) -> Iterator[str]:
    """A sentence if the window is below the bandwidth-delay product of the fastest receiver."""
    message: dict[str, Any] = scenario["transport"].get("message", {})
    key = "transport.message.admission.window"
    for name, of in scenario.get("transports", {}).items():
        if "admission" not in message:
            message, key = of.get("message", {}), f"transports.{name}.message.admission.window"
    window = message.get("admission", {}).get("window")
    if window is None:
        return
    own = message.get("round_trip")
    round_trip_s = round_trip() if own is None else _core.quantity("time", own)
    rate_bps = max(float(host["in_bps"]) for host in network()["hosts"])
    product = rate_bps * round_trip_s / 8
    share = _core.quantity("size", window) / product
    if share < 1:
        yield (
            f"{key}: {window} is below {size_text(product)}, which {rate_text(rate_bps)} carry in "
            f"the round trip of {time_text(round_trip_s)}: a receiver gets at most {share:.0%} of "
            "its link's rate"
        )
