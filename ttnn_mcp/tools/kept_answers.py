"""Answers about large reports, kept with the copies of their columns: a restart need not compute them again.

An answer follows from the report's contents, the device log and the manifest beside it, the run's name and notes, the
earlier runs in the archive, which it may cite, the arguments and our code. All of these are in the name under which it
is kept, so that whatever changes, the answer is computed anew.
"""

from __future__ import annotations

import json
import os
import time
from functools import cache
from hashlib import blake2b
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ttnn_mcp import __version__
from ttnn_mcp.archive.rows import run_key_of
from ttnn_mcp.archive.store import Archive
from ttnn_mcp.errors import TtnnMcpError
from ttnn_mcp.readers.fingerprint import SETTLED_NS, stamp_of
from ttnn_mcp.readers.manifest import NAME as MANIFEST
from ttnn_mcp.readers.performance.device_log import NAME as DEVICE_LOG

if TYPE_CHECKING:
    from ttnn_mcp.readers.kept_files import KeptFiles
    from ttnn_mcp.run.run import Run
    from ttnn_mcp.tools.tool import Arguments, Tool

STARTED_NS = time.time_ns()
PACKAGES = ("numpy", "pydantic")  # what computes and writes an answer, beside our code
FAILED = "a bug in ttnn-mcp"  # a check says so where it failed, perhaps for lack of memory: not to be kept


def kept_name(run: Run, tool: Tool[Any, Any], asked: Arguments) -> str | None:
    """The name under which the answer is kept; None where it is not: small reports, and whatever is still changing."""
    report = run.performance
    if report is None or report.contents is None or run.memory is not None or tool.awaited:
        return None
    path, code = report.csv.path, _code()
    beside = [_stamp(path.parent / name) for name in (DEVICE_LOG, MANIFEST)]
    earlier = _earlier_runs(run)
    if code is None or earlier is None or None in beside:
        return None
    described = (run.id, run.name, run.notes, str(path))
    mark = (report.contents, beside, earlier, described, tool.name, asked.model_dump_json(), code)
    return "1-" + blake2b(repr(mark).encode(errors="replace"), digest_size=16).hexdigest()


def kept_answer(kept: KeptFiles, name: str) -> tuple[dict[str, Any], str] | None:
    """The answer kept under this name, and its text; None if there is none."""
    contents = kept.read(name)
    if contents is None:
        return None
    try:
        text = bytes(contents).decode()
        structured: Any = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return (cast("dict[str, Any]", structured), text) if isinstance(structured, dict) else None


def keep(kept: KeptFiles, name: str, text: str) -> None:
    """Keep an answer, unless something failed in it."""
    if FAILED not in text:
        kept.write(name, [text.encode()])


def _earlier_runs(run: Run) -> list[str] | None:
    """The keys of the runs that an answer may cite; None where the archive cannot be read now."""
    archive = run.kept.get(Archive)
    try:
        return sorted(archive.known().keys() - {run_key_of(run)}) if archive else []
    except TtnnMcpError:
        return None


def _stamp(file: Path) -> tuple[int, ...] | None:
    """What changes with a file, empty where there is none; None where it may change again unseen."""
    try:
        status = file.stat()
    except FileNotFoundError:
        return ()
    except OSError:
        return None
    if time.time_ns() - max(status.st_mtime_ns, status.st_ctime_ns) <= SETTLED_NS:
        return None
    return stamp_of(status)


@cache
def _code() -> str | None:
    """A digest of our version and of when each of our files changed; None if one changed while we ran."""
    stamps: list[object] = [__version__]
    try:
        stamps += [metadata.version(package) for package in PACKAGES]
        for file in sorted(Path(__file__).parents[1].rglob("*.py")):
            status = file.stat()
            if max(status.st_mtime_ns, status.st_ctime_ns) > STARTED_NS:
                return None
            stamps.append((os.fspath(file), status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino))
    except (OSError, metadata.PackageNotFoundError):
        return None
    return blake2b(repr(stamps).encode(errors="replace"), digest_size=16).hexdigest()
