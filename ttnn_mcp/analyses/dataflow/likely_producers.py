"""Data flow between device ops: the likely producer of each input.

A performance report names no tensors. An input is taken for the last earlier output with the same element count, data
type, layout and placement. Only the tensor ids of a memory report, or equal addresses, make this certain.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ttnn_mcp.arrays import Booleans, Integers
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.ops.alike import numbered
from ttnn_mcp.run.ops.artefact import artefact
from ttnn_mcp.run.ops.op_table import OpTable
from ttnn_mcp.run.ops.operand import Operand
from ttnn_mcp.run.ops.texts import Texts

NOBODY = -1
# attributes of an operand that must agree, as must the element count
DESCRIBED_BY = ("dtype", "layout", "placement")


@dataclass(frozen=True)
class Flow:
    """Joins between the ops of one device, in the order they ran. Positions are rows of `ops`."""

    ops: OpTable

    @cached_property
    def outputs_made(self) -> tuple[Integers, Integers]:
        """(tensor keys, producing rows) of all outputs, sorted by key, then by row."""
        outputs = self.ops.outputs
        if not outputs:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        rows = [np.flatnonzero(operand.present) for operand in outputs]
        key = np.concatenate([self.keys[operand.name][place] for operand, place in zip(outputs, rows, strict=True)])
        row = np.concatenate(rows)
        order = np.lexsort((row, key))
        return key[order], row[order]

    @cached_property
    def keys(self) -> dict[str, Integers]:
        """Per operand, a number per row: equal if element count, data type, layout and placement are equal."""
        operands = (*self.ops.inputs, *self.ops.outputs)
        columns = [
            np.concatenate([operand.elements for operand in operands]),
            *(
                np.concatenate([self._spelled(getattr(operand, part)) for operand in operands])
                for part in DESCRIBED_BY
            ),
        ]
        keys = np.split(numbered(len(columns[0]), columns), len(operands))
        return {operand.name: key for operand, key in zip(operands, keys, strict=True)}

    @cached_property
    def _names(self) -> dict[str, int]:
        """A number per text, the same for all operands, so that keys of inputs and outputs can be compared."""
        texts = {
            text
            for operand in (*self.ops.inputs, *self.ops.outputs)
            for part in DESCRIBED_BY
            for text in getattr(operand, part).distinct
        }
        return {text: number for number, text in enumerate(sorted(texts), start=1)}

    def _spelled(self, texts: Texts) -> Integers:
        return texts.mapped(self._names.__getitem__, missing=0, dtype=np.int64)

    def output_before(self, rows: Integers) -> Integers:
        """Per row, the row that made the output before its first one that looks the same; NOBODY for none."""
        keys, makers = self.outputs_made
        key = self.keys[self.ops.outputs[0].name][rows]
        span = len(self.ops)
        place = np.searchsorted(keys.astype(np.int64) * span + makers, key.astype(np.int64) * span + rows)
        before = np.maximum(place - 1, 0)
        return np.where((place > 0) & (keys[before] == key), makers[before], NOBODY)

    def makers_of(self, number: int) -> Integers:
        """Per row, the row that produced INPUT_number; NOBODY everywhere where the report lost that column."""
        if number < len(self.producers):
            return self.producers[number]
        return np.full(len(self.ops), NOBODY, dtype=np.int64)

    def producer(self, operand: Operand) -> Integers:
        """Per row, the row that produced this input; NOBODY where none did (a weight, or the model's input)."""
        keys, rows = self.outputs_made
        input_keys = self.keys[operand.name]
        made_by = np.full(len(self.ops), NOBODY, dtype=np.int64)
        # (key, row) pairs become one number each; the last number below the row's own is the last producer before it
        span = len(self.ops)
        _, place = np.unique(np.concatenate((keys, input_keys)), return_inverse=True)
        sequence = place[: len(keys)] * span + rows
        queries = place[len(keys) :] * span + np.arange(len(self.ops))
        places = np.searchsorted(sequence, queries, side="left") - 1
        usable = places >= 0
        usable[usable] &= place[: len(keys)][places[usable]] == place[len(keys) :][usable]
        made_by[usable] = rows[places[usable]]
        return made_by

    @cached_property
    def producers(self) -> tuple[Integers, ...]:
        """`producer` of INPUT_0, INPUT_1, ..."""
        return tuple(self.producer(operand) for operand in self.ops.inputs)

    @cached_property
    def made(self) -> tuple[Booleans, ...]:
        """Per input, the rows where an op of the window made it."""
        return tuple(made_by != NOBODY for made_by in self.producers)


@artefact
def flow_of(ops: OpTable) -> Flow:
    """The data flow between a device's ops; computed once per table."""
    return Flow(ops)
