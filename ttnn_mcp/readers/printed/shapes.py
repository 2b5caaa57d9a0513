"""Shapes as the two reports print them.

The order differs: the database of 2024 writes logical[padded], the CSV padded[logical].
"""

from __future__ import annotations

import re
from functools import lru_cache
from math import prod

from ttnn_mcp.records import dataclass

_LIST = re.compile(r"\[(.*)\]", re.DOTALL)
_DIMENSION = re.compile(r"\s*(\d{1,18})\s*(?:\[\s*(\d{1,18})\s*\])?\s*")
_CELL = re.compile(r"\s*(\d{1,18})(?:\.0*)?\s*(?:\[\s*(\d{1,18})\s*\])?\s*")


@dataclass(frozen=True, slots=True)
class Shape:
    """A tensor's shape; `padded` is None where the report does not tell how it was padded."""

    logical: tuple[int, ...]
    padded: tuple[int, ...] | None = None

    @property
    def elements(self) -> int:
        """How many logical elements there are; padding does not count."""
        return prod(self.logical)

    @property
    def stored(self) -> tuple[int, ...]:
        """The dimensions in memory: the padded ones where they are known."""
        return self.logical if self.padded is None else self.padded

    def __str__(self) -> str:
        return "x".join(str(dimension) for dimension in self.logical) or "scalar"


def parse_database_shape(text: str) -> Shape | None:
    """`ttnn.Shape([1, 64[96], 32])` (2024: logical[padded]) or `Shape([1, 64, 32])`; None for any other text."""
    inside = _LIST.search(text)
    if inside is None:
        return None
    if not inside.group(1).strip():
        return Shape(())
    # ',' between dimensions in the database, ';' in the CSV's ATTRIBUTES
    dimensions = [_DIMENSION.fullmatch(part) for part in re.split(r"[,;]", inside.group(1))]
    sizes = [match.groups() for match in dimensions if match is not None]
    if len(sizes) < len(dimensions):
        return None
    logical = tuple(int(size) for size, _ in sizes)
    if all(padded is None for _, padded in sizes):
        return Shape(logical)
    return Shape(logical, tuple(int(padded or size) for size, padded in sizes))


# of the dims of most reports: each is asked for by many operands and windows
@lru_cache(maxsize=4_096)  # unmoved: what is forgotten is parsed again
def parse_cell(cell: str | float) -> tuple[int, int] | None:
    """A dimension in a CSV cell as (padded, logical): '32[19]' -> (32, 19), '32' and '32.0' -> (32, 32).

    None for an empty cell, '-', NaN or anything that is no dimension.
    """
    match = _CELL.fullmatch(str(cell))
    if match is None:
        return None
    padded = int(match.group(1))
    return padded, padded if match.group(2) is None else int(match.group(2))
