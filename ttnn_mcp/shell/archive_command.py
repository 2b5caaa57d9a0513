"""The command `archive`: what it does and prints."""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ttnn_mcp.archive.passes import Order, Outcome, one_pass
from ttnn_mcp.archive.rows import Provenance
from ttnn_mcp.archive.store import Archive
from ttnn_mcp.errors import ArchiveUnusable, RunUnknown, nearest, shown, shown_path
from ttnn_mcp.session.settings import MB
from ttnn_mcp.shell.archive_progress import ProgressLine, clock_time

if TYPE_CHECKING:
    import argparse

    from ttnn_mcp.archive.parts import KeptRun
    from ttnn_mcp.session.settings import Settings

SOME_DAMAGED = 3
KEY_CHARS = 8  # shown of a run's key; the fewest by which one may be named
DAMAGED_SHOWN = 20
COLUMNS = (
    *("run_key", "recorded_at", "label", "name", "arch", "clock_mhz", "ops", "window_ops", "window_us"),
    *("build", "commit"),
)
_LIST = f"SELECT {', '.join(COLUMNS)} FROM runs WHERE ? IN ('', label) ORDER BY recorded_at DESC, run_key LIMIT ?"  # noqa: S608


def archive(options: argparse.Namespace, settings: Settings) -> int:
    """Do what the options ask for, print the result, and return the exit status."""
    own = options.folder is None
    if own and not settings.archive_at_most_mb:
        raise ArchiveUnusable(
            "This machine keeps no archive: it is switched off, or the extra `archive` is not installed."
        )
    folder = str(settings.archive_folder) if own else str(options.folder)
    if options.action == "add":
        if own:
            with suppress(OSError):  # writing says what is wrong
                settings.archive_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        most_mb = options.most_mb or (settings.archive_at_most_mb if own else None)
        return _add(options, folder, most_mb)
    return (_list if options.action == "list" else _forget)(options, folder)


def _add(options: argparse.Namespace, folder: str, most_mb: int | None) -> int:
    order = Order(
        patterns=options.patterns,
        folder=folder,
        provenance=Provenance(options.label, options.build, options.commit),
        jobs=options.jobs,
        cluster=options.dask,
        most_bytes=most_mb * MB if most_mb is not None else None,
    )
    progress = ProgressLine(sys.stderr, quiet=options.json)
    outcome = one_pass(order, progress)
    text = _as_json(outcome, folder, progress.seconds) if options.json else _told(outcome, progress.seconds)
    sys.stdout.write(text)
    return SOME_DAMAGED if outcome.damaged else 0


def _as_json(outcome: Outcome, folder: str, seconds: float) -> str:
    printed = {
        "archive": shown_path(folder),
        "added": outcome.new,
        "known": outcome.known,
        "ops": outcome.ops,
        "left": outcome.left,
        "seconds": round(seconds, 2),
        "damaged": [damage._asdict() for damage in outcome.damaged],
        "skipped": outcome.skipped,
    }
    return f"{json.dumps(printed)}\n"


def _told(outcome: Outcome, seconds: float) -> str:
    lines = [
        f"{_runs(outcome.new)} added with {outcome.ops:,} ops in {clock_time(seconds)}; {outcome.known:,} known"
    ]
    if outcome.left:
        lines.append(f"{_runs(outcome.left)} left to make room, the oldest first")
    lines += outcome.skipped
    if outcome.damaged:
        lines.append(f"{len(outcome.damaged):,} could not be read:")
        lines += [f"  {damage.report}: {damage.why}" for damage in outcome.damaged[:DAMAGED_SHOWN]]
        if len(outcome.damaged) > DAMAGED_SHOWN:
            lines.append(f"  and {len(outcome.damaged) - DAMAGED_SHOWN:,} more (--json lists all)")
    return "\n".join(lines) + "\n"


def _runs(count: int) -> str:
    return f"{count:,} run{'s' if count != 1 else ''}"


def _list(options: argparse.Namespace, folder: str) -> int:
    with Archive(folder).connection() as engine:
        rows: list[tuple[Any, ...]] = engine.execute(_LIST, [options.label or "", options.limit]).fetchall()
    runs: list[dict[str, Any]] = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
    if options.json:
        sys.stdout.write(f"{json.dumps({'runs': runs})}\n")
    else:
        sys.stdout.write("".join(map(_line, runs)) or "The archive holds no such run.\n")
    return 0


def _line(run: dict[str, Any]) -> str:
    recorded = datetime.fromtimestamp(run["recorded_at"]).astimezone().strftime("%Y-%m-%d %H:%M")
    words = [
        run["run_key"][:KEY_CHARS],
        recorded,
        f"{run['arch'] or 'unknown chip'}",
        f"{run['clock_mhz']:.0f} MHz" if run["clock_mhz"] else "clock unknown",
        f"{run['window_ops']:,} ops",  # of the window, as the time behind it
        f"{run['window_us'] / 1e3:,.3f} ms",
        *(run[name] for name in ("label", "build", "commit") if run[name]),
        run["name"],
    ]
    return "  ".join(words) + "\n"


def _forget(options: argparse.Namespace, folder: str) -> int:
    store = Archive(folder)
    known = store.known()
    keys = {_named(written, known) for written in options.runs}
    count = store.forget(keys)
    sys.stdout.write(
        f"{json.dumps({'forgotten': sorted(keys)})}\n" if options.json else f"{_runs(count)} removed\n"
    )
    return 0


def _named(written: str, known: dict[str, KeptRun]) -> str:
    """The one key that begins so.

    Raises:
        RunUnknown: none does, or several do.
    """
    matching = [key for key in known if key.startswith(written.lower())] if len(written) >= KEY_CHARS else []
    if len(matching) != 1:
        hint = nearest(written[:KEY_CHARS], [key[:KEY_CHARS] for key in known])
        why = f"{len(matching)} runs begin with" if matching else "No run in the archive has the key"
        raise RunUnknown(f"{why} '{shown(written)}'.{hint} `ttnn-mcp archive list` prints the keys.")
    return matching[0]
