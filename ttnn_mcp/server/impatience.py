"""Connections over which a request does not arrive: they are closed, so that nobody holds them for nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import asyncio

# From the connection, or the first byte of a next request, to the last: at most 4 MiB, from this very machine. A
# request whose answer is awaited, and a stream of news that a client listens to, have arrived and may last.
ARRIVAL_S = 20.0


class Impatient(H11Protocol):
    """uvicorn's protocol, which by itself waits without end for the rest of a request."""

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._await_rest()

    def data_received(self, data: bytes) -> None:
        """Wait on where something is owed; a few bytes now and then do not lengthen the wait."""
        super().data_received(data)
        if self._arrived():
            self._stop_waiting()
        elif self._late is None:
            self._await_rest()

    def on_response_complete(self) -> None:
        """Of a next request that came along with the last one, a part may be missing."""
        super().on_response_complete()
        if self._late is None and not self._arrived():
            self._await_rest()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is awaited any more."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _arrived(self) -> bool:
        """Whether the client owes nothing: its request is whole, or it has not begun another."""
        if self.conn.their_state is h11.IDLE:
            return bool(self.cycle) and not self.conn.trailing_data[0]
        return self.conn.their_state is not h11.SEND_BODY

    def _await_rest(self) -> None:
        self._late = self.loop.call_later(ARRIVAL_S, self._give_up)

    def _stop_waiting(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _give_up(self) -> None:
        self._late = None
        if not self._arrived():
            self.transport.close()
