"""Fused attention stays short of its roofline, and TTNN takes other chunks or cores that this run did not try: a trial.

Which chunks are best no report tells: of whole layers in tt-metal's ledgers smaller chunks, larger ones, fewer cores
and more cores for each head of a decode saved 5 to 59 % of an attention, and half of all tries brought nothing, lost or
did not fit L1. So nothing is expected, and it stands last in the plan; `check_setting` tells what fits.

The line: fused attention of 5 us and more, under 60 % of its roofline; 1 % of the window to save. The bound is the
roofline at peak rates; 60 % of the time where no roofline is known.

Of a ring, whose keys arrive from other chips, other chunks are told where its row prints the present ones: larger ones
of the keys saved 5 to 12 % of Kimi K3's (tt-metal). Silent on other forms fused with an exchange.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words, check, ops_of_family
from ttnn_mcp.checks.levers import PROGRAM, UNTRIED
from ttnn_mcp.checks.needs import ARCHITECTURE, ATTRIBUTES, TWO_OPERANDS
from ttnn_mcp.checks.shared.attention_chunks import chunk_of_cache, grid_text, printed
from ttnn_mcp.checks.shared.floors import leaves_much, trial_saves
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.hardware import TILE_SIDE
from ttnn_mcp.readers.printed.attributes import Attributes

ATTENTION = ops_of_family("no fused attention", "attention")
FEWER = (8, 8)  # cores, measured: such a part of larger grids gained in some of the ledgers


@check(
    title="other chunks or cores of attention, a trial",
    lever=UNTRIED,
    slot=PROGRAM,
    of=ATTENTION,
    needs=(TWO_OPERANDS, ATTRIBUTES, ARCHITECTURE),
    worth=Worth(saving=USUAL),
    general=True,
    compiled="tt-xla has no option for it: its compiler passes no program config",
)
def look(facts: WindowFacts) -> Problems:
    """Yield all of them."""
    saved = trial_saves(facts)
    able = ATTENTION.mask(facts) & leaves_much(facts, saved)
    joined = np.flatnonzero(able & facts.names.where(lambda op_code: "Ring" in op_code or "Joint" in op_code))
    able[joined] = facts.attributes_of_ops.numbers(joined, _chunks_of_keys) > 0
    decodes = facts.names.where(lambda op_code: "Decode" in op_code)
    for rows in (np.flatnonzero(able & decodes), np.flatnonzero(able & ~decodes)):
        yield Problem(rows, saved[rows], tell=_tell, is_trial=True)


def _chunks_of_keys(attributes: Attributes) -> float:
    config = attributes.struct("program_config")
    return (config and config.number("k_chunk_size")) or 0.0


def _tell(ops: Affected) -> Words:
    facts, decodes = ops.facts, "Decode" in ops.name
    q, k = printed(facts, ops.row)
    sides = (
        {"k_chunk_size": chunk_of_cache(facts.attributes(ops.row))}
        if decodes
        else {"q_chunk_size": q, "k_chunk_size": k}
    )
    chunks = ", ".join(f"{name} {_others(side)}" for name, side in sides.items())
    cores = [("max_cores_per_head_batch=32", decodes)]
    cores.append((f"compute_with_storage_grid_size={FEWER}", grid_text(facts, ops.row) != str(FEWER)))
    then = " and ".join(text for text, differs in cores if differs)
    alone = any(form in ops.name for form in ("Ring", "Joint"))  # forms whose L1 is not modelled
    return Words(
        claim=f"{ops.many('fused attention')} ({ops.time}) with settings that this run did not try: "
        f"{ops.example}, {ops.took_us}",
        assumption="a trial: 5 to 59 % less where it gained, in ledgers of tt-metal",
        columns=("attributes",),
        cited=2,
        fix=f"program_config=ttnn.SDPAProgramConfig(...) as now with {chunks}" + (f"; then {then}" if then else ""),
        caveat=(
            f"some sizes hang or give wrong rows: one per process, {'' if alone else 'check_setting first, '}then PCC"
        ),
    )


def _others(side: float | None) -> str:
    """Half of a chunk, in whole tiles, and twice; of one that TTNN chose, two that it takes."""
    if not side:
        return "128 or 256 (TTNN chose)"
    now = int(side)
    half = max(now // 2 // TILE_SIDE, 1) * TILE_SIDE
    return f"{' or '.join(str(one) for one in (half, 2 * now) if one != now)} ({now} now)"
