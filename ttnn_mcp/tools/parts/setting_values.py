"""Values of settings as people write them: numbers, flags, names in any spelling, grids."""

from __future__ import annotations

import re

from ttnn_mcp.errors import QuestionRefused, shown
from ttnn_mcp.hardware import TILE_BYTES

_GRID = re.compile(r"\D*(\d{1,3})\D+(\d{1,3})\D*")


def whole(setting: str, value: bool | int | str) -> int:
    """A whole number.

    Raises:
        QuestionRefused: it is none.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and re.fullmatch(r"\s*-?\d{1,9}\s*", value):
        return int(value)
    raise QuestionRefused(f"{setting} is a whole number; '{shown(value)}' is none.")


def flag(setting: str, value: bool | int | str) -> bool:
    """True or false.

    Raises:
        QuestionRefused: it is neither.
    """
    known = {"true": True, "1": True, "false": False, "0": False}
    said = str(value).strip().lower()
    if said not in known:
        raise QuestionRefused(f"{setting} is true or false; '{shown(value)}' is neither.")
    return known[said]


def one_of(setting: str, value: bool | int | str, *names: str) -> str:
    """The name as the report writes it; 'block', 'ttnn.MathFidelity.HiFi2' and other cases count.

    Raises:
        QuestionRefused: it is none of `names`.
    """
    said = re.split(r"[.:]", str(value).strip())[-1].lower()
    found = [name for name in names if said and name.lower().startswith(said)]
    if len(found) != 1:
        raise QuestionRefused(f"{setting} is one of {', '.join(names)}; not '{shown(value)}'.")
    return found[0]


def dtype(value: bool | int | str) -> str:
    """'ttnn.bfloat8_b' as the report writes it."""
    return one_of("weights_dtype", value, *(name for name in TILE_BYTES if "INT" not in name))


def grid(value: bool | int | str) -> tuple[int, int]:
    """'8x7' as (columns, rows).

    Raises:
        QuestionRefused: it is no grid.
    """
    match = _GRID.fullmatch(str(value))
    if match is None:
        raise QuestionRefused(f"core_grid is columns x rows, such as 8x7; not '{shown(value)}'.")
    return int(match[1]), int(match[2])
