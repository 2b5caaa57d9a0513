"""What the command line or the environment decided for a session, and the folder of what it remembers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from ttnn_mcp.records import dataclass

if TYPE_CHECKING:
    from ttnn_mcp.readers.sqlite_file import Fault

NOWHERE = Path(os.devnull, "ttnn-mcp")  # nobody, not even root, can make a folder below a device
HOMELESS = "HOME names no folder, and this user has no entry in the list of users"
# on a full disk an empty file can still be made
BLOCK = bytes(4096)  # unmoved: any bytes show whether there is room
_FAULTS: dict[Fault, str] = {
    "full": "the disk is full or fails",
    "read_only": "it is read-only",
    "busy": "another program holds it",
    "damaged": "its list of runs is damaged: move runs.sqlite aside",
    "unknown": "SQLite cannot use its list of runs: move runs.sqlite aside",
}
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
        memory: the default memory report, in the same way.
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
            # as runs that were opened are known
            return tuple(dict.fromkeys(folder.absolute() for folder in folders))
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


def usual_folder() -> Path:
    """The user's own folder; `NOWHERE` for a user without a home.

    The base directory specification of freedesktop.org wants relative paths in XDG_STATE_HOME ignored.
    """
    base = os.environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(base):  # noqa: PTH117 - Path("") is the current folder
        home = os.path.expanduser("~") if os.environ.get("HOME") != "" else ""  # noqa: PTH111 - Path.home() raises
        if not os.path.isabs(home):  # noqa: PTH117
            return NOWHERE
        base = os.path.join(home, ".local", "state")  # noqa: PTH118
    return Path(base, "ttnn-mcp")


def obstacle(folder: Path) -> str | None:
    """Why nothing can be written into the folder, which is made for that; None where it can be."""
    import tempfile  # noqa: PLC0415 - `--help` must not wait for it

    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, prefix="tried-") as file:
            file.write(BLOCK)
            file.flush()
    except (OSError, ValueError) as failed:
        return reason(folder, failed)
    return None


def reason(folder: Path, failed: Exception) -> str:
    """A failure to write below the folder, in a few words of ours or of the system's."""
    if folder == NOWHERE:
        return HOMELESS
    if isinstance(failed, FileExistsError):
        return "it is a file"
    if isinstance(failed, OSError):
        return failed.strerror or type(failed).__name__
    from ttnn_mcp.readers.sqlite_file import fault_of  # noqa: PLC0415 - most never fail

    return _FAULTS[fault_of(failed)]
