"""Values of settings as people write them: numbers, flags, names in any spelling, grids."""

from __future__ import annotations

import re

from ttnn_mcp.analyses.settings.compute import DTYPES, FIDELITIES
from ttnn_mcp.analyses.settings.conv import LAYOUTS
from ttnn_mcp.analyses.settings.trial import Value
from ttnn_mcp.errors import QuestionRefused, shown

_GRID = re.compile(r"\D*(\d{1,3})\D+(\d{1,3})\D*")
_ROWS_FIRST = re.compile(r"\by\s*=.*\bx\s*=")  # as in ttnn.CoreGrid(y=8, x=7)
FLAGS = ("enable_act_double_buffer", "enable_weights_double_buffer", "fp32_dest_acc_en", "packer_l1_acc")
NAMES = {"math_fidelity": FIDELITIES, "shard_layout": LAYOUTS, "weights_dtype": DTYPES}
MOST = 1 << 24  # no chip holds a tensor with a longer side


def setting_value(setting: str, value: Value) -> Value:
    """The value of a setting as the report writes it; a grid as '8x7'.

    Raises:
        QuestionRefused: it is none of that setting.
    """
    if setting in NAMES:
        return one_of(setting, value, *NAMES[setting])
    if setting in FLAGS:
        return flag(setting, value)
    if setting == "core_grid":
        return "{}x{}".format(*grid(value))
    return whole(setting, value)


def whole(setting: str, value: Value) -> int:
    """A whole number.

    Raises:
        QuestionRefused: it is none, or larger than any tensor.
    """
    number = None
    if isinstance(value, int) and not isinstance(value, bool):
        number = value
    elif isinstance(value, str) and re.fullmatch(r"\s*-?\d{1,9}\s*", value):
        number = int(value)
    if number is None:
        raise QuestionRefused(f"{setting} is a whole number; '{shown(value)}' is none.")
    if abs(number) > MOST:
        raise QuestionRefused(f"{setting} is at most {MOST}: no tensor has a longer side.")
    return number


def flag(setting: str, value: Value) -> bool:
    """True or false.

    Raises:
        QuestionRefused: it is neither.
    """
    known = {"true": True, "1": True, "false": False, "0": False}
    word = str(value).strip().lower()
    if word not in known:
        raise QuestionRefused(f"{setting} is true or false; '{shown(value)}' is neither.")
    return known[word]


def one_of(setting: str, value: Value, *names: str) -> str:
    """The name as the report writes it; 'block', 'ttnn.MathFidelity.HiFi2' and other cases count.

    Raises:
        QuestionRefused: it is none of `names`.
    """
    word = re.split(r"[.:]", str(value).strip())[-1].lower()
    exact = [name for name in names if name.lower() == word]
    matching = exact or [name for name in names if name.lower().startswith(word)]
    if len(matching) != 1:
        raise QuestionRefused(f"{setting} is one of {', '.join(names)}; not '{shown(value)}'.")
    return matching[0]


def grid(value: Value) -> tuple[int, int]:
    """'8x7', '(x=8,y=7)' or 'ttnn.CoreGrid(y=7, x=8)' as (columns, rows).

    Raises:
        QuestionRefused: it is no grid.
    """
    match = _GRID.fullmatch(str(value))
    if match is None:
        raise QuestionRefused(f"core_grid is columns x rows, such as 8x7; not '{shown(value)}'.")
    first, second = int(match[1]), int(match[2])
    return (second, first) if _ROWS_FIRST.search(str(value)) else (first, second)
