"""The headers of lists of packets, as Wireshark and tshark export them: a packet is not a flow."""

from collections.abc import Sequence

_WIRESHARK = {"time", "source", "destination", "length", "info"}
_FIELDS = ("frame.", "ip.", "eth.", "tcp.", "udp.")
"""Beginnings of the names of tshark's fields, such as frame.len."""
_LEAST = 3
"""Fields of tshark that make a list of packets."""


def is_packet_list(names: Sequence[str]) -> bool:
    """Whether a header belongs to a list of packets."""
    words = {name.strip().lower() for name in names}
    fields = sum(name.startswith(_FIELDS) for name in words)
    return words >= _WIRESHARK or fields >= _LEAST
