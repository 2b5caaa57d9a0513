"""The folder of what is remembered: where it lies when nobody names one, and what is wrong with it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

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
