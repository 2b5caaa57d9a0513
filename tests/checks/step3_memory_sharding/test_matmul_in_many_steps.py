"""matmul-in-many-steps: K taken in many steps, where deeper blocks divide it and fit."""

from __future__ import annotations

import pytest

from tests.checks.matmul_programs import ONE_WAY, config, deep, linear, of_linear
from tests.checks.rows import put
from tests.checks.step3_programs import cells
from tests.for_all import for_all
from tests.profiles import DRAM, Program, block_sharded, height_sharded, width_sharded
from tests.profiles.model import Placement, core_ranges
from tests.profiles.ops import matmul
from ttnn_mcp.checks.shared.matmul_blocks import deeper_blocks

TIME, CONFIG = "DEVICE KERNEL DURATION [ns]", "ATTRIBUTES.program_config"


def test_many_steps_over_k_are_worth_deeper_blocks(check):
    """38 steps of 8 tiles took 205 us, 8 of 38 took 103."""
    outcome = check.pair(lambda block: deep(block=block, kernel_ns=900_000), silent=16, fires=8)
    claim, line = outcome.claim, outcome.case.line(0)
    assert claim.claim.startswith("1 matmul takes K in 32 steps and more (in0_block_w 8, subblock of 4 tiles)")
    assert claim.fix == "program_config as now with in0_block_w=16 or 19"
    assert "67 %" in claim.assumption
    assert cells(outcome) == [(line, TIME), (line, CONFIG)]


def test_texts_are_short_and_cells_its_own(check):
    check.assert_sound(deep(kernel_ns=900_000))


def test_thirty_two_steps_are_many(check):
    check.pair(lambda tiles: deep(k=32 * tiles, block=4, kernel_ns=900_000), silent=124, fires=128)


def test_deeper_blocks_save_at_most_what_they_were_seen_to_save(check):
    outcome = check.ask(deep(kernel_ns=2_000_000))
    assert outcome.at_most_ns == pytest.approx(0.67 * 2_000_000)
    needed, least = (getattr(outcome.case.roofline, name)[0] for name in ("dram_achievable_ns", "dram_ns"))
    assert check.ask(deep(kernel_ns=round(2 * needed))).at_most_ns == pytest.approx(2 * needed - least, rel=0.001)


def test_half_of_the_roofline_is_not_far_from_it(check):
    needed = check.ask(deep(kernel_ns=2_000_000)).case.roofline.dram_achievable_ns[0]
    check.pair(lambda used: deep(kernel_ns=round(needed / used)), silent=0.505, fires=0.495)


@for_all(
    "given",
    [config(8, 1, 1, per_core=(2, 10)), config(8, 2, 2, per_core=(2, 10), name=ONE_WAY)[:-1] + ",mcast_in0=1)"],
    ids=["small blocks", "a config of one side"],
)
def test_what_comes_first_is_told_instead(check, given):
    assert check.ask(of_linear(m=512, k=9728, n=2560, kernel_ns=900_000, program_config=given)).status == "clean"


@for_all(
    ("tiles", "now", "told"),
    [(4 * 39, 4, "6 or 12 or 13"), (38 * 8, 8, "16 or 19")],
)
def test_only_blocks_that_divide_k_are_told(check, tiles, now, told):
    claim = check.ask(deep(k=32 * tiles, block=now, kernel_ns=900_000)).claim
    assert claim.fix == f"program_config as now with in0_block_w={told}"


@for_all(("tiles", "now"), [(8 * 43, 8), (2 * 131, 2)])
def test_without_a_deeper_block_that_fits_nothing_is_told(check, tiles, now):
    """43 tiles twice are 2.1 MB: real TTNN refuses them."""
    assert check.ask(deep(k=32 * tiles, block=now, kernel_ns=900_000)).status == "clean"


@for_all(
    ("place", "turned", "now", "told"),
    [
        (block_sharded(128, 38 * 32, (8, 4)), 0, 2, "19 or 38"),  # 304 tiles of K over 8 columns
        (block_sharded(64, 76 * 32, (8, 4)), 1, 2, "4 or 19 or 38"),  # over 4 rows
        (block_sharded(128, 38 * 32, (8, 4)), 0, 38, None),
        (height_sharded(128, 9728, (4, 1)), 0, 8, "16 or 19 or 38"),
    ],
)
def test_blocks_of_an_input_in_shards_divide_a_shard(check, place, turned, now, told):
    """The port of Janus-Pro's vision tower was refused 8 and 16 tiles over shards of four."""
    program = Program("wormhole_b0")
    x, y = program.tensor([1, 1, 512, 9728], placement=place), program.tensor([1, 1, 512, 512])
    given = config(now, 2, 2, per_core=(2, 4) if turned else (4, 2)).replace("x=8,y=8", "x=8,y=4")
    given = f"{given[:-1]},transpose_mcast={turned})"
    put(program, matmul(x, program.weight([1, 1, 9728, 512]), y, 900_000, program_config=given, cores=32))
    if turned:
        assert " or ".join(map(str, deeper_blocks(check.case(program), 0))) == told
    elif told is None:
        assert check.ask(program).status == "clean"
    else:
        assert check.ask(program).claim.fix == f"program_config as now with in0_block_w={told}"


def test_no_block_is_told_that_is_deeper_than_any_measured(check):
    def told(tiles):
        given = config(2, 2, 2, per_core=(2, 4))  # 43 tiles twice would fit
        return check.ask(of_linear(m=512, k=32 * tiles, n=1024, kernel_ns=900_000, program_config=given))

    assert told(2 * 7 * 19).claim.fix.endswith("in0_block_w=14 or 19 or 38")
    assert told(2 * 47).status == "clean"
    assert told(2 * 43).status == "clean"


def test_weights_in_batches_keep_their_blocks(check):
    """pplx-embed-4b's had one weight each."""

    def program(batches):
        made = Program("wormhole_b0")
        x, w, y = (made.tensor([1, batches, *sides]) for sides in ((512, 9728), (9728, 2560), (512, 2560)))
        put(made, matmul(x, w, y, 2_000_000, program_config=config(8, 2, 2, per_core=(2, 10))))
        return made

    assert "in0_block_w=16" in check.ask(program(1)).claim.fix
    assert check.ask(program(2)).status == "clean"


def test_one_percent_of_the_window_is_worth_telling(check):
    given = config(8, 2, 2, per_core=(2, 10))
    check.share_pair(
        lambda program: linear(program, m=512, k=9728, n=2560, kernel_ns=900_000, program_config=given),
        0.01,
        of="saving",
    )


def banked(block=2, *, kernel_ns=59_300, k=5120, n=2048, per_n=4, cores=16):
    """QKV of Qwen2.5-Coder on four chips: 160 tiles of K, ten on each of 16 cores; 26 us with blocks of ten."""
    made = Program("blackhole")
    x = made.tensor([1, 1, 32, k], placement=width_sharded(32, k // cores, cores, width=8))
    place = Placement("DRAM", "WIDTH_SHARDED", core_ranges((8, 1)), (k, n // 8))
    w, y = made.tensor([1, 1, k, n], "BFLOAT8_B", placement=place), made.tensor([1, 1, 32, n], placement=DRAM)
    given = f"MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig(in0_block_w={block},per_core_M=1,per_core_N={per_n})"
    op = matmul(x, w, y, kernel_ns, program_config=given, fidelity="LoFi")
    op.cores = 8
    put(made, op)
    return made


def test_steps_over_banked_weights_cost_up_to_a_microsecond_each(check):
    """Blocks of ten divide the shares of 16 cores, blocks of 16 those of 10."""
    claim = check.ask(banked()).claim
    assert claim.fix == "program_config as now with in0_block_w=16, per_core_N=7, x on 10 cores"
    assert "at most 1 us" in claim.assumption
    assert claim.at_most_ns.tolist() == pytest.approx([59_300 - 5120 * 2048 * 1.0625 / (0.85 * 512)], rel=0.05)
    assert check.ask(banked(kernel_ns=400_000)).at_most_ns == pytest.approx(70_000)  # 80 steps become 10


def test_no_deeper_block_of_banked_weights_is_told_than_any_measured(check):
    """41 tiles on each of 16 cores."""
    assert (
        "in0_block_w=2, "
        in check.ask(banked(block=1, k=41 * 16 * 32, n=1024, per_n=2, kernel_ns=900_000)).claim.fix
    )


def down(block=2, *, used=0.515, k=28_672, rows=32, name=ONE_WAY):
    """Down of Llama 3.3 70B on Blackhole: 896 tiles of K, 589 us in 448 steps, 423 in 224; at 52 % of its roofline."""
    made = Program("blackhole", grid=(11, 10))
    x, y = (
        made.tensor([1, 1, rows, k], placement=width_sharded(32, k // 56, 56, width=8)),
        made.tensor([1, 1, rows, 8192]),
    )
    given = config(block, 1, 3, per_core=(1, 3), name=name).replace("x=8,y=8", "x=11,y=8")
    w, least_ns = made.weight([1, 1, k, 8192], "BFLOAT4_B"), k * 8192 * 0.5625 / (0.85 * 512)
    op = matmul(x, w, y, round(least_ns / used), program_config=f"{given[:-1]},mcast_in0=1)", fidelity="LoFi")
    op.cores = 86
    put(made, op)
    return made


def test_each_step_over_one_row_of_tiles_costs_up_to_a_microsecond(check):
    """Below half of the roofline as much may go as was seen, above it what the steps took."""
    claim = check.ask(down()).claim
    assert claim.fix == (
        "program_config as now with in0_block_w=16 (x on 56 cores) or 28 (x on 32 cores) or 32 (x on 28 cores)"
    )
    assert "at most 1 us" in claim.assumption
    took_ns = claim.at_most_ns[0] + 28_672 * 8192 * 0.5625 / (0.85 * 512)
    assert took_ns == pytest.approx(28_672 * 8192 * 0.5625 / (0.85 * 512) / 0.515, rel=0.01)
    assert check.ask(down(used=0.85, k=8192)).at_most_ns < 0.15 * took_ns
    assert "67 %" in check.ask(down(used=0.4)).claim.assumption
    for other in ({"rows": 64}, {"name": "MatmulMultiCoreReuseMultiCastProgramConfig"}):
        assert not check.ask(down(**other)).fires
        assert check.ask(down(used=0.4, **other)).fires


def test_on_banked_weights_steps_count_whatever_the_roofline(check):
    """At 60 % of it; below 32 steps they are few."""
    near = round(5120 * 2048 * 1.0625 / (0.85 * 512) / 0.6)
    assert check.ask(banked(kernel_ns=near)).fires
    check.pair(lambda block: banked(block=block, k=16 * 32 * 8, kernel_ns=near), silent=8, fires=4)


def test_blocks_of_banked_weights_divide_the_share_of_eight_cores_at_least(check):
    """Twelve tiles on each of 16 cores, 16 on each of 12; deeper ones were measured on no fewer cores."""

    def end(k, **how):
        return check.ask(banked(k=k, **how)).claim.fix.partition("in0_block_w=")[2]

    assert end(6144, kernel_ns=90_000) == "16, per_core_N=6, x on 12 cores"
    assert end(16 * 32 * 19, kernel_ns=90_000) == "19, per_core_N=4, x on 16 cores"
    assert end(8 * 32 * 13, block=1, cores=8) == "13, per_core_N=8, x on 8 cores"
    assert end(7 * 32 * 11, block=1, cores=7) == "7, per_core_N=6, x on 11 cores"
    assert check.ask(banked(k=8 * 32 * 17, block=1, cores=8)).status == "clean"  # 17 tiles on each of 8 cores


def test_deeper_blocks_of_banked_weights_take_half_the_steps(check):
    """Of 704 tiles of K on 22 cores: blocks of 16 tiles could become 32, those of 22 tiles too."""
    k = 704 * 32
    near = round(k * 2048 * 1.0625 / (0.85 * 512) / 0.6)
    check.pair(lambda block: banked(block, k=k, per_n=3, cores=22, kernel_ns=near), silent=22, fires=16)


def test_blocks_of_banked_weights_fit_l1(check):
    """Three blocks of ten tiles by 224 columns a bank take 7 MB."""
    assert check.ask(banked(n=57_344, per_n=112, kernel_ns=4_000_000)).status == "clean"


def test_a_banked_config_without_its_sizes_says_nothing(check):
    assert check.ask(banked(per_n=0)).status == "clean"
