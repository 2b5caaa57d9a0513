"""A tensor is untilized before a GroupNorm, or tilized after it, although the norm reads and writes tiles.

`ttnn.group_norm` of 0.81 reads TILE and ROW_MAJOR, in shards and in DRAM, and `output_layout` says what it writes.
Converting for it copies the whole tensor: in a video VAE untilize and tilize around its norms were 53 % of an encoder,
and computing in the neighbours' layout made that 1.78x as fast (TT-DiT's notes, tt-metal PR #52234).

The line: an Untilize whose only readers are GroupNorms, or a Tilize of rows that a GroupNorm wrote, directly or
through up to four moves and element-wise ops; rows in whole tiles; together 1 % of the window. The bound is their
whole time. At least is 0: the norm itself may take longer on tiles.

Silent on a Tilize in front of a norm (reading rows instead measured 37 % faster to 22 % slower, tt-metal PR #49501),
on rows that a conv or another op also needs, and on heights that are not a multiple of 32: a norm on tiles would have
to leave out their padding. Moves around the norm stay: the report does not show whether it fits elsewhere.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.dataflow.likely_producers import NOBODY
from ttnn_mcp.analyses.op_kinds.layouts import CARRIED_AT_MOST, CARRIES, TO_ROWS, TO_TILES
from ttnn_mcp.checks.check import Affected, Mask, Problem, Problems, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.levers import LAYOUT
from ttnn_mcp.checks.needs import OPERANDS
from ttnn_mcp.checks.shared.compiled import optimized
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.hardware import TILE_SIDE


@check(
    title="layouts converted for a GroupNorm",
    lever=LAYOUT,
    of=ops_named("no GroupNorm ops", "GroupNorm"),
    needs=(OPERANDS,),
    worth=Worth(saving=USUAL),
    compiled=optimized("keeps layouts along chains"),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all conversions for GroupNorms."""
    norms = facts.named("GroupNorm")
    before = facts.named(*TO_ROWS) & _read_by(facts, norms)
    after = facts.named(*TO_TILES) & _made_by(facts, norms & facts.ops.outputs[0].layout.among("ROW_MAJOR"))
    whole = facts.ops.inputs[0].logical[:, :3].prod(axis=1) % TILE_SIDE == 0
    rows = np.flatnonzero((before | after) & whole)
    yield Problem(rows, facts.kernel_ns[rows], tell=_tell)


def _tell(ops: Affected) -> Words:
    before, after = (int(ops.facts.named(*names)[ops.rows].sum()) for names in (TO_ROWS, TO_TILES))
    return Words(
        claim=(
            f"{before} Untilize and {after} Tilize ops serve GroupNorms alone ({ops.time}); heaviest {ops.example}"
        ),
        assumption="the norms read and write tiles and take as long as now",
        cells=((ops.facts.input(0), "LAYOUT"), (ops.facts.output(), "LAYOUT")),
        fix=(
            "drop them: ttnn.group_norm(x, num_groups=..., output_layout=ttnn.TILE_LAYOUT, ...) with x in TILE; moves "
            "into shards by ttnn.to_memory_config(x, shards) in TILE, shards in whole tiles"
        ),
        verify="re-profile: list_ops(op_code='Untilize') and 'Tilize' count fewer; GroupNorm's kernel_us as before",
        caveat="builds before 0.81 refuse some of these layouts; inplace=True needs equal layouts on both sides",
    )


def _read_by(facts: WindowFacts, norms: Mask) -> Mask:
    """Ops whose output these norms alone read, directly or through what passes it on."""
    ends = norms
    feeds = np.zeros_like(norms)
    for _ in range(CARRIED_AT_MOST + 1):
        feeds = facts.joins.read_only_by(ends)
        ends = norms | (feeds & _passes(facts))
    return feeds


def _passes(facts: WindowFacts) -> Mask:
    """Ops that work on rows and tiles alike."""
    return facts.named(*CARRIES) | facts.of_family("eltwise")


def _made_by(facts: WindowFacts, norms: Mask) -> Mask:
    """Ops whose INPUT_0 one of these norms made, directly or through what passes it on."""
    makers, passes = facts.joins.makers, _passes(facts)
    made = norms
    for _ in range(CARRIED_AT_MOST):
        made = norms | (passes & (makers != NOBODY) & made[makers])
    return (makers != NOBODY) & made[makers]
