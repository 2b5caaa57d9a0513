"""A matmul writes one wide result, and slices cut its columns apart again.

Two matmuls on the halves of the weights write the same parts and read no more weights. One op on stacked weights saves
a launch, and its slices cost more: of 27 tries in tt-metal's ledgers at gate and up as one matmul 25 lost or brought
nothing, and taking them apart again saved 29 of 29 us of slices (Muse) and 513 us where they took 480 (Ornith 9B).

The line: a matmul whose result slices of columns alone read, which take all of its columns, each 1024 wide and more;
together 1 % of the window. The bound is the slices' time.

Silent on parts under 1024 columns, whose matmuls would be too short to stream their weights, and where another op reads
the whole result.
"""

from __future__ import annotations

import re
from functools import partial

import numpy as np

from ttnn_mcp.analyses.op_kinds.kept_rows import DENSE
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.levers import LAYOUT
from ttnn_mcp.checks.needs import OPERANDS
from ttnn_mcp.checks.shared.activations import columns_dim
from ttnn_mcp.checks.shared.dram_sharding import LEAST_WEIGHTS
from ttnn_mcp.checks.wording import cite_op, counted
from ttnn_mcp.checks.worth import USUAL, Worth

_NUMBER = re.compile(r"\d+")


@check(
    title="a matmul's columns cut apart by slices",
    lever=LAYOUT,
    of=ops_named("no Slice ops", "Slice"),
    needs=(OPERANDS,),
    worth=Worth(saving=USUAL),
    general=True,
)
def look(facts: WindowFacts) -> Problems:
    """Yield the slices of all such results."""
    cut = facts.joins.read_only_by(facts.named("Slice"))
    cuts = {
        row: slices
        for row in np.flatnonzero(facts.named(*DENSE) & cut).tolist()
        if _apart(facts, row, slices := [*facts.joins.readers(row)])
    }
    rows = np.array(sorted(each for slices in cuts.values() for each in slices), dtype=np.int64)
    yield Problem(rows, facts.kernel_ns[rows], tell=partial(_tell, cuts))


def _apart(facts: WindowFacts, row: int, slices: list[int]) -> bool:
    """Whether the slices take all columns of all rows, in wide parts."""
    whole, parts = facts.ops.outputs[0].logical[row], facts.ops.outputs[0].logical[slices]
    same_rows = bool((parts[:, :3] == whole[:3]).all())
    return same_rows and bool((parts[:, 3] >= LEAST_WEIGHTS).all()) and parts[:, 3].sum() == whole[3]


def _tell(cuts: dict[int, list[int]], ops: Affected) -> Words:
    facts = ops.facts
    matmul, slices = next((row, slices) for row, slices in cuts.items() if ops.row in slices)
    slices = sorted(slices, key=lambda each: _first_column(facts, each))
    widths = [int(width) for width in facts.ops.outputs[0].logical[slices, 3]]
    weights = [f"w{place}" for place in range(1, len(widths) + 1)]
    parts = f"{', '.join(weights)} = torch.split(torch_w, {widths}, dim={columns_dim(facts, matmul)})"
    stored = ", ".join(f"{w} = ttnn.from_torch({w}, ...)" for w in weights)
    each = ", ".join(f"ttnn.linear(x, {w})" for w in weights)
    return Words(
        claim=(
            f"{ops.many('slice')} cut the results of {counted(len(cuts), 'matmul')} into their columns ({ops.time}): "
            f"{ops.example}"
        ),
        assumption="separate matmuls take as long together as the wide one, and write their parts themselves",
        also=cite_op(facts, matmul),
        fix=(
            f"separate matmuls for the one at line {facts.line(matmul)}: at load time {parts}, {stored}, then {each}; "
            "the bias likewise, all else as now, any program_config made for its N"
        ),
        verify="re-profile; list_ops(group_by='op_code') shows fewer Slice; PCC unchanged",
        caveat="each matmul more costs a launch; readers are inferred from shapes",
    )


def _first_column(facts: WindowFacts, row: int) -> int:
    """Where a slice begins; 0 where that is not printed, and then they stand in the order of the ops."""
    numbers = _NUMBER.findall(facts.attributes(row).get("slice_start", ""))
    return int(numbers[-1]) if numbers else 0
