"""A trial in the terms of our rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ttnn_mcp.hardware import TILE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable

Row = dict[str, Any]
BFLOAT16 = TILE_BYTES["BFLOAT16"]


@dataclass(frozen=True)
class Planned:
    """The rules of a trial; buffers and tensors per core, asked for only where no rule is broken."""

    rules: dict[str, bool]
    buffers: Callable[[], dict[str, int]]
    tensors: Callable[[], int]


def changed(row: Row) -> dict[str, Any]:
    """The case with the setting changed; a setting may change several things at once."""
    case, setting, value = row["case"], row["setting"], row["value"]
    if setting != "combined":
        return {**case, setting: value}
    if isinstance(value, dict):
        return {**case, **value}
    twice = 2 * case["out_subblock_w"]  # "fp32, out_subblock doubled"
    wide = twice if case["per_core_N"] % twice == 0 else 1
    return {**case, "fp32": True, "out_subblock_h": 2, "out_subblock_w": wide}


def tile_of(dtype: str) -> float:
    return float(TILE_BYTES[dtype.upper()])
