"""Twins: ops that do the same work in one run, with different configs or in different forms."""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.attribute_columns import attributes_of
from ttnn_mcp.arrays import Floats, Integers
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.iterations import signatures
from ttnn_mcp.run.ops.alike import numbered
from ttnn_mcp.run.ops.op_table import OpTable

QUICKER = 0.9  # of the time: two runs of one program differ by up to 5 % (domain practice)
CHOICES = (  # how to do the work, not which work; the last five are a conv's
    *("program_config", "user_core_coord", "config", "block_config", "parallelization_config"),
    *("enable_act_double_buffer", "enable_weights_double_buffer", "enable_split_reader"),
)


@dataclass(frozen=True, slots=True)
class Slower:
    """Ops with a config that was always slower than another config for equal work.

    Attributes:
        rows: the ops, in order.
        twins: per op, the fastest op of the faster config.
        at_least_ns: per op, the time saved against the slowest op of the faster config.
        usual_ns: per op, the same against the middle one.
        at_most_ns: per op, the time saved against the fastest one.
    """

    rows: Integers
    twins: Integers
    at_least_ns: Floats
    usual_ns: Floats
    at_most_ns: Floats


def slower_than_twins(ops: OpTable, rows: Integers) -> Slower:
    """Rows of a config whose ops all take longer than any op of another config for the same work.

    Ops whose attributes print no config are left out.
    """
    has_choice = attributes_of(ops).numbers(
        rows, lambda attributes: float(any(key in attributes for key in CHOICES))
    )
    rows = rows[has_choice > 0]
    return _slower(ops, rows, _work_of(ops, rows), _config_of(ops, rows))


def slower_forms(ops: OpTable, rows: Integers) -> Slower:
    """Matmuls whose op or placements are always slower than another op or other placements for equal work.

    Equal work is equal tiles of rows in all batches together, of inner size and columns, equal data types and fidelity.
    A bias is no work to speak of.
    """
    operands = (*ops.inputs[:2], ops.outputs[0])
    weight = ops.inputs[1].padded[rows]
    sizes = [ops.inputs[0].height[rows], weight[:, :2].prod(axis=1), weight[:, 2], weight[:, 3]]
    types = [operand.dtype.codes[rows] for operand in operands]
    work = numbered(len(rows), [*sizes, *types, ops.texts("fidelity").codes[rows]])
    names = ops.texts("op_code").codes[rows]
    return _slower(ops, rows, work, numbered(len(rows), [names, *(one.placement.codes[rows] for one in operands)]))


def _slower(ops: OpTable, rows: Integers, work: Integers, config: Integers) -> Slower:
    took = ops.numbers("kernel_ns")[rows]
    quickest = np.full(len(rows), -1, dtype=np.int64)  # place of the fastest op of the faster config
    high, usual = np.zeros(len(rows)), np.zeros(len(rows))
    order = np.argsort(work, kind="stable")
    for members in np.split(order, np.flatnonzero(np.diff(work[order])) + 1):
        _, kinds = np.unique(config[members], return_inverse=True)
        slowest, fastest = np.zeros(kinds.max(initial=0) + 1), np.full(kinds.max(initial=0) + 1, np.inf)
        np.maximum.at(slowest, kinds, took[members])
        np.minimum.at(fastest, kinds, took[members])
        best = members[kinds == np.argmin(slowest)]
        behind = members[slowest.min() < QUICKER * fastest[kinds]]
        quickest[behind], high[behind] = best[np.argmin(took[best])] if len(best) else -1, slowest.min()
        usual[behind] = np.median(took[best]) if len(best) else 0.0
    kept = np.flatnonzero(quickest >= 0)
    twins = quickest[kept]
    return Slower(rows[kept], rows[twins], *(took[kept] - each for each in (high[kept], usual[kept], took[twins])))


def _work_of(ops: OpTable, rows: Integers) -> Integers:
    """A number per row: equal if all cells except `CHOICES` are equal, and the function that a config applies."""
    codes, places, back = np.unique(ops.texts("attributes").codes[rows], return_index=True, return_inverse=True)
    number_of: dict[str, int] = {}
    works = np.zeros(len(codes), dtype=np.int64)
    for number, place in enumerate(places.tolist()):
        attributes = attributes_of(ops).row(int(rows[place]))
        config = attributes.struct("program_config")
        applied = config and config.text_of("fused_activation")
        kept = sorted((key, value) for key, value in attributes.items() if key not in CHOICES)
        text = repr((applied, kept))
        works[number] = number_of.setdefault(text, len(number_of))
    return numbered(len(rows), [signatures(ops)[rows], works[back], ops.texts("fidelity").codes[rows]])


def _config_of(ops: OpTable, rows: Integers) -> Integers:
    """A number per row: equal for equal attributes and core counts."""
    cores = np.nan_to_num(ops.numbers("cores")[rows]).astype(np.int64)
    return numbered(len(rows), [ops.texts("attributes").codes[rows], cores])
