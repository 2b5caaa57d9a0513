"""The ops of an open run beside the same work in earlier runs. Never keeps an answer waiting."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ttnn_mcp.archive.patience import in_time
from ttnn_mcp.archive.precedents import Alike, compared, earlier_of, timing_of
from ttnn_mcp.archive.rows import Kinds, run_key_of
from ttnn_mcp.archive.settings_apart import Setup
from ttnn_mcp.archive.store import Archive
from ttnn_mcp.errors import ReportMissing
from ttnn_mcp.run.iterations import signatures
from ttnn_mcp.run.ops.alike import first_rows, numbered

if TYPE_CHECKING:
    from collections.abc import Mapping

    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

    from ttnn_mcp.archive.precedents import Precedent, Timing
    from ttnn_mcp.run.ops.op_table import OpTable
    from ttnn_mcp.run.run import Run

    Rows = NDArray[np.int64]

WORK_AT_MOST = 200  # kinds of work asked for at once, the heaviest: an answer names fewer


class Remembered(NamedTuple):
    """One op beside the same work in earlier runs.

    Attributes:
        ours: the ops of the asking run that do the same work with the same settings.
        precedents: what earlier runs took, the fastest settings first.
    """

    ours: Timing
    precedents: tuple[Precedent, ...]


def remembered(run: Run, ops: OpTable, lines: Rows) -> Mapping[int, Remembered]:
    """What earlier runs took for the work of the ops of `ops` at some lines, by line; empty without an archive.

    Ops whose work no earlier run did are left out, and so is all but the heaviest work.
    """
    archive, arch, clock_ghz = run.kept.get(Archive), run.chip.arch, run.chip.clock_ghz
    if archive is None or arch is None or clock_ghz is None or not len(lines):
        return {}

    try:
        run_key = run_key_of(run)
    except ReportMissing:  # since it was opened
        return {}
    alike = Alike(run_key, arch, clock_ghz * 1e3, len(run.performance_report.devices))

    def question(cursor: DuckDBPyConnection) -> Mapping[int, Remembered]:
        return _beside(cursor, ops, lines, alike)

    return in_time(archive, question, {}, asker=run_key)


def _beside(cursor: DuckDBPyConnection, ops: OpTable, lines: Rows, alike: Alike) -> dict[int, Remembered]:
    work, kernel_ns = signatures(ops), ops.numbers("kernel_ns")
    heaviest = _heaviest(work, kernel_ns, np.isin(ops.lines, lines))
    places = np.flatnonzero(np.isin(work, heaviest) & (kernel_ns > 0))  # as for the earlier ones
    if not len(places):
        return {}
    part = ops.take(places)
    kinds = Kinds(part, alike.arch)
    entries = earlier_of(cursor, kinds.signature.tolist(), alike)
    number = numbered(len(part), [kinds.signature, kinds.settings_hash])
    kernel_us = part.numbers("kernel_ns") / 1e3
    beside: dict[int, Remembered] = {}
    for kind, first in enumerate(first_rows(number).tolist()):
        earlier = entries.get(int(kinds.signature[first]))
        if earlier:
            same = number == kind
            ours = timing_of(kernel_us[same])
            setup = Setup(kinds.settings[first] or None, kinds.fidelity[first] or None)
            precedents = tuple(compared(ours, setup, int(kinds.settings_hash[first]), earlier))
            beside |= dict.fromkeys(
                part.lines[same & np.isin(part.lines, lines)].tolist(), Remembered(ours, precedents)
            )
    return {line: each for line, each in beside.items() if each.precedents}


def _heaviest(work: Rows, kernel_ns: NDArray[np.float64], asked: NDArray[np.bool_]) -> Rows:
    """The kinds of work with the most time in the ops that are asked for."""
    kinds, number = np.unique(work[asked], return_inverse=True)
    time = np.bincount(number, weights=np.nan_to_num(kernel_ns[asked]), minlength=len(kinds))
    return kinds[np.argsort(-time, kind="stable")[:WORK_AT_MOST]]
