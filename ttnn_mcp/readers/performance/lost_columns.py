"""Columns that a report should have but has not, and which answers need them.

A table that another program saved again may have lost columns, or have them under other names.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from ttnn_mcp.errors import shown
from ttnn_mcp.readers.performance.columns import BY_HEADER, COLUMNS, OPERAND_HEADER, OPERAND_PARTS, UNREAD

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

ALIKE = 0.75  # difflib ratio: allows one word added or dropped, or a dash for a blank, but no other column
NAMED = 3  # lost columns that one sentence names; the others are counted


def lost_columns(names: Sequence[str], generation: str, *, compiler: bool) -> list[str]:
    """One sentence per kind of answer that is lost: the missing columns, and a column that may be one of them."""
    lost: dict[str, list[str]] = {}
    for header, costs in (*_of_table(names, int(generation[1:]), compiler=compiler), *_of_operands(names)):
        lost.setdefault(costs, []).append(header)
    return [f"no {_listed(headers)}{_instead(headers, names)}: {costs}" for costs, headers in lost.items()]


def nearest_header(header: str, names: Iterable[str]) -> str | None:
    """The column that is most likely `header` under a changed name; None where no name is similar."""
    strangers = {name.upper(): name for name in names if _is_stranger(name)}
    close = get_close_matches(header, strangers, n=1, cutoff=ALIKE)
    longer = [name for name in strangers if name.startswith(header)]
    return strangers[(close or longer)[0]] if close or longer else None


def _of_table(names: Sequence[str], generation: int, *, compiler: bool) -> Iterator[tuple[str, str]]:
    present = {BY_HEADER[name].name for name in names if name in BY_HEADER}
    for column in COLUMNS:
        expected = column.since <= generation and (compiler or not column.by_compiler)
        if column.costs and expected and column.name not in present:
            yield column.headers[0], column.costs


def _of_operands(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    parts: dict[str, set[str]] = {"INPUT_0": set(), "OUTPUT_0": set()}
    for name in names:
        match = OPERAND_HEADER.match(name)
        if match:
            parts.setdefault(f"{match[1]}_{match[2]}", set()).add(match[3])
    for operand, present in parts.items():
        for part, costs in OPERAND_PARTS.items():
            if part not in present:
                yield f"{operand}_{part}", costs


def _is_stranger(name: str) -> bool:
    return name not in BY_HEADER and not OPERAND_HEADER.match(name) and not UNREAD.search(name)


def _listed(headers: list[str]) -> str:
    more = f" and {len(headers) - NAMED} more" if len(headers) > NAMED else ""
    return ", ".join(headers[:NAMED]) + more


def _instead(headers: list[str], names: Sequence[str]) -> str:
    near = next((near for header in headers if (near := nearest_header(header, names))), None)
    return f" (a column '{shown(near)}' is there)" if near else ""
