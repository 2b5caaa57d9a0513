"""The shard of a matmul's first operand, and the L1 that it takes from every core."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.analyses.settings.rows import on_chip, ops_in, printing
from tests.analyses.settings.test_matmul_printed import BANKED, SAFE, config
from tests.analyses.tables import put
from tests.for_all import for_all
from tests.profiles import Program, block_sharded, width_sharded
from tests.profiles.ops import matmul
from ttnn_mcp.analyses.memory.l1_limit import L1Limit
from ttnn_mcp.analyses.settings.judged import judge
from ttnn_mcp.analyses.settings.kinds import settings_of
from ttnn_mcp.analyses.settings.matmul_printed import printed_matmul

SIZES = "in0_block_w=2,out_subblock_h=1,out_subblock_w=1,per_core_M=4,per_core_N=1"
GRID = "compute_with_storage_grid_size=(x=8,y=7)"
LIMIT = L1Limit(1_393_312, 32_768, read=True, measured=True)
ROW, BLOCKS = 4 * 2048, 28 * 128 * 2048
# As TTNN 0.81.1 answered on a mock n150, asked with the first operand on few and on all cores of the grid
ANSWERS = {
    ("row", 3584): [("per_core_N", 14, True), ("per_core_N", 28, False), ("in0_block_w", 16, True), ("in0_block_w", 56, False)],
    ("row", 64): [("per_core_N", 28, True), ("per_core_N", 56, True), ("in0_block_w", 1, True), ("in0_block_w", 4, False)],
    ("blocks", 4096): [("per_core_N", 14, True), ("per_core_N", 28, False), ("in0_block_w", 4, True), ("in0_block_w", 56, False)],
    ("blocks", 512): [("per_core_N", 28, True), ("per_core_N", 56, True), ("in0_block_w", 16, True), ("in0_block_w", 56, False)],
}  # fmt: skip
ASKED = [
    (*key, asked) for key, trials in ANSWERS.items() for asked in trials
]  # with the width of a shard in elements


@pytest.fixture(scope="module")
def ops(tmp_path_factory):
    """4 x 112 tiles in one row of shards, 28 x 128 in blocks: on cores that the row does not tell."""
    program = Program("wormhole_b0")
    for rows, k, n, placed in (
        (128, 3584, 1792, width_sharded(128, 64, 56)),
        (896, 4096, 256, block_sharded(128, 512, (8, 7))),
    ):
        x, y = program.tensor([1, 1, rows, k], placement=placed), program.tensor([1, 1, rows, n])
        put(program, matmul(x, program.weight([1, 1, k, n]), y, 90_000))
    x, y = program.tensor([1, 1, 128, 3584]), program.tensor([1, 1, 128, 1792])
    put(program, matmul(x, program.weight([1, 1, 3584, 1792]), y, 90_000))
    row, blocks, pages = ops_in(tmp_path_factory.mktemp("first"), program)
    return {
        "row": printing(row, program_config=config("1D", SIZES, GRID, ",mcast_in0=1")),
        "blocks": printing(blocks, program_config=config("2D", SIZES, GRID)),
        "banked": printing(row, program_config=config("banked", BANKED)),
        "no config": row,
        "pages": pages,
    }


@for_all(("name", "columns", "asked"), ASKED)
def test_a_shard_takes_its_bytes_from_every_core(ops, name, columns, asked):
    setting, value, accepted = asked
    told = replace(ops[name], shards={"INPUT_0": (128, columns)})
    verdicts = [judge(settings_of(op, SAFE).tried(setting, value), LIMIT).verdict for op in (told, ops[name])]
    assert (verdicts[0] == "fits") is accepted
    assert verdicts[0] in ("fits", "illegal", "too_large")
    assert verdicts[1] in ("fits", "cannot_tell") if accepted else verdicts[1] in ("illegal", "cannot_tell")


@for_all(
    ("name", "shards", "shard", "held"),
    [
        ("row", {}, (4, None), (2 * ROW, 112 * ROW)),  # 64 cores at most
        ("row", {"INPUT_0": (128, 64)}, (4, 2), (2 * ROW, 2 * ROW)),
        ("row", {"INPUT_0": (100, 50)}, (4, 2), (2 * ROW, 2 * ROW)),  # filled up to whole tiles
        ("row", {"INPUT_0": (96, 64)}, (4, None), (2 * ROW, 112 * ROW)),  # the op did not run with it
        ("row", {"INPUT_0": (128, 96)}, (4, None), (2 * ROW, 112 * ROW)),
        ("blocks", {}, (4, None), (2 * ROW, 128 * ROW)),
        ("blocks", {"INPUT_0": (128, 4096)}, (4, 128), (128 * ROW, 128 * ROW)),
    ],
)
def test_it_is_the_one_that_a_report_tells_if_the_op_ran_with_it(ops, name, shards, shard, held):
    found = printed_matmul(replace(ops[name], shards=shards), SAFE)
    assert (found.plan.shard.rows, found.plan.shard.columns) == shard
    assert (found.first_bytes, found.shard_unknown) == (held, shard[1] is None)


def test_on_a_chip_of_unknown_size_a_shard_may_be_a_single_column(ops):
    assert printed_matmul(on_chip(ops["row"], cores=None), SAFE).first_bytes == (ROW, 112 * ROW)


@for_all("name", ["banked", "no config"])
def test_other_programs_know_its_width_from_a_report_only(ops, name):
    op = on_chip(ops[name])
    assert printed_matmul(op, SAFE).shard_unknown
    told = printed_matmul(replace(op, shards={"INPUT_0": (128, 448)}), SAFE)
    assert not told.shard_unknown
    if name == "banked":
        assert told.plan.storage_cores == 8


def test_pages_have_no_width_to_know(ops):
    assert not printed_matmul(ops["pages"], SAFE).shard_unknown
