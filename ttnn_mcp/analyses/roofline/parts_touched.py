"""Operands that an op touches in part only, or not at all; from tt-metal's programs and kernels (2026-09).

The profiler lists every tensor an op was given, so preallocated outputs, scratch buffers and index tables stand among
the inputs. An op that is not known here is taken to touch each operand whole, and said to be: its bound is one with an
assumption, and falls where the op was faster.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from ttnn_mcp.analyses.roofline.matmul_flops import PACKED, WHY_PACKED, active_share
from ttnn_mcp.analyses.roofline.sliding_windows import pixels_read
from ttnn_mcp.analyses.roofline.touched import Touched, share, without_padding
from ttnn_mcp.analyses.roofline.transformer_parts import (
    attends,
    fills_cache,
    looks_up,
    multiplies_heads,
    multiplies_with_cache,
    passes_round,
    rotates,
    shares_out,
    takes_heads,
)
from ttnn_mcp.arrays import Booleans, Integers
from ttnn_mcp.run.ops.op_names import canonical, family
from ttnn_mcp.run.ops.op_table import OpTable

WHY_OTHER = "an unknown op: it is taken to touch each operand once and whole, its arithmetic is unknown"
WHY_EXPERTS = "which experts' weights the op read is not in the report"
WHY_SAMPLES = "which parts of the image the op read is not in the report"
WHY_PARTS = (
    "which parts this exchange moves is not in the report: it is taken to send its input and fill its output whole"
)
WHY_LINKS = "what the op exchanges with other devices is not counted"
BIAS_ROWS = 32  # a bias is one row, padded to a tile; a third matmul operand of more rows is a preallocated output
# Their operands are all there is to tell: each passes once, the rest is work of the vector unit, as in softmax.
BY_OPERANDS = (
    *("Gather", "Scatter", "Sort", "Sampling", "CumSum", "PlusOne", "Full", "EmbeddingBackward"),
    "NlpKVCacheLoadSlice",
)
_SLICES = ("Slice", "PaddedSlice", "InterleavedToShardedPartial", "UntilizeWithUnpadding", "NlpKVCacheLoadSlice")


def _first_inputs(count: int) -> Callable[[Touched, Integers], None]:
    def correct(touched: Touched, rows: Integers) -> None:
        touched.reads[count:, rows] = 0

    return correct


def _reads_a_part(touched: Touched, rows: Integers) -> None:
    """Of the input, what ends up in the output."""
    touched.reads[1:, rows] = 0
    touched.reads[0, rows] *= share(touched.ops.outputs[0], touched.ops.inputs[0], rows)


def _writes_a_part(touched: Touched, rows: Integers) -> None:
    """Of a larger output, what the input fills; the output stands among the inputs too."""
    touched.reads[1:, rows] = 0
    touched.writes[0, rows] *= share(touched.ops.inputs[0], touched.ops.outputs[0], rows)


def _samples(touched: Touched, rows: Integers) -> None:
    """The grid says where in the image (INPUT_0) the op reads, possibly nowhere."""
    touched.reads[0, rows] = 0
    touched.why.add(rows, WHY_SAMPLES)


def _slides(touched: Touched, rows: Integers) -> None:
    """Of the image (INPUT_0), the pixels below some window; without a printed window, one per pixel of the output."""
    pixels = touched.settings.numbers(rows, pixels_read)
    pixels = np.where(np.isnan(pixels), touched.ops.outputs[0].height[rows], pixels)
    touched.reads[0, rows] *= np.minimum(pixels / np.maximum(touched.ops.inputs[0].height[rows], 1), 1.0)


def _pads(touched: Touched, rows: Integers) -> None:
    """Nothing but the padding, in place."""
    out = touched.ops.outputs[0]
    touched.reads[:, rows] = 0
    touched.writes[0, rows] *= 1 - without_padding(out, rows)


def _picks(touched: Touched, rows: Integers) -> None:
    """INPUT_1 says which elements of INPUT_0 become the output."""
    touched.reads[0, rows] *= share(touched.ops.outputs[0], touched.ops.inputs[0], rows)


def _scatters(touched: Touched, rows: Integers) -> None:
    """Of the source (INPUT_2), as much as there are indices (INPUT_1)."""
    if len(touched.ops.inputs) > 2:
        touched.reads[2, rows] *= share(touched.ops.inputs[1], touched.ops.inputs[2], rows)


def _taken_whole(why: str) -> Callable[[Touched, Integers], None]:
    return lambda touched, rows: touched.why.add(rows, why)


def _routes(touched: Touched, rows: Integers) -> None:
    """Operands of a mixture of experts may be the weights of experts that are not active."""
    touched.reads[1:, rows] = 0
    touched.why.add(rows, WHY_EXPERTS)


def _exchanges(touched: Touched, rows: Integers) -> None:
    """Scratch and persistent buffers are listed on both sides; the last output is the result."""
    touched.reads[1:, rows] = 0
    _last_output(touched, rows)


def _multiplies(touched: Touched, rows: Integers) -> None:
    """A preallocated output is not read. MinimalMatmul takes none, and reads whole what it adds and multiplies."""
    rows = rows[~touched.ops.named("MinimalMatmul")[rows]]
    for number, operand in enumerate(touched.ops.inputs[2:], start=2):
        touched.reads[number, rows[operand.height[rows] > BIAS_ROWS]] = 0


def _multiplies_and_exchanges(touched: Touched, rows: Integers) -> None:
    touched.reads[2:, rows] = 0
    _last_output(touched, rows)
    touched.why.add(rows, WHY_LINKS)


def _multiplies_packed(touched: Touched, rows: Integers) -> None:
    """Its weights may stand anywhere behind the first operand, and may be those of other layers too."""
    reads = touched.reads[1:, rows]
    touched.reads[1:, rows] = np.where(reads > 0, np.nan, reads)
    touched.why.add(rows, WHY_PACKED)


def _multiplies_sparsely(touched: Touched, rows: Integers) -> None:
    """Of the experts' weights (INPUT_1), those of the active ones."""
    if len(touched.ops.inputs) > 1:
        active = active_share(touched.ops, touched.settings, rows)
        touched.reads[1, rows] *= active
        touched.why.add(rows[np.isnan(active)], WHY_EXPERTS)


def _last_output(touched: Touched, rows: Integers) -> None:
    for earlier, later in zip(touched.writes[:-1], touched.ops.outputs[1:], strict=True):
        earlier[rows[later.present[rows]]] = 0


def _named(*names: str) -> Callable[[str], bool]:
    return lambda text: canonical(text) in names


def _like(family_name: str, pattern: str = "") -> Callable[[str], bool]:
    return lambda text: family(text) == family_name and re.search(pattern, canonical(text)) is not None


def _unknown(pattern: str) -> Callable[[str], bool]:
    return lambda text: (
        family(text) == "other"
        and canonical(text) not in BY_OPERANDS
        and re.search(pattern, text, re.IGNORECASE) is not None
    )


def _has(pattern: str) -> Callable[[str], bool]:
    return lambda text: re.search(pattern, text) is not None


def taken_whole(ops: OpTable) -> Booleans:
    """Mask of the ops whose bound assumes that they touch operands whole."""
    return ops.texts("op_code").where(lambda text: _ANY_UNKNOWN(text) or _UNEVEN_EXCHANGE(text))


_ANY_UNKNOWN = _unknown("")
# all exchanges but those in which every device sends all of its input and fills all of its output
_UNEVEN_EXCHANGE = _like(
    "collective", "^(?!.*(AllGather|ReduceScatter|AllReduce|AllBroadcast)|MeshPartition)|Heads|Concat|Mo[eE]|Llama"
)
EXCEPTIONS: tuple[tuple[Callable[[str], bool], Callable[[Touched, Integers], None]], ...] = (
    (_like("movement"), _first_inputs(1)),
    (_like("layout"), _first_inputs(1)),
    (_like("reduction"), _first_inputs(1)),
    (_like("pool", "Pool2D|Upsample"), _first_inputs(1)),
    (_named("Unary", "Transpose", "Permute", "Reshape", "Repeat", "Accumulation"), _first_inputs(1)),
    (_named("Binary", "Bcast"), _first_inputs(2)),
    (_named("Ternary", "Where"), _first_inputs(3)),
    (_named("Full"), _first_inputs(0)),
    (_named("FillPad"), _pads),
    (_like("conv"), _first_inputs(3)),
    (_like("conv"), _slides),
    (_named("Pool2D"), _slides),
    (_named(*_SLICES), _reads_a_part),
    (_named("SliceWrite", "ShardedToInterleavedPartial"), _writes_a_part),
    (_like("shape", "Heads.*Decode"), takes_heads),
    (_has("(Update|Fill).*Cache"), fills_cache),
    (_has("^RotaryEmbedding"), rotates),
    (_like("embedding"), looks_up),
    (_named("GridSample"), _samples),
    (_named("Gather"), _picks),
    (_named("Scatter"), _scatters),
    (_named("Sampling"), _first_inputs(5)),
    (_named("RMSAllGather"), _first_inputs(1)),
    (_like("collective"), _exchanges),
    (_named("MeshPartition"), _reads_a_part),
    (_UNEVEN_EXCHANGE, _taken_whole(WHY_PARTS)),
    (_like("matmul", f"^(?!.*(Sparse|AllGather|ReduceScatter)|{PACKED})"), _multiplies),
    (_like("matmul", "^(Group)?AttnMatmul"), multiplies_with_cache),
    (_like("matmul", "Heads"), multiplies_heads),
    (_like("matmul", "AllGather|ReduceScatter"), _multiplies_and_exchanges),
    (_like("matmul", "Sparse"), _multiplies_sparsely),
    (_like("matmul", PACKED), _multiplies_packed),
    (_like("attention"), attends),
    (_like("attention", "^(Exp)?RingJoint"), passes_round),
    (_has("^RingDistributed"), shares_out),
    (_unknown("moe|expert"), _routes),
    (_ANY_UNKNOWN, _taken_whole(WHY_OTHER)),
)
