"""eight-bit-weights-stream: BFLOAT4_B as a trial, where BFLOAT8_B weights are what a matmul waits for."""

from __future__ import annotations

import pytest

from tests.checks.asking import real_case
from tests.checks.programs import linear, relu
from tests.checks.rows import pass_time, put
from tests.for_all import for_all
from tests.profiles import L1, Program
from tests.profiles.ops import binary, matmul
from tests.shared_reports import CLIP, DEEPLAB, DEEPSEEK, OFT, SEGFORMER
from ttnn_mcp.analyses.roofline.launch import LAUNCH_FLOOR_NS

EIGHT, FOUR = "BFLOAT8_B", "BFLOAT4_B"
WEIGHTS, OTHERS = 4096 * 4096 * 1.0625, 2 * 32 * 4096 * 2  # bytes: 17.8 MB, 76.5 us at 240 GB/s


def decode(program, *, kernel_ns=90_000, **change):
    linear(program, 32, 4096, 4096, kernel_ns, **{"weights": EIGHT, **change})


def of_decode(**change):
    program = Program("wormhole_b0")
    decode(program, **change)
    return program


def test_half_of_the_bytes_may_go_and_nothing_is_promised(check):
    claim = check.assert_sound(of_decode())
    share = WEIGHTS * (1 - 0.5625 / 1.0625) / (WEIGHTS + OTHERS)
    assert claim.at_most_ns.tolist() == [pytest.approx(90_000 * share)]
    assert claim.at_least_ns is None
    assert claim.spared_bytes.tolist() == [pytest.approx(WEIGHTS * (1 - 0.5625 / 1.0625))]
    assert claim.claim.startswith("1 of 1 matmuls with weights read BFLOAT8_B ones from DRAM (90 us, 100.0%)")
    assert "dtype=ttnn.bfloat4_b" in claim.fix
    assert claim.caveat.startswith("a trial")
    assert [one.column for one in claim.evidence] == [
        "DEVICE KERNEL DURATION [ns]",
        "INPUT_1_DATATYPE",
        "INPUT_1_MEMORY",
    ]


def test_the_bound_ends_where_the_bytes_at_achievable_bandwidth_do(check):
    """9.96 MB stay: 41.5 us of the 79 that it takes."""
    claim = check.ask(of_decode(kernel_ns=79_000)).claim
    spared = WEIGHTS * (1 - 0.5625 / 1.0625)
    assert claim.at_most_ns.tolist() == [pytest.approx(79_000 * spared / (WEIGHTS + OTHERS))]


def test_one_percent_of_the_window_is_the_line_and_heads_are_tried_elsewhere(check):
    check.share_pair(decode, 0.01, of="saving")

    def head(columns):
        program = Program("wormhole_b0")
        linear(program, 32, 4096, columns, 24 * columns, weights=EIGHT)
        return program

    check.pair(head, silent=32_000, fires=31_968)


@for_all(
    "change",
    [
        {"weights": "BFLOAT16"},
        {"weights": FOUR},
        {"where": L1},
        {"kernel_ns": 900_000},
        {"fidelity": "HiFi4", "cores": 4, "kernel_ns": 2_000_000},
    ],
    ids=["wider", "narrow already", "in L1", "explained by something else", "bound by arithmetic"],
)
def test_what_four_bits_would_not_help_is_left_alone(check, change):
    assert check.ask(of_decode(**change)).status in ("clean", "not_applicable")


def test_who_reads_four_bits_somewhere_has_chosen_for_the_smaller_ones(check):
    """Down beside packed gate and up was narrowed in the end, attention was not."""

    def program(columns, other=FOUR):
        made = of_decode()
        linear(made, 32, 4096, columns, columns * 20, weights=other)
        return made

    both = check.pair(lambda other: program(16_384, other), silent=FOUR, fires=EIGHT)
    assert len(both.claim.rows) == 2
    narrow = check.pair(program, silent=10_272, fires=10_240)  # 0.4 of them are left
    assert narrow.claim.rows.tolist() == [0]


def test_blocks_of_k_that_explain_the_time_are_no_bytes(check):
    """64 blocks of two tiles take 64 us of a matmul of 90."""
    given = "MatmulMultiCoreReuseMultiCast1DProgramConfig(in0_block_w={})"
    check.pair(lambda ns: of_decode(kernel_ns=ns, program_config=given.format(2)), silent=91_000, fires=92_000)
    check.pair(lambda block: of_decode(program_config=given.format(block)), silent=2, fires=4)


def test_wider_weights_that_are_waited_for_come_first(check):
    def program(kernel_ns):
        made = of_decode()
        linear(made, 32, 4096, 2048, kernel_ns, weights="BFLOAT16")
        return made

    check.pair(program, silent=80_000, fires=2_000_000)


def test_a_small_matmul_keeps_its_launch(check):
    program = Program("wormhole_b0")
    linear(program, 32, 128, 512, 500, weights=EIGHT)
    assert check.ask(program).claim.at_most_ns.tolist() == [500 - LAUNCH_FLOOR_NS]


def test_what_an_op_made_is_no_weight(check):
    program = Program("wormhole_b0")
    made = relu(program, program.tensor([1, 1, 4096, 4096], EIGHT))
    put(program, matmul(program.tensor([1, 1, 32, 4096]), made, program.tensor([1, 1, 32, 4096]), 90_000))
    assert check.ask(program).status == "not_applicable"


def test_an_add_reads_no_weights(check):
    program = of_decode(kernel_ns=900_000)
    x, y, out = (program.tensor([1, 1, 4096, 4096], EIGHT) for _ in range(3))
    put(program, binary("ADD", x, y, out, 300_000))
    assert check.ask(program).status == "clean"


def test_activations_of_four_bits_are_no_choice_for_weights(check):
    """So that the smaller matmul is told as well."""
    program = of_decode()
    linear(program, 32, 4096, 1024, 24_000, weights=EIGHT)
    x, y, out = (program.tensor([1, 1, 512, 512], FOUR) for _ in range(3))
    put(program, binary("ADD", x, y, out, 9_000))
    assert check.ask(program).claim.rows.tolist() == [0, 1]


def test_convs_do_not_ship_with_four_bits(check):
    program = of_decode()
    for op in program.device_ops:
        op.op_code = "Conv2dDeviceOperation"
    assert check.ask(program).status == "not_applicable"


def test_the_heaviest_of_all_is_shown(check):
    program = of_decode()
    linear(program, 32, 4096, 5120, 110_000, weights=EIGHT)
    outcome = check.ask(program)
    assert outcome.claim.claim.startswith("2 of 2 matmuls")
    assert outcome.claim.claim.endswith(f"at line {outcome.case.line(1)}")


def test_a_run_of_other_ops_is_not_applicable(check):
    program = Program("wormhole_b0")
    pass_time(program, 1000)
    assert check.ask(program).status == "not_applicable"


def test_an_unknown_chip_has_no_bandwidth(check):
    outcome = check.ask(of_decode(), without="DEVICE ARCH|CYCLE")
    assert outcome.status == "cannot_tell"
    assert "DRAM bandwidth" in outcome.why


def test_a_compiler_converts_all_weights(check):
    assert "bfp_bf4" in check.ask(of_decode(), generation="tt-torch").claim.fix


@for_all("name", [CLIP, DEEPLAB, DEEPSEEK, OFT, SEGFORMER])
def test_real_reports_without_such_a_matmul_are_clean(check, name):
    """bfloat16 weights, prefill that computes, or convs: none waits for 8-bit weights."""
    assert check.ask(real_case(name)).status == "clean"
