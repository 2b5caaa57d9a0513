"""second-pass-for-eight-bits: LoFi as a trial, where HiFi2 is what a matmul or conv waits for."""

from __future__ import annotations

import pytest

from tests.checks.asking import real_case
from tests.checks.programs import conv, linear
from tests.checks.rows import pass_time, put
from tests.for_all import for_all
from tests.profiles import L1, Program
from tests.profiles.model import DeviceOp
from tests.profiles.ops import matmul
from tests.shared_reports import CLIP, DEEPLAB, DEEPSEEK, OFT, SEGFORMER
from ttnn_mcp.analyses.roofline.launch import LAUNCH_FLOOR_NS

ENGINE_NS = 2 * 4096**3 // (64 * 4096)  # per pass, on 64 cores at 1 GHz: 524 us


def prefill(program, *, kernel_ns=1_400_000, **change):
    linear(program, 4096, 4096, 4096, kernel_ns, **{"weights": "BFLOAT8_B", "fidelity": "HiFi2", **change})


def of_prefill(**change):
    program = Program("wormhole_b0")
    prefill(program, **change)
    return program


def of_conv(**change):
    program = Program("wormhole_b0")
    conv(program, **{"fidelity": "HiFi2", **change})
    return program


def test_half_of_the_time_may_go_and_nothing_is_promised(check):
    claim = check.assert_sound(of_prefill())
    assert claim.at_most_ns.tolist() == [700_000]
    assert claim.at_least_ns is None
    assert claim.claim.startswith("1 matmul (1.4 ms, 100.0%) wait")
    assert "math_fidelity=ttnn.MathFidelity.LoFi" in claim.fix
    assert claim.caveat.startswith("a trial")
    assert [one.value for one in claim.evidence] == ["HiFi2", 1_400_000, "BFLOAT8_B"]


def test_a_conv_is_asked_too(check):
    assert "1 conv (" in check.ask(of_conv()).claim.claim


def test_one_percent_of_the_window_is_the_line(check):
    check.share_pair(prefill, 0.01, of="saving")


def test_arithmetic_must_explain_seven_tenths_of_a_matmul(check):
    line = int(2 * ENGINE_NS / 0.7)
    check.pair(lambda ns: of_prefill(kernel_ns=ns), silent=line + 10, fires=line - 10)


def test_half_is_enough_on_dram_sharded_weights(check):
    """On twelve cores, one for each bank."""
    config = "MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig(in0_block_w=8,per_core_M=1,per_core_N=12)"

    def sharded(ns):
        program = Program("wormhole_b0")
        x, y = (program.tensor([1, 1, 4096, 4096]) for _ in range(2))
        put(program, matmul(x, program.weight([1, 1, 4096, 4096], "BFLOAT8_B"), y, ns, program_config=config))
        return program

    line = 4 * ENGINE_NS * 64 // 12
    check.pair(sharded, silent=line + 20, fires=line - 20)

    def beside_lofi(given):
        program = sharded(line - 20)
        program.device_ops[-1].attributes["program_config"] = given
        linear(program, 32, 2048, 1024, 10_000, weights="BFLOAT8_B", fidelity="LoFi")
        return program

    said = check.pair(beside_lofi, silent=config.replace("DRAMSharded", ""), fires=config)
    assert said.claim.rows.tolist() == [0]


def test_on_dram_sharded_weights_the_core_beside_a_bank_decides(check):
    """What stays are the bytes at the banks' peak, not arithmetic on the grid: at LoFi 96 % of it was measured."""
    config = "MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig(in0_block_w=8,per_core_M=1,per_core_N=8)"
    program = Program("blackhole", grid=(11, 10))
    linear(program, 32, 2048, 8192, 60_000, weights="BFLOAT8_B", fidelity="HiFi2")
    program.device_ops[-1].attributes["program_config"] = config
    assert check.ask(program).claim.at_most_ns.tolist() == [60_000 - (17_825_792 + 655_360) / 512]


@for_all("fidelity", ["HiFi3", "HiFi4"])
def test_above_hifi2_another_check_comes_first(check, fidelity):
    assert check.ask(of_prefill(fidelity=fidelity, kernel_ns=3_000_000)).status == "clean"


@for_all("weights", ["BFLOAT16", "BFLOAT4_B"])
def test_other_weights_are_other_checks(check, weights):
    assert check.ask(of_prefill(weights=weights)).status == "clean"


def test_what_waits_for_bytes_gains_nothing(check):
    program = Program("wormhole_b0")
    linear(program, 32, 4096, 4096, 90_000, weights="BFLOAT8_B", fidelity="HiFi2")
    assert check.ask(program).status == "clean"


def test_what_waits_for_bytes_a_little_more_than_for_arithmetic_is_left_alone(check):
    """66 us on the engine, 91 us of bytes, 110 us: fewer passes would change nothing that lasts."""
    program = Program("wormhole_b0")
    linear(program, 256, 4096, 4096, 110_000, weights="BFLOAT8_B", fidelity="HiFi2")
    assert check.ask(program).status == "clean"


def test_who_runs_lofi_somewhere_has_chosen_op_by_op(check):
    def program(fidelity):
        made = of_prefill()
        linear(made, 32, 2048, 1024, 10_000, weights="BFLOAT8_B", fidelity=fidelity)
        return made

    check.pair(program, silent="LoFi", fires="HiFi2")


def test_a_small_matmul_keeps_its_launch(check):
    """512 x 256 x 256: 0.51 us on the engine in two passes, 0.29 us for its weights."""
    program = Program("wormhole_b0")
    x, y = (program.tensor([1, 1, 512, 256], placement=L1) for _ in range(2))
    put(program, matmul(x, program.weight([1, 1, 256, 256], "BFLOAT8_B"), y, 700))
    assert check.ask(program).claim.at_most_ns.tolist() == [700 - LAUNCH_FLOOR_NS]


def test_what_is_no_longer_than_its_launch_is_no_part_of_it(check):
    """512 x 256 x 128: 0.26 us on the engine in two passes, 0.15 us for its weights."""
    program = of_prefill()
    x, y = program.tensor([1, 1, 512, 256], placement=L1), program.tensor([1, 1, 512, 128], placement=L1)
    put(program, matmul(x, program.weight([1, 1, 256, 128], "BFLOAT8_B"), y, int(LAUNCH_FLOOR_NS)))
    assert check.ask(program).claim.rows.tolist() == [0]


def test_the_second_operand_of_attention_is_no_weight(check):
    """It waits for its arithmetic too: 0.52 ms on the engine in two passes, 0.1 ms of bytes."""
    program = of_prefill()
    heads = [program.tensor([1, 8, 4096, 128], "BFLOAT8_B") for _ in range(4)]
    put(program, DeviceOp("SDPAOperation", tuple(heads[:3]), (heads[3],), 700_000, fidelity="HiFi2"))
    assert check.ask(program).claim.rows.tolist() == [0]


def test_attention_at_lofi_is_no_choice_for_weights(check):
    program = of_prefill()
    heads = [program.tensor([1, 8, 512, 64]) for _ in range(4)]
    put(program, DeviceOp("SDPAOperation", tuple(heads[:3]), (heads[3],), 100_000, fidelity="LoFi"))
    assert check.ask(program).fires


def test_a_norm_at_lofi_is_no_choice(check):
    program = of_prefill()
    pass_time(program, 1000)
    program.device_ops[-1].fidelity = "LoFi"
    assert check.ask(program).fires


def test_the_heaviest_of_all_is_shown(check):
    program = of_prefill()
    linear(program, 4096, 4096, 5120, 1_700_000, weights="BFLOAT8_B", fidelity="HiFi2")
    outcome = check.ask(program)
    assert outcome.claim.claim.startswith("2 matmuls")
    assert outcome.claim.claim.endswith(f"at line {outcome.case.line(1)}")


def test_a_run_of_other_ops_is_not_applicable(check):
    program = Program("wormhole_b0")
    pass_time(program, 1000)
    assert check.ask(program).status == "not_applicable"


@for_all(("lost", "word"), [("MATH FIDELITY", "MATH FIDELITY"), ("PUT_", "INPUT_n")])
def test_what_it_cannot_see_it_cannot_tell(check, lost, word):
    outcome = check.ask(of_prefill(), without=lost)
    assert outcome.status == "cannot_tell"
    assert word in outcome.why


def test_a_compiler_has_an_option(check):
    assert '"math_fidelity": "lofi"' in check.ask(of_prefill(), generation="tt-torch").claim.fix


def test_two_matmuls_of_a_real_prefill_wait_for_the_second_pass(check):
    """Lines 35 and 195 compute for more than 70 % of their time, line 3 for half; the other three move heads about."""
    outcome = check.ask(real_case(DEEPSEEK))
    assert [outcome.case.line(int(row)) for row in outcome.claim.rows] == [35, 195]
    assert outcome.at_most_ns == pytest.approx(543_800, rel=0.001)


@for_all("name", [CLIP, DEEPLAB, OFT, SEGFORMER])
def test_real_reports_at_lofi_or_above_hifi2_are_clean(check, name):
    assert check.ask(real_case(name)).status == "clean"
