"""Addresses of a trace: IPv4 and IPv6, or names; prefixes of them."""

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass

from hull.errors import UsageError, shown

Ip = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True)
class Address:
    """An address; a name in the trace's own spelling."""

    text: str
    bytes: int
    """Sent and received."""
    ip: Ip | None
    """None for a name."""

    @property
    def block(self) -> str:
        """Its /24, or /64 of IPv6; nothing for names, which are together."""
        if self.ip is None:
            return ""
        length = 24 if self.ip.version == 4 else 64
        return str(ipaddress.ip_network((self.ip, length), strict=False))

    @property
    def order(self) -> tuple[int, int, str]:
        """By number."""
        return (self.ip.version, int(self.ip), "") if self.ip else (0, 0, self.text)


def parsed(text: str) -> Ip | None:
    """The address that a text is; IPv4 within IPv6 (::ffff:10.0.0.1) is IPv4."""
    try:
        ip = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = ip.ipv4_mapped if isinstance(ip, ipaddress.IPv6Address) else None
    return mapped or ip


def spellings(texts: Iterable[str]) -> dict[str, str]:
    """The usual spelling of each IPv6 address that has another one, so that a host has one
    spelling: 10.0.0.1 for ::ffff:10.0.0.1.
    """
    usual = {text: str(parsed(text) or text) for text in texts if ":" in text and "%" not in text}
    return {text: other for text, other in usual.items() if text != other}


def network(text: str, place: str) -> Network:
    """A prefix such as 10.1.0.0/24, or one address. Raises UsageError."""
    try:
        return ipaddress.ip_network(text.strip(), strict=False)
    except ValueError:
        raise UsageError(
            f"{place}: {shown(text)} is invalid; expected an address or a prefix such as "
            "10.1.0.0/24 or 2001:db8::/64"
        ) from None
