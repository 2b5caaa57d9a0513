"""decode-matmul-bandwidth: weights that stream slower than their like, interleaved or DRAM-sharded, by chip."""

from __future__ import annotations

import pytest

from tests.checks.matmul_programs import DECODED_NS, L1_SHARDS, config, decoding, of_decoding
from tests.checks.rows import put
from tests.checks.step3_programs import assert_cannot_tell, cells, no_such_ops, rewritten, timeless, without
from tests.for_all import for_all
from tests.profiles import DRAM, L1, Placement, Program
from tests.profiles.model import DeviceOp

TIME = "DEVICE KERNEL DURATION [ns]"
BANKS = Placement("DRAM", "WIDTH_SHARDED")


def sharded_config(block=8, extra=""):
    name = "MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig"
    return f"{name}(in0_block_w={block},per_core_M=1,per_core_N=4{extra})"


def on_blackhole(*, block=8, fidelity="HiFi2", kernel_ns=60_600, where=BANKS, given=None, **how):
    """17.8 MB: 41.0 us at 435 GB/s, 45.7 at 390, 55.7 at 320; HiFi2 on 8 cores takes 48.5 us."""
    program = Program("blackhole", grid=(11, 10))
    given = given or (sharded_config(block) if where is BANKS else config())
    if where is BANKS:  # as wide as gate and up projections
        how = {"k": 2048, "n": 8192, **how}
    decoding(program, kernel_ns=kernel_ns, where=where, program_config=given, fidelity=fidelity, **how)
    return program


@for_all("given", [config(), None])
def test_interleaved_weights_on_wormhole_could_be_sharded_over_the_banks(check, given):
    outcome = check.ask(of_decoding(program_config=given))
    claim, line = outcome.claim, outcome.case.line(0)
    assert claim.at_most_ns.tolist() == [pytest.approx(94_000 - DECODED_NS)]
    assert claim.claim == (
        "1 matmul with at most 32 rows streams interleaved weights at 190 GB/s "
        f"(94 us, 100.0%): 32x4096 * 4096x4096 -> 32x4096 at line {line}"
    )
    assert claim.assumption == "DRAM-sharded weights take what was measured on wormhole_b0, or arrive at 240 GB/s"
    assert "memory_config=ttnn.L1_WIDTH_SHARDED_MEMORY_CONFIG" in claim.fix  # without it TTNN refuses the call
    assert "DRAMShardedProgramConfig(in0_block_w=8, per_core_M=1, per_core_N=8)" in claim.fix
    assert cells(outcome) == [(line, TIME), (line, "INPUT_1_MEMORY")]


def test_the_config_takes_over_the_function(check):
    """Real TTNN refuses `activation=` on DRAM-sharded weights, and wants it in the config."""

    def fix(program, key, text):
        attributes = program.device_ops[0].attributes
        attributes[key] = f"{(attributes[key] or '')[:-1]}{text}"
        return check.ask(program).claim.fix

    silu, then = (
        "(op_type=UnaryOpType::SILU,param={})",
        "fused_activation=ttnn.UnaryWithParam(ttnn.UnaryOpType.SILU))",
    )
    on_grid = fix(of_decoding(program_config=None, core_grid="(x=8,y=8)"), "user_fused_activation", silu)
    assert f"per_core_N=8, {then}" in on_grid
    assert on_grid.endswith("keep compute_kernel_config, drop activation= and core_grid=")
    assert f"per_core_N=8, {then}" in fix(of_decoding(), "program_config", f",fused_activation={silu})")
    spread = fix(on_blackhole(), "program_config", f",fused_activation={silu})")
    assert spread.startswith("w interleaved")
    assert spread.endswith(f"{then}; x on 8 cores; keep compute_kernel_config")


def test_banks_hold_weights_that_are_not_turned(check):
    """Real TTNN refuses transpose_b on DRAM-sharded weights: their shards are those of [K, N]."""
    turned = of_decoding()
    turned.device_ops[0].attributes["transpose_b"] = True
    assert "w so in DRAM stored as [K, N] (no transpose_b); keep" in check.ask(turned).claim.fix
    assert "w so in DRAM; keep" in check.ask(of_decoding()).claim.fix


def test_weights_that_the_op_turns_are_printed_as_n_times_k(check):
    """Real TTNN captures them as the call gives them; K and N are those of x and y."""

    def fix(*, turned):
        made = of_decoding(k=4096, n=8192, kernel_ns=188_000)
        op = made.device_ops[0]
        op.attributes["transpose_b"] = turned
        if turned:
            op.inputs[1].shape = [1, 1, 8192, 4096]
        return check.ask(made).claim.fix

    assert "in0_block_w=8, per_core_M=1, per_core_N=16)), x so on 16 cores" in fix(turned=False)
    assert "in0_block_w=8, per_core_M=1, per_core_N=16)), x so on 16 cores" in fix(turned=True)


@for_all("program", [of_decoding, on_blackhole, lambda: on_blackhole(where=DRAM, kernel_ns=66_000)])
def test_texts_are_short_and_cells_its_own(check, program):
    check.assert_sound(program())


def test_weights_within_noise_of_what_sharded_ones_reach_stream_well(check):
    """The law expects 81.1 us of them; 80.7 were measured on N150 (tt-mlir's study)."""
    check.pair(lambda ns: of_decoding(kernel_ns=ns), silent=85_398, fires=85_399)


def test_without_a_law_their_bandwidth_decides(check):
    """Nobody measured BFLOAT16 weights: 33.6 MB at 240 GB/s are 139.8 us."""
    check.pair(lambda ns: of_decoding(inner="BFLOAT16", kernel_ns=ns), silent=147_160, fires=147_170)


def test_bytes_are_padded_to_the_banks(check):
    """2048 columns are 64 tiles on 12 banks, as many bytes as of 72: the law expects 47.9 us, 37 by bandwidth alone."""
    check.pair(lambda ns: of_decoding(n=2048, kernel_ns=ns), silent=50_470, fires=50_480)


def test_on_blackhole_interleaved_weights_win_from_where_sharded_ones_end(check):
    """A healthy 1D multicast reads 348 to 390 GB/s there; of a DRAM-sharded matmul at HiFi2 61.6 us are expected."""
    claim = check.pair(lambda ns: on_blackhole(where=DRAM, kernel_ns=ns), silent=64_880, fires=64_890).claim
    assert claim.at_most_ns.tolist() == [
        pytest.approx(64_890 - 48_545 / 0.87, abs=1)
    ]  # eight cores compute 48.5 us
    assert "often slower on Blackhole" in claim.caveat


def test_on_blackhole_sharded_weights_are_a_trial_where_no_law_tells_how_long_eight_cores_compute(check):
    """Qwen2.5-Coder's four matmuls lost a fifth at HiFi2; what such a change gained elsewhere is no expectation."""
    how = {"where": DRAM, "kernel_ns": 200_000}
    told, trial = (check.ask(on_blackhole(fidelity=fidelity, **how)).claim for fidelity in ("HiFi4", "HiFi3"))
    assert (told.expected is None, trial.expected is None) == (False, True)
    check.pair(lambda ns: on_blackhole(where=DRAM, fidelity="HiFi3", kernel_ns=ns), silent=88_000, fires=88_200)
    streamed = on_blackhole(inner="BFLOAT16", fidelity="HiFi3", **how)
    computed = of_decoding(inner="BFLOAT4_B", fidelity="HiFi3", kernel_ns=200_000)
    assert [check.ask(each).claim.is_trial for each in (streamed, computed)] == [False, False]


def test_on_blackhole_sharded_weights_are_quicker_at_lofi(check):
    """39.0 us are expected, at least 36.2: the banks deliver narrow weights at up to 492 GB/s."""
    outcome = check.pair(
        lambda ns: on_blackhole(where=DRAM, fidelity="LoFi", kernel_ns=ns), silent=41_010, fires=41_020
    )
    assert outcome.at_most_ns == pytest.approx(41_020 - 17_825_792 / 492, abs=1)


def test_on_blackhole_a_config_comes_before_banks(check):
    program = Program("blackhole", grid=(11, 10))
    decoding(program, kernel_ns=65_000, where=DRAM, program_config=None)
    assert check.ask(program).status == "clean"


def test_on_blackhole_dram_sharded_weights_wait_for_eight_cores(check):
    """The reverse: interleaved and multicast, or LoFi."""
    outcome = check.pair(lambda fidelity: on_blackhole(fidelity=fidelity), silent="LoFi", fires="HiFi2")
    claim, line = outcome.claim, outcome.case.line(0)
    assert claim.at_most_ns.tolist() == [pytest.approx(60_600 - 17_825_792 / 512, abs=2)]
    assert claim.claim.startswith("1 matmul reads DRAM-sharded weights at 294 GB/s (61 us, 100.0%): 32x2048")
    assert claim.fix.startswith("w interleaved, ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(")
    assert "num_workers_per_dram_bank=2" in claim.caveat
    odd = check.ask(
        on_blackhole(n=8 * 32 * 65, kernel_ns=200_000)
    ).claim  # TTNN refuses two for 65 columns of a bank
    assert "num_workers_per_dram_bank" not in odd.caveat
    assert cells(outcome)[-1] == (line, "ATTRIBUTES.program_config")


def test_on_blackhole_only_wide_weights_gain_without_banks(check):
    """Llama-3.1 8B: gate and up, of 3.5 times as many columns as rows, won; QKV, output and down projection lost."""
    check.pair(lambda n: on_blackhole(n=n), silent=6112, fires=6144)
    check.pair(lambda block: on_blackhole(k=4096, n=4096, block=block), silent=2, fires=1)
    check.pair(lambda block: on_blackhole(block=block, fidelity="LoFi"), silent=4, fires=3)


def test_on_blackhole_fewer_passes_come_before_another_place(check):
    """BFLOAT4_B at HiFi2: LoFi was the gain of Llama-3.1 8B's down projection, interleaved weights a loss."""
    check.pair(lambda inner: on_blackhole(inner=inner), silent="BFLOAT4_B", fires="BFLOAT8_B")
    check.pair(
        lambda fidelity: on_blackhole(inner="BFLOAT4_B", fidelity=fidelity, block=2), silent="HiFi2", fires="LoFi"
    )


def test_on_blackhole_sharded_weights_that_stream_are_left_alone(check):
    """48.2 us is 85 % of achievable bandwidth; arithmetic on 8 cores takes 48.5, so three readers per bank."""
    given = sharded_config(extra=",num_workers_per_dram_bank=3")
    check.pair(lambda ns: on_blackhole(kernel_ns=ns, given=given), silent=48_100, fires=49_000)


def test_on_wormhole_sharded_weights_want_deep_blocks(check):
    outcome = check.pair(
        lambda block: of_decoding(where=BANKS, kernel_ns=120_000, program_config=sharded_config(block)),
        silent=4,
        fires=3,
    )
    assert outcome.at_most_ns == pytest.approx(120_000 - DECODED_NS * 240 / 288)
    assert "DRAMShardedProgramConfig(in0_block_w=8" in outcome.claim.fix
    even = of_decoding(where=BANKS, kernel_ns=250_000, n=6144, program_config=sharded_config(3))
    assert "num_workers_per_dram_bank" not in check.ask(even).claim.caveat  # TTNN takes them on Blackhole alone
    how = {"where": BANKS, "kernel_ns": 120_000, "fidelity": "HiFi2"}  # neither wide ones nor passes matter here
    assert check.ask(of_decoding(k=2048, n=8192, program_config=sharded_config(8), **how)).status == "clean"
    assert check.ask(of_decoding(inner="BFLOAT4_B", program_config=sharded_config(3), **how)).fires


def test_decode_has_one_row_of_tiles(check):
    check.pair(lambda rows: of_decoding(m=rows, layout="ROW_MAJOR"), silent=33, fires=32)
    check.pair(lambda batch: of_decoding(m=8, batch=batch, layout="ROW_MAJOR"), silent=5, fires=4)
    check.pair(lambda rows: on_blackhole(m=rows, layout="ROW_MAJOR", kernel_ns=90_000), silent=33, fires=32)


def test_sharded_weights_win_from_an_inner_dimension_of_2048_on(check):
    check.pair(lambda size: of_decoding(k=size, kernel_ns=60_000), silent=1792, fires=2048)


def test_an_inner_dimension_of_prime_tiles_is_cut_no_finer_than_into_single_tiles(check):
    """67 tiles go on 67 cores of one tile or on one core: neither streams, and nothing is promised."""
    check.pair(lambda tiles: of_decoding(k=32 * tiles, kernel_ns=60_000), silent=67, fires=68)


def test_an_output_too_wide_for_l1_is_left_alone(check):
    """128256 columns over 12 banks: 335 tiles, 3 x 4 x 335 x 1088 bytes for blocks of 4."""
    check.pair(lambda n: of_decoding(n=n, kernel_ns=24 * n), silent=128_256, fires=16_384)


def test_narrow_weights_do_not_saturate_dram(check):
    check.pair(lambda size: of_decoding(n=size, kernel_ns=50_000), silent=992, fires=1024)
    check.pair(lambda size: on_blackhole(k=size, kernel_ns=50_000), silent=992, fires=1024)


def test_decode_with_operands_in_l1_is_another_checks(check):
    check.pair(lambda where: of_decoding(into=where), silent=L1, fires=L1_SHARDS)


def test_weights_in_l1_do_not_stream(check):
    check.pair(lambda where: of_decoding(where=where), silent=Placement("L1", "WIDTH_SHARDED"), fires=DRAM)


def test_weights_that_lie_in_the_banks_already_are_not_interleaved(check):
    """A 1D multicast can read them too."""
    check.pair(lambda where: of_decoding(where=where), silent=BANKS, fires=DRAM)


def test_small_blocks_are_another_checks(check):
    check.pair(lambda block: of_decoding(program_config=config(block=block)), silent=1, fires=2)


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


def test_what_cannot_be_is_no_saving(check):
    """17.8 MB in 20 us are 891 GB/s."""
    given = sharded_config(2)
    check.pair(
        lambda ns: of_decoding(where=BANKS, kernel_ns=ns, program_config=given), silent=20_000, fires=120_000
    )


@for_all("how", [{}, {"where": BANKS, "kernel_ns": 120_000, "program_config": sharded_config(1)}])
def test_decode_is_told_from_one_percent_on(check, how):
    check.share_pair(lambda program: decoding(program, **how), 0.01, of="saving")


def test_decode_below_five_microseconds_is_about_its_launch(check):
    """2048 x 1024 BFLOAT4_B: 1.2 MB, 3.7 us at the 320 GB/s of Blackhole."""
    small = {"k": 2048, "n": 1024, "inner": "BFLOAT4_B", "fidelity": "LoFi", "where": DRAM}
    check.pair(lambda ns: on_blackhole(**small, kernel_ns=ns), silent=4_999, fires=5_001)


def test_all_decode_matmuls_together_have_one_bandwidth(check):
    program = of_decoding()
    decoding(program, n=8192, kernel_ns=250_000)
    outcome = check.ask(program)
    assert (
        f"2 matmuls with at most 32 rows stream interleaved weights at {240 * 3 * DECODED_NS / 344_000:.0f} GB/s"
        in (outcome.claim.claim)
    )
    assert outcome.claim.claim.endswith(f"at line {outcome.case.line(1)}")
    assert len(outcome.claim.evidence) == 4


def test_a_window_without_kernel_time_is_clean(check):
    assert check.ask(timeless(of_decoding())).status == "clean"


def test_a_compiler_has_an_option_instead(check):
    assert check.ask(of_decoding(), generation="tt-torch").claim.fix.endswith("chooses matmul configs")


def test_a_run_without_matmuls_is_not_applicable(check):
    outcome = check.ask(no_such_ops())
    assert (outcome.status, outcome.why) == ("not_applicable", "no Matmul ops")


@for_all(("lost", "word"), [("PUT_", "INPUT_n"), ("ATTRIBUTES", "program_config in ATTRIBUTES")])
def test_what_it_cannot_see_it_cannot_tell(check, tmp_path, lost, word):
    assert_cannot_tell(check.ask(without(tmp_path, (lost,))), word)


def test_an_unknown_chip_has_no_bandwidth(check, tmp_path):
    assert_cannot_tell(check.ask(rewritten(tmp_path, of_decoding(), DEVICE_ARCH="quasar")), "DEVICE ARCH")


def test_with_float32_sums_and_with_shallow_blocks_on_wormhole_nothing_is_expected(check):
    """All six DRAM-sharded matmuls of a drafter that sums in float32 lost 19 % and more."""

    def expects(**how):
        program = of_decoding(**{"kernel_ns": 100_000, **how})
        return check.ask(program).claim.expected is not None

    def in_float32():
        program = of_decoding(kernel_ns=100_000)
        op = program.calls[-1].ops[0]
        kernel = str(op.attributes["compute_kernel_config"]).replace("fp32_dest_acc_en=0", "fp32_dest_acc_en=1")
        op.attributes = {**op.attributes, "compute_kernel_config": kernel}
        return check.ask(program).claim.expected is not None

    assert (expects(), in_float32()) == (True, False)
    assert (expects(kernel_ns=95_400), expects(kernel_ns=95_500)) == (False, True)  # moves eat less than 15 %
    shallow = {"where": BANKS, "inner": "BFLOAT16", "program_config": sharded_config(2), "kernel_ns": 300_000}
    assert not expects(**shallow)
