"""matmul-program-config: small blocks, configs never given, decode from interleaved weights; each against its roofline."""

from __future__ import annotations

import pytest

from tests.checks.matmul_programs import (
    DECODED_NS,
    L1_SHARDS,
    MOVED_NS,
    config,
    decoding,
    linear,
    of_blocks,
    of_decoding,
    of_linear,
)
from tests.checks.rows import put
from tests.checks.step3_programs import assert_cannot_tell, cells, no_such_ops, rewritten, timeless, without
from tests.profiles import DRAM, L1, Placement, Program, header_of, performance_rows, write_rows
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
            "in0_block_w 4, subblock of 1 tiles",
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
        f"1 matmuls run with small blocks ({seen}) and reach 26% of their roofline (100 us, 100.0%): "
        f"1024x1024 * 1024x1024 -> 1024x1024 at line {line}, 100 us"
    )
    assert cells(outcome) == [(line, TIME), (line, CONFIG)]
    assert claim.evidence[1].value == cell
    assert f"op_detail(op={line})" in claim.verify
    assert claim.caveat.endswith("pass compute_kernel_config, or bfloat16 drops to LoFi")


@pytest.mark.parametrize("given", [config(block=1), None])
def test_texts_are_short_and_cells_its_own(check, given):
    check.assert_sound(of_linear(program_config=given))


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


def test_a_config_never_given_is_told_below_35_percent_of_the_roofline(check):
    outcome = check.pair(lambda ns: of_linear(kernel_ns=ns), silent=74_898, fires=74_899)
    claim, line = outcome.claim, outcome.case.line(0)
    assert claim.claim.startswith("1 matmuls were given no program config and reach 35% of their roofline (75 us")
    assert "in0_block_w=8" in claim.fix
    assert claim.fix.endswith("; keep compute_kernel_config")
    assert cells(outcome) == [(line, TIME), (line, CONFIG)]
    assert claim.evidence[1].value == "std::nullopt"


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
        put(program, matmul(x, w, program.tensor([1, 1, 1024, 1024]), 100_000))
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
    check.share_pair(lambda program: linear(program, program_config=given), 0.01, of="saving")


def test_below_five_microseconds_an_op_is_about_its_launch(check):
    tiny = {"m": 128, "k": 128, "n": 128}
    check.pair(
        lambda ns: of_linear(**tiny, kernel_ns=ns, program_config=config(block=1)), silent=4_999, fires=5_000
    )


def test_small_blocks_and_guesses_are_two_claims(check):
    program = of_linear(program_config=config(block=1))
    linear(program, m=2048, kernel_ns=200_000)
    small, guess = check.ask(program).claims
    assert (len(small.rows), len(guess.rows)) == (1, 1)
    assert "small blocks" in small.claim
    assert "no program config" in guess.claim


def test_the_heaviest_is_shown_and_all_together_reach_their_share(check):
    program = of_linear(program_config=config(block=1))
    linear(program, m=2048, kernel_ns=200_000, program_config=config(block=1, width=2))
    outcome = check.ask(program)
    reached = (MOVED_NS + 2_621_440 * 4 / 240) / 300_000  # (2 + 1 + 2) MiElements of 2 bytes
    assert f"2 matmuls run with small blocks (in0_block_w 1, subblock of 2 tiles) and reach {reached:.0%} of" in (
        outcome.claim.claim
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


@pytest.mark.parametrize("given", [config(), None])
def test_interleaved_weights_of_a_decode_matmul_could_be_sharded_over_the_banks(check, given):
    outcome = check.ask(of_decoding(program_config=given))
    claim, line = outcome.claim, outcome.case.line(0)
    assert claim.at_most_ns.tolist() == [pytest.approx(94_000 - DECODED_NS)]
    assert claim.claim == (
        "1 matmuls with at most 32 rows stream interleaved weights at 79% of achievable DRAM bandwidth "
        f"(94 us, 100.0%): 32x4096 * 4096x4096 -> 32x4096 at line {line}"
    )
    assert claim.assumption == "DRAM-sharded weights arrive at 240 GB/s"
    assert "DRAMShardedProgramConfig(in0_block_w=2, per_core_M=1, per_core_N=2" in claim.fix
    assert cells(outcome) == [(line, TIME), (line, "INPUT_1_MEMORY")]


def test_texts_of_decode_are_short_and_cells_its_own(check):
    check.assert_sound(of_decoding())


def test_weights_at_85_percent_of_what_sharded_ones_reach_stream_well(check):
    check.pair(lambda ns: of_decoding(kernel_ns=ns), silent=87_381, fires=87_382)


def test_decode_has_one_row_of_tiles(check):
    check.pair(lambda rows: of_decoding(m=rows, layout="ROW_MAJOR"), silent=33, fires=32)
    check.pair(lambda batch: of_decoding(m=8, batch=batch, layout="ROW_MAJOR"), silent=5, fires=4)


@pytest.mark.parametrize("side", ["k", "n"])
def test_short_weights_do_not_saturate_dram(check, side):
    check.pair(lambda size: of_decoding(**{side: size}, kernel_ns=50_000), silent=992, fires=1024)


def test_sharded_weights_stream_already(check):
    check.pair(lambda where: of_decoding(where=where), silent=Placement("DRAM", "WIDTH_SHARDED"), fires=DRAM)


def test_decode_with_operands_in_l1_is_another_checks(check):
    check.pair(lambda where: of_decoding(into=where), silent=L1, fires=L1_SHARDS)


def test_decode_that_waits_for_few_cores_does_not_wait_for_weights(check):
    """1.07 GFLOP at HiFi2 take 262 us on two cores."""
    check.pair(lambda cores: of_decoding(cores=cores, kernel_ns=600_000), silent=2, fires=64)


def test_a_matrix_that_an_op_made_is_no_weight(check):
    def program(width):
        program = Program("wormhole_b0")
        source, made = (program.tensor([1, 1, 4096, width], "BFLOAT8_B", placement=where) for where in (L1, DRAM))
        put(program, DeviceOp("TransposeDeviceOperation", (source,), (made,), 4_000))
        decoding(program)
        return program

    check.pair(program, silent=4096, fires=2048)


def test_what_is_told_as_a_small_block_is_not_told_again(check):
    claim = check.ask(of_decoding(program_config=config(block=1), kernel_ns=150_000)).claim
    assert "small blocks" in claim.claim


def test_decode_is_told_from_one_percent_on(check):
    check.share_pair(decoding, 0.01, of="saving")


def test_decode_below_five_microseconds_is_about_its_launch(check):
    """1024 x 1024 BFLOAT4_B: 0.6 MB, 2.5 us."""
    small = {"k": 1024, "n": 1024, "inner": "BFLOAT4_B"}
    check.pair(lambda ns: of_decoding(**small, kernel_ns=ns), silent=4_999, fires=5_000)


def test_all_decode_matmuls_together_reach_their_share(check):
    program = of_decoding()
    decoding(program, n=8192, kernel_ns=250_000)
    outcome = check.ask(program)
    assert "2 matmuls" in outcome.claim.claim
    assert f"at {3 * DECODED_NS / 344_000:.0%} of achievable" in outcome.claim.claim
    assert outcome.claim.claim.endswith(f"at line {outcome.case.line(1)}")
    assert len(outcome.claim.evidence) == 4


@pytest.mark.xfail(strict=True, reason="where nothing took time, nothing is not below a share of it")
def test_a_window_without_kernel_time_is_clean(check):
    assert check.ask(timeless(of_linear())).status == "clean"


@pytest.mark.parametrize("program", [lambda: of_linear(program_config=config(block=1)), of_decoding])
def test_a_compiler_has_an_option_instead(check, program):
    fix = check.ask(program(), generation="tt-torch").claim.fix
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
