"""Numbers that the host writes into ops, and that differ from pass to pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from ttnn_mcp.analyses.attribute_columns import attributes_of
from ttnn_mcp.arrays import Integers
from ttnn_mcp.readers.printed.attributes import Attributes
from ttnn_mcp.run.iterations import Iterations, signatures
from ttnn_mcp.run.ops.op_table import OpTable

# what a call takes as a Python number and a tensor on the device could hold: TTNN 0.81.1
NUMBERS = {"Slice": "slice_start", "UpdateKVCache": "update_idx"}


class Changing(NamedTuple):
    """Ops of one name whose number changes.

    Attributes:
        name: of the ops.
        attribute: where the number stands.
        lines: of the ops in the last pass.
        before: per op, its line in the pass before.
    """

    name: str
    attribute: str
    lines: Integers
    before: Integers


def changing_numbers(ops: OpTable, passes: Iterations) -> Iterator[Changing]:
    """Per name the ops whose number differs between the last two passes, at the same place of the same ops.

    Layers of one pass may have their own numbers, which a trace repeats rightly.
    """
    if passes.may_be_layers:
        return
    columns, devices, kinds = attributes_of(ops), ops.numbers("device"), signatures(ops)
    for name, attribute in NUMBERS.items():
        named = np.flatnonzero(ops.named(name))
        named = named[np.argsort(devices[named], kind="stable")]
        last, before = (named[passes.number[named] == number] for number in (passes.count, passes.count - 1))
        if not np.array_equal(kinds[last], kinds[before]):  # nor where no passes were found: none is before them
            continue
        codes = _codes(attribute)
        now, then = columns.numbers(last, codes), columns.numbers(before, codes)
        changed = np.flatnonzero(np.abs(now - then) > 0)  # NaN, where nothing is printed, is above nothing
        if len(changed):
            yield Changing(name, attribute, ops.lines[last[changed]], ops.lines[before[changed]])


def _codes(attribute: str) -> Callable[[Attributes], float | None]:
    """A function that gives each text of the attribute a number of its own."""
    known: dict[str, float] = {}

    def code(attributes: Attributes) -> float | None:
        text = attributes.text_of(attribute)
        return None if text is None else known.setdefault(text, float(len(known)))

    return code
