"""Layers in several blocks: prefill and decode, encoder and decoder, dense layers and those with experts."""

import numpy as np

from tests.asking import session
from tests.for_all import for_all
from tests.profiles import Iteration, Program, write_performance_report
from ttnn_mcp.analyses.layers.layer_blocks import LayerBlocks, blocks_of
from ttnn_mcp.analyses.layers.layering import AFTER, BEFORE, layering_of
from ttnn_mcp.analyses.layers.repeating_names import Layers
from ttnn_mcp.run.ops.op_names import canonical

ENCODER = ["LayerNorm", "Matmul", "Softmax", "Matmul"]
DECODER = ["LayerNorm", "Matmul", "SdpaDecode", "Matmul", "Unary"]
START, HEAD = ["Embeddings"], ["Untilize", "Concat", "ArgMax"]


async def ops_of(folder, *parts):
    """These ops, in the order they run, and the report's signposts."""
    program = Program("wormhole_b0")
    x = program.tensor([1, 1, 32, 64])
    for part in parts:
        for name in part:
            program.op(f"{name}DeviceOperation", [x])
    run = await session(folder).run(str(write_performance_report(folder, program, [Iteration()])))
    return run.scope("all").ops, run.performance_report.signposts


async def found(folder, *parts):
    """(first row, ops of a layer, layers, passes) of each block."""
    ops, _ = await ops_of(folder, *parts)
    blocks = blocks_of(ops.texts("op_code").folded(canonical).codes, ops)
    return blocks and [(block.first, block.ops, block.count, block.passes) for block in blocks.blocks]


@for_all(
    ("parts", "blocks"),
    [
        ((START, ENCODER * 3, HEAD, START, DECODER * 3, HEAD), [(1, 4, 3, 1), (17, 5, 3, 1)]),
        ((START, DECODER * 3, HEAD, ENCODER * 2), [(1, 5, 3, 1), (19, 4, 2, 1)]),
        ((HEAD, ENCODER * 2, START, DECODER * 3), [(3, 4, 2, 1), (12, 5, 3, 1)]),
        ((ENCODER * 2, HEAD, [*START, *DECODER * 3, *HEAD] * 2), [(0, 4, 2, 1), (12, 5, 3, 2)]),
        (([*START, *DECODER * 3, *HEAD] * 2, ENCODER * 2), [(1, 5, 3, 2), (38, 4, 2, 1)]),
        ((START, ENCODER * 3, HEAD), [(1, 4, 3, 1)]),
        (  # no block covers half: six layers of 4 ops and three of 5 in two passes are 54 of 77
            (ENCODER * 6, [f"Other{n}" for n in range(15)], [*START, *DECODER * 3, *HEAD] * 2),
            [(0, 4, 6, 1), (40, 5, 3, 2)],
        ),
    ],
)
async def test_what_repeats_beside_the_layers_are_layers_too(tmp_path, parts, blocks):
    assert await found(tmp_path, *parts) == blocks


async def test_thousands_of_blocks_are_no_stack_of_layers(tmp_path):
    names = np.repeat(np.arange(2_000), 6).reshape(-1, 2, 3) * 3 + np.arange(3)
    ops, _ = await ops_of(tmp_path, ["LayerNorm", "Matmul", "Unary"])
    assert blocks_of(names.ravel(), ops.take(np.arange(names.size) % 3)) is None


@for_all(
    "repeated",
    [["LayerNorm", "Typecast", "Softmax"], ["Slice", "Matmul", "Typecast"], ["Slice", "TopK", "Typecast"]],
)
async def test_what_has_no_norm_or_multiplies_nothing_is_no_layer(tmp_path, repeated):
    assert await found(tmp_path, DECODER * 4, HEAD, repeated * 4) == [(0, 5, 4, 1)]


async def test_a_layer_of_convolutions_works_too(tmp_path):
    layer = ["LayerNorm", "Conv2d", "Unary"]
    assert await found(tmp_path, DECODER * 4, HEAD, layer * 3) == [(0, 5, 4, 1), (23, 3, 3, 1)]


async def test_a_block_begins_at_a_norm_alone_and_beside_others(tmp_path):
    """By names alone, this block could begin with the op before its norm."""
    assert await found(tmp_path, ["Unary"], ["LayerNorm", "Conv2d", "Unary"] * 3) == [(1, 3, 3, 1)]
    parts = (DECODER * 4, HEAD, ["Unary"], ["LayerNorm", "Conv2d", "Unary"] * 3)
    assert await found(tmp_path, *parts) == [(0, 5, 4, 1), (24, 3, 3, 1)]


def stacks(count):
    """So many pairs of equal layers, no two pairs alike."""
    kinds = ["Softmax", "Unary", "Typecast", "Transpose", "Permute", "Tilize"]
    return [["LayerNorm", "Matmul", *[kind] * 2, "BinaryNg"] * 2 for kind in kinds[:count]]


@for_all(("count", "blocks"), [(4, 4), (5, None)])
async def test_four_blocks_are_layers_and_more_are_chance(tmp_path, count, blocks):
    told = await found(tmp_path, *stacks(count))
    assert (told and len(told)) == blocks


@for_all(("count", "blocks"), [(3, 4), (4, 1)])
async def test_beside_most_of_the_ops_more_are_left_alone(tmp_path, count, blocks):
    assert len(await found(tmp_path, *stacks(count), DECODER * 12)) == blocks


@for_all(("rest", "blocks"), [(18, 2), (19, None)])
async def test_blocks_together_cover_half_of_the_ops(tmp_path, rest, blocks):
    names = [f"Other{number}" for number in range(rest)]
    told = await found(tmp_path, ENCODER * 2, names, DECODER * 2)
    assert (told and len(told)) == blocks


async def test_ops_without_any_repeat_have_none_and_no_ops_either(tmp_path):
    ops, _ = await ops_of(tmp_path, START, ENCODER[:3], HEAD)
    codes = ops.texts("op_code").folded(canonical).codes
    assert blocks_of(codes, ops) is None
    assert blocks_of(codes[:0], ops.take(np.arange(0))) is None


async def test_numbers_and_roles_run_on_from_block_to_block(tmp_path):
    ops, signposts = await ops_of(tmp_path, START, ENCODER * 2, HEAD, DECODER * 2, HEAD)
    layering = layering_of(ops, signposts)
    in_first, in_second = [1, 2, 3, 4], [5, 6, 7, 8, 9]
    assert layering.layer.tolist() == [0, *[1] * 4, *[2] * 4, *[0] * 3, *[3] * 5, *[4] * 5, *[0] * 3]
    assert layering.role.tolist() == [0, *in_first * 2, *[0] * 3, *in_second * 2, *[0] * 3]
    assert (layering.count, layering.roles, layering.scattered) == (4, 9, True)
    assert layering.why == (
        "4 layers in 2 blocks, by op names that repeat: 1-2 of 4 ops (roles 1-4), 3-4 of 5 ops (roles 5-9)"
    )


async def test_a_block_that_runs_in_passes_says_so(tmp_path):
    ops, signposts = await ops_of(tmp_path, ENCODER * 2, HEAD, [*START, *DECODER * 3, *HEAD] * 2)
    layering = layering_of(ops, signposts)
    assert layering.why.endswith("1-2 of 4 ops (roles 1-4), 3-5 of 5 ops (roles 5-9) in each of 2 passes")


def test_only_behind_one_block_that_runs_once_is_after_the_layers():
    once, twice = Layers(1, 2, 2), Layers(1, 2, 2, 0, 2, 5)
    rows = np.arange(12)
    assert LayerBlocks((once,)).numbers(rows).tolist() == [0, 1, 1, 2, 2, *[3] * 7]
    assert LayerBlocks((twice,)).numbers(rows).tolist() == [0, 1, 1, 2, 2, 0, 1, 1, 2, 2, 0, 0]
    assert LayerBlocks((once, Layers(6, 3, 1))).numbers(rows).tolist() == [0, 1, 1, 2, 2, 0, 3, 3, 3, 0, 0, 0]
    assert LayerBlocks((once, Layers(6, 3, 1))).roles(rows).tolist() == [0, 1, 2, 1, 2, 0, 3, 4, 5, 0, 0, 0]
    assert (BEFORE, AFTER) == (0, -1)
