"""Stories about language models: heads, caches, masks and the LM head."""

from __future__ import annotations

from tests.profiles import DRAM, Iteration, Program
from tests.stories.matmuls import multiply
from tests.stories.story import SHAPE, SPLIT, TIMES, Story, run_op

ROTATED = {"is_decode_mode": False}


def filled_by_user():
    """The keys of one layer of 32 at 2048 tokens: those of 32 users, each sliced out and written alone."""
    program = Program("blackhole", grid=(11, 10))
    table = program.tensor([32, 64], "INT32", layout="ROW_MAJOR")
    cache = program.tensor([2048, 8, 32, 128], "BFLOAT8_B")
    keys = run_op(program, "NlpCreateHeads", (program.tensor([32, 1, 2048, 1024]),), program.tensor([32, 8, 2048, 128]), 900)  # fmt: skip
    whole = run_op(program, "Typecast", (keys,), program.tensor([32, 8, 2048, 128], "BFLOAT8_B"), 500)
    for user in range(32):
        where = {"slice_start": f"Shape([{user}, 0, 0, 0])", "slice_end": f"Shape([{user + 1}, 8, 2048, 128])"}
        part = run_op(program, "Slice", (whole,), program.tensor([1, 8, 2048, 128], "BFLOAT8_B"), 28.6, attributes=where)  # fmt: skip
        run_op(program, "PagedFillCache", (cache, part, table), cache, 20, attributes={"batch_idx_fallback": user})
    return program


def heads_expanded():
    """Eight key heads become sixteen for the attention of sixteen query heads."""
    program = Program()
    for _ in range(2):
        keys = run_op(program, "Unary", (program.tensor([1, 8, 128, 128]),), program.tensor([1, 8, 128, 128]), 4)
        parts = []
        for head in range(8):
            where = {"slice_start": f"Shape([0, {head}, 0, 0])", "slice_end": f"Shape([1, {head + 1}, 128, 128])"}
            part = run_op(program, "Slice", (keys,), program.tensor([1, 1, 128, 128]), 4, attributes=where)
            parts += [part, run_op(program, "Clone", (part,), program.tensor([1, 1, 128, 128]), 3)]
        run_op(program, "Concat", parts, program.tensor([1, 16, 128, 128]), 12, attributes={"dim": 1})
    q, k, v = (program.tensor([1, 16, 128, 128]) for _ in range(3))
    run_op(program, "ScaledDotProductAttention", (q, k, v), program.tensor([1, 16, 128, 128]), 30, fidelity="HiFi2", attributes={"is_causal": True})  # fmt: skip
    return program


def logits_scattered():
    """The last rows alone; 7168 of K over four chips."""
    program = Program("blackhole", grid=(11, 10), devices=4)
    logits = multiply(program, 32, 1792, 129_280, 1_178, weights="BFLOAT16")
    attributes = {"dim": 3, "num_links": 2, "ring_size": 4, "topology": "Topology::Linear"}
    run_op(program, "ReduceScatterMinimalAsync", (logits,), program.tensor([1, 1, 32, 32_320]), 179, cores=16, attributes=attributes)  # fmt: skip
    return program


def logits_of_all_rows():
    program = Program("blackhole", grid=(11, 10))
    x = run_op(program, "LayerNorm", (program.tensor([1, 1, 1024, 4096]),), program.tensor([1, 1, 1024, 4096]), 40)
    logits = multiply(program, 1024, 4096, 16_032, 1_400, x=x)
    where = {"slice_start": "Shape([0, 0, 992, 0])", "slice_end": "Shape([1, 1, 1024, 16032])"}
    run_op(program, "Slice", (logits,), program.tensor([1, 1, 32, 16_032]), 30, attributes=where)
    return program


def rope_of_half_a_head():
    """64 users, one tile for each head of each of them; half of each head is turned."""
    program = Program()
    shape, half = [64, 12, 1, 128], [64, 12, 1, 64]
    x = run_op(program, "LayerNorm", (program.tensor(shape),), program.tensor(shape), 20, fidelity="HiFi4")
    first = {"slice_start": "Shape([0, 0, 0, 0])", "slice_end": "Shape([64, 12, 1, 64])"}
    second = {"slice_start": "Shape([0, 0, 0, 64])", "slice_end": "Shape([64, 12, 1, 128])"}
    turned = run_op(program, "Slice", (x,), program.tensor(half), 13, attributes=first)
    tables = [program.tensor([1, 1, 32, 64]) for _ in range(2)]
    turned = run_op(program, "RotaryEmbedding", (turned, *tables), program.tensor([64, 12, 32, 64]), 56, fidelity="HiFi4")  # fmt: skip
    turned = run_op(program, "Slice", (turned,), program.tensor(half), 9, attributes=first)
    rest = run_op(program, "Slice", (x,), program.tensor(half), 13, attributes=second)
    run_op(program, "Concat", (turned, rest), program.tensor(shape), 17, attributes={"dim": 3})
    return program


def permutes_around_decode():
    program = Program()
    heads = run_op(program, "LayerNorm", (program.tensor([16, 8, 1, 64]),), program.tensor([16, 8, 1, 64]), 12)
    q = run_op(program, "Permute", (heads,), program.tensor([1, 16, 8, 64]), 8)
    k, v = (program.tensor([16, 1, 128, 64], placement=DRAM) for _ in range(2))
    out = run_op(program, "SdpaDecode", (q, k, v), program.tensor([1, 16, 8, 64]), 16, fidelity="HiFi2")
    back = run_op(program, "Permute", (out,), program.tensor([16, 8, 1, 64]), 8)
    run_op(program, "ReshapeView", (back,), program.tensor([16, 512]), 6)
    return program


def mask_of_a_window():
    """Positions compared with the present one and the one 128 before, then 0 or -inf for each head."""
    program = Program()
    place, row, square = [1, 1], [1, 128], [16, 1, 1, 128]
    start = run_op(program, "BinaryNg", (program.tensor(place, "INT32"),), program.tensor(place, "INT32"), 3)
    start = run_op(program, "ReshapeView", (start,), program.tensor([1, 1, 1, 1], "INT32"), 3)
    positions = program.tensor(row, "INT32")
    after = run_op(program, "BinaryNg", (positions, start), program.tensor(row, "INT32"), 4)
    known = run_op(program, "BinaryNg", (after, program.tensor(row, "INT32")), program.tensor(row, "INT32"), 4)
    present = run_op(program, "ReshapeView", (program.tensor(place, "INT32"),), program.tensor([1, 1, 1, 1], "INT32"), 3)  # fmt: skip
    before = run_op(program, "BinaryNg", (present, positions), program.tensor(row, "INT32"), 4)
    both = run_op(program, "BinaryNg", (known, before), program.tensor(square, "INT32"), 4)
    mask = run_op(program, "Ternary", (both, program.tensor(square), program.tensor(square)), program.tensor(square), 5)  # fmt: skip
    mask = run_op(program, "Repeat", (mask,), program.tensor([16, 1, 8, 128]), 9)
    q = program.tensor([1, 16, 8, 64])
    k, v = (program.tensor([16, 1, 128, 64]) for _ in range(2))
    run_op(program, "SdpaDecode", (q, k, v, mask), program.tensor([1, 16, 8, 64]), 16, fidelity="HiFi2")
    return program


def read_back_each_step():
    """Llama-70B on eight chips: a step of 100 ms, of which 42 go with the loop on the device."""
    program = Program(devices=8)
    for _ in range(8):
        x, out = (program.tensor([1, 1, 32, 8192], "UINT16") for _ in range(2))
        run_op(program, "MadeUpOfNoFamily", (x,), out, 7_000)
    row = [1, 1, 32, 8192]
    x = run_op(program, "LayerNorm", (program.tensor(row),), program.tensor(row), 10, cores=32)
    multiply(program, 32, 8192, 16_032, 790, x=x)
    return program


def rope_layout_in_every_call():
    """Queries of 16 heads from halves to pairs before the rotary embedding."""
    program = Program()
    heads = [1, 16, 128, 128]
    q = multiply(program, 128, 2048, 2048, 40)
    q = run_op(program, "NlpCreateHeads", (q,), program.tensor(heads), 15)
    split = run_op(program, "ReshapeView", (q,), program.tensor([16, 128, 2, 64]), 120)
    turned = run_op(program, "Permute", (split,), program.tensor([16, 128, 64, 2]), 260)
    pairs = run_op(program, "ReshapeView", (turned,), program.tensor(heads), 150)
    tables = [program.tensor([1, 1, 128, 128]) for _ in range(2)]
    run_op(program, "RotaryEmbeddingLlama", (pairs, *tables, program.tensor([1, 1, 32, 32])), program.tensor(heads), 10, fidelity="HiFi4", attributes=ROTATED)  # fmt: skip
    return program


DECODING = (
    Story(
        "kv-fill", "tt-xla #4880, PR#4955", "paged_fill_cache for each of 32 users, 2048 tokens: 1103.7 ms to the first",
        "one call with all users (1045.2 ms over 32 layers, keys and values)", filled_by_user, "other change", "right", 914, "batch_idx_tensor",
        made_up=SPLIT,
    ),
    Story(
        "gqa-expand", "tt-metal PR#43048", "key heads repeated by slices, clones and a concat",
        "repeat_interleave, or attention over grouped heads", heads_expanded, "other change", "named", None,
        "repeat_interleave|grouped", made_up=f"{SHAPE}, {TIMES}",
    ),
    Story(
        "lm-head-scatter", "tt-metal PR#41275", "LM head over a part of K, then reduce-scatter: 1357 us",
        "all-gather before it, no scatter (1164 us)", logits_scattered, "other change", "right", 193, r"gather\(x|gather.*before the matmul",
        made_up="that four chips share K",
    ),
    Story(
        "lm-head-rows", "tt-metal PR#41275", "LM head over all rows of a prompt", "over the last 32 rows",
        logits_of_all_rows, "other change", "named", None, "last|input first", made_up=f"{SHAPE}, {TIMES}",
    ),
    Story(
        "glm-rope", "tt-mlir #8755", "GLM decode: slice, rope, slice, slice, concat on [B,H,1,D]: 108 us",
        "[1,B,H,D] instead", rope_of_half_a_head, "other change", "named", None, r"1xBx|users|\[1, ?B", made_up=SHAPE,
    ),
    Story(
        "oss-permutes", "tt-mlir #7714", "gpt-oss decode: a permute before and after attention, a reshape",
        "nlp_concat_heads_decode", permutes_around_decode, "other change", "named", None, "concat_heads_decode", made_up=TIMES,
    ),
    Story(
        "oss-mask", "tt-mlir #7711", "gpt-oss decode: the mask of a sliding window in nine small ops",
        "cur_pos_tensor and sliding_window_size", mask_of_a_window, "other change", "named", None, "cur_pos|sliding_window",
        made_up=TIMES,
    ),
    Story(
        "host-loop", "tt-metal PR#51205", "Llama-70B, logits to the host at each step: about 10 t/s/u",
        "the loop on the device (17.3 t/s/u)", read_back_each_step, "silent", "named", 42_000, "device.*sampl|argmax",
        made_up=SPLIT, iterations=(Iteration(cold=True), Iteration(before_ns=42_000_000), Iteration(before_ns=42_000_000)),
        unknown="the wait before a pass holds all that the host does: no report tells how much of it the choice of a token takes",
    ),
    Story(
        "rope-pairs", "tt-metal PR#43048", "queries reshaped and permuted for the rotary embedding in every call",
        "the weights permuted once at load", rope_layout_in_every_call, "other change", "named", None, "weights", made_up=f"{SHAPE}, {TIMES}",
    ),
)  # fmt: skip
