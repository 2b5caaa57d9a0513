"""A slice copies whole rows of a tensor, or a concat after matmuls joins whole rows.

Rows that lie in one piece in DRAM need no copy: `ttnn.narrow` is a view of them. Any op can read it, and a matmul can
write into it through `optional_output_tensor`. Without the slices and the concat around its matmuls a routed expert
took 8481 us instead of 9424 (tt-metal PR #40899).

The line: a Slice along the first dim that is not 1, from DRAM interleaved to DRAM interleaved, whose part begins on the
first bank (the pages before it divide by the banks: narrow.cpp of TTNN 0.81.1); or a Concat along that dim of outputs
of matmuls that no other op reads, which begin so. Together 1 % of the window. The bound is their whole time.

Silent on parts of a row, on parts that begin within the banks, on sharded tensors, and on concats of outputs of other
ops: most of these ops cannot write into a given tensor.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from itertools import accumulate
from math import prod
from typing import NamedTuple

import numpy as np

from ttnn_mcp.analyses.op_kinds.cache_writes import fills_by_user
from ttnn_mcp.analyses.roofline.working_cores import dram_banks
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.levers import LAYOUT
from ttnn_mcp.checks.needs import ATTRIBUTES, DRAM_BANDWIDTH, OPERANDS
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.hardware import TILE_SIDE
from ttnn_mcp.run.ops.operand import Operand

# Parts of a tensor that lie in one piece in DRAM: a view can be such a part without a copy.
# `ttnn.narrow` gives such a view of an interleaved tensor along the first dim that is not 1, if the part begins
# on the first DRAM bank: the number of pages before it is a multiple of the number of banks (narrow.cpp of TTNN
# 0.81.1, tried).
DIMS = 4  # of a tensor in a report: ops_perf_results.csv prints W, Z, Y and X (practice)
_NUMBER = re.compile(r"-?\d+")


@check(
    title="whole rows copied by slices and concats",
    lever=LAYOUT,
    of=ops_named("no slices and no concats", "Slice", "Concat"),
    needs=(OPERANDS, ATTRIBUTES, DRAM_BANDWIDTH),
    worth=Worth(time=USUAL),
    compiled="split weights and batches in the model, so that no rows are sliced and joined around matmuls",
)
def look(facts: WindowFacts) -> Problems:
    """Yield the slices that a view replaces and the concats that are written in place."""
    banks = dram_banks(facts.chip) or 1
    _, of_users = fills_by_user(facts.ops)  # cache-filled-by-user writes them without a slice
    slices = np.setdiff1d(np.flatnonzero(facts.named("Slice")), of_users)
    sliced = {row: part for row in slices.tolist() if (part := _part(facts, row, banks))}
    joined = [row for row in np.flatnonzero(facts.named("Concat")).tolist() if _in_place(facts, row, banks)]
    rows = np.array(sorted((*sliced, *joined)), dtype=np.int64)
    yield Problem(rows, facts.kernel_ns[rows], tell=partial(_tell, sliced, joined))


def _tell(sliced: dict[int, Part], joined: list[int], ops: Affected) -> Words:
    return Words(
        claim=f"{len(sliced)} slices and {len(joined)} concats ({ops.time}) copy whole rows: {ops.example}",
        assumption="a view costs nothing; reads and writes through it take as long as others",
        cells=((ops.facts.input(0), "MEMORY"),),
        cited=2,
        fix=_fix(ops.facts, sliced, joined),
        verify="re-profile: list_ops(group_by='op_code') shows fewer Slice and Concat; PCC unchanged",
        caveat="readers are inferred from shapes; a view lives as long as its tensor, a step overwrites the one before",
    )


def _fix(facts: WindowFacts, sliced: dict[int, Part], joined: list[int]) -> str:
    views: list[str] = []
    if sliced:
        row = facts.heaviest(np.array([*sliced]), 1)[0]
        views.append(
            f"ttnn.narrow(x, dim={sliced[row].dim}, start={sliced[row].start}, length={sliced[row].length}) for the "
            f"slice at line {facts.line(row)} (builds of 2026)"
        )
    if joined:
        row = facts.heaviest(np.array(joined), 1)[0]
        views.append(
            f"no concat at line {facts.line(row)}: ttnn.matmul(a, w, ..., "
            "optional_output_tensor=ttnn.narrow(whole, ...))"
        )
    return "; ".join(views)


def _part(facts: WindowFacts, row: int, banks: int) -> Part | None:
    """The part that the slice copies, where a view would do."""
    attributes, source, output = facts.attributes(row), facts.ops.inputs[0], facts.ops.outputs[0]
    start, end, step = (
        [int(number) for number in _NUMBER.findall(attributes.text_of(key) or "")]
        for key in ("slice_start", "slice_end", "step")
    )
    part, whole = part_of(source.logical[row].tolist(), start, end), source.padded[row].tolist()
    straight = set(step) <= {1} and _interleaved(source, row) and _interleaved(output, row)
    return part if part and straight and lies_in_one_piece(part, whole, source.layout[row], banks) else None


def _interleaved(operand: Operand, row: int) -> bool:
    return bool(operand.in_dram[row] and not operand.sharded[row])


def _in_place(facts: WindowFacts, row: int, banks: int) -> bool:
    """Whether matmuls alone made all parts, and each would begin on the first bank."""
    output, parts = facts.ops.outputs[0], [operand for operand in facts.ops.inputs if operand.present[row]]
    dim = facts.attributes(row).number("dim")
    if dim is None or not all(_interleaved(operand, row) for operand in (output, *parts)):
        return False
    lengths = [int(part.logical[row, dim]) for part in parts]
    starts = [0, *accumulate(lengths[:-1])]
    whole = output.padded[row].tolist()
    placed = all(
        lies_in_one_piece(Part(dim, start, length), whole, output.layout[row], banks)
        for start, length in zip(starts, lengths, strict=True)
    )
    return placed and _by_matmuls(facts, row, len(parts))


def _by_matmuls(facts: WindowFacts, row: int, parts: int) -> bool:
    """Parts of one size have one likely producer, the last: as many matmuls that write such a part must have run."""
    makers = np.unique([made_by[row] for made_by in facts.flow.producers[:parts]])
    matmuls, output = facts.of_family("matmul"), facts.ops.outputs[0]
    if not matmuls[makers].all() or (facts.joins.reader_counts[makers] != 1).any():  # nobody's place: the last op
        return False
    alike = matmuls & np.isin(output.elements, output.elements[makers])
    return int(alike[:row].sum()) >= parts


class Part(NamedTuple):
    """`length` of dim `dim` from `start` on."""

    dim: int
    start: int
    length: int


def part_of(whole: Sequence[int], start: Sequence[int], end: Sequence[int]) -> Part | None:
    """The one dim that is cut; None if no dim or several dims are cut."""
    if not len(whole) == len(start) == len(end) == DIMS:
        return None
    cut = [dim for dim in range(DIMS) if (start[dim], end[dim]) != (0, whole[dim])]
    return Part(cut[0], start[cut[0]], end[cut[0]] - start[cut[0]]) if len(cut) == 1 else None


def lies_in_one_piece(part: Part, whole: Sequence[int], layout: str, banks: int) -> bool:
    """Whether a view can be the part: first dim that is not 1, whole pages, and it begins on the first bank."""
    if prod(whole[: part.dim]) != 1 or part.dim == DIMS - 1:
        return False
    side = TILE_SIDE if layout == "TILE" else 1
    if part.dim == DIMS - 2 and (part.start % side or part.length % side):
        return False
    heights = [-(-whole[DIMS - 2] // side) if dim == DIMS - 2 else whole[dim] for dim in range(DIMS - 1)]
    across = -(-whole[-1] // TILE_SIDE) if layout == "TILE" else 1
    first = part.start // side if part.dim == DIMS - 2 else part.start
    return first * prod(heights[part.dim + 1 :]) * across % banks == 0
