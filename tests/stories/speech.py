"""Stories about CosyVoice, a speech model whose decoder makes one token at a time on a Blackhole of 130 cores."""

from __future__ import annotations

from tests.profiles import Iteration, Program
from tests.profiles.ops import kernel_config
from tests.stories.matmuls import multiply
from tests.stories.ports import ADDED, rest_of_layer
from tests.stories.story import SPLIT, Story, run_op

COSY = "tt-metal CosyVoice performance notes"


def p150():
    return Program("blackhole", grid=(13, 10))


def project(program, k, n, us, *, cores, x=None):
    """One row through BFLOAT16 weights, HiFi4, no settings."""
    x = x or program.tensor([1, 1, 1, k])
    return multiply(program, 1, k, n, us, x=x, weights="BFLOAT16", fidelity="HiFi4", cores=cores)


def linears_of_a_layer():
    """391 us a layer, of which the four linears take 201."""
    program = p150()
    project(program, 1024, 3072, 48, cores=96)
    project(program, 1024, 1024, 30, cores=32)
    project(program, 1024, 4096, 54, cores=128)
    project(program, 4096, 1024, 69, cores=32)
    rest_of_layer(program, 190)
    return program


def projections_apart():
    """592 us a layer."""
    program = p150()
    x = run_op(
        program, "LayerNorm", (program.tensor([1, 1, 1, 1024]),), program.tensor([1, 1, 1, 1024]), 9, cores=1
    )
    heads = [project(program, 1024, 1024, 30, cores=32, x=x) for _ in range(3)]
    joined = run_op(program, "MadeUpOfNoFamily", heads, program.tensor([1, 1, 1, 1024]), 60)
    y = project(program, 1024, 1024, 30, cores=32, x=joined)
    normed = run_op(program, "LayerNorm", (y,), program.tensor([1, 1, 1, 1024]), 9, cores=1)
    project(program, 1024, 4096, 54, cores=128, x=normed)
    project(program, 4096, 1024, 69, cores=32)
    rest_of_layer(program, 271)
    return program


def second_linear():
    """409 us a layer."""
    program = p150()
    project(program, 4096, 1024, 69, cores=32)
    rest_of_layer(program, 340)
    return program


def attention_in_parts():
    """481 us a layer; scores of content and of 767 positions, those cut to 384, a sum, softmax, the context."""
    program = p150()
    said = {"compute_kernel_config": kernel_config("HiFi4"), "program_config": None}
    heads, scores, shifts = [1, 16, 1, 64], [1, 16, 1, 384], [1, 16, 1, 767]
    parts = [
        run_op(program, "Matmul", (program.tensor(heads), program.tensor([1, 16, 64, wide[3]])), program.tensor(wide), 24, fidelity="HiFi4", attributes=said)
        for wide in (scores, shifts)
    ]  # fmt: skip
    where = {"slice_start": "Shape([0, 0, 0, 383])", "slice_end": "Shape([1, 16, 1, 767])"}
    moved = run_op(program, "Slice", (parts[1],), program.tensor(scores), 12, attributes=where)
    summed = run_op(program, "BinaryNg", (parts[0], moved), program.tensor(scores), 12, attributes=ADDED)
    weights = run_op(program, "Softmax", (summed, program.tensor([1, 1, 1, 384])), program.tensor(scores), 20, fidelity="HiFi4")  # fmt: skip
    run_op(program, "Matmul", (weights, program.tensor([1, 16, 384, 64])), program.tensor(heads), 24, fidelity="HiFi4", attributes=said)  # fmt: skip
    rest_of_layer(program, 365)
    return program


def cache_moved_by_a_row():
    """The oldest of 256 rows cut off, a new one put at the end."""
    program = p150()
    cache, kept = program.tensor([1, 16, 256, 64]), program.tensor([1, 16, 255, 64])
    where = {"slice_start": "Shape([0, 0, 1, 0])", "slice_end": "Shape([1, 16, 256, 64])", "step": "Shape([1, 1, 1, 1])"}  # fmt: skip
    run_op(program, "Slice", (cache,), kept, 78.3, attributes=where)
    run_op(program, "Concat", (kept, program.tensor([1, 16, 1, 64])), program.tensor([1, 16, 256, 64]), 128.9, attributes={"dim": 2})  # fmt: skip
    rest_of_layer(program, 383)
    return program


def phases_summed_on_one_core():
    program = p150()
    steps = program.tensor([1, 1, 1, 72_192], "FLOAT32")
    phases = run_op(program, "Accumulation", (steps,), program.tensor(steps.shape, "FLOAT32"), 40_300, cores=1, attributes={"dim": 3})  # fmt: skip
    run_op(program, "BinaryNg", (phases,), program.tensor(steps.shape, "FLOAT32"), 100)
    return program


def untraced_step():
    """336 ops of 14 layers, no two alike, so that the step is not cut to one of equal parts: 19.29 ms, traced 5.72."""
    program = p150()
    for place in range(336):
        x, out = (program.tensor([1, 1, 32, 1024 + 32 * place], "UINT16") for _ in range(2))
        run_op(program, "MadeUpOfNoFamily", (x,), out, 16, gap_ns=41_400)
    return program


SPEECH = (
    Story(
        "cosy-weights", COSY, "decoder with BFLOAT16 weights, one row: 5.48 ms a token", "none: BFLOAT8_B took 5.48 ms",
        linears_of_a_layer, "false promise", "right", denies="bfloat8_b|BFLOAT8_B", made_up=f"cores, {SPLIT}",
    ),
    Story(
        "cosy-qkv", COSY, "Q, K and V as three matmuls of one row: 8.29 ms a token", "none: packed took 8.31 ms",
        projections_apart, "false promise", "right", denies=r"one ttnn\.linear|concat\(\[", made_up=f"cores, {SPLIT}",
    ),
    Story(
        "cosy-ff2", COSY, "4096 x 1024 for one row without a grid: 5.72 ms a token", "core_grid of 8 x 2 (5.24 ms, 14 layers)",
        second_linear, "other change", "right", 34, "core_grid|grid_size|CoreGrid", made_up="cores",
    ),
    Story(
        "cosy-attention", COSY, "attention over 384 keys in parts: 6.73 ms a token", "scaled_dot_product_attention_decode with the position term as mask (5.58 ms, 14 layers)",
        attention_in_parts, "other change", "right", 82, "scaled_dot_product_attention",
    ),
    Story(
        "cosy-cache", COSY, "a cache moved by one row with slice and concat: 207.2 us", "update_cache in place (3.7 us)",
        cache_moved_by_a_row, "silent", "right", 203.5, "update_cache|aligned", made_up="nothing",
    ),
    Story(
        "cosy-cumsum", COSY, "cumsum over 72,192 samples on one core: 40.4 ms", "the sum by blocks, then over the blocks (5.9 ms)",
        phases_summed_on_one_core, "right", "right", 34_500, "rows|fold|reshape|block|cores",
    ),
    Story(
        "cosy-trace", COSY, "a step of the decoder untraced: 19.29 ms", "trace (5.72 ms)",
        untraced_step, "bound wrong", "right", 13_570, "trace", iterations=(Iteration(cold=True), Iteration(), Iteration()),
    ),
)  # fmt: skip
