"""Attention written out as single ops: matmul, scale, mask, softmax, matmul."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from ttnn_mcp.analyses.dataflow.likely_producers import NOBODY, Flow
from ttnn_mcp.analyses.op_kinds.matmul_choice import MATMULS
from ttnn_mcp.analyses.roofline.roofline import Roofline
from ttnn_mcp.arrays import Booleans, Floats, Integers
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.ops.artefact import artefact
from ttnn_mcp.run.ops.op_names import canonical, family
from ttnn_mcp.run.ops.op_table import OpTable

BETWEEN_AT_MOST = 5  # ops between a matmul and its softmax: move, scale, shift, mask, typecast
PASSING = ("Typecast", "Slice")  # a slice shifts the scores of relative positions, which are added as a mask
FACTOR = re.compile(r"BinaryOpType::(MUL|DIV)\b")
FUSED_NS = 5_000.0  # the least one fused attention takes (domain practice)
TURNS = ("Transpose", "Permute")
_BETWEEN, _MATMUL, _SOFTMAX = 1, 2, 3


@dataclass(frozen=True, slots=True)
class AttentionChain:
    """The ops of one attention, as rows.

    Attributes:
        scores: the matmul of Q and K.
        softmax: the softmax over its result.
        context: the matmul with V.
        is_masked: whether an op up to the softmax adds a second tensor: a mask.
    """

    scores: int
    softmax: int
    context: int
    is_masked: bool

    @property
    def rows(self) -> range:
        """All its ops, also those between the three."""
        return range(self.scores, self.context + 1)


@artefact
def attention_chains(ops: OpTable, flow: Flow) -> list[AttentionChain]:
    """The attentions among the ops of one device.

    The shapes of the ops between are not reliable (see `joins`), those of matmuls are: the last matmul reads the shape
    that the first one writes. Ops made both second operands, so these are no weights.
    """
    if len(ops.inputs) < 2 or not ops.outputs:
        return []
    role = ops.texts("op_code").mapped(_role, missing=0, dtype=np.int64)
    made, taken = ops.outputs[0].elements, ops.inputs[0].elements
    no_weight = (flow.producers[1] != NOBODY) | (ops.inputs[1].logical[:, :2].prod(axis=1) > 1)
    masks = (ops.of_family("eltwise") & ~ops.texts("attributes").where(_is_factor)) | (role == _SOFTMAX)
    masks &= ops.inputs[1].present
    chains: list[AttentionChain] = []
    for softmax in np.flatnonzero(role == _SOFTMAX):
        context = next(_matmuls_near(role, int(softmax), 1), None)
        if context is None:
            continue
        fitting = (row for row in _matmuls_near(role, int(softmax), -1) if made[row] == taken[context])
        scores = next(fitting, None)
        if scores is None:
            continue
        if no_weight[scores] and no_weight[context]:
            is_masked = bool(masks[scores : softmax + 1].any())
            chains.append(AttentionChain(scores, int(softmax), context, is_masked))
    return chains


def rows_of_chains(chains: list[AttentionChain]) -> Integers:
    """All ops of all chains, in order."""
    return np.array(sorted({row for chain in chains for row in chain.rows}), dtype=np.int64)


def turned_keys(ops: OpTable, flow: Flow, chains: list[AttentionChain]) -> Integers:
    """The ops that turn K for a first matmul and for no op elsewhere: a fused attention reads it as it was."""
    makers = np.array([flow.producers[1][chain.scores] for chain in chains], dtype=np.int64)
    turning = np.unique(makers[makers != NOBODY])
    before, after = ops.inputs[0].logical[turning], ops.outputs[0].logical[turning]
    turning = turning[ops.named(*TURNS)[turning] & (after == before[:, [0, 1, 3, 2]]).all(axis=1)]
    elsewhere = np.ones(len(ops), dtype=np.bool_)
    elsewhere[rows_of_chains(chains)] = False
    shapes = {tuple(shape) for shape in ops.outputs[0].logical[turning].tolist()}
    return np.setdiff1d(turning, [row for shape in shapes for row in _read_by(ops, elsewhere, shape)])


def _read_by(ops: OpTable, readers: Booleans, shape: tuple[int, ...]) -> Integers:
    """The ops whose result of that shape one of the readers takes: the last such result before it.

    Not by size, as `Flow`: V and the result of the attention are as large as turned keys.
    """
    takes = np.any([(operand.logical == shape).all(axis=1) for operand in ops.inputs], axis=0)
    made = np.flatnonzero((ops.outputs[0].logical == shape).all(axis=1))
    last = np.searchsorted(made, np.flatnonzero(takes & readers)) - 1
    return made[last[last >= 0]]


def _is_factor(attributes: str) -> bool:
    return FACTOR.search(attributes) is not None


def _role(op_code: str) -> int:
    name, kin = canonical(op_code), family(op_code)
    if name in MATMULS:
        return _MATMUL
    if kin == "softmax":
        return _SOFTMAX
    return _BETWEEN if kin in ("eltwise", "movement") or name in PASSING else 0


def _matmuls_near(role: Integers, start: int, step: int) -> Iterator[int]:
    """The matmuls on one side of the softmax, nearest first; a second product stands for relative positions."""
    row = start + step
    for _ in range(BETWEEN_AT_MOST + 1):
        if not 0 <= row < len(role) or role[row] not in (_BETWEEN, _MATMUL):
            return
        if role[row] == _MATMUL:
            yield row
        row += step


def fusing_saves(ops: OpTable, roofline: Roofline, chains: list[AttentionChain], gb_s: float | None) -> Floats:
    """Per op, the most that one fused attention saves in place of its chain, in proportion to the op's time.

    A third matmul, the scores of relative positions, stays: what it gives becomes the mask.
    """
    ends = np.isin(np.arange(len(ops)), [row for chain in chains for row in (chain.scores, chain.context)])
    saved, kernel_ns = np.zeros(len(ops)), np.where(ops.named(*MATMULS) & ~ends, 0.0, ops.numbers("kernel_ns"))
    arithmetic = np.nan_to_num(roofline.compute_ns)
    q, k, result = ops.inputs[0].bytes, ops.inputs[1].bytes, ops.outputs[0].bytes
    for chain in chains:
        part = slice(chain.scores, chain.context + 1)
        took = float(kernel_ns[part].sum())
        moved = q[chain.scores] + k[chain.scores] + k[chain.context] + result[chain.context]
        fused = max(arithmetic[chain.scores] + arithmetic[chain.context], moved / (gb_s or np.inf), FUSED_NS)
        if took > fused:
            saved[part] = kernel_ns[part] * (1 - fused / took)
    return saved
