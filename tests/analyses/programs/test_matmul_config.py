"""A suggested program config is one that TTNN accepts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.analyses.tables import ops_of, put
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.ops import matmul
from ttnn_mcp.analyses.programs.grids import most_cores_dividing, rectangle
from ttnn_mcp.analyses.programs.matmul_config import Tiles, suggested, suggested_for, turns_first
from ttnn_mcp.readers.printed.attributes import parse_attributes

sides = st.integers(1, 400)
grids = st.sampled_from([(8, 8), (8, 7), (11, 10), (13, 10), (5, 4)])


@given(m=sides, k=sides, n=sides, grid=grids, fp32=st.booleans())
def test_blocks_cover_the_output_divide_k_and_fit(m, k, n, grid, fp32):
    config = suggested(Tiles(m, k, n, 2048, 1088, 2048), grid, 700_000, fp32_acc=fp32)
    if config is None:
        return
    cores_m, cores_n = -(-m // config.per_core_m), -(-n // config.per_core_n)
    assert cores_m * cores_n <= grid[0] * grid[1]
    if config.kind == "2D":
        assert cores_m <= grid[1]
        assert cores_n <= grid[0]
        assert n % config.per_core_n == 0
    assert k % config.in0_block_w == 0
    assert config.per_core_m % config.out_subblock_h == 0
    assert config.per_core_n % config.out_subblock_w == 0
    assert config.out_subblock_h * config.out_subblock_w <= (4 if fp32 else 8)
    assert config.l1_bytes <= 700_000
    assert f"in0_block_w={config.in0_block_w}," in str(config)


def test_a_square_matmul_is_cut_both_ways_and_a_tall_one_along_its_rows():
    square = suggested(Tiles(32, 32, 32, 2048, 2048, 2048), (8, 8), 1_000_000, fp32_acc=False)
    assert (square.kind, square.per_core_m, square.per_core_n, square.in0_block_w) == ("2D", 4, 4, 8)
    assert not square.mcast_in0
    assert square.l1_bytes == 2 * 8 * (4 + 4) * 2048 + 4 * 4 * 2048
    sums = suggested(Tiles(32, 8, 32, 2048, 2048, 2048), (8, 8), 1_000_000, fp32_acc=True)
    assert sums.l1_bytes == 8 * (4 + 4) * 2048 + 4 * 4 * (2048 + 4096)  # one step, and sums of their own
    fits = (
        suggested(Tiles(32, 8, 32, 2048, 2048, 2048), (8, 8), sums.l1_bytes - less, fp32_acc=True)
        for less in (0, 1)
    )
    assert [each.in0_block_w for each in fits] == [8, 2]
    assert suggested(Tiles(1, 8, 1, 2048, 2048, 2048), (8, 8), 1_000_000, fp32_acc=False).mcast_in0
    assert "MatmulMultiCoreReuseMultiCastProgramConfig(" in str(square)
    assert "transpose_mcast=False" in str(square)
    tall = suggested(Tiles(1024, 4, 8, 1088, 1088, 1088), (11, 10), 1_000_000, fp32_acc=False)
    assert (tall.kind, tall.per_core_m, tall.per_core_n, tall.mcast_in0) == ("1D", 10, 8, False)
    wide = suggested(Tiles(1, 40, 160, 2048, 2048, 2048), (8, 8), 1_000_000, fp32_acc=False)
    assert (wide.kind, wide.per_core_m, wide.per_core_n, wide.mcast_in0) == ("1D", 1, 3, True)
    assert "MatmulMultiCoreReuseMultiCast1DProgramConfig(" in str(wide)
    assert "fuse_batch=True, mcast_in0=True" in str(wide)


@for_all(("n", "kind"), [(64, "2D"), (65, "1D")])
def test_above_eight_to_one_only_the_longer_side_is_cut(n, kind):
    assert suggested(Tiles(8, 8, n, 2048, 2048, 2048), (8, 8), 1_000_000, fp32_acc=False).kind == kind


@for_all(("k", "block"), [(16, 8), (12, 4), (14, 2), (7, 1)])
def test_a_step_is_the_deepest_that_divides_k(k, block):
    assert suggested(Tiles(32, k, 32, 2048, 2048, 2048), (8, 8), 1_000_000, fp32_acc=False).in0_block_w == block


@for_all(("fp32", "per_core", "most"), [(False, 8, 8), (False, 10, 5), (True, 8, 4), (True, 5, 1)])
def test_a_subblock_fills_the_destination_registers_and_no_more(fp32, per_core, most):
    config = suggested(Tiles(8 * per_core, 8, 8 * per_core, 2048, 2048, 2048), (8, 8), 1_000_000, fp32_acc=fp32)
    assert (config.per_core_n, config.out_subblock_w) == (per_core, most)


def asked(folder, *, k=256, batches=1, layout="TILE"):
    program = Program("wormhole_b0")
    x, w, y = (
        program.tensor(shape, layout=layout)
        for shape in ([1, 1, 1024, k], [1, batches, k, 1024], [1, batches, 1024, 1024])
    )
    put(program, matmul(x, w, y, 9_000))
    return suggested_for(ops_of(folder, program), 0, (8, 8), 1_000_000)


def test_a_row_is_counted_in_tiles(tmp_path):
    config = asked(tmp_path)
    assert (config.per_core_m, config.per_core_n, config.in0_block_w) == (4, 4, 8)


def test_a_first_operand_that_the_op_turns_is_printed_as_k_times_m(tmp_path):
    """Real TTNN 0.81.1 captures it as the call gives it, and takes the shares of M that we say."""

    def of(m, k, *, turned):
        program = Program("wormhole_b0")
        x, y = program.tensor([1, 1, *((k, m) if turned else (m, k))]), program.tensor([1, 1, m, 1024])
        op = matmul(x, program.weight([1, 1, k, 1024]), y, 9_000)
        op.attributes["transpose_a"] = True
        put(program, op)
        ops = ops_of(tmp_path, program)
        assert turns_first(ops, 0, parse_attributes(ops.texts("attributes")[0])) == turned
        return suggested_for(ops, 0, (8, 8), 1_000_000)

    for turned in (True, False):  # other builds turn it in an op before, and print the wish all the same
        config = of(1024, 160, turned=turned)
        assert (config.per_core_m, config.per_core_n, config.in0_block_w) == (4, 4, 1)
    assert of(1024, 256, turned=True).in0_block_w == 8


def images(folder, batches, room=1_000_000):
    """The vision tower of Qwen3.5: 2048 rows an image."""
    program = Program("wormhole_b0")
    x, y = (program.tensor([1, batches, 2048, wide]) for wide in (1152, 2304))
    put(program, matmul(x, program.weight([1, 1, 1152, 2304], "BFLOAT8_B"), y, 9_000))
    return suggested_for(ops_of(folder, program), 0, (8, 8), room)


def test_batches_too_many_to_fuse_are_taken_one_by_one(tmp_path):
    fused, apart = images(tmp_path, 1), images(tmp_path, 6)
    assert "fuse_batch" not in str(fused)
    assert (fused.per_core_m, fused.fuse_batch, apart.per_core_m, apart.kind) == (8, True, 8, "2D")
    assert str(apart).endswith("transpose_mcast=False, fuse_batch=False, fused_activation=None)")
    assert images(tmp_path, 1, 1_000) is None
    assert images(tmp_path, 6, 1_000) is None


def test_batched_weights_and_less_than_a_tile_have_no_suggestion(tmp_path):
    assert asked(tmp_path, batches=2) is None
    assert asked(tmp_path, k=16, layout="ROW_MAJOR") is None


def test_what_does_not_fit_in_one_batch_is_not_taken_apart(tmp_path):
    """72 tiles over 64 cores are 2 each, on 8 rows of cores 9: less, but no batch is there to take alone."""
    program = Program("wormhole_b0")
    x, y = (program.tensor([1, 1, 2304, wide]) for wide in (256, 256))
    put(program, matmul(x, program.weight([1, 1, 256, 256]), y, 9_000))
    assert suggested_for(ops_of(tmp_path, program), 0, (8, 8), 80_000).kind == "1D"
    assert suggested_for(ops_of(tmp_path, program), 0, (8, 8), 65_000) is None


def test_what_cannot_fit_is_not_suggested():
    assert suggested(Tiles(4096, 1, 4096, 4096, 4096, 4096), (8, 8), 1_000_000, fp32_acc=False) is None


@for_all(("n", "per_core_n"), [(88, 8), (82, None), (85, None), (90, 9), (6, 1), (13, None)])
def test_columns_of_tiles_divide_evenly_or_there_is_no_2d_config(n, per_core_n):
    config = suggested(Tiles(40, 8, n, 2048, 2048, 2048), (11, 10), 1_000_000, fp32_acc=False, two_sided=True)
    assert (config.per_core_n if config else None) == per_core_n


@given(parts=st.integers(1, 500), grid=grids)
def test_a_row_of_tiles_is_dealt_out_evenly(parts, grid):
    x, y = most_cores_dividing(parts, grid)
    assert parts % (x * y) == 0
    assert x <= grid[0]
    assert y <= grid[1]
    assert rectangle(x * y, grid) == (x, y)


def test_both_sides_are_divided_where_that_is_asked_for():
    one, both = (
        suggested(Tiles(4, 64, 64, 2048, 1088, 2048), (8, 8), 1_000_000, fp32_acc=False, two_sided=two_sided)
        for two_sided in (False, True)
    )
    assert (one.kind, one.per_core_m, one.per_core_n) == ("1D", 4, 1)
    assert (both.kind, both.per_core_m, both.per_core_n, both.mcast_in0) == ("2D", 1, 8, False)
