"""What the command line or the environment decided for a session."""

from __future__ import annotations

import os
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from ttnn_mcp.records import dataclass
from ttnn_mcp.session.state_folder import NOWHERE, usual_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

MB = 1_000_000
ENGINE = "duckdb"  # of the archive: 61 MB, and so an extra
ARCHIVE_MB = 500  # some 25,000 runs of 1,000 ops: one takes 20 kB
ARCHIVE_VARIABLE = "TTNN_MCP_ARCHIVE_MB"
LONGEST_NUMBER = 10  # digits; more is no number of megabytes
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
        archive_mb: how much the archive of runs may take there; 0 for none; None means $TTNN_MCP_ARCHIVE_MB, or the
            default without it.
        ttnn: a Python with the user's TTNN, to prove with; over HTTP naming it allows to run it.
    """

    roots: Sequence[Path] = ()
    run: str | None = None
    performance: str | None = None
    memory: str | None = None
    confined: bool = False
    state: Path | None = None
    cache_mb: int = CACHE_MB
    archive_mb: int | None = None
    ttnn: Path | None = None

    @property
    def searched(self) -> tuple[Path, ...]:
        """The folders in which reports are looked for."""
        folders = self.roots or (Path(os.environ.get("TT_METAL_HOME", ""), "generated"),)
        with suppress(FileNotFoundError):  # the current folder was removed
            return tuple(
                dict.fromkeys(folder.absolute() for folder in folders)
            )  # as runs that were opened are known
        return tuple(folders)

    @property
    def archive_at_most_mb(self) -> int:
        """How much the archive of runs may take; 0 for none: without engine or home, or if the variable is odd."""
        if find_spec(ENGINE) is None or self.state_folder == NOWHERE:
            return 0
        if self.archive_mb is not None:
            return self.archive_mb
        written = os.environ.get(ARCHIVE_VARIABLE, str(ARCHIVE_MB)).strip()
        return int(written) if written.isascii() and written.isdigit() and len(written) < LONGEST_NUMBER else 0

    @property
    def archive_folder(self) -> Path:
        """Where the archive of runs lies, if there is one."""
        return self.state_folder / "archive"

    @property
    def state_folder(self) -> Path:
        """The folder that stores opened runs and experiments."""
        return usual_folder() if self.state is None else self.state
