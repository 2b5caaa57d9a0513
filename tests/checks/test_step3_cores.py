"""Step 3, cores: each check fires where most of the grid idles, stays silent just below its line and on its traps."""

from __future__ import annotations

import pytest

from tests.checks.rows import case_of, claims, pass_time, put, the_claim
from tests.profiles import DRAM, L1, Program, height_sharded
from tests.profiles.model import DeviceOp
from tests.profiles.ops import collective, layer_norm, matmul, unary
from ttnn_mcp.checks.check import CannotTell, NotApplicable
from ttnn_mcp.checks.step3_memory_sharding import (
    low_core_count,
    matmul_operands_in_l1_interleaved,
    norm_on_few_cores,
)

TRAP, FEW, NORM = matmul_operands_in_l1_interleaved.CHECK, low_core_count.CHECK, norm_on_few_cores.CHECK
GRID_OF_2D = "MatmulMultiCoreReuseMultiCastProgramConfig(compute_with_storage_grid_size=(x=8,y=2),in0_block_w=2)"


@pytest.fixture
def program() -> Program:
    return Program("wormhole_b0")


def linear(program, *, first=L1, second=DRAM, out=DRAM, cores=16, kernel_ns=200_000, **how):
    x, w = program.tensor([1, 1, 1024, 512], placement=first), program.tensor([1, 1, 512, 1024], placement=second)
    y = program.tensor([1, 1, 1024, 1024], placement=out)
    put(program, matmul(x, w, y, kernel_ns, cores=cores, **how))


def test_a_matmul_left_to_ttnn_with_an_operand_in_l1_is_a_trap(tmp_path, program):
    linear(program)
    claim = the_claim(TRAP, case_of(tmp_path, program))
    assert claim.at_most_ns.tolist() == [150_000]  # 16 of 64 cores: 50 us on all, which is four times as fast
    assert "core_grid=ttnn.CoreGrid(y=8, x=8)" in claim.fix
    assert "compute_kernel_config" in claim.fix
    assert "MathFidelity.HiFi2" in claim.fix


@pytest.mark.parametrize("where", ["first", "second", "out"])
def test_one_interleaved_operand_in_l1_is_enough(tmp_path, program, where):
    linear(program, **{"first": DRAM, where: L1})
    assert claims(TRAP, case_of(tmp_path, program))


@pytest.mark.parametrize(
    "change",
    [
        {"first": DRAM},
        {"first": height_sharded(64, 512, 16)},
        {"program_config": GRID_OF_2D},
        {"core_grid": "(x=8,y=2)"},
    ],
    ids=["all in DRAM", "sharded", "a config", "a core grid"],
)
def test_a_matmul_that_was_told_or_lies_elsewhere_is_no_trap(tmp_path, program, change):
    linear(program, **change)
    assert not list(TRAP.look(case_of(tmp_path, program)))


@pytest.mark.parametrize(("cores", "fires"), [(38, True), (39, False)])
def test_the_trap_is_told_below_sixty_percent_of_the_grid(tmp_path, program, cores, fires):
    linear(program, cores=cores)
    assert bool(claims(TRAP, case_of(tmp_path, program))) is fires


@pytest.mark.parametrize(("window_ns", "fires"), [(14_900_000, True), (15_100_000, False)])
def test_the_trap_is_told_from_one_percent_on(tmp_path, program, window_ns, fires):
    linear(program)
    pass_time(program, window_ns - 200_000)
    assert bool(claims(TRAP, case_of(tmp_path, program))) is fires


def upsample(
    program, *, cores=1, kernel_ns=100_000, shape=(1, 64, 64, 256), attributes=None, name="UpsampleOperation"
):
    x = program.tensor([1, 1, 1, shape[-1]], layout="ROW_MAJOR")
    y = program.tensor(shape, layout="ROW_MAJOR")
    put(program, DeviceOp(name, (x,), (y,), kernel_ns, cores=cores, attributes=attributes or {}))


def test_an_op_on_one_core_with_work_to_share_out_is_told(tmp_path, program):
    upsample(program)
    claim = the_claim(FEW, case_of(tmp_path, program))
    moved = (64 * 64 + 1) * 256 * 2  # 8.7 us at 240 GB/s: more than 100 us / 64, and than 5 us
    assert claim.at_most_ns.tolist() == [pytest.approx(100_000 - moved / 240)]
    assert "on 1 with 4096 pieces" in claim.claim


@pytest.mark.parametrize(("cores", "fires"), [(31, True), (32, False)])
def test_half_the_grid_is_enough(tmp_path, program, cores, fires):
    upsample(program, cores=cores)
    assert bool(claims(FEW, case_of(tmp_path, program))) is fires


@pytest.mark.parametrize(("kernel_ns", "fires"), [(5_400, True), (4_999, False)])
def test_an_op_below_five_microseconds_is_about_its_launch(tmp_path, program, kernel_ns, fires):
    for _ in range(40):
        upsample(program, kernel_ns=kernel_ns, shape=(1, 8, 8, 32))
    pass_time(program, 1_000)
    assert bool(claims(FEW, case_of(tmp_path, program))) is fires


@pytest.mark.parametrize("share", [(0.0101, True), (0.0099, False)])
def test_ops_on_few_cores_are_told_from_one_percent_on(tmp_path, program, share):
    upsample(program)
    pass_time(program, 100_000 / share[0] - 100_000)
    assert bool(claims(FEW, case_of(tmp_path, program))) is share[1]


def test_an_op_that_has_one_piece_cannot_be_spread(tmp_path, program):
    upsample(program, shape=(1, 1, 1, 256))
    assert not list(FEW.look(case_of(tmp_path, program)))


def test_cores_left_idle_on_purpose_are_no_finding(tmp_path, program):
    x, y = program.tensor([1, 1, 2048, 512]), program.tensor([1, 1, 2048, 2048])
    put(program, collective("AllGatherAsync", x, y, 100_000, ring_size=4))
    upsample(program, attributes={"sub_core_grids": "{[(x=0,y=0) - (x=0,y=0)]}"})
    assert not list(FEW.look(case_of(tmp_path, program)))


def test_ops_with_a_check_of_their_own_are_left_to_it(tmp_path, program):
    linear(program)
    norm(program)
    shards = program.tensor([1, 1, 1024, 64], placement=height_sharded(128, 64, 8))
    put(
        program,
        DeviceOp("InterleavedToShardedDeviceOperation", (program.tensor([1, 1, 1024, 64]),), (shards,), 90_000),
    )
    upsample(program, name="Conv2dDeviceOperation")
    assert not list(FEW.look(case_of(tmp_path, program)))


def norm(program, rows=19, width=1280, *, kernel_ns=53_500, times=1):
    gamma, beta = program.weight([1, 1, 1, width]), program.weight([1, 1, 1, width])
    for _ in range(times):
        x, y = program.tensor([1, 1, rows, width]), program.tensor([1, 1, rows, width])
        put(program, layer_norm(x, gamma, beta, y, kernel_ns))


def test_a_layer_norm_over_one_row_of_tiles_runs_on_one_core(tmp_path, program):
    norm(program, times=3)
    pass_time(program, 10_000)
    claim = the_claim(NORM, case_of(tmp_path, program))
    assert claim.at_most_ns.tolist() == [48_150] * 3  # ten times as fast at best
    assert "3 norms on 1 of 64 cores" in claim.claim
    assert "compute_with_storage_grid_size=(8, 5), subblock_w=1, block_h=1, block_w=1" in claim.fix


@pytest.mark.parametrize(("rows", "fires"), [(992, True), (1024, False)])
def test_a_norm_on_half_of_the_grid_is_well_placed(tmp_path, program, rows, fires):
    norm(program, rows)
    assert bool(claims(NORM, case_of(tmp_path, program))) is fires


def test_a_norm_over_more_rows_is_cut_both_ways(tmp_path, program):
    norm(program, 256, 160)
    assert "(5, 8), subblock_w=1, block_h=1, block_w=1" in the_claim(NORM, case_of(tmp_path, program)).fix


def test_a_short_norm_keeps_its_five_microseconds(tmp_path, program):
    norm(program, kernel_ns=5_000, times=20)
    pass_time(program, 1_000)
    assert not list(NORM.look(case_of(tmp_path, program)))


def group_norm(program, cores):
    x, y = program.tensor([1, 1, 4096, 256]), program.tensor([1, 1, 4096, 256])
    attributes = {"num_groups": 16, "program_config": "GroupNormMultiCoreProgramConfig(num_out_blocks=10)"}
    put(program, DeviceOp("GroupNormDeviceOperation", (x,), (y,), 100_000, cores=cores, attributes=attributes))


@pytest.mark.parametrize(("cores", "at_most"), [(8, [60_000]), (10, [])])
def test_a_group_norm_is_told_by_the_grid_it_was_given(tmp_path, cores, at_most):
    program = Program("blackhole", grid=(5, 4))
    group_norm(program, cores)
    said = claims(NORM, case_of(tmp_path, program))
    assert [ns for claim in said for ns in claim.at_most_ns] == at_most


@pytest.mark.parametrize("check", [TRAP, NORM], ids=lambda check: check.id)
def test_a_run_without_such_ops_is_not_applicable(tmp_path, program, check):
    x, y = program.tensor([1, 1, 64, 64]), program.tensor([1, 1, 64, 64])
    put(program, unary("RELU", x, y, 10_000))
    (said,) = check.look(case_of(tmp_path, program))
    assert isinstance(said, NotApplicable)


def test_matmuls_that_say_nothing_of_their_config_cannot_be_judged(tmp_path, program):
    x, w, y = (
        program.tensor([1, 1, 64, 64], placement=L1),
        program.weight([1, 1, 64, 64]),
        program.tensor([1, 1, 64, 64]),
    )
    put(program, DeviceOp("MatmulDeviceOperation", (x, w), (y,), 10_000, cores=2))
    (said,) = TRAP.look(case_of(tmp_path, program))
    assert isinstance(said, CannotTell)


@pytest.mark.parametrize("check", [FEW, TRAP], ids=lambda check: check.id)
def test_a_report_without_the_grid_says_so(tmp_path, program, check):
    linear(program)
    upsample(program)
    upsample(program, cores=64)
    claim = the_claim(check, case_of(tmp_path, program, generation="C3"))
    assert "64 is the most cores any op used" in claim.caveat
