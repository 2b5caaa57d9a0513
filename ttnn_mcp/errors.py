"""The failures we understand, each with a sentence that says what to do next.

    TtnnMcpError
    |-- ReportError            a report cannot be read
    |   |-- ReportMissing      nothing there, or not a report
    |   |-- ReportBroken       truncated, binary, locked, cut in half
    |   `-- ReportForeign      a dialect we know and do not read (another tool's output, a dead generation)
    |-- RunUnknown             no run by that id or path
    |-- QuestionRefused        the run cannot answer this, or the argument names nothing in it
    |-- ArgumentsInvalid       the call's arguments are off
    `-- StoreUnusable          the log of experiments cannot be read or written

Their text is written by us and reaches the assistant verbatim; it never quotes foreign text except short,
cleaned names of files, columns, ops and signposts. Anything else that is raised is a bug.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from ttnn_mcp import quoting

if TYPE_CHECKING:
    from collections.abc import Iterable


class TtnnMcpError(Exception):
    """A failure we understand; its message says what to do next."""


class ReportError(TtnnMcpError):
    """A report cannot be read."""


class ReportMissing(ReportError):  # noqa: N818 - named for what the reader is told
    """There is nothing at the path, or nothing that is a report."""


class ReportBroken(ReportError):  # noqa: N818
    """The file is a report in name only: truncated, binary, locked or cut in half."""


class ReportForeign(ReportError):  # noqa: N818
    """A dialect we recognise and do not read."""


class RunUnknown(TtnnMcpError):  # noqa: N818
    """No run by that id or path."""


class QuestionRefused(TtnnMcpError):  # noqa: N818
    """The run cannot answer this question, or an argument names nothing in the run."""


class ArgumentsInvalid(TtnnMcpError):  # noqa: N818
    """The call's arguments do not fit the tool."""


class StoreUnusable(TtnnMcpError):  # noqa: N818
    """The log of experiments cannot be read or written; nothing that was recorded is lost."""


LONGEST_GUESSED = 200  # characters: comparing grows with both lengths, and no name we have is longer
SHOWN_NAME_CHARS = quoting.SHOWN_CHARS  # a name quoted from a file is cut and cleaned before it meets a reader


def shown(name: object) -> str:
    """A foreign name as one clean, short line."""
    return quoting.line(name)


def shown_path(path: object) -> str:
    """A foreign path as one clean, short line; its end says most."""
    return quoting.line_end(path)


def alike(name: str, names: Iterable[str], *, limit: int = 3) -> list[str]:
    """The existing names that `name` could have meant, the likeliest first."""
    lowered = {candidate.lower(): candidate for candidate in names}
    short = name[:LONGEST_GUESSED].lower()
    return [lowered[match] for match in get_close_matches(short, list(lowered), n=limit, cutoff=0.5)]


def meant(name: str, names: Iterable[str], *, limit: int = 3) -> str:
    """' Did you mean X?' with the nearest existing names, else ''."""
    close = alike(name, names, limit=limit)
    return f" Did you mean {', '.join(map(shown, close))}?" if close else ""


def nearest(name: str, names: Iterable[str], *, limit: int = 3) -> str:
    """' Did you mean X?' with the nearest existing names, else the first few that exist, else ''."""
    existing = list(dict.fromkeys(names))
    guess = meant(name, existing, limit=limit)
    if guess or not existing:
        return guess
    more = ", ..." if len(existing) > 2 * limit else ""
    return f" There is: {', '.join(map(shown, existing[: 2 * limit]))}{more}."
