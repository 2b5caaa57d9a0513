"""Options and help of `report`, `history` and `archive`: the parser must not wait for what the commands need."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

ARCHIVE = "keep what was measured in many runs"
ARCHIVE_EPILOG = """\
An archive is a folder of Parquet files, or a bucket (s3://BUCKET/FOLDER, with the extra 's3'). It holds shapes,
settings and times of ops, and no paths, source lines or names. Without --to or --in it is the one in the state folder.

examples:
  ttnn-mcp archive add generated/profiler/reports
  ttnn-mcp archive add '/nightly/**/ops_perf_results*.csv' --to /shared/archive --label resnet50
  ttnn-mcp archive add '/nightly/2026-11-*' --to s3://lab/archive --dask tcp://head:8786
  ttnn-mcp archive list --in /shared/archive
  ttnn-mcp archive forget 78d181aa --in /shared/archive
"""
ADD_EPILOG = """\
Reports that the archive holds already are not read again. Reports that cannot be read are listed.
Exit status: 0 all reports are in the archive, 3 some could not be read (the others are in), 1 nothing could be done.
After an interruption the same command goes on where it stopped.
"""
MOST_JOBS = 256
HISTORY = "a model's or an op's time over the runs that were seen, and where it turned"
HISTORY_EPILOG = """\
RUN is a run by id, path or name, or what `archive list` calls one. Runs are of the same model if 70% of their ops are
alike, whatever their files are called.

examples:
  ttnn-mcp history generated/profiler/reports/2026_11_21
  ttnn-mcp history resnet50 --in /shared/archive
  ttnn-mcp history --op 61
"""
HELP = "write a run as one page to attach to a pull request"
EPILOG = """\
The page holds verdict, budget, findings with their evidence, and pictures; it needs no network.

examples:
  ttnn-mcp report demo --output report.html
  ttnn-mcp report NEW --against OLD --output report.html
  ttnn-mcp report NEW --against OLD --markdown > comment.md
  ttnn-mcp report NEW --perfetto --output run.pftrace     then open it in Perfetto
"""


def add_report(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],  # pyright: ignore[reportPrivateUsage]
    shared: argparse.ArgumentParser,
) -> None:
    """The command and its options, for the parser of the command line."""
    report = commands.add_parser(
        "report",
        parents=[shared],
        help=HELP,
        description=f"{HELP}.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    report.add_argument("subject", nargs="?", metavar="RUN", help="name, id or path (default: the newest)")
    report.add_argument("--against", metavar="BASE", help="the run before the change")
    report.add_argument("--output", type=Path, metavar="FILE", help="where to write (default: standard output)")
    kind = report.add_mutually_exclusive_group()
    kind.add_argument("--html", dest="kind", action="store_const", const="html", help="one page (default)")
    kind.add_argument("--markdown", dest="kind", action="store_const", const="markdown", help="a comment")
    kind.add_argument(
        "--perfetto", dest="kind", action="store_const", const="perfetto", help="a trace for Perfetto"
    )
    report.set_defaults(kind="html")


def add_history(commands: Any, shared: argparse.ArgumentParser, formatter: Any) -> None:
    """Add the command `history` to the commands of the shell."""
    history = commands.add_parser(
        "history",
        parents=[shared],
        formatter_class=formatter,
        help=HISTORY,
        description=f"Print {HISTORY}.",
        epilog=HISTORY_EPILOG,
    )
    history.add_argument(
        "subject", nargs="?", metavar="RUN", help="the newest run of the history (default: the newest there is)"
    )
    history.add_argument("--op", type=int, metavar="LINE", help="only the op at this line of its CSV")
    history.add_argument("--in", dest="folder", metavar="FOLDER|URL", help="another archive than this machine's")
    history.add_argument("--json", action="store_true", help="print JSON")


def add_archive(commands: Any, shared: argparse.ArgumentParser) -> None:
    """Add the command `archive` to the commands of the shell."""
    raw = argparse.RawDescriptionHelpFormatter
    archive = commands.add_parser(
        "archive", help=ARCHIVE, description=f"{ARCHIVE}.", epilog=ARCHIVE_EPILOG, formatter_class=raw
    )
    actions = archive.add_subparsers(dest="action", metavar="action", required=True)

    def action(name: str, description: str, epilog: str | None = None) -> argparse.ArgumentParser:
        return actions.add_parser(
            name,
            parents=[shared],
            help=description,
            description=f"{description}.",
            epilog=epilog,
            formatter_class=raw,
        )

    add = action("add", "read reports into an archive", ADD_EPILOG)
    add.add_argument("patterns", nargs="+", metavar="PATTERN", help="files, folders, or wildcards in quotes")
    add.add_argument("--to", dest="folder", metavar="FOLDER|URL", help="the archive")
    add.add_argument(
        "--dask", metavar="ADDRESS", help="read with the workers of this Dask scheduler (tcp://HOST:PORT)"
    )
    add.add_argument("--jobs", type=_jobs, metavar="N", help="read with N processes here (default: one per core)")
    add.add_argument("--label", type=_word, help="what to call these runs: a model, a nightly job")
    add.add_argument("--build", type=_word, help="version of TTNN that was measured")
    add.add_argument("--commit", type=_word, help="commit that was measured")
    add.add_argument(
        "--most-mb", type=_megabytes, metavar="MB", help="most it may take; the oldest runs leave first"
    )
    add.add_argument("--json", action="store_true", help="print JSON, and no progress")
    listing = action("list", "list the runs of an archive")
    listing.add_argument("--label", type=_word, help="only runs called so")
    listing.add_argument("--limit", type=_count, default=20, metavar="N", help="the N recorded last (default 20)")
    forget = action("forget", "remove runs from an archive")
    forget.add_argument(
        "runs", nargs="+", metavar="RUN", help="keys as `archive list` prints them, or their beginnings"
    )
    for parser in (listing, forget):
        parser.add_argument("--in", dest="folder", metavar="FOLDER|URL", help="the archive")
        parser.add_argument("--json", action="store_true", help="print JSON")


def _jobs(written: str) -> int:
    return _whole(written, 1, MOST_JOBS)


def _count(written: str) -> int:
    return _whole(written, 1, 1_000_000)


def _megabytes(written: str) -> int:
    return _whole(written, 1, 1_000_000_000)


def _whole(written: str, least: int, most: int) -> int:
    if not (written.isascii() and written.isdigit()) or not least <= int(written[:10]) <= most:
        raise argparse.ArgumentTypeError(f"wants a whole number from {least} to {most}")
    return int(written)


def _word(written: str) -> str:
    """A label; a path in it would be stored for others to read."""
    if not written.strip() or len(written) > 80 or any(not char.isprintable() or char in "/\\" for char in written):
        raise argparse.ArgumentTypeError("wants 1 to 80 printable characters, and no slash")
    return written.strip()
