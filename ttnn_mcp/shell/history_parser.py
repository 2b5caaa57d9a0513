"""The options and help texts of `ttnn-mcp history`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse

HISTORY = "a model's or an op's time over the runs that were seen, and where it turned"
HISTORY_EPILOG = """\
RUN is a run by id, path or name, or what `archive list` calls one. Runs are of the same model if 70% of their ops are
alike, whatever their files are called.

examples:
  ttnn-mcp history generated/profiler/reports/2026_11_21
  ttnn-mcp history resnet50 --in /shared/archive
  ttnn-mcp history --op 61
"""


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
