"""The cells of a performance CSV as numbers and texts. Impossible values count as not measured; a caveat says so."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# (pandas' stubs leave many types unknown)

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.readers.performance.columns import BY_NAME

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from ttnn_mcp.readers.performance.column import Column

WORD_CHARS = 100  # formats, placements, fidelities: the longest real one has 25
# op names have up to 60 characters; ATTRIBUTES come from Tracy's messages, which end at 64 KiB
CHARS = {"op_code": 1_000, "attributes": 1 << 16, "loc": 1 << 16}
DISTINCT_AT_MOST = 20_000  # different texts of one column; real reports have a few hundred, and each is parsed
MANY_ARE_USUAL = frozenset({"op_code", "program_hash", "loc"})  # columns whose texts may differ from row to row


def as_numbers(column: pd.Series) -> tuple[NDArray[np.float64], int]:
    """The column as float64 (NaN = not measured), and how many of its cells hold something else than a number."""
    import pandas as pd  # noqa: PLC0415 - half a second that only reading a report may cost

    if pd.api.types.is_float_dtype(column.dtype):
        return column.to_numpy(), 0
    if pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype):
        return column.to_numpy(dtype=np.float64), 0
    numbers = pd.to_numeric(column.astype("str"), errors="coerce").where(column.notna())
    return numbers.to_numpy(dtype=np.float64), int((numbers.isna() & column.notna()).sum())


def impossible(column: Column, values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Mask of the cells whose value cannot be true: infinite, beyond the column's limit, or no count among counts."""
    beyond = np.abs(values) > column.limit
    if column.counts:
        beyond |= (values < 0) | (values != np.floor(values)) & ~np.isnan(values)
    return beyond


def as_texts(column: pd.Series) -> pd.Series:
    """The column with texts as categories; pandas 3 turns them into numbers if all of them look like numbers."""
    distinct = column.cat.categories
    return (
        column
        if all(isinstance(value, str) for value in distinct)
        else column.cat.rename_categories([str(value) for value in distinct])
    )


def bounded(name: str, texts: pd.Series) -> tuple[pd.Series, str]:
    """The column with its texts cut to a length and, if too many differ, left blank; and what was changed, as words."""
    import pandas as pd  # noqa: PLC0415

    distinct = texts.cat.categories
    if name not in MANY_ARE_USUAL and len(distinct) > DISTINCT_AT_MOST:
        empty = pd.Categorical.from_codes(np.full(len(texts), -1), categories=pd.Index([], dtype="str"))
        change = f"holds {len(distinct)} different texts, more than {DISTINCT_AT_MOST}, and counts as not said"
        return pd.Series(empty, index=texts.index), change
    most = CHARS.get(name, WORD_CHARS)
    long = [len(text) > most for text in distinct]
    if not any(long):
        return texts, ""
    short = [text[:most] for text in distinct]
    number = {text: place for place, text in enumerate(dict.fromkeys(short))}
    codes = np.array([*(number[text] for text in short), -1], dtype=np.int64)[texts.cat.codes.to_numpy()]
    cut = pd.Categorical.from_codes(codes, categories=pd.Index(list(number), dtype="str"))
    return pd.Series(cut, index=texts.index), f"holds {sum(long)} texts longer than {most} characters, cut there"


def is_number(name: str) -> bool:
    """Whether the column holds numbers; operands' cells are texts."""
    return name in BY_NAME and BY_NAME[name].kind == "number"
