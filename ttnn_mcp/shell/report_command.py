"""The command `report`: a run as a page to attach, as Markdown, or as a trace."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from ttnn_mcp.errors import ArgumentsInvalid, shown_path
from ttnn_mcp.readers.regular_file import begin_of
from ttnn_mcp.report.answers import Answers, answers_of
from ttnn_mcp.report.page import MARK, page
from ttnn_mcp.report.trace import BEGINNING, trace
from ttnn_mcp.session.session import Session
from ttnn_mcp.shell import markdown
from ttnn_mcp.shell.markdown import comment
from ttnn_mcp.shell.terminal import awaited

KINDS: dict[str, tuple[Callable[[Answers], str | bytes], bytes]] = {  # how it is written, and how each begins
    "html": (page, MARK.encode()),
    "markdown": (comment, markdown.MARK.encode()),
    "perfetto": (trace, BEGINNING),
}


def report(session: Session, options: argparse.Namespace) -> bytes:
    """What to print: the report, or where it was written.

    Raises:
        TtnnMcpError: a run cannot be opened or compared, or the file is not ours to overwrite.
    """
    write, mark = KINDS[options.kind]
    output: Path | None = options.output
    if output is None and options.kind != "markdown" and sys.stdout.isatty():
        raise ArgumentsInvalid("This is long: write it to a file with --output FILE.")
    if output is not None:
        _check_free(output, mark)
    written = write(awaited(answers_of(session, options.subject, options.against), "report"))
    content = written if isinstance(written, bytes) else written.encode(errors="replace")
    if output is None:
        return content
    try:
        output.write_bytes(content)
    except OSError as error:
        with suppress(OSError):
            output.unlink()  # half a report is none
        raise _unwritable(output, error) from None
    return f"{output} ({len(content) / 1e6:.2f} MB)\n".encode(errors="replace")


def _check_free(output: Path, mark: bytes) -> None:
    """Only a report of ours, or an empty file, may be overwritten: a slip must not cost a profile.

    Raises:
        ArgumentsInvalid: something else is at that place.
    """
    try:
        begin = begin_of(output, len(mark))
    except FileNotFoundError:
        return
    except OSError as error:
        raise _unwritable(output, error) from None
    if begin not in (mark, b""):
        raise ArgumentsInvalid(f"{shown_path(output)} exists and is no report of this kind: choose another file.")


def _unwritable(output: Path, error: OSError) -> ArgumentsInvalid:
    return ArgumentsInvalid(f"{shown_path(output)} cannot be written ({error.strerror}): choose another file.")
