"""What lives between calls: the roots, the default run, and the runs opened so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Settings:
    """What the command line or the environment decided.

    Attributes:
        roots: where reports are looked for; empty means $TT_METAL_HOME/generated, else ./generated.
        run: the default run (id or path).
        performance: the default performance report, used where `run` is not given.
        memory: the default memory report, likewise.
        confined: only paths under the roots may be opened (HTTP), after symlinks are resolved.
        state: the folder for what we remember (opened runs, experiments); None means the user's state folder.
    """

    roots: Sequence[Path] = ()
    run: str | None = None
    performance: str | None = None
    memory: str | None = None
    confined: bool = False
    state: Path | None = None


class Session:
    """The runs one server, or one shell call, can speak of."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
