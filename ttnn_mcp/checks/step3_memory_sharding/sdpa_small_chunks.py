"""Fused attention works in chunks smaller than its sequence and L1 allow.

SDPA holds a chunk of Q and reads K and V in chunks; each pair of chunks costs softmax bookkeeping, and each chunk of Q
reads all K and V again. On a p100a causal attention over 4096 rows takes 6831 us with chunks of 32 x 128, 1835 with
128 x 128 and 1284 with 256 x 256 (tt-metal #55756); without a program config chunks are 32 (#51911). tt_transformers
takes 256 from 2048 rows on, and shorter sequences gain too: chunks of 192 made a ViT decoder's attention 2.95 times as
fast as the default ones, 256 x 512 beat 128 x 256 over 512 rows (guides of tt-metal). Decode attention over a cache
also pays per chunk of K: 92 us with 32, 34 with 128 (PR #36440).

The line: Q of 512 rows and more, under half of the engine, and 256 x 256, or the largest smaller chunks that fit
L1 and leave a chunk for every core, have at least twice the area of those printed. Or decode over a cache of 128
rows and more, and a printed k_chunk_size under 128. 1 % of the window to save. The bound is the smaller of two:
the pairs of chunks that go away, and the arithmetic at 81 % of the engine (the best point measured: #55758).

Where chunks of one of the two stay, because more queries or keys do not fit or leave cores idle, it is a trial: at 1024
queries behind 8192 keys chunks of 128 took 7.73 ms, of 64 4.80 (Motif-3's port in tt-metal). So it is within windows:
their arithmetic is in no report, and chunks wider than a window multiply what its mask drops (#54492).

Of a paged cache only all blocks are known, not the length of a sequence: a trial, down to chunks of 512. At 131,071
tokens chunks of 64 took 491 us, TTNN's own 338, and 492 and 199 with a cache of 8 bits (Muse-Glimmer 30B).

Silent about shorter sequences, chunks that TTNN chose for a decode (k_chunk_size 0), caches whose padded rows 128 does
not divide (TTNN 0.81.1 refuses it), ops that use the engine well, and a prompt's chunk whose start a tensor says:
sizes that do not divide it give wrong rows.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.attribute_columns import attributes_of
from ttnn_mcp.analyses.laws.descriptions import Described
from ttnn_mcp.analyses.op_kinds.few_cores import SMALL_NS
from ttnn_mcp.analyses.programs.grids import worker_grid
from ttnn_mcp.analyses.roofline.flops import WHY_ATTENTION, WHY_WINDOWS
from ttnn_mcp.checks.arrays import Floats, Mask, Rows
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words, check, ops_of_family
from ttnn_mcp.checks.levers import ATTENTION_CONFIG
from ttnn_mcp.checks.needs import ATTRIBUTES, TWO_OPERANDS
from ttnn_mcp.checks.shared.attention_chunks import (
    WHOLE_GRID,
    chunk_of_cache,
    fits,
    larger_chunks,
    printed_chunks,
    program_text,
    takes_any_length,
)
from ttnn_mcp.checks.shared.changed_ops import changed
from ttnn_mcp.checks.shared.floors import achievable_ns
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.quoting import figure
from ttnn_mcp.run.ops.op_names import canonical

ATTENTION = ops_of_family("no fused attention", "attention")
LONG = 512  # rows of Q: the shortest at which larger chunks were measured to win (tt-metal perf_automation, BGE-M3)
ENGINE_USED = 0.5  # of the engine: what 256 x 256 reached at best on the same ladder (#55758)
SATURATES = 0.81  # of the engine: the best point of #55758
DECODE_CHUNK = 128  # of K: tt-metal PR #36440
DEEPEST_CHUNK = 512  # of K: the most that TTNN takes where k_chunk_size is 0 (sdpa_decode.cpp)
ENOUGH = 2  # times the area of the chunks: below it the gain is lost in noise (ours)


@check(
    title="fused attention in small chunks",
    lever=ATTENTION_CONFIG,
    of=ATTENTION,
    needs=(TWO_OPERANDS, ATTRIBUTES),
    worth=Worth(saving=USUAL),
    compiled="tt-xla has no option for it: its compiler passes no program config, and TTNN then takes chunks of 32",
)
def look(facts: WindowFacts) -> Problems:
    """Yield attention in prefill, and in decode."""
    yield from _prefill(facts)
    yield from _decode(facts)


def _prefill(facts: WindowFacts) -> Problems:
    rows = np.flatnonzero(
        ATTENTION.mask(facts) & facts.names.where(_streams) & (facts.ops.inputs[0].logical[:, 2] >= LONG)
    )
    now, then = printed_chunks(facts, rows), larger_chunks(facts, rows)
    fewer = now.prod(axis=1) / then.prod(axis=1)
    idle = np.nan_to_num(facts.roofline.compute_ns[rows]) < ENGINE_USED * facts.kernel_ns[rows]
    small = (fewer * ENOUGH <= 1) & idle
    unsure = (then == now).any(axis=1) | facts.roofline.why.among(WHY_ATTENTION, WHY_WINDOWS)[rows]
    for these, is_trial in ((small & ~unsure, False), (small & unsure, True)):
        took = facts.kernel_ns[rows[these]]
        least = np.maximum(_engine_ns(facts, rows[these]), took * fewer[these])
        chunks = dict(zip(rows[these].tolist(), then[these].tolist(), strict=True))
        yield Problem(
            rows[these],
            np.maximum(took - least, 0),
            tell=partial(_tell_prefill, now[these], then[these]),
            becomes=None if is_trial else partial(_larger, facts, chunks),
            is_trial=is_trial,
        )


def _larger(facts: WindowFacts, chunks: dict[int, list[int]], row: int) -> Described | None:
    q, k = chunks[row]
    return changed(facts, row, q_chunk=q, k_chunk=k, grid=worker_grid(facts.chip), cores=None)


def _tell_prefill(now: Rows, then: Rows, ops: Affected) -> Words:
    facts, (q, k) = ops.facts, then[ops.at]
    sizes = "x".join(str(side) for side in now[ops.at])
    has_config = facts.attributes(ops.row).text_of("program_config") is not None
    works, has = f"{ops.verb('work')} in chunks of", "have" if len(ops.rows) > 1 else "has"
    return Words(
        claim=(
            f"{ops.many('fused attention')} over {facts.ops.inputs[0].logical[ops.row, 2]} rows "
            f"{works if has_config else f'{has} no program config: chunks of'} {sizes} ({ops.time}): {ops.example}"
        ),
        assumption="time falls with the pairs of chunks, and ends at 81 % of the engine (tt-metal #55758)",
        columns=("attributes",),
        cited=2,
        fix=program_text(facts, ops.row, WHOLE_GRID, q, k)
        + ("; then try 512" if fits(facts, ops.row, DEEPEST_CHUNK, DEEPEST_CHUNK) else ""),
        caveat="larger chunks need L1, and some sizes hang: one per process, check_setting first",
    )


def _decode(facts: WindowFacts) -> Problems:
    rows = np.flatnonzero(ATTENTION.mask(facts) & facts.names.where(_decodes) & (facts.kernel_ns >= SMALL_NS))
    chunks = attributes_of(facts.ops).numbers(rows, chunk_of_cache)
    keys, padded = facts.ops.inputs[1].logical[rows], facts.ops.inputs[1].padded[rows, 2]
    paged = attributes_of(facts.ops).flags(rows, "paged_attention")
    any_length = attributes_of(facts.ops).numbers(rows, takes_any_length) > 0
    small = (chunks > 0) & (chunks < DECODE_CHUNK)
    for these, deepest in (
        (small & (keys[:, 2] >= DECODE_CHUNK) & (any_length | (padded % DECODE_CHUNK == 0)), DECODE_CHUNK),
        (
            small & any_length & (keys[:, 2] < DECODE_CHUNK) & (keys[:, 0] * keys[:, 2] >= DECODE_CHUNK),
            DEEPEST_CHUNK,
        ),
    ):
        took, now = facts.kernel_ns[rows[these]], chunks[these]
        saved = np.maximum(took - np.maximum(took * now / deepest, SMALL_NS), 0)
        yield Problem(
            rows[these], saved, tell=partial(_tell_decode, now, paged[these]), is_trial=deepest > DECODE_CHUNK
        )


def _tell_decode(chunks: Floats, paged: Mask, ops: Affected) -> Words:
    blocks, _, rows, _ = ops.facts.ops.inputs[1].logical[ops.row].tolist()
    cache = f"a paged cache of {blocks} blocks of {rows}" if paged[ops.at] else f"a cache of {rows}"
    return Words(
        claim=(
            f"{ops.many('fused attention')} over {cache} rows {ops.verb('take')} {figure(chunks[ops.at], '.0f')} of "
            f"them at a time ({ops.time}): {ops.example}"
        ),
        assumption="time falls with the number of chunks; 5 us stay",
        columns=("attributes",),
        cited=2,
        fix=f"k_chunk_size={DECODE_CHUNK} in ttnn.SDPAProgramConfig, the rest as now; then 256, or 0: TTNN chooses",
        caveat="the report does not show how full the cache is: if it fills one chunk, nothing is gained",
    )


def _streams(op_code: str) -> bool:
    name = canonical(op_code)
    return "Decode" not in name and "MLA" not in name


def _decodes(op_code: str) -> bool:
    return "Decode" in canonical(op_code)


def _engine_ns(facts: WindowFacts, rows: Rows) -> Floats:
    return np.maximum(np.nan_to_num(facts.roofline.compute_ns[rows]) / SATURATES, achievable_ns(facts)[rows])
