"""The failures we understand, each with a sentence that says what to do next.

    TtnnMcpError
    |-- ReportError            a report cannot be read
    |   |-- ReportMissing      nothing is there, or it is no report
    |   |-- ReportBroken       truncated, binary, locked, damaged
    |   `-- ReportForeign      a format that we recognise but do not read (another tool's output, an old format)
    |-- RunUnknown             no run by that id or path
    |-- QuestionRefused        the run cannot answer this, or the argument names nothing in it
    |-- ArgumentsInvalid       the call's arguments do not fit the tool
    |-- StoreUnusable          the log of experiments cannot be read or written
    `-- ArchiveUnusable        the archive of runs cannot be read or written, or a package for it is missing

We write their text, and it reaches the assistant as it is. It quotes foreign text only as short, cleaned names of
files, columns, ops and signposts. Any other exception is a bug.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from ttnn_mcp import quoting


class TtnnMcpError(Exception):
    """A failure we understand; its message says what to do next."""


class ReportError(TtnnMcpError):
    """A report cannot be read."""


class ReportMissing(ReportError):  # noqa: N818 - named for what the reader is told
    """There is nothing at the path, or nothing that is a report."""


class ReportBroken(ReportError):  # noqa: N818
    """The file looks like a report, but is truncated, binary, locked or damaged."""


class ReportForeign(ReportError):  # noqa: N818
    """A format that we recognise but do not read."""


class RunUnknown(TtnnMcpError):  # noqa: N818
    """No run by that id or path."""


class QuestionRefused(TtnnMcpError):  # noqa: N818
    """The run cannot answer this question, or an argument names nothing in the run."""


class ArgumentsInvalid(TtnnMcpError):  # noqa: N818
    """The call's arguments do not fit the tool."""


class StoreUnusable(TtnnMcpError):  # noqa: N818
    """The log of experiments cannot be read or written; no record is lost."""


class ArchiveUnusable(TtnnMcpError):  # noqa: N818
    """The archive of runs cannot be read or written, or a package that it needs is not installed."""


LONGEST_GUESSED = 200  # characters: comparing takes longer with both lengths, and none of our names is longer
SHOWN_NAME_CHARS = quoting.SHOWN_CHARS  # names quoted from a file are cut to this length


def shown(name: object) -> str:
    """A foreign name as one clean, short line."""
    return quoting.line(name)


def shown_path(path: object) -> str:
    """A foreign path as one clean, short line; if it is too long, its end is shown."""
    return quoting.line_end(path)


def alike(name: str, names: Iterable[str], *, limit: int = 3) -> list[str]:
    """The existing names that are most similar to `name`, the most similar first."""
    lowered = {candidate.lower(): candidate for candidate in names}
    short = name[:LONGEST_GUESSED].lower()
    return [lowered[match] for match in get_close_matches(short, list(lowered), n=limit, cutoff=0.5)]


def suggestion(name: str, names: Iterable[str], *, limit: int = 3) -> str:
    """' Did you mean X?' with the most similar existing names; '' if none is similar."""
    close = alike(name, names, limit=limit)
    return f" Did you mean {', '.join(map(shown, close))}?" if close else ""


def nearest(name: str, names: Iterable[str], *, limit: int = 3) -> str:
    """' Did you mean X?' with the most similar names; if none is similar, the first few names; '' without names."""
    existing = list(dict.fromkeys(names))
    guess = suggestion(name, existing, limit=limit)
    if guess or not existing:
        return guess
    more = ", ..." if len(existing) > 2 * limit else ""
    return f" There is: {', '.join(map(shown, existing[: 2 * limit]))}{more}."


def unforeseen(name: str) -> str:
    """What the caller reads of a failure we did not foresee: that it is ours, and nothing of its text."""
    return (
        f"ttnn-mcp failed on this {name} call; this is a bug in ttnn-mcp, not in the call or the report. "
        "Its stderr has the traceback; another tool or a narrower question may still answer."
    )
