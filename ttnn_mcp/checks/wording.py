"""Phrases and cells that claims share: how long, which op, who wrote the program."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ttnn_mcp.checks.case import Case
    from ttnn_mcp.run.operand import Operand
    from ttnn_mcp.wire import Evidence

SHAPES_AT_MOST = 48  # characters an op's shapes may take of a claim's 200


def took(ns: float) -> str:
    """19476700.0 -> '19.5 ms'; below a millisecond in microseconds."""
    return f"{ns / 1e6:.1f} ms" if ns >= 1e6 else f"{ns / 1e3:.0f} us"


def time_of(case: Case, rows: NDArray[np.int64]) -> str:
    """'19.5 ms, 61.6 %': kernel time of the rows, and its share of the window."""
    return f"{took(float(case.kernel_ns[rows].sum()))}, {case.share(rows):.1%}"


def example(case: Case, row: int) -> str:
    """'19[32]x1280 -> 19x20[32]x64 at line 948': an op that anybody can look up."""
    shapes = case.shapes(row)
    if len(shapes) > SHAPES_AT_MOST:
        shapes = f"{shapes[: SHAPES_AT_MOST - 3]}..."
    return f"{shapes} at line {case.line(row)}"


def cite_op(case: Case, row: int, *cells: tuple[Operand | None, str]) -> tuple[Evidence, ...]:
    """The op's kernel time, cells of its operands (`(operand, "DATATYPE")`), and its model line where one is written."""
    there = [(operand, part) for operand, part in cells if operand is not None and operand.present[row]]
    found = [*case.cite(row), *(case.ops.cite_operand(row, operand, part) for operand, part in there)]
    if case.ops.texts("loc")[row]:
        found += case.cite(row, "loc")
    return tuple(found)


def compiled(case: Case) -> bool:
    """Whether a front end (tt-xla, tt-torch) wrote the program, so that its options are the lever."""
    return case.run.timed.csv.compiler
