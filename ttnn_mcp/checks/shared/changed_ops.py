"""Ops as they would be after a change, for the laws of time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any, TypeAlias

from ttnn_mcp.analyses.laws.described import described
from ttnn_mcp.analyses.laws.descriptions import Described
from ttnn_mcp.analyses.programs.matmul_config import MatmulConfig
from ttnn_mcp.checks.check import WindowFacts
from ttnn_mcp.hardware import TILE_SIDE  # unmoved: rows are padded to whole tiles

Becomes: TypeAlias = Callable[[int], Described | None]


def changed(facts: WindowFacts, row: int, **into: Any) -> Described | None:
    """The op at `row` with some fields of its description changed; None where no law is about such an op."""
    op = described(facts.ops, row, facts.chip)
    if op is None or not {each.name for each in fields(op)} >= into.keys():
        return None
    return replace(op, **into)


def becomes(facts: WindowFacts, **into: Any) -> Becomes:
    """Every op with these fields changed."""
    return lambda row: changed(facts, row, **into)


def of_one_row(becomes: Becomes) -> Becomes:
    """The same of matmuls of one row of tiles: laws of many rows see no blocks of K, and err about formats."""

    def after(row: int) -> Described | None:
        then = becomes(row)
        return then if getattr(then, "rows", TILE_SIDE) <= TILE_SIDE else None

    return after


def configured(facts: WindowFacts, config_of: Callable[[int], MatmulConfig | None]) -> Becomes:
    """Every matmul with the multicast config that `config_of` suggests for it.

    No law speaks of one that multiplies a batch after the other: its cores get the weights anew for each.
    """

    def after(row: int) -> Described | None:
        config = config_of(row)
        return changed(facts, row, **described_by(config)) if config and config.fuse_batch else None

    return after


def described_by(config: MatmulConfig) -> Mapping[str, Any]:
    """What a config sets of a matmul, as the laws of time call it."""
    return {
        "program": config.kind,
        "grid": config.grid,
        "cores": None,
        "block_w": config.in0_block_w,
        "per_core_m": config.per_core_m,
        "per_core_n": config.per_core_n,
    }
