"""A decode step turns one token by the rotary embedding for prefill.

In prefill mode rotary_embedding_llama takes a tile of 32 rows for each head, head after head on few cores: one token of
16 heads took 41.3 us on a Wormhole and of 8 heads 26.1, about 9 us and 2 more for each head. In decode mode all heads
of a user lie in one tile: 3.4 us, and with the transposes into [1, users, heads, d] and back both took about 17 us
together (Qwen3-TTS on N150, PERF_NOTES of tt-metal).

The line: RotaryEmbeddingLlama with is_decode_mode false on one row of queries, 4 heads and more; 1 % of the window to
save. The bound leaves the 3.4 us. Math fidelity and tables in L1 brought nothing there.

Silent on more rows, which are a prompt, on more heads than fit a tile, and where the op stands between transposes that
were made for another mode (rope-between-transposes).
"""

from __future__ import annotations

from ttnn_mcp.analyses.attribute_columns import attributes_of
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.levers import ATTENTION
from ttnn_mcp.checks.needs import ATTRIBUTES, LOGICAL_SHAPES, OPERANDS
from ttnn_mcp.checks.wording import cite_attribute
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.hardware import TILE_SIDE

ROPES = ops_named("no rotary embeddings", "RotaryEmbeddingLlama")
DECODED_NS = 3_400.0  # of all heads of a user in decode mode, measured on N150: the notes above
HEADS_AT_LEAST = 4  # of fewer, transposes cost what decode mode saves: 9 + 2 us a head (ours)


@check(
    title="one token turned as a prompt",
    lever=ATTENTION,
    of=ROPES,
    needs=(OPERANDS, ATTRIBUTES, LOGICAL_SHAPES),
    worth=Worth(saving=USUAL),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all rotary embeddings of one token in prefill mode."""
    ropes, x = ROPES.rows(facts), facts.ops.inputs[0].logical
    settings = attributes_of(facts.ops)
    prefills = settings.numbers(ropes, lambda attributes: float(attributes.flag("is_decode_mode") is False)) > 0
    heads = x[ropes, 1]
    rows = ropes[prefills & (x[ropes, 2] == 1) & (heads >= HEADS_AT_LEAST) & (heads <= TILE_SIDE)]
    rows = rows[facts.kernel_ns[rows] > DECODED_NS]
    yield Problem(rows, facts.kernel_ns[rows] - DECODED_NS, tell=_tell)


def _tell(ops: Affected) -> Words:
    heads, wide = ops.facts.ops.inputs[0].logical[ops.row, [1, 3]]
    return Words(
        claim=f"{ops.many('rotary embedding')} of one token in prefill mode ({ops.time}): {ops.example}",
        assumption="decode mode takes the 3.4 us measured on N150; transposes into its shape come off",
        also=(cite_attribute(ops.facts, ops.row, "is_decode_mode"),),
        fix=(
            "is_decode_mode=True of ttnn.experimental.rotary_embedding_llama, with x and tables L1 "
            f"HEIGHT_SHARDED, x [1,users,{heads},{wide}] one user per core, as nlp_create_qkv_heads_decode writes it"
        ),
        caveat="cos and sin must be [1,users,1[32],d] in shards too; PCC of the step, not of the op alone",
    )
