"""What the command line or the environment decided for a session."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

MB = 1_000_000
CACHE_MB = 1_000  # copies of some eight reports of a million rows: one takes 120 MB


@dataclass(frozen=True, slots=True)
class Settings:
    """What the command line or the environment decided.

    Attributes:
        roots: folders to look for reports in; empty means $TT_METAL_HOME/generated, or ./generated without it.
        run: the default run (id or path).
        performance: the default performance report, used where `run` is not given.
        memory: the default memory report, likewise.
        confined: only paths under the roots may be opened or named (HTTP), after symlinks are resolved.
        state: the folder for opened runs and experiments; None means the user's state folder.
        cache_mb: how much the copies of large reports' columns may take in the state folder; 0 for none.
    """

    roots: Sequence[Path] = ()
    run: str | None = None
    performance: str | None = None
    memory: str | None = None
    confined: bool = False
    state: Path | None = None
    cache_mb: int = CACHE_MB

    @property
    def searched(self) -> tuple[Path, ...]:
        """The folders in which reports are looked for."""
        if self.roots:
            return tuple(self.roots)
        home = os.environ.get("TT_METAL_HOME")
        return (Path(home) / "generated" if home else Path.cwd() / "generated",)

    @property
    def state_folder(self) -> Path:
        """The folder that stores opened runs and experiments."""
        if self.state is not None:
            return self.state
        base = os.environ.get("XDG_STATE_HOME")
        return (Path(base) if base else Path.home() / ".local" / "state") / "ttnn-mcp"
