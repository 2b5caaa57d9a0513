"""Ops to try settings on: those of a made program, and what is easily changed about one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tests.analyses.tables import performance_of
from ttnn_mcp.analyses.settings.trial import op_of
from ttnn_mcp.readers.printed.attributes import Attributes
from ttnn_mcp.run.chip import chip_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.profiles import Program
    from ttnn_mcp.analyses.settings.trial import Op


def ops_in(folder: Path, program: Program, without: str = "") -> list[Op]:
    """The ops of a program; columns that match the pattern `without` are lost."""
    performance = performance_of(folder, program, without=without)
    table, chip = performance.ops, chip_of(performance, None)
    return [op_of(table.take(np.array([row])), chip) for row in range(len(table))]


def printing(op: Op, **attributes: str | None) -> Op:
    """The op with attributes changed; None takes one away."""
    kept = {key: text for key, text in {**op.attributes, **attributes}.items() if text is not None}
    return replace(op, attributes=Attributes(kept))


def on_chip(op: Op, arch: str | None = "wormhole_b0", cores: int | None = 64) -> Op:
    """The op on another chip."""
    return replace(op, chip=replace(op.chip, arch=arch, worker_cores=cores, cores_floor=cores))
