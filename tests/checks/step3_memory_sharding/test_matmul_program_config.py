"""matmul-program-config: small blocks and configs never given, each against its roofline."""

from __future__ import annotations

import pytest

from tests.checks.matmul_programs import (
    MOVED_NS,
    config,
    linear,
    of_blocks,
    of_decoding,
    of_linear,
)
from tests.checks.rows import put
from tests.checks.step3_programs import assert_cannot_tell, cells, no_such_ops, rewritten, timeless, without
from tests.profiles import DRAM, L1, Program, header_of, performance_rows, width_sharded, write_rows
from tests.profiles.model import DeviceOp
from tests.profiles.ops import matmul, unary

TIME, CONFIG = "DEVICE KERNEL DURATION [ns]", "ATTRIBUTES.program_config"


@pytest.mark.parametrize(
    ("given", "seen", "cell"),
    [
        (
            config(block=1),
            "in0_block_w 1, subblock of 4 tiles",
            "in0_block_w=1; out_subblock_h=1; out_subblock_w=4; per_core_M=4; per_core_N=4",
        ),
        (
            config(height=1, width=1),
            "in0_block_w 4, subblock of 1 tile",
            "in0_block_w=4; out_subblock_h=1; out_subblock_w=1; per_core_M=4; per_core_N=4",
        ),
        ("MatmulMultiCoreProgramConfig()", "MatmulMultiCoreProgramConfig", "MatmulMultiCoreProgramConfig()"),
        ("SomeProgramConfig(in0_block_w=1)", "in0_block_w 1, subblock of 0 tiles", "in0_block_w=1"),
    ],
)
def test_small_blocks_are_told(check, given, seen, cell):
    outcome = check.ask(of_linear(program_config=given))
    claim, line = outcome.claim, outcome.case.line(0)
    assert claim.at_most_ns.tolist() == [pytest.approx(100_000 - MOVED_NS)]
    assert claim.claim == (
        f"1 matmul runs with small blocks ({seen}) and reaches 26% of the roofline (100 us, 100.0%): "
        f"1024x1024 * 1024x1024 -> 1024x1024 at line {line}, 100 us"
    )
    assert cells(outcome) == [(line, TIME), (line, CONFIG)]
    assert claim.evidence[1].value == cell
    assert f"op_detail(op={line})" in claim.verify
    assert claim.caveat.endswith("pass compute_kernel_config, or bfloat16 drops to LoFi")


@pytest.mark.parametrize("given", [config(block=1), None])
def test_texts_are_short_and_cells_its_own(check, given):
    check.assert_sound(of_linear(kernel_ns=150_000, program_config=given))


def test_one_tile_of_k_per_step_is_small(check):
    check.pair(of_blocks, silent=2, fires=1)


def test_one_tile_of_output_per_step_is_small(check):
    check.pair(lambda width: of_blocks(4, 1, width), silent=2, fires=1)
    check.pair(lambda height: of_blocks(4, height, 1), silent=2, fires=1)


def test_a_core_with_one_tile_of_output_has_no_larger_subblock(check):
    check.pair(lambda tiles: of_blocks(4, 1, 1, per_core=(1, tiles)), silent=1, fires=2)


def test_a_short_inner_dimension_leaves_nothing_to_block(check):
    check.pair(lambda k: of_linear(k=k, program_config=config(block=1)), silent=96, fires=128)


def test_a_matmul_at_sixty_percent_of_its_roofline_is_well_blocked(check):
    check.pair(lambda ns: of_linear(kernel_ns=ns, program_config=config(block=1)), silent=43_690, fires=43_691)


def test_a_config_never_given_is_told_below_20_percent_of_the_roofline(check):
    """A vision tower's at 19 % gained from one, its matmul at 25 % lost by the best of a sweep."""
    outcome = check.pair(lambda ns: of_linear(kernel_ns=ns), silent=131_072, fires=131_073)
    claim, line = outcome.claim, outcome.case.line(0)
    assert claim.claim.startswith("1 matmul was given no program config and reaches 20% of the roofline (131 us")
    assert "in0_block_w=8" in claim.fix
    assert claim.fix.endswith("; keep compute_kernel_config")
    assert cells(outcome) == [(line, TIME), (line, CONFIG)]
    assert claim.evidence[1].value == "std::nullopt"


@pytest.mark.parametrize(("rows", "share"), [(96, 0.35), (128, 0.2)])
def test_for_few_rows_a_guess_is_told_from_35_percent_on(check, rows, share):
    moved = (1024 * 1024 + 2 * rows * 1024) * 2 / 240
    check.pair(
        lambda used: of_linear(m=rows, kernel_ns=round(moved / used)), silent=share + 0.005, fires=share - 0.005
    )


def test_a_good_config_far_from_the_roofline_is_not_told(check):
    """What holds it up is not its blocks."""
    assert check.ask(of_linear(program_config=config())).status == "clean"
    assert check.ask(of_linear(core_grid="(x=8,y=8)")).status == "clean"


def test_a_guess_on_few_cores_is_another_checks(check):
    """60 % of 64 cores."""
    check.pair(lambda cores: of_linear(cores=cores, kernel_ns=200_000), silent=38, fires=39)


def test_a_guess_with_operands_in_l1_is_another_checks(check):
    def program(placement):
        program = Program("wormhole_b0")
        x, w = program.tensor([1, 1, 1024, 1024], placement=placement), program.weight([1, 1, 1024, 1024])
        put(program, matmul(x, w, program.tensor([1, 1, 1024, 1024]), 150_000))
        return program

    check.pair(program, silent=L1, fires=DRAM)


def test_a_matmul_of_attention_that_is_written_out_is_another_checks(check):
    def program(softmax):
        program = Program("wormhole_b0")
        heads = [1, 16, 256, 256]
        q, k, v = (
            put(program, unary("RELU", program.tensor(heads), program.tensor(heads), 4_000)) for _ in range(3)
        )
        scores = put(program, matmul(q, k, program.tensor(heads), 200_000))
        scores = put(program, DeviceOp(softmax, (scores,), (program.tensor(heads),), 20_000, fidelity="HiFi4"))
        put(program, matmul(scores, v, program.tensor(heads), 200_000))
        return program

    outcome = check.pair(program, silent="SoftmaxDeviceOperation", fires="UnaryDeviceOperation")
    assert len(outcome.claim.rows) == 2


@pytest.mark.parametrize("given", [config(block=1), None], ids=["small blocks", "a guess"])
def test_one_percent_of_the_window_is_worth_telling(check, given):
    took = 100_000 if given else 150_000
    check.share_pair(lambda program: linear(program, kernel_ns=took, program_config=given), 0.01, of="saving")


def test_below_five_microseconds_an_op_is_about_its_launch(check):
    tiny = {"m": 128, "k": 128, "n": 128}
    check.pair(
        lambda ns: of_linear(**tiny, kernel_ns=ns, program_config=config(block=1)), silent=4_999, fires=5_000
    )


def test_small_blocks_and_guesses_are_two_claims(check):
    program = of_linear(program_config=config(block=1))
    linear(program, m=2048, kernel_ns=300_000)
    small, guess = check.ask(program).claims
    assert (len(small.rows), len(guess.rows)) == (1, 1)
    assert "small blocks" in small.claim
    assert "no program config" in guess.claim


def deep(k=9728, block=8, *, kernel_ns=205_000, rows=512, n=2560):
    """pplx-embed-4b's down projection: 304 tiles of K."""
    return of_linear(m=rows, k=k, n=n, kernel_ns=kernel_ns, program_config=config(block, 2, 2, per_core=(2, 10)))


def test_many_steps_over_k_are_worth_deeper_blocks(check):
    """38 steps of 8 tiles took 205 us, 8 of 38 took 103."""
    outcome = check.pair(lambda block: deep(block=block, kernel_ns=900_000), silent=16, fires=8)
    claim, line = outcome.claim, outcome.case.line(0)
    assert claim.claim.startswith("1 matmul takes K in 32 steps and more (in0_block_w 8, subblock of 4 tiles)")
    assert claim.fix == "program_config as now with in0_block_w=16 or 19"
    assert "63 %" in claim.assumption
    assert cells(outcome) == [(line, TIME), (line, CONFIG)]


def test_thirty_two_steps_are_many(check):
    check.pair(lambda tiles: deep(k=32 * tiles, block=4, kernel_ns=900_000), silent=124, fires=128)


def test_deeper_blocks_save_at_most_what_they_were_seen_to_save(check):
    outcome = check.ask(deep(kernel_ns=2_000_000))
    assert outcome.at_most_ns == pytest.approx(0.63 * 2_000_000)
    needed = outcome.case.roofline.dram_achievable_ns[0]
    assert check.ask(deep(kernel_ns=round(2 * needed))).at_most_ns == pytest.approx(needed, rel=0.001)


@pytest.mark.parametrize(
    ("tiles", "now", "told"),
    [(4 * 39, 4, "6 or 12 or 13"), (38 * 8, 8, "16 or 19")],
)
def test_only_blocks_that_divide_k_are_told(check, tiles, now, told):
    claim = check.ask(deep(k=32 * tiles, block=now, kernel_ns=900_000)).claim
    assert claim.fix == f"program_config as now with in0_block_w={told}"


@pytest.mark.parametrize(("tiles", "now"), [(8 * 43, 8), (2 * 131, 2)])
def test_without_a_deeper_block_that_fits_nothing_is_told(check, tiles, now):
    """43 tiles twice are 2.1 MB: real TTNN refuses them."""
    assert check.ask(deep(k=32 * tiles, block=now, kernel_ns=900_000)).status == "clean"


def test_tall_small_and_in_many_steps_are_one_claim(check):
    assert "1D" in check.ask(one_way(block=2)).claim.claim
    assert (
        "small blocks"
        in check.ask(of_linear(k=4096, program_config=config(block=1), kernel_ns=900_000)).claim.claim
    )


def test_one_row_over_a_deep_k_employs_few_cores(check):
    """CosyVoice: 4096 x 1024 on 32 cores by TTNN, half the time on 16."""

    def program(k):
        made = Program("blackhole", grid=(13, 10))
        x, w, y = made.tensor([1, 1, 1, k]), made.weight([1, 1, k, 1024]), made.tensor([1, 1, 1, 1024])
        op = matmul(x, w, y, 69_000)
        op.cores = 32
        put(made, op)
        return made

    outcome = check.pair(program, silent=4064, fires=4096)
    assert outcome.claim.fix.endswith("half of TTNN's cores took half of its time (CosyVoice)")
    assert "CoreGrid" not in check.ask(of_linear(m=32, k=4064, n=1024, kernel_ns=300_000)).claim.fix
    assert "CoreGrid" in check.ask(of_linear(m=32, k=4096, n=1024, kernel_ns=300_000)).claim.fix
    assert "CoreGrid" not in check.ask(of_linear(m=64, k=4096, n=1024, kernel_ns=300_000)).claim.fix


@pytest.mark.parametrize(
    ("given", "placement", "told"),
    [
        ("MatmulMultiCoreProgramConfig()", L1, True),
        ("MatmulMultiCoreProgramConfig()", DRAM, False),
        (config(1), L1, False),
    ],
)
def test_the_fallback_for_operands_in_l1_is_told_with_its_remedy(check, given, placement, told):
    """tt-mlir #7702: 2027 us, 264 with the output in DRAM."""
    program = Program("wormhole_b0")
    x, w, y = program.tensor([1, 1, 1024, 640]), program.weight([1, 1, 640, 5120]), program.tensor([1, 1, 1024, 5120], placement=placement)  # fmt: skip
    put(program, matmul(x, w, y, 2_027_000, program_config=given))
    assert ("ttnn.DRAM_MEMORY_CONFIG" in check.ask(program).claim.fix) is told


def test_batches_that_do_not_fit_together_come_one_after_the_other(check):
    """A vision tower's 6 x 2048 rows: 2048 fit."""
    program = Program("wormhole_b0")
    x, w = program.tensor([1, 6, 2048, 1152]), program.weight([1, 1, 1152, 2304], "BFLOAT8_B")
    put(program, matmul(x, w, program.tensor([1, 6, 2048, 2304]), 3_281_000, program_config=config(1, 1, 1, per_core=(8, 9))))  # fmt: skip
    assert "per_core_M=8, per_core_N=9, transpose_mcast=False, fuse_batch=False" in check.ask(program).claim.fix


def test_the_heaviest_is_shown_and_all_together_reach_their_share(check):
    program = of_linear(program_config=config(block=1))
    linear(program, m=2048, kernel_ns=200_000, program_config=config(block=1, width=2))
    outcome = check.ask(program)
    reached = (MOVED_NS + 2_621_440 * 4 / 240) / 300_000  # (2 + 1 + 2) MiElements of 2 bytes
    assert (
        f"2 matmuls run with small blocks (in0_block_w 1, subblock of 2 tiles) and reach {reached:.0%} of the"
        in (outcome.claim.claim)
    )
    assert outcome.claim.claim.endswith(f"at line {outcome.case.line(1)}, 200 us")
    assert len(outcome.claim.evidence) == 4


def test_half_of_l1_holds_the_blocks_that_are_suggested(check):
    """2 x 8 x 2048 x (8 + 8) + 2048 x 8 x 8 = 655,360 bytes of 662,826; with 9 instead of 8 755,712."""
    outcome = check.ask(of_linear(m=2048, n=2048, kernel_ns=500_000, program_config=config(block=1)))
    assert "grid_size=(8, 8), in0_block_w=8, out_subblock_h=1, out_subblock_w=8, per_core_M=8" in outcome.claim.fix
    outcome = check.ask(of_linear(m=2304, n=2304, kernel_ns=600_000, program_config=config(block=1)))
    assert "grid_size=(8, 8), in0_block_w=4, out_subblock_h=" in outcome.claim.fix


def test_a_grid_of_no_known_card_is_left_to_the_device(check):
    program = Program("wormhole_b0", grid=(7, 7))
    linear(program, program_config=config(block=1))
    assert check.ask(program).claim.fix.startswith("ttnn.linear(x, w, core_grid=ttnn.CoreGrid(y=g.y, x=g.x), comp")


def test_a_batched_matmul_is_left_to_the_core_grid(check):
    program = Program("wormhole_b0")
    x, w, y = (program.tensor([1, 4, 512, 512]) for _ in range(3))
    put(program, matmul(x, w, y, 100_000, program_config=config(block=1)))
    assert check.ask(program).claim.fix.startswith("ttnn.linear(x, w, core_grid=ttnn.CoreGrid(y=g.y, x=g.x)")


def test_a_window_without_kernel_time_is_clean(check):
    assert check.ask(timeless(of_linear())).status == "clean"


def test_dram_sharded_weights_are_another_checks(check):
    name = "MatmulMultiCoreReuseMultiCast{}ProgramConfig"
    check.pair(
        lambda kind: of_decoding(kernel_ns=200_000, program_config=config(1, name=name.format(kind))),
        silent="DRAMSharded",
        fires="1D",
    )


def test_linear_ops_have_blocks_too(check):
    program = of_linear(program_config=config(block=1))
    program.device_ops[0].op_code = "LinearDeviceOperation"
    assert check.ask(program).fires


def test_a_compiler_has_an_option_instead(check):
    fix = check.ask(of_linear(program_config=config(block=1)), generation="tt-torch").claim.fix
    assert "optimization_level" in fix
    assert fix.endswith("chooses matmul configs")


def test_a_run_without_matmuls_is_not_applicable(check):
    outcome = check.ask(no_such_ops())
    assert (outcome.status, outcome.why) == ("not_applicable", "no Matmul ops")


@pytest.mark.parametrize(
    ("lost", "word"),
    [
        (("PUT_",), "INPUT_n"),
        (("INPUT_1", "INPUT_2"), "INPUT_n"),
        (("CORE COUNT",), "no CORE COUNT"),
        (("=CORE COUNT=",), "no CORE COUNT"),
        (("ATTRIBUTES",), "program_config in ATTRIBUTES"),
        (("MATH FIDELITY",), "MATH FIDELITY"),
    ],
)
def test_what_it_cannot_see_it_cannot_tell(check, tmp_path, lost, word):
    assert_cannot_tell(check.ask(without(tmp_path, lost)), word)


def test_an_unknown_chip_has_no_roofline(check, tmp_path):
    assert_cannot_tell(check.ask(rewritten(tmp_path, of_linear(), DEVICE_ARCH="quasar")), "DEVICE ARCH")


def test_matmuls_that_say_nothing_of_their_config_cannot_be_judged(check):
    program = Program("wormhole_b0")
    x, w, y = program.tensor([1, 1, 64, 64]), program.weight([1, 1, 64, 64]), program.tensor([1, 1, 64, 64])
    put(program, DeviceOp("MatmulDeviceOperation", (x, w), (y,), 10_000))
    assert_cannot_tell(check.ask(program), "program_config in ATTRIBUTES")


def test_a_matmul_without_fidelity_is_left_out(check, tmp_path):
    program = of_linear(program_config=config(block=1))
    linear(program, m=2048, kernel_ns=200_000, program_config=config(block=1))
    rows = performance_rows(program)
    for row in rows[1::2]:
        row["MATH FIDELITY"] = ""
    outcome = check.ask(write_rows(tmp_path / "ops_perf_results_made.csv", rows, header_of(rows, "C7")))
    assert outcome.claim.rows.tolist() == [0]


ONE_WAY = "MatmulMultiCoreReuseMultiCast1DProgramConfig"


def one_way(*, m=128, kernel_ns=118_000, n=2048, mcast="mcast_in0=1", ring="", into=DRAM, name=ONE_WAY, block=8):
    """tt-metal's optimization skill: 118 us became 75 with a 2D config; 4.4 MB and more take 21 us."""
    sizes = f"in0_block_w={block},out_subblock_h={m // 32},out_subblock_w=1,per_core_M={m // 32},per_core_N=1"
    given = f"{name}(compute_with_storage_grid_size=(x=8,y=8),{sizes},fuse_batch=1,{mcast}{ring})"
    program = Program("wormhole_b0")
    x, y = (program.tensor([1, 1, m, width], placement=into) for width in (2048, n))
    w = program.tensor([1, 1, 2048, n], "BFLOAT8_B")
    put(program, matmul(x, w, y, kernel_ns, program_config=given))
    return program


def test_a_1d_config_over_four_rows_of_tiles_is_told_to_try_2d(check):
    outcome = check.pair(lambda m: one_way(m=m), silent=96, fires=128)
    claim = outcome.claim
    assert claim.claim.startswith(
        "1 matmul multicasts one way (1D) over 4 rows of tiles and more and reaches 19% of"
    )
    assert claim.fix.startswith(
        "ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(compute_with_storage_grid_size=(8, 8)"
    )
    assert 43_000 <= outcome.at_most_ns <= 5 * 43_000
    check.assert_sound(one_way())


def test_a_1d_config_is_well_used_from_35_percent_on(check):
    needed = float(check.case(one_way()).roofline.dram_achievable_ns[0])
    check.pair(lambda share: one_way(kernel_ns=round(needed / share)), silent=0.352, fires=0.348)


@pytest.mark.parametrize(
    "change",
    [{"mcast": "mcast_in0=0"}, {"ring": ",gather_in0=1"}, {"name": "MatmulMultiCoreReuseMultiCastProgramConfig"},
     {"into": width_sharded(128, 64, (8, 4))}],
    ids=str,
)  # fmt: skip
def test_a_config_that_multicasts_another_way_is_none(check, change):
    assert check.ask(one_way(**change)).status == "clean"


def test_small_blocks_of_a_1d_config_are_told_once(check):
    def blocks(m):
        given = config(block=1, name=ONE_WAY)[:-1] + ",mcast_in0=1)"
        return of_linear(m=m, k=2048, n=2048, kernel_ns=200_000, program_config=given)

    assert "multicasts one way" in check.ask(blocks(128)).claim.claim
    assert "small blocks" in check.ask(blocks(96)).claim.claim


def test_no_block_is_told_that_is_deeper_than_any_measured(check):
    def told(tiles):
        given = config(2, 2, 2, per_core=(2, 4))  # 43 tiles twice would fit
        return check.ask(of_linear(m=512, k=32 * tiles, n=1024, kernel_ns=900_000, program_config=given))

    assert told(2 * 7 * 19).claim.fix.endswith("in0_block_w=14 or 19 or 38")
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
