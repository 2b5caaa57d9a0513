"""Cleaning of foreign text: no character of it may move a cursor, be invisible, or change the direction of a line.

Names of ops, signposts, files and columns come from a profile, and a profile is data. Every answer passes `cleaned`
once, where it becomes JSON. `line` is for a name inside one of our sentences.
"""

from __future__ import annotations

import re
from typing import Any, TypeVar, cast

Answer = TypeVar("Answer")

SHOWN_CHARS = 80  # of a name inside a sentence
REASON_CHARS = 200  # of what another program gave as its reason: TTNN's sentences with shapes take 150
ABSURD = 1e15  # no time, size or rate of a profile comes near it (ours)

# Line breaks and tabs are kept: pages and stack traces have them, and JSON escapes them. The following are replaced:
# all other control characters (C0, DEL, C1), soft hyphen, zero-width and joining marks, marks and overrides of
# direction, invisible operators, line and paragraph separators, byte order mark, interlinear marks, variation
# selectors and tags (which can carry a hidden text), lone surrogates and code points that are no characters.
# Source: Unicode 15, categories Cc, Cf, Cs, Zl, Zp, and Default_Ignorable_Code_Point.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U000110bd\U000110cd\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def text(foreign: str) -> str:
    """`foreign` with a space for every invisible character; the same object where there is none."""
    # nearly all text; a tenth of the time of a search
    if foreign.isascii() and foreign.isprintable():  # unmoved: it only saves the time of a search
        return foreign
    return _UNSEEN.sub(" ", foreign)


def single_line(foreign: str) -> str:
    """`foreign` in full on one clean line: for paths and cells, whose line breaks are no text of ours."""
    return " ".join(text(foreign).splitlines()).replace("\t", " ")


def line(foreign: object, most: int = SHOWN_CHARS) -> str:
    """`foreign` as one clean line of at most `most` characters."""
    cleaned_line = _printable(foreign)
    return cleaned_line if len(cleaned_line) <= most else cleaned_line[: most - 3] + "..."


def reason(foreign: object) -> str:
    """What another program gave as its reason, as one clean line."""
    return line(foreign, REASON_CHARS)


def line_end(foreign: object) -> str:
    """`foreign` as one clean line of at most `SHOWN_CHARS` characters, of which the end is kept: for paths."""
    cleaned_line = _printable(foreign)
    return cleaned_line if len(cleaned_line) <= SHOWN_CHARS else "..." + cleaned_line[3 - SHOWN_CHARS :]


def figure(number: float | None, form: str) -> str:
    """`number` inside one of our sentences; 'unknown' where it is none, or absurd: damaged cells give such."""
    return format(number, form) if number is not None and abs(number) < ABSURD else "unknown"


def quoted(foreign: object) -> str:
    """`foreign` as one clean, short line in quotation marks that it cannot close."""
    return "'" + line(foreign).replace("'", "\u2019") + "'"


def cleaned(answer: Answer) -> Answer:
    """A structure of JSON values with all texts clean; the same object where they are clean already."""
    return cast("Answer", _cleaned(answer))


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return text(value)
    if isinstance(value, dict):
        pairs = cast("dict[str, Any]", value)
        fresh = {text(key): _cleaned(part) for key, part in pairs.items()}
        unchanged = all(new is old for new, old in zip(fresh.values(), pairs.values(), strict=False))
        return pairs if unchanged and fresh.keys() == pairs.keys() else fresh
    if isinstance(value, (list, tuple)):
        parts = cast("list[Any]", value)
        changed = [_cleaned(part) for part in parts]
        return parts if all(new is old for new, old in zip(changed, parts, strict=True)) else changed
    return value


def _printable(foreign: object) -> str:
    """One line: invisible characters, line breaks and spaces of other widths become spaces."""
    name = str(foreign)
    if name.isprintable():  # unmoved: it only saves the time of a look at each character
        return _UNSEEN.sub(" ", name)  # variation selectors and fillers count as printable
    return "".join(char if char.isprintable() else " " for char in _UNSEEN.sub(" ", name))
