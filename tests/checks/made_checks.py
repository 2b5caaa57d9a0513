"""Checks that claim what a test tells them to."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tests.profiles import L1, Program
from ttnn_mcp.checks.check import CannotTell, Check, Problem, Subject, Words
from ttnn_mcp.checks.worth import Worth

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ttnn_mcp.analyses.window_facts import WindowFacts
    from ttnn_mcp.checks.check import Problems
    from ttnn_mcp.checks.needs import Need


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

    def look(case: WindowFacts) -> Problems:
        at = np.arange(len(case), dtype=np.int64) if rows is None else np.array([*rows, *range(2, 2 + idle)])
        took = case.kernel_ns[at] * (np.arange(len(at)) < len(at) - idle)
        yield Problem(
            rows=at,
            at_most_ns=np.zeros(len(at)) if gap else part * took,
            at_least_ns=sure * took,
            gap_ns=(sure * case.gap_ns, part * case.gap_ns) if gap else None,
            tell=lambda _: Words(claim=name, assumption="made", fix="", evidence=case.cite(0)),
            of_window=True,
        )

    return Check(look, name, general=general, id=name, step=1)


def comes_to(name: str, *told: float | str, ops: int = 4, needs: tuple[Need, ...] = ()) -> Check:
    """A check about the first `ops` ops that claims parts of all time, or tells in words what it cannot tell."""

    def look(facts: WindowFacts) -> Problems:
        for one in told:
            yield from [CannotTell(one)] if isinstance(one, str) else saves(name, one).look(facts)

    of = Subject(lambda facts: np.arange(len(facts)) < ops, f"no ops for {name}")
    return Check(look, name, of=of, needs=needs, worth=Worth(saving=0.01), id=name, step=1)


def cites(columns: str, *, fix: str = "", compiled: str | None = None) -> Check:
    """A check whose claim cites cells in these columns."""

    def look(facts: WindowFacts) -> Problems:
        cell = facts.cite(0)[0]
        cells = tuple(cell.model_copy(update={"column": column}) for column in columns.split())
        for problem in saves("made", 0.5).look(facts):
            assert isinstance(problem, Problem)
            yield replace(problem, tell=lambda _: Words(claim="made", assumption="made", fix=fix, evidence=cells))

    return Check(look, "made", compiled=compiled, id="made", step=1)


def four_ops() -> Program:
    """Four ops of 10 us that no check of the catalogue is about."""
    program = Program()
    for width in range(1, 5):
        x = program.tensor([1, 1, 32, 32 * width], "UINT16", placement=L1)
        program.op("MadeUpOfNoFamily", [x], kernel_ns=10_000)
    return program
