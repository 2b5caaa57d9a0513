"""The cells of a performance CSV as numbers and texts. Impossible values count as not measured; a caveat says so."""

from __future__ import annotations

import numpy as np

from ttnn_mcp.arrays import Booleans, Floats
from ttnn_mcp.readers.performance.column import Column
from ttnn_mcp.readers.performance.columns import BY_NAME
from ttnn_mcp.readers.performance.frame import TextColumn

WORD_CHARS = 100  # formats, placements, fidelities: the longest real one has 25
# op names have up to 60 characters; ATTRIBUTES come from Tracy's messages, which end at 64 KiB
CHARS = {"op_code": 1_000, "attributes": 1 << 16, "loc": 1 << 16}
DISTINCT_AT_MOST = 20_000  # different texts of one column; real reports have a few hundred, and each is parsed
MANY_ARE_USUAL = frozenset({"op_code", "program_hash", "loc"})  # columns whose texts may differ from row to row


def impossible(column: Column, values: Floats) -> Booleans:
    """Mask of the cells whose value cannot be true: infinite, beyond the column's limit, or no count among counts."""
    beyond = np.abs(values) > column.limit
    if column.counts:
        beyond |= (values < 0) | (np.floor(values) < values)
    return beyond


def bounded(name: str, texts: TextColumn) -> tuple[TextColumn, str]:
    """The column with its texts cut to a length and, if too many differ, left blank; and what was changed, as words."""
    distinct = texts.distinct
    if name not in MANY_ARE_USUAL and len(distinct) > DISTINCT_AT_MOST:
        change = f"holds {len(distinct)} different texts, more than {DISTINCT_AT_MOST}, and counts as not said"
        return TextColumn(np.full(len(texts.codes), -1, dtype=np.int8), ()), change
    most = CHARS.get(name, WORD_CHARS)
    long = sum(len(text) > most for text in distinct)
    if not long:
        return texts, ""
    short = [text[:most] for text in distinct]
    number = {text: place for place, text in enumerate(dict.fromkeys(short))}
    codes = np.array([*(number[text] for text in short), -1], dtype=texts.codes.dtype)[texts.codes]
    return TextColumn(codes, tuple(number)), f"holds {long} texts longer than {most} characters, cut there"


def is_number(name: str) -> bool:
    """Whether the column holds numbers; operands' cells are texts."""
    return name in BY_NAME and BY_NAME[name].kind == "number"
