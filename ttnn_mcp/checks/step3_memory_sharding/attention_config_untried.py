"""Fused attention stays short of its roofline, and TTNN takes other chunks or cores that this run did not try: a trial.

Which chunks are best no report tells: of whole layers in tt-metal's ledgers smaller chunks, larger ones, fewer cores
and more cores for each head of a decode saved 5 to 59 % of an attention, and half of all tries brought nothing, lost or
did not fit L1. So nothing is expected, and it stands last in the plan; `check_setting` tells what fits.

The line: fused attention of 5 us and more, under 60 % of its roofline; 1 % of the window to save. The bound is the
roofline at peak rates; 60 % of the time where no roofline is known. Half of a chunk and twice are told as far as the
sequence and L1 go (TTNN 0.81.1 refuses larger ones), fewer cores where the fullest gets no more of the queries.

Of a ring, whose keys arrive from other chips, other chunks are told where its row prints the present ones: larger ones
of the keys saved 5 to 12 % of Kimi K3's (tt-metal). Silent on other forms fused with an exchange.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import numpy as np

from ttnn_mcp.analyses.programs.grids import DEFAULT_GRID, grid_in, worker_grid
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words, check, ops_of_family
from ttnn_mcp.checks.levers import PROGRAM, UNTRIED
from ttnn_mcp.checks.needs import ARCHITECTURE, ATTRIBUTES, TWO_OPERANDS
from ttnn_mcp.checks.shared.attention_chunks import (
    begins,
    chunk_of_cache,
    fits,
    key_count,
    of_each_kind,
    printed,
    takes_any_length,
)
from ttnn_mcp.checks.shared.floors import leaves_much, trial_saves
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.hardware import TILE_SIDE, filled_up
from ttnn_mcp.readers.printed.attributes import Attributes

ATTENTION = ops_of_family("no fused attention", "attention")
OF_A_CACHE = (128, 256)  # keys, ours: sizes that every cache of a few pages holds
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
        untried = rows[of_each_kind(facts, rows, lambda row: (len(_tries(facts, row)), 0))[:, 0] > 0]
        yield Problem(untried, saved[untried], tell=_tell, is_trial=True)


def _chunks_of_keys(attributes: Attributes) -> float:
    config = attributes.struct("program_config")
    return (config and config.number("k_chunk_size")) or 0.0


def _tell(ops: Affected) -> Words:
    alone = any(form in ops.name for form in ("Ring", "Joint"))  # forms that check_setting does not model
    return Words(
        claim=f"{ops.many('fused attention')} ({ops.time}) with settings that this run did not try: "
        f"{ops.example}, {ops.took_us}",
        assumption="a trial: 5 to 59 % less where it gained, in ledgers of tt-metal",
        columns=("attributes",),
        cited=2,
        fix=f"program_config=ttnn.SDPAProgramConfig(...) as now with {'; then '.join(_tries(ops.facts, ops.row))}",
        caveat=(
            f"some sizes hang or give wrong rows: one per process, {'' if alone else 'check_setting first, '}then PCC"
        ),
    )


def _tries(facts: WindowFacts, row: int) -> list[str]:
    """Chunks that are as long as the sequence at most and fit L1, then cores that its pieces fill as well."""
    decodes = "Decode" in facts.names[row]
    chunks = _chunks_of_cache(facts, row) if decodes else _chunks(facts, row)
    tries = [", ".join(filter(None, chunks))]
    cores = ["max_cores_per_head_batch=32"] if decodes else []
    cores += [f"compute_with_storage_grid_size={FEWER}"] if _fills_fewer(facts, row) else []
    return [text for text in (*tries, " and ".join(cores)) if text]


def _chunks(facts: WindowFacts, row: int) -> list[str]:
    q, k = printed(facts, row)
    longest = int(facts.ops.inputs[0].padded[row, 2]), filled_up(key_count(facts, row), TILE_SIDE)
    modelled = fits(facts, row, q, k)  # otherwise the op runs by another program than the model's

    def able(one: int, other: int) -> bool:
        return fits(facts, row, one, other) or (not modelled and begins(facts, row, one, other))

    queries = [one for one in _others(q) if one <= longest[0] and able(one, k)]
    keys = [one for one in _others(k) if one <= longest[1] and able(q, one)]
    return [_text("q_chunk_size", queries, f"{q} now"), _text("k_chunk_size", keys, f"{k} now")]


def _chunks_of_cache(facts: WindowFacts, row: int) -> list[str]:
    attributes, longest = facts.attributes(row), int(facts.ops.inputs[1].logical[row, 2])
    now = int(chunk_of_cache(attributes) or 0)
    others = _others(now) if now else OF_A_CACHE
    able = [one for one in others if takes_any_length(attributes) or longest % one == 0]
    return [_text("k_chunk_size", able, f"{now} now" if now else "TTNN chose")]


def _others(chunk: int) -> list[int]:
    """Half of it, in whole tiles, and twice."""
    half = max(chunk // 2 // TILE_SIDE, 1) * TILE_SIDE
    return [one for one in (half, 2 * chunk) if one != chunk]


def _text(name: str, values: Sequence[int], now: str) -> str:
    return f"{name} {' or '.join(map(str, values))} ({now})" if values else ""


def _fills_fewer(facts: WindowFacts, row: int) -> bool:
    """Whether the fullest of fewer cores gets no more pieces of the queries than the fullest has now."""
    grid = grid_in(facts.attributes(row).struct("program_config")) or worker_grid(facts.chip) or DEFAULT_GRID
    now, fewer = (x * y for x, y in (grid, FEWER))
    query, (q, _) = facts.ops.inputs[0].logical[row], printed(facts, row)
    pieces = int(query[:2].prod()) * ceil(int(query[2]) / q)
    return fewer < now and ceil(pieces / fewer) == ceil(pieces / now)
