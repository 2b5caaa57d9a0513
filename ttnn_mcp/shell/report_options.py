"""The options of the command `report`, apart from it: the parser must not wait for what a report needs."""

from __future__ import annotations

import argparse
from pathlib import Path

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
