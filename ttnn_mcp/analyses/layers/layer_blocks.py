"""All layers of a window: the block of layers that repeats over most of it, and what repeats beside it.

A window may hold prefill and decode, an encoder and a decoder, or dense layers before those with experts. Each has its
own layers. Their numbers, and those of their roles, run on from block to block, so that no two are mixed up.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ttnn_mcp.analyses.layers.repeating_names import COVERED_AT_LEAST, Layers, layers_of
from ttnn_mcp.arrays import Booleans, Integers
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.ops.op_table import OpTable

BLOCKS_AT_MOST = 4  # an encoder and a decoder, each twice; what falls into more is no stack of layers (ours)


@dataclass(frozen=True)
class LayerBlocks:
    """The layers of all blocks, in the order they run."""

    blocks: tuple[Layers, ...]

    @property
    def count(self) -> int:
        """How many layers there are."""
        return sum(block.count for block in self.blocks)

    @property
    def scattered(self) -> bool:
        """Whether other ops may run between two layers."""
        return len(self.blocks) > 1 or any(block.passes > 1 for block in self.blocks)

    def numbers(self, rows: Integers) -> Integers:
        """Per row, its layer from 1 to count; 0 outside, but count + 1 behind layers that are not scattered."""
        if not self.scattered:
            return self.blocks[0].numbers(rows)
        number, ran = np.zeros(len(rows), dtype=np.int64), 0
        for block in self.blocks:
            number = np.where(_inside(block, rows), block.numbers(rows) + ran, number)
            ran += block.count
        return number

    def roles(self, rows: Integers) -> Integers:
        """Per row, its role from 1 on; 0 outside of the layers."""
        role = np.zeros(len(rows), dtype=np.int64)
        ran = 0
        for block in self.blocks:
            role = np.where(_inside(block, rows), block.places(rows) + 1 + ran, role)
            ran += block.ops
        return role


def _inside(block: Layers, rows: Integers) -> Booleans:
    number = block.numbers(rows)
    return (number > 0) & (number <= block.count)


def blocks_of(names: Integers, ops: OpTable) -> LayerBlocks | None:
    """The layers of these ops of one device; None if no blocks repeat over most of them.

    Args:
        names: per op, its name as a number.
        ops: the ops, in the order they ran.
    """
    sequence = _Sequence(names, ops)
    main = sequence.most()
    if main is not None:
        blocks = sequence.beside(main)
        return LayerBlocks(blocks if len(blocks) <= BLOCKS_AT_MOST else (main,))
    blocks = sequence.within(0, len(names))
    covered = sum(block.ops * block.count * block.passes for block in blocks)
    few = 0 < len(blocks) <= BLOCKS_AT_MOST
    return LayerBlocks(blocks) if few and covered >= COVERED_AT_LEAST * len(names) else None


class _Sequence:
    """Names of ops, and which of them may begin a layer or do its work."""

    def __init__(self, names: Integers, ops: OpTable) -> None:
        self.names = names
        self._embeds = ops.of_family("embedding")
        self._norms = ops.of_family("norm")
        self._works = ops.of_family("matmul") | ops.of_family("conv")

    def most(self) -> Layers | None:
        """The block that covers most of the ops."""
        layers = layers_of(self.names, self._embeds)
        return layers and self._from_norm(layers)

    def beside(self, main: Layers) -> tuple[Layers, ...]:
        """A block among those before and behind it."""
        return (*self.within(0, main.first), main, *self.within(main.end, len(self.names)))

    def within(self, start: int, end: int) -> tuple[Layers, ...]:
        """The blocks between two rows, in the order they run; not all of them where they are too many."""
        blocks, spans = list[Layers](), [(start, end)]
        while spans and len(blocks) <= BLOCKS_AT_MOST:  # unmoved: a longer search only costs time
            first, last = spans.pop()
            layers = self._largest(first, last)
            if layers is not None:
                blocks.append(layers)
                spans += [(first, layers.first), (layers.end, last)]
        return tuple(sorted(blocks, key=lambda block: block.first))

    def _largest(self, start: int, end: int) -> Layers | None:
        """Names alone do not prove what covers little: a layer has a norm and works."""
        layers = layers_of(self.names[start:end], self._embeds[start:end], at_least=0.0)
        if layers is None:
            return None
        layers = self._from_norm(replace(layers, first=layers.first + start))
        layer = slice(layers.first, layers.first + layers.ops)
        return layers if self._norms[layer].any() and self._works[layer].any() else None

    def _from_norm(self, layers: Layers) -> Layers:
        """The same layers, begun at the first norm among the ops at which they can begin."""
        starts = np.flatnonzero(self._norms[layers.first : layers.first + layers.slack + 1])
        return replace(layers, first=layers.first + int(starts[0])) if len(starts) else layers
