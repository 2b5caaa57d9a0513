"""Checks that claim what a test tells them to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tests.profiles import L1, Program
from ttnn_mcp.checks.check import Check, Claim

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ttnn_mcp.analyses.window_facts import WindowFacts
    from ttnn_mcp.checks.check import Claims


def saves(
    name: str,
    part: float,
    *,
    gap: bool = False,
    sure: float = 0.0,
    general: bool = False,
    rows: Sequence[int] | None = None,
    idle: int = 0,
) -> Check:
    """A check that claims `part` of the rows' time, of every op's where none are named, or of all gaps; of that `sure` for certain.

    The `idle` ops behind the rows belong to the claim and save nothing.
    """

    def look(case: WindowFacts) -> Claims:
        at = np.arange(len(case), dtype=np.int64) if rows is None else np.array([*rows, *range(2, 2 + idle)])
        took = case.kernel_ns[at] * (np.arange(len(at)) < len(at) - idle)
        yield Claim(
            claim=name,
            rows=at,
            at_most_ns=np.zeros(len(at)) if gap else part * took,
            at_least_ns=sure * took,
            gap_ns=(sure * case.gap_ns, part * case.gap_ns) if gap else None,
            assumption="made",
            evidence=case.cite(0),
            fix="",
            verify="",
        )

    return Check(name, name, 1, look, general=general)


def four_ops() -> Program:
    """Four ops of 10 us that no check of the catalogue is about."""
    program = Program()
    for width in range(1, 5):
        x = program.tensor([1, 1, 32, 32 * width], "UINT16", placement=L1)
        program.op("MadeUpOfNoFamily", [x], kernel_ns=10_000)
    return program
