"""Data formats: which operands are weights, and the savings of narrower operands and of a lower fidelity.

All functions answer per op of a table, in its order. Savings are upper bounds: the op keeps at least its roofline and
at least its launch, and gains at most in proportion to the bytes (or passes) that it saves, because the rest of its
time may stay.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.dataflow.likely_producers import NOBODY, Flow
from ttnn_mcp.analyses.op_kinds.attention_chains import attention_chains
from ttnn_mcp.analyses.roofline.launch import LAUNCH_FLOOR_NS
from ttnn_mcp.analyses.roofline.roofline import Roofline
from ttnn_mcp.arrays import Booleans, Floats
from ttnn_mcp.hardware import ELEMENT_BYTES, FIDELITY_PHASES
from ttnn_mcp.run.iterations import signatures
from ttnn_mcp.run.ops.alike import first_rows, numbered
from ttnn_mcp.run.ops.artefact import artefact
from ttnn_mcp.run.ops.op_table import OpTable
from ttnn_mcp.run.ops.operand import Operand

HEAD_AT_MOST = 256  # columns of a head: those of Gemma, the widest in tt-metal (its config)
SIXTEEN_BITS_OR_MORE = ("BFLOAT16", "FLOAT32")
FEWER_BYTES = 1 - ELEMENT_BYTES["BFLOAT8_B"] / ELEMENT_BYTES["BFLOAT16"]  # the share that BFLOAT8_B spares
NO_MANTISSA = ("UINT32", "INT32", "UINT16", "UINT8", "INT8")
EXPLAINS_AT_LEAST = 0.1
"""The least share of an op's time that its bytes (or its arithmetic) need at best; below it fewer of them do not help.

Ours: real MinimalMatmuls that wait for bytes show 0.23 and more, convs that wait for the engine 0.22 and more; ops
on a few cores, which wait for neither, stay below 0.09.
"""

BYTES_TAKE_AT_MOST = 2.0
"""Times what an op's bytes need at best; what it takes beyond that goes to something else, and stays.

At 17 % of the bandwidth half the bytes brought 11 of 105 us (measured, tt-metal): 16 % are promised, not half.
"""

FEWER_PASSES_FROM = 0.5
"""The least share of a matmul's time that the engine needs at its peak; below it fewer passes do not help.

Reading overlaps with computing, so the longer one decides. If the engine needs less than half at its peak, it is not
the engine: a matmul at 0.30 gained nothing from HiFi2 (DeepSeek port of tt-xla, 1953 to 1944 us over 30 matmuls).
Matmuls of tt-metal that are bound by the engine reach 0.7 to 0.8. Convs fetch, tilize and compute in turns.
"""


@artefact
def engine_ops(ops: OpTable) -> Booleans:
    """Ops whose arithmetic runs on the matrix engine and obeys MATH FIDELITY."""
    return ops.of_family("matmul", "conv", "attention")


def any_operand(ops: OpTable, dtype: str) -> Booleans:
    """Ops that read or write a tensor of this data type."""
    typed = [operand.dtype.among(dtype) for operand in (*ops.inputs[:2], *ops.outputs[:1])]
    return np.any(typed, axis=0) if typed else np.zeros(len(ops), dtype=np.bool_)


def weight_of(ops: OpTable) -> Operand | None:
    """INPUT_1, which holds the weights of matmuls and convs (a conv's ATTRIBUTES do not print its data type)."""
    return ops.inputs[1] if len(ops.inputs) > 1 else None


@artefact
def reads_weights(ops: OpTable, flow: Flow) -> Booleans:
    """Matmuls and convs whose INPUT_1 is a weight: in DRAM, and made by no earlier op (unlike attention's K)."""
    weight = weight_of(ops)
    if weight is None:
        return np.zeros(len(ops), dtype=np.bool_)
    able = ops.of_family("matmul", "conv")
    maker = flow.producers[1]
    # sizes can be equal by chance; a view keeps the last dim, so a maker of another width made another tensor
    width = weight.logical[:, 3]
    made = np.zeros(len(ops), dtype=np.bool_)
    for output in ops.outputs:
        made |= (maker != NOBODY) & (output.logical[maker, 3] == width)
    # one output is not what several ops of a kind read of which the first reads what no op made: they are those of
    # later layers or passes, and an output of that size has been made meanwhile
    kinds = signatures(ops)
    readers = numbered(len(ops), [maker, kinds])
    made &= made[first_rows(kinds)][kinds] | (np.bincount(readers)[readers] == 1)
    batched = (weight.logical[:, :2].prod(axis=1) > 1) & (ops.inputs[0].logical[:, :2].prod(axis=1) > 1)
    batched &= ~ops.named("SparseMatmul")  # of experts both operands have as many
    # otherwise experts' weights: no cache of heads; a cache of latents (512 columns, of MLA) is told by its softmax
    caches = weight.logical[:, 2:].min(axis=1) <= HEAD_AT_MOST
    caches[[row for chain in attention_chains(ops, flow) for row in (chain.scores, chain.context)]] = True
    batched &= caches
    return able & weight.present & weight.in_dram & ~made & ~batched


def spared_bytes(operand: Operand, dtype: str) -> Floats:
    """DRAM bytes saved if the operand were stored as `dtype`; 0 if it is already as narrow, or is in L1."""
    narrower = ELEMENT_BYTES[dtype]
    now = operand.dtype.mapped(lambda text: ELEMENT_BYTES.get(text, 0.0), missing=0.0, dtype=np.float64)
    share = np.where(now > narrower, 1 - narrower / np.where(now > 0, now, 1.0), 0.0)
    return np.where(operand.in_dram, operand.bytes * share, 0.0)


def waits_for_bytes(ops: OpTable, roofline: Roofline) -> Booleans:
    """Ops whose DRAM traffic outweighs their arithmetic and explains part of their time."""
    bytes_ns = roofline.dram_achievable_ns
    more = (bytes_ns > 0) & (bytes_ns >= np.nan_to_num(roofline.compute_used_ns))
    return more & (bytes_ns >= EXPLAINS_AT_LEAST * ops.numbers("kernel_ns"))


def waits_for_arithmetic(ops: OpTable, roofline: Roofline) -> Booleans:
    """Ops whose arithmetic outweighs their DRAM traffic and explains part of their time."""
    engine_ns = roofline.compute_used_ns
    more = engine_ns > np.nan_to_num(roofline.dram_achievable_ns)
    return more & (engine_ns >= EXPLAINS_AT_LEAST * ops.numbers("kernel_ns"))


def fewer_bytes_save(ops: OpTable, roofline: Roofline, spared: Floats) -> Floats:
    """The most nanoseconds saved by moving `spared` bytes fewer."""
    kernel = ops.numbers("kernel_ns")
    share = spared / np.where(roofline.dram_bytes > 0, roofline.dram_bytes, np.inf)
    then_ns = np.fmax(np.fmax(roofline.dram_achievable_ns * (1 - share), roofline.compute_used_ns), LAUNCH_FLOOR_NS)
    by_bytes = np.fmin(kernel, BYTES_TAKE_AT_MOST * roofline.dram_achievable_ns)
    return np.maximum(np.minimum(by_bytes * share, kernel - then_ns), 0.0)


@artefact
def needed_phases(ops: OpTable) -> Floats:
    """Passes of the engine that the operands' mantissas can use; NaN if unknown or if the op computes in float32.

    The engine takes weights in 5 + 5 bits and activations in 7 + 4. HiFi2 covers all bits of BFLOAT8_B weights and is
    nearly exact for BFLOAT16; LoFi covers all bits of BFLOAT4_B weights (tt-mlir #7421, tt-metal #39627).
    """
    weight = weight_of(ops)
    if weight is None:
        return np.full(len(ops), np.nan)
    by_weight = {"BFLOAT16": 2.0, "BFLOAT8_B": 2.0, "BFLOAT4_B": 1.0}
    needed = weight.dtype.mapped(lambda text: by_weight.get(text, np.nan), missing=np.nan, dtype=np.float64)
    narrow = ops.inputs[0].dtype.among("BFLOAT16", "BFLOAT8_B", "BFLOAT4_B")
    return np.where(narrow & engine_ops(ops), needed, np.nan)


@artefact
def phases_told(ops: OpTable) -> Floats:
    """Passes of the engine by MATH FIDELITY per op, also of ops that use it for a part of their work; NaN if untold."""
    return ops.texts("fidelity").mapped(
        lambda text: FIDELITY_PHASES.get(text, np.nan), missing=np.nan, dtype=np.float64
    )


def phases(ops: OpTable) -> Floats:
    """The same; NaN for ops that are no matmul, conv or attention."""
    return np.where(engine_ops(ops), phases_told(ops), np.nan)


def fewer_passes_save(ops: OpTable, roofline: Roofline, wanted: Floats) -> Floats:
    """The most nanoseconds saved by computing with `wanted` passes; 0 if not fewer, or if passes do not limit it."""
    kernel = ops.numbers("kernel_ns")
    ratio = np.nan_to_num(wanted / phases(ops), nan=1.0)
    then_ns = np.fmax(np.fmax(roofline.compute_used_ns * ratio, roofline.dram_achievable_ns), LAUNCH_FLOOR_NS)
    matmuls = ops.of_family("matmul")
    lasts = ~matmuls | (roofline.compute_used_ns >= FEWER_PASSES_FROM * kernel)
    return np.where(lasts, np.maximum(np.minimum(kernel * (1 - ratio), kernel - then_ns), 0.0), 0.0)
