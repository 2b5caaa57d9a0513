"""Results that later layers compute of a run and store with it, each found by its type."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TypeVar

Result = TypeVar("Result")


class Kept:
    """One result per type; with keys, one per type and key. Concurrent callers all get the result stored first."""

    def __init__(self) -> None:
        self._results: dict[tuple[type, Hashable], object] = {}

    def get(self, kind: type[Result], key: Hashable = None) -> Result | None:
        """The stored result of this type; None where there is none yet."""
        result = self._results.get((kind, key))
        return result if isinstance(result, kind) else None

    def holds(self, kind: str) -> bool:
        """Whether a result of the type with this name is stored: who asks need not import it."""
        return any(stored.__name__ == kind for stored, _ in [*self._results])

    def store(self, result: Result, key: Hashable = None) -> Result:
        """Store a result, unless one is stored already; returns the stored one."""
        stored = self._results.setdefault((type(result), key), result)
        assert isinstance(stored, type(result))  # noqa: S101 - the key says so
        return stored
