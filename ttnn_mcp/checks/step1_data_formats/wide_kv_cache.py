"""Attention of a decode step reads caches of keys and values in 16 bits: a trial, never a promise.

A decode step reads the whole of what was kept for each user, and little else: with long contexts it waits for these
bytes. In BFLOAT8_B they are 53 %, and twice the tokens fit into DRAM. The LLM report of tt-metal keeps caches so
(section 3.1.2), TTNN 0.81.1 takes them beside a BFLOAT16 Q, and tt-xla's server configurations run with them (#5005).

The line: decode attention of more than 34 us (what 128 tokens take in any format) with keys in BFLOAT16 or FLOAT32 in
DRAM; 1 % of the window to save. The bound is the spared share of the bytes of keys and values, of the time above a
launch, and of at most twice the time that all their bytes need: attention over a latent of 1024 tokens on Blackhole
took 40.7 us and 40.1 (GLM-4.7-Flash's port in tt-metal). How many positions are filled is not in the report. Where the
bytes of the whole cache need less than 70 % of the time it is a trial: at 63 % (chunks of 64 over 131,071 tokens, Muse)
half of the bytes brought nothing, at 91 % two fifths.

Silent about prefill, where arithmetic counts, about short contexts, where a layer of North-Mini took 287.4 us with a
cache of 8 bits and 286.0 with 16 (its port in tt-metal), and about caches in BFLOAT8_B and BFLOAT4_B.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.attribute_columns import attributes_of
from ttnn_mcp.analyses.op_kinds.formats import BYTES_TAKE_AT_MOST, spared_bytes
from ttnn_mcp.analyses.op_kinds.mask_makers import DECODE_ATTENTION
from ttnn_mcp.analyses.roofline.launch import LAUNCH_FLOOR_NS
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.expectation import EXPLAINED
from ttnn_mcp.checks.levers import CACHES
from ttnn_mcp.checks.needs import TWO_OPERANDS
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.hardware import ELEMENT_BYTES

DECODES = ops_named("no decode attention", *DECODE_ATTENTION)
SHORT_NS = 34_000.0  # 128 cached tokens take as long, nearly no bytes: MLA, tt-metal PR #36440 and PR #37004


@check(
    title="keys and values kept in 16 bits",
    lever=CACHES,
    costs_accuracy=True,
    of=DECODES,
    needs=(TWO_OPERANDS,),
    worth=Worth(saving=USUAL),
    compiled=(
        'torch_xla.set_custom_compile_options({"experimental-kv-cache-dtype": "bfp_bf8"}), in one call with others'
    ),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all attention on wide caches."""
    keys = facts.ops.inputs[1]
    wide = DECODES.mask(facts) & keys.dtype.among("BFLOAT16", "FLOAT32")
    rows = np.flatnonzero(wide & (facts.kernel_ns > SHORT_NS))
    spared = 1 - ELEMENT_BYTES["BFLOAT8_B"] / keys.element_bytes[rows]
    caches = np.where(attributes_of(facts.ops).flags(rows, "use_mla"), 1, 2)  # a latent is key and value
    bytes_ns = caches * spared_bytes(keys, "BFLOAT8_B")[rows] / (facts.chip.dram_achievable_gb_s or np.nan)
    in_proportion = spared * np.fmax(facts.kernel_ns[rows] - LAUNCH_FLOOR_NS, 0.0)
    at_most = np.fmin(in_proportion, BYTES_TAKE_AT_MOST * bytes_ns)
    explained = bytes_ns / spared >= EXPLAINED * facts.kernel_ns[rows]
    for these, trial in ((explained, False), (~explained, True)):
        yield Problem(rows[these], at_most[these], tell=_tell, is_trial=trial)


def _tell(ops: Affected) -> Words:
    keys = ops.facts.ops.inputs[1]
    return Words(
        claim=(
            f"{ops.many('decode attention op', ('reads', 'read'))} a cache in {keys.dtype[ops.row]} ({ops.time}): "
            f"{keys.shape_text(ops.row)}, {ops.example}"
        ),
        assumption="attention waits for the bytes of keys and values, and nothing else",
        cells=((keys, "DATATYPE"), (keys, "MEMORY")),
        fix=(
            "cache = ttnn.zeros(shape, dtype=ttnn.bfloat8_b, layout=ttnn.TILE_LAYOUT, device=device) for keys and "
            "values; updates take BFLOAT16 rows and convert them, a fill wants its rows cast first"
        ),
        verify=f"re-profile at a long context; op_detail(op={ops.line}).kernel_us falls; PCC >= 0.99",
        caveat="little is gained while few positions are filled; check PCC at the longest context",
    )
