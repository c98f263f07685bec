"""Access control of the lab: checks of Host and Origin, a token if other machines can connect, and
a limit of wrong tokens.

A page of another site in the same browser can send requests here: by DNS rebinding under its own
name (the check of Host prevents this), or by a WebSocket, which browsers do not restrict to one
site (the check of Origin prevents this).
"""

import ipaddress
import secrets
import socket
import time
from collections import OrderedDict
from urllib.parse import urlsplit

from hull.lab.model import shown
from hull.terminal.messages import say

MOST_WRONG = 5
"""Wrong tokens of one address, after which it has to wait."""
WAIT_SECONDS = 60.0
_MOST_ADDRESSES = 1000


class Guard:
    """Limits of one server."""

    def __init__(self, host: str, address: str) -> None:
        """`host` is the value of `--host`, `address` its address."""
        self._names = {"localhost", host.lower()}
        self._any_address = not ipaddress.ip_address(address.partition("%")[0]).is_loopback
        if self._any_address:
            self._names.add(socket.gethostname().lower())
        self.token = secrets.token_urlsafe(16) if self._any_address else None
        self._wrong: OrderedDict[str, list[float]] = OrderedDict()

    def refusal(self, host: str | None, origin: str | None, site: str | None = None) -> str | None:
        """Why a request with these headers is rejected; None if it is not."""
        if not self._is_own(host):
            found = shown(host or "")
            return f"Host: {found} is invalid; expected this server's address or localhost"
        if origin is not None and origin.partition("://")[2].lower() != (host or "").lower():
            return f"Origin: {shown(origin)} is invalid; expected the lab's own page"
        if site == "cross-site":
            return "Sec-Fetch-Site: cross-site is invalid; expected the lab's own page"
        return None

    def blocked_for(self, address: str) -> float:
        """Seconds for which an address has to wait, 0 where it has not."""
        times = self._wrong.get(network_of(address), [])
        if len(times) < MOST_WRONG:
            return 0.0
        return max(times[-MOST_WRONG] + WAIT_SECONDS - time.monotonic(), 0.0)

    def admits(self, token: object, address: str) -> bool:
        """Whether the token is right. Ask `blocked_for` first; a wrong one is noted on stderr."""
        if self.token is None:
            return True
        given = token if isinstance(token, str) else ""
        if secrets.compare_digest(given.encode(errors="replace"), self.token.encode()):
            return True
        network = network_of(address)
        times = self._wrong.pop(network, [])
        times = [at for at in times if at > time.monotonic() - WAIT_SECONDS]
        times.append(time.monotonic())
        self._wrong[network] = times[-MOST_WRONG:]
        while len(self._wrong) > _MOST_ADDRESSES:
            self._wrong.popitem(last=False)
        what = "wrong token" if given else "no token"
        say(f"{what} from {address} ({len(times)} of {MOST_WRONG} in a minute)", "hull lab")
        return False

    def _is_own(self, host: str | None) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname if host else None
        except ValueError:
            return False
        if name is None:
            return False
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return name in self._names
        return self._any_address or address.is_loopback


def network_of(address: str) -> str:
    """What counts as one client: an IPv4 address, or an IPv6 network of 64 bits."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv6Address):
        # An IPv4 address, where one socket listens to both.
        if found.ipv4_mapped:
            return str(found.ipv4_mapped)
        return str(ipaddress.ip_network((found, 64), strict=False))
    return address
