"""How long a connection may say nothing: without a limit, a few dozen that wait would keep all
others out."""

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

REQUEST_SECONDS = 5.0
"""From connecting to the end of the first request's headers."""


class Patient(H11Protocol):
    """HTTP, for those who ask in time."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody has connected."""
        super().connection_made(transport)
        self.loop.call_later(REQUEST_SECONDS, self._look)

    def _look(self) -> None:
        asked: object = self.scope
        if asked is None and not self.transport.is_closing():
            self.transport.close()
