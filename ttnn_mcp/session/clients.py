"""Whose question is answered: over HTTP with tokens each client has names, loops and targets of its own."""

from __future__ import annotations

from contextvars import ContextVar
from hashlib import blake2b
from pathlib import Path

from ttnn_mcp.session.session import Session

# whose token it is; None where none is asked for
CLIENT: ContextVar[str | None] = ContextVar("client", default=None)


class Clients:
    """The session of whoever asks now; without a name that is the one that all share."""

    def __init__(self, shared: Session) -> None:
        self._shared = shared
        self._own: dict[str, Session] = {}

    @property
    def session(self) -> Session:
        """The session of the client whose request is answered in this context."""
        name = CLIENT.get()
        if name is None:
            return self._shared
        if name not in self._own:
            self._own[name] = self._shared.of_client(folder_of(self._shared.settings.state_folder, name))
        return self._own[name]


def folder_of(state: Path, name: str) -> Path:
    """Where a client's names and loops lie: a name may hold any character, its digest is a folder everywhere."""
    return state / "clients" / blake2b(name.encode(), digest_size=16).hexdigest()
