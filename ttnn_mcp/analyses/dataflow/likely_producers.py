"""Data flow between device ops: who made an input, who else reads an output.

A performance report names no tensors. An input is taken to be the last earlier output with the same element
count, data type, layout and placement: adjacency is not data flow, but a tensor that nothing else could have
produced is. Only a memory report (tensor ids) or equal addresses make a join certain.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.run.ops.alike import numbered
from ttnn_mcp.run.ops.artefact import artefact

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ttnn_mcp.run.ops.op_table import OpTable
    from ttnn_mcp.run.ops.operand import Operand
    from ttnn_mcp.run.ops.texts import Texts

NOBODY = -1
DESCRIBED_BY = ("dtype", "layout", "placement")  # beside the element count: attributes of an operand


@dataclass(frozen=True)
class Flow:
    """Joins between the ops of one device, in the order they ran. Positions are rows of `ops`."""

    ops: OpTable

    @cached_property
    def _made(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(tensor keys, producing rows) of all outputs, sorted by key, then by row."""
        outputs = self.ops.outputs
        if not outputs:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        rows = [np.flatnonzero(operand.present) for operand in outputs]
        key = np.concatenate(
            [self._keys[operand.name][place] for operand, place in zip(outputs, rows, strict=True)]
        )
        row = np.concatenate(rows)
        order = np.lexsort((row, key))
        return key[order], row[order]

    @cached_property
    def _keys(self) -> dict[str, NDArray[np.int64]]:
        """Per operand and row a number: equal where element count, data type, layout and placement are."""
        operands = (*self.ops.inputs, *self.ops.outputs)
        if not operands:
            return {}
        columns = [
            np.concatenate([operand.elements for operand in operands]),
            *(np.concatenate([self._spelled(getattr(one, part)) for one in operands]) for part in DESCRIBED_BY),
        ]
        keys = np.split(numbered(len(columns[0]), columns), len(operands))
        return {operand.name: key for operand, key in zip(operands, keys, strict=True)}

    @cached_property
    def _names(self) -> dict[str, int]:
        """One number per text, the same for every operand, so that keys of inputs and outputs compare."""
        texts = {
            text
            for operand in (*self.ops.inputs, *self.ops.outputs)
            for part in DESCRIBED_BY
            for text in getattr(operand, part).distinct
        }
        return {text: number for number, text in enumerate(sorted(texts), start=1)}

    def _spelled(self, texts: Texts) -> NDArray[np.int64]:
        return texts.mapped(self._names.__getitem__, missing=0, dtype=np.int64)

    def producer(self, operand: Operand) -> NDArray[np.int64]:
        """Per row, the row that made this input; NOBODY where none did (a weight, or the model's input)."""
        keys, rows = self._made
        wanted = self._keys.get(operand.name)
        made_by = np.full(len(self.ops), NOBODY, dtype=np.int64)
        if wanted is None or not len(keys):
            return made_by
        # last producer before the row: order (key, row) pairs as one sorted sequence
        span = len(self.ops) + 1
        _, place = np.unique(np.concatenate((keys, wanted)), return_inverse=True)
        sequence = place[: len(keys)] * span + rows
        asked = place[len(keys) :] * span + np.arange(len(self.ops))
        found = np.searchsorted(sequence, asked, side="left") - 1
        usable = (found >= 0) & operand.present
        usable[usable] &= place[: len(keys)][found[usable]] == place[len(keys) :][usable]
        made_by[usable] = rows[found[usable]]
        return made_by

    @cached_property
    def producers(self) -> tuple[NDArray[np.int64], ...]:
        """`producer` of INPUT_0, INPUT_1, ..."""
        return tuple(self.producer(operand) for operand in self.ops.inputs)


@artefact
def flow_of(ops: OpTable) -> Flow:
    """Who made which input of a device's ops; computed once per table."""
    return Flow(ops)
