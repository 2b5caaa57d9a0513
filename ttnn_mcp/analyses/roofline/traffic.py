"""What every op reads and writes: the least bytes, in DRAM or anywhere on the chip.

Each operand counts once, as it lies in memory (padding and block-float exponents included). The exceptions below are
operands that an op touches in part only, and operands that are no input at all: the profiler lists every tensor an
op was given, so preallocated outputs, scratch buffers and index tables stand among the inputs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.attribute_columns import AttributeColumns, attributes_of
from ttnn_mcp.analyses.roofline.matmul_flops import active_share
from ttnn_mcp.run.ops.op_names import canonical, family

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ttnn_mcp.analyses.roofline.reasons import Reasons
    from ttnn_mcp.run.ops.op_table import OpTable
    from ttnn_mcp.run.ops.operand import Operand

WHY_OPERANDS = "the report shows no operands of this op"
WHY_DTYPE = "an operand's data type is unknown, and so are its bytes"
WHY_CACHE = "how much of the key/value cache the op read is not in the report"
WHY_EXPERTS = "which experts' weights the op read is not in the report"
WHY_SAMPLES = "which parts of the image the op read is not in the report"
WHY_LINKS = "what the op exchanges with other devices is not counted"
BIAS_ROWS = 32  # a bias is one row, padded to a tile; a third matmul operand of more rows is a preallocated output


@dataclass(frozen=True, slots=True)
class Touched:
    """Bytes per operand (first axis) and op (second); NaN where the report does not say how many."""

    ops: OpTable
    settings: AttributeColumns
    reads: NDArray[np.float64]
    writes: NDArray[np.float64]
    why: Reasons


def dram_bytes_of(ops: OpTable, why: Reasons) -> NDArray[np.float64]:
    """Bytes per op; NaN where the report does not say what was touched, `why` says what is missing."""
    shown = shows_operands(ops)
    why.add(~shown, WHY_OPERANDS)
    if not ops.inputs or not ops.outputs:
        return np.full(len(ops), np.nan)
    touched = touched_of(ops, _in_dram, why)
    total = touched.reads.sum(axis=0) + touched.writes.sum(axis=0)
    why.add(np.isnan(total), WHY_DTYPE)
    return np.where(shown, total, np.nan)


def shows_operands(ops: OpTable) -> NDArray[np.bool_]:
    """Ops of which the report shows an operand at all."""
    shown = np.zeros(len(ops), dtype=np.bool_)
    for operand in (*ops.inputs, *ops.outputs):
        shown |= operand.present
    return shown


def touched_of(ops: OpTable, weigh: Callable[[Operand], NDArray[np.float64]], why: Reasons) -> Touched:
    """What the ops read and write, each operand weighed by `weigh` (bytes per op; NaN where not known)."""
    reads = np.stack([weigh(operand) for operand in ops.inputs])
    writes = np.stack([weigh(operand) for operand in ops.outputs])
    touched = Touched(ops, attributes_of(ops), reads, writes, why)
    for concerns, correct in _EXCEPTIONS:
        rows = np.flatnonzero(ops.texts("op_code").where(concerns))
        if len(rows):  # unmoved: only spares time
            correct(touched, rows)
    return touched


def _in_dram(operand: Operand) -> NDArray[np.float64]:
    known = np.where(operand.bytes > 0, operand.bytes, np.nan)
    return np.where(operand.in_dram & (operand.padded.prod(axis=1) > 0), known, 0.0)


def _first_inputs(count: int) -> Callable[[Touched, NDArray[np.int64]], None]:
    def correct(touched: Touched, rows: NDArray[np.int64]) -> None:
        touched.reads[count:, rows] = 0

    return correct


def _reads_a_part(touched: Touched, rows: NDArray[np.int64]) -> None:
    """Of the input, what ends up in the output."""
    touched.reads[1:, rows] = 0
    touched.reads[0, rows] *= _share(touched.ops.outputs[0], touched.ops.inputs[0], rows)


def _writes_a_part(touched: Touched, rows: NDArray[np.int64]) -> None:
    """Of a larger output, what the input fills; the output stands among the inputs too."""
    touched.reads[1:, rows] = 0
    touched.writes[0, rows] *= _share(touched.ops.inputs[0], touched.ops.outputs[0], rows)


def _fills_cache(touched: Touched, rows: NDArray[np.int64]) -> None:
    """INPUT_0 is the cache and the output; INPUT_1 goes into it. Fused ones do so with INPUT_2 and 3 as well."""
    touched.reads[::2, rows] = 0
    touched.writes[1:, rows] = 0
    if len(touched.ops.inputs) > 1:
        touched.writes[0, rows] *= _share(touched.ops.inputs[1], touched.ops.outputs[0], rows)


def _looks_up(touched: Touched, rows: NDArray[np.int64]) -> None:
    """Of the table (INPUT_1), the rows that become the output."""
    if len(touched.ops.inputs) > 1:
        touched.reads[1, rows] *= _share(touched.ops.outputs[0], touched.ops.inputs[1], rows)


def _samples(touched: Touched, rows: NDArray[np.int64]) -> None:
    """The grid says where in the image (INPUT_0) the op reads, possibly nowhere."""
    touched.reads[0, rows] = 0
    touched.why.add(rows, WHY_SAMPLES)


def _picks(touched: Touched, rows: NDArray[np.int64]) -> None:
    """INPUT_1 says which elements of INPUT_0 become the output."""
    touched.reads[0, rows] *= _share(touched.ops.outputs[0], touched.ops.inputs[0], rows)


def _routes(touched: Touched, rows: NDArray[np.int64]) -> None:
    """Operands of a mixture of experts may be the weights of experts that are not active."""
    touched.reads[1:, rows] = 0
    touched.why.add(rows, WHY_EXPERTS)


def _exchanges(touched: Touched, rows: NDArray[np.int64]) -> None:
    """Scratch and persistent buffers are listed on both sides; the last output is the result."""
    touched.reads[1:, rows] = 0
    _last_output(touched, rows)


def _multiplies(touched: Touched, rows: NDArray[np.int64]) -> None:
    for number, operand in enumerate(touched.ops.inputs[2:], start=2):
        touched.reads[number, rows[operand.height[rows] > BIAS_ROWS]] = 0


def _multiplies_and_exchanges(touched: Touched, rows: NDArray[np.int64]) -> None:
    touched.reads[2:, rows] = 0
    _last_output(touched, rows)
    touched.why.add(rows, WHY_LINKS)


def _multiplies_sparsely(touched: Touched, rows: NDArray[np.int64]) -> None:
    """Of the experts' weights (INPUT_1), those of the active ones."""
    if len(touched.ops.inputs) > 1:
        share = active_share(touched.ops, touched.settings, rows)
        touched.reads[1, rows] *= share
        touched.why.add(rows[np.isnan(share)], WHY_EXPERTS)


def _attends(touched: Touched, rows: NDArray[np.int64]) -> None:
    """Keys and values may be a cache that is longer than what was attended to."""
    chunked = np.isfinite(touched.settings.numbers(rows, lambda attributes: attributes.number("chunk_start_idx")))
    decodes = touched.ops.texts("op_code").where(_like("attention", "Decode|Chunked|Paged|FlashMLA"))[rows]
    touched.reads[1:3, rows[chunked | decodes]] = np.nan
    touched.why.add(rows[chunked | decodes], WHY_CACHE)


def _passes_round(touched: Touched, rows: NDArray[np.int64]) -> None:
    """Q, K, V and their joint parts; what a device gathers of its neighbours' K and V depends on its place."""
    touched.reads[6:, rows] = 0
    touched.writes[1:, rows] = 0


def _last_output(touched: Touched, rows: NDArray[np.int64]) -> None:
    for earlier, later in zip(touched.writes[:-1], touched.ops.outputs[1:], strict=True):
        earlier[rows[later.present[rows]]] = 0


def _share(part: Operand, whole: Operand, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Elements of `part` per element of `whole`, at most 1."""
    return np.minimum(part.elements[rows] / np.maximum(whole.elements[rows], 1), 1.0)


def _named(*names: str) -> Callable[[str], bool]:
    return lambda text: canonical(text) in names


def _like(family_name: str, pattern: str = "") -> Callable[[str], bool]:
    return lambda text: family(text) == family_name and re.search(pattern, canonical(text)) is not None


_EXCEPTIONS: tuple[tuple[Callable[[str], bool], Callable[[Touched, NDArray[np.int64]], None]], ...] = (
    (_like("movement"), _first_inputs(1)),
    (_like("layout"), _first_inputs(1)),
    (_like("pool", "Pool2D|Upsample"), _first_inputs(1)),
    (_named("Unary", "Transpose", "Permute", "Reshape", "Repeat"), _first_inputs(1)),
    (_named("Binary"), _first_inputs(2)),
    (_named("Ternary", "Where"), _first_inputs(3)),
    (_like("conv"), _first_inputs(3)),
    (_named("Slice", "PaddedSlice", "InterleavedToShardedPartial", "UntilizeWithUnpadding"), _reads_a_part),
    (_named("SliceWrite", "ShardedToInterleavedPartial"), _writes_a_part),
    (lambda text: re.search("(Update|Fill).*Cache", text) is not None, _fills_cache),
    (_like("embedding"), _looks_up),
    (_named("GridSample"), _samples),
    (_named("Gather"), _picks),
    (lambda text: family(text) == "other" and re.search("moe|expert", text, re.IGNORECASE) is not None, _routes),
    (_like("collective"), _exchanges),
    (_like("matmul", "^(?!.*(Sparse|AllGather|ReduceScatter))"), _multiplies),
    (_like("matmul", "AllGather|ReduceScatter"), _multiplies_and_exchanges),
    (_like("matmul", "Sparse"), _multiplies_sparsely),
    (_like("attention"), _attends),
    (_like("attention", "^RingJoint"), _passes_round),
)
