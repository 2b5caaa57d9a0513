"""A run as the log remembers it, with two digests that recognise copies and repeats: of what ran, and what was read.

The same file under another name has the same run id. A file that was written again, with other line ends or one more
column, has not, but its kernel times are still the same to the nanosecond, which two measurements never have.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.experiments.experiment import RunSeen
from ttnn_mcp.run.ops.op_names import canonical

if TYPE_CHECKING:
    from ttnn_mcp.run.ops.op_table import OpTable
    from ttnn_mcp.run.ops.texts import Texts
    from ttnn_mcp.run.run import Run
    from ttnn_mcp.run.window import Scope

TOLD = 10  # ops from which equal times are no chance: kernels jitter by cycles
DIGEST_BYTES = 8
SAME_TIME = 0.9  # of a window's: its median over iterations, or its time at another clock, is nearer (ours)
_OF_ONE_RUN = re.compile(r"0x[0-9a-fA-F]+|\d{7,}")  # addresses and hashes in ATTRIBUTES; settings have fewer digits


def seen(run: Run, scope: Scope, kernel_ns: int | None = None) -> RunSeen:
    """The run with a window of it; `kernel_ns` where it is not the window's as measured (another clock)."""
    ops = scope.critical
    measured_ns = round(float(ops.numbers("kernel_ns").sum()))
    return RunSeen(
        id=run.id,
        name=run.name,
        performance=str(run.performance.csv.path.absolute()) if run.performance else None,
        memory=str(run.memory.path.absolute()) if run.memory else None,
        kernel_ns=measured_ns if kernel_ns is None else kernel_ns,
        warm=scope.window.warm,
        rank=run.memory.rank if run.memory else None,
        reading=reading_of(scope.ops),
        # the slowest one changes by noise
        program=program_of(scope.of_device(int(scope.ops.numbers("device").min()))),
    )


def are_other_rows(one: RunSeen, other: RunSeen) -> bool:
    """Whether two are different windows of one run: other ops that take another time.

    Other ops alone may be several iterations in place of one, or what an older version read in the same window.
    """
    shorter, longer = sorted((one.kernel_ns, other.kernel_ns))
    return one.program != other.program and shorter < SAME_TIME * longer


def reading_of(ops: OpTable) -> str | None:
    """A digest of the kernel times in order; None where so few ops may agree by chance."""
    if len(ops) < TOLD:
        return None
    return blake2b(ops.numbers("kernel_ns").tobytes(), digest_size=DIGEST_BYTES).hexdigest()


def program_of(ops: OpTable) -> str:
    """A digest of what ran: ops, shapes, formats, placements, settings and cores in order, whatever their times."""
    digest = blake2b(digest_size=DIGEST_BYTES)
    names = ops.texts("op_code").folded(canonical)
    for texts in (names, ops.texts("fidelity"), ops.texts("attributes").folded(_lasting), *_of_operands(ops)):
        _add(digest, texts)
    digest.update(ops.numbers("cores").tobytes())
    for operand in (*ops.inputs, *ops.outputs):
        digest.update(np.ascontiguousarray(operand.padded).tobytes())
    return digest.hexdigest()


def _lasting(attributes: str) -> str:
    return _OF_ONE_RUN.sub("", attributes)


def _of_operands(ops: OpTable) -> Iterator[Texts]:
    for operand in (*ops.inputs, *ops.outputs):
        yield from (operand.dtype, operand.layout, operand.placement)


def _add(digest: blake2b, texts: Texts) -> None:
    """The texts in the order of their first row, then which row has which."""
    distinct, first, places = np.unique(texts.codes, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(distinct), dtype=np.int64)
    rank[order] = np.arange(len(distinct))
    in_order: list[int] = distinct[order].tolist()
    words = [texts.distinct[code] if code >= 0 else "" for code in in_order]
    digest.update("\0".join([*words, ""]).encode(errors="replace"))
    digest.update(rank[places.ravel()].tobytes())
