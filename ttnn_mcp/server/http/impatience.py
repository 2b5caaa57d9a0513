"""Closes connections on which a request never arrives as a whole, so that they do not pile up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import asyncio

# The time from the connection, or from the first byte of another request, to the last byte: at most 4 MiB, from this
# machine. It does not limit answers: a request that is being answered, or a stream of news, has arrived already.
ARRIVAL_S = 20.0


class Impatient(H11Protocol):
    """uvicorn's protocol with a time limit; without it, it waits forever for the rest of a request."""

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the clock for the first request."""
        super().connection_made(transport)
        self._await_rest()

    def data_received(self, data: bytes) -> None:
        """Stop the clock when a request is complete, start it for another; single bytes do not restart it."""
        super().data_received(data)
        if self._arrived():
            self._stop_waiting()
        elif self._late is None:
            self._await_rest()

    def on_response_complete(self) -> None:
        """Start the clock if a part of the next request arrived together with the last one."""
        super().on_response_complete()
        if self._late is None and not self._arrived():
            self._await_rest()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clock."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _arrived(self) -> bool:
        """Whether no part of a request is missing: it is complete, or none has begun."""
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
