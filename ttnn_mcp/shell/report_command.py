"""The command `report`: a run as a page to attach, as Markdown, or as a trace."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

from ttnn_mcp.errors import ArgumentsInvalid, shown_path
from ttnn_mcp.report.answers import answers_of
from ttnn_mcp.report.page import MARK, page
from ttnn_mcp.shell import report_markdown
from ttnn_mcp.shell.report_markdown import comment

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable
    from pathlib import Path

    from ttnn_mcp.report.answers import Answers
    from ttnn_mcp.session.session import Session

KINDS: dict[str, tuple[Callable[[Answers], str], str]] = {
    "html": (page, MARK),
    "markdown": (comment, report_markdown.MARK),
}


def report(session: Session, options: argparse.Namespace) -> str:
    """What to print: the report, or where it was written.

    Raises:
        TtnnMcpError: a run cannot be opened or compared, or the file is not ours to overwrite.
    """
    write, mark = KINDS[options.kind]
    output: Path | None = options.output
    if output is None and options.kind != "markdown" and sys.stdout.isatty():
        raise ArgumentsInvalid("A page is long: write it to a file with --output report.html.")
    if output is not None:
        _check_free(output, mark)
    text = write(asyncio.run(answers_of(session, options.subject, options.against)))
    if output is None:
        return text
    try:
        output.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise _unwritable(output, error) from None
    return f"{output} ({len(text.encode(errors='replace')) / 1e6:.2f} MB)\n"


def _check_free(output: Path, mark: str) -> None:
    """Only a report of ours may be overwritten: a slip must not cost a profile.

    Raises:
        ArgumentsInvalid: something else is at that place.
    """
    try:
        with output.open("rb") as file:
            begin = file.read(len(mark))
    except FileNotFoundError:
        return
    except OSError as error:
        raise _unwritable(output, error) from None
    if begin != mark.encode():
        raise ArgumentsInvalid(f"{shown_path(output)} exists and is no report of this kind: choose another file.")


def _unwritable(output: Path, error: OSError) -> ArgumentsInvalid:
    return ArgumentsInvalid(f"{shown_path(output)} cannot be written ({error.strerror}): choose another file.")
