"""Rows that show another op's operands.

Measured: in a DeepLabV3 report the row between a matmul that writes 8192x512 and one that reads it claims
32768x256, as an earlier add truly has it, and would need 620 GB/s of a chip that has 448. Four of five real reports
have such rows, all of them element-wise binary ops. Inferred: the profiler describes an op once per program hash
and repeats that for later ops of the same program (its switch against it is `--no-op-info-cache`), and the hash of
a binary op holds neither its shapes nor its scalar.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.arrays import Booleans, Integers
from ttnn_mcp.run.iterations import device_order, signatures
from ttnn_mcp.run.ops.alike import numbered
from ttnn_mcp.run.ops.artefact import artefact
from ttnn_mcp.run.ops.op_table import OpTable

SHAPELESS_HASH = ("Binary",)  # canonical names; BinaryNg is one of them
WHY_BORROWED = "the row shows another op's operands: they fit neither the op before nor the op after"


@artefact
def borrowed(ops: OpTable) -> Booleans:
    """Ops whose element counts fit neither neighbour, though another row has the very same description.

    Neighbours are the nearest ops on the same device that cannot have borrowed theirs. `ops` must be all ops of a
    stretch of time, in any order.
    """
    suspects = ops.named(*SHAPELESS_HASH)
    if not suspects.any():  # unmoved: only spares time
        return np.zeros(len(ops), dtype=np.bool_)
    if not ops.inputs or not ops.outputs:
        return np.zeros(len(ops), dtype=np.bool_)
    order = device_order(ops)
    reads = np.stack([operand.elements[order] for operand in ops.inputs], axis=1)
    writes = np.stack([operand.elements[order] for operand in ops.outputs], axis=1)
    whole = np.where(reads == writes[:, :1], reads, 0)  # what is broadcast says nothing of the op's size
    device, sure = ops.numbers("device")[order], ~suspects[order]
    places = np.arange(len(ops))
    before = np.concatenate([[-1], np.maximum.accumulate(np.where(sure, places, -1))[:-1]])
    after = np.concatenate([np.minimum.accumulate(np.where(sure, places, len(ops))[::-1])[::-1][1:], [len(ops)]])
    has_before, has_after = (before >= 0), (after < len(ops))
    before, after = before.clip(0), after.clip(None, len(ops) - 1)
    has_before &= device[before] == device
    has_after &= device[after] == device
    fits = (has_before & _shared(whole, writes[before])) | (has_after & _shared(writes, reads[after]))
    same = np.zeros(len(ops), dtype=np.bool_)
    same[order] = ~sure & (has_before | has_after) & ~fits
    return same & _repeated(ops)


def _shared(left: Integers, right: Integers) -> Booleans:
    """Rows that have an element count in common."""
    return ((left[:, :, None] == right[:, None, :]) & (left[:, :, None] > 0)).any(axis=(1, 2))


def _repeated(ops: OpTable) -> Booleans:
    """Rows that have the same attributes and operands as another row of their device."""
    device = np.nan_to_num(ops.numbers("device")).astype(np.int64)  # an op of a graph has none
    described = numbered(len(ops), [signatures(ops), ops.texts("attributes").codes, device])
    return np.bincount(described)[described] > 1
