"""matmul-operands-in-l1-interleaved: a matmul left to TTNN with an interleaved operand in L1 runs on few cores."""

from __future__ import annotations

import pytest

from tests.checks.rows import put
from tests.checks.step3_programs import (
    assert_cannot_tell,
    cells,
    left_to_ttnn,
    no_such_ops,
    rewritten,
    timeless,
    without,
)
from tests.for_all import for_all
from tests.profiles import DRAM, L1, Program, height_sharded, width_sharded
from tests.profiles.model import DeviceOp
from tests.profiles.ops import matmul

GRID_OF_2D = "MatmulMultiCoreReuseMultiCastProgramConfig(compute_with_storage_grid_size=(x=8,y=2),in0_block_w=2)"


def linear(**change):
    program = Program("wormhole_b0")
    left_to_ttnn(program, **change)
    return program


def test_a_matmul_left_to_ttnn_with_an_operand_in_l1_is_a_trap(check):
    outcome = check.ask(linear())
    claim, line = outcome.claim, outcome.case.line(0)
    assert claim.at_most_ns.tolist() == [150_000]  # 16 of 64 cores: 50 us on all, which is four times as fast
    assert claim.claim.startswith(
        "1 matmul left to TTNN with an operand in L1_INTERLEAVED, on 16 of 64 cores (200 us"
    )
    assert claim.fix.startswith("ttnn.matmul(a, b, core_grid=ttnn.CoreGrid(y=8, x=8), compute_kernel_config=")
    assert "math_approx_mode=True, fp32_dest_acc_en=False, packer_l1_acc=True), ...)" in claim.fix  # as it ran
    assert claim.fix.endswith(": 64 of 64 cores")
    assert f"op_detail(op={line})" in claim.verify
    assert claim.caveat == "L1_INTERLEAVED alone makes it slower, not faster"
    assert cells(outcome) == [
        (line, "DEVICE KERNEL DURATION [ns]"),
        (line, "INPUT_0_MEMORY"),
        (line, "CORE COUNT"),
    ]


def fallen_back(kernel_ns=2_963_000, place=L1, **how):
    """QKV of dots.ocr's vision tower on a norm in FLOAT32 in L1: 199 us with the norm in DRAM."""
    program = Program("blackhole", grid=(11, 10))
    x, w = (
        program.tensor([1, 1, 896, 1536], "FLOAT32", placement=place),
        program.weight([1, 1, 1536, 4608], "FLOAT32"),
    )
    y = program.tensor([1, 1, 896, 4608], "FLOAT32")
    put(program, matmul(x, w, y, kernel_ns, **{"cores": 110, "fidelity": "HiFi4", **how}))
    return program


def test_one_tile_at_a_time_on_all_cores_is_the_deeper_trap(check):
    claim = check.ask(fallen_back()).claim
    assert claim.claim.startswith(
        "1 matmul left to TTNN with an operand in L1_INTERLEAVED reaches 3% of the roofline"
    )
    assert claim.fix.startswith("a, b and the result in ttnn.DRAM_MEMORY_CONFIG")
    assert 2_963_000 - 199_000 <= claim.at_most_ns.sum() == pytest.approx(2_963_000 * (1 - 1 / 15.5))
    check.assert_sound(fallen_back())
    check.pair(fallen_back, silent=2_050_000, fires=2_070_000)  # a twentieth of its roofline
    for other in ({"place": DRAM}, {"core_grid": "(x=11,y=10)"}):
        assert not check.ask(fallen_back(**other)).fires


def test_a_small_one_has_not_fallen_back(check):
    """Its weights take 4.9 or 5.5 us at 240 GB/s, and the launch of the smallest 4 % of 9 us."""

    def of(n, k=1024, kernel_ns=300_000):
        program = Program("wormhole_b0")
        x, y = (program.tensor([1, 1, 256, width], placement=L1) for width in (k, n))
        put(program, matmul(x, program.weight([1, 1, k, n]), y, kernel_ns, cores=64))
        return program

    check.pair(of, silent=576, fires=640)
    assert check.ask(of(256, 256, 9_000)).status == "clean"


def test_a_bias_goes_with_the_call(check):
    """`ttnn.matmul` takes none."""
    made = linear()
    op = made.device_ops[0]
    op.inputs = (*op.inputs, made.weight([1, 1, 1, op.outputs[0].shape[3]]))
    assert check.ask(made).claim.fix.startswith("ttnn.linear(a, b, bias=bias, core_grid=ttnn.CoreGrid(y=8, x=8), ")


def test_texts_are_short_and_cells_its_own(check):
    check.assert_sound(linear())


def batched(heads, arch="blackhole"):
    """`heads` pairs of 512 x 128 by 128 x 1024, the output in L1: DeepLab's line 388 has 32."""
    program = Program(arch)
    x, w = program.tensor([1, heads, 512, 128]), program.tensor([1, heads, 128, 1024])
    put(program, matmul(x, w, program.tensor([1, heads, 512, 1024], placement=L1), 200_000, cores=heads))
    return program


def test_with_batches_on_both_sides_a_grid_brings_no_core_and_dram_does(check):
    """TTNN 0.81.1 took 32 cores with core_grid, one for each pair, and 88 with all operands in DRAM."""
    claim = check.ask(batched(32)).claim
    assert claim.fix.startswith(
        "ttnn.matmul(a, b, memory_config=ttnn.DRAM_MEMORY_CONFIG, compute_kernel_config=ttnn."
    )
    assert claim.fix.endswith("), a and b in DRAM too: 88 of 110 cores")
    assert claim.at_most_ns.tolist() == [pytest.approx(200_000 * (1 - 32 / 88))]


def test_where_no_change_brings_a_core_nothing_is_told(check):
    """One row of tiles by one column: one core, whatever is asked for."""
    program = Program("wormhole_b0")
    x, w = program.tensor([1, 1, 32, 4096], placement=L1), program.tensor([1, 1, 4096, 32])
    put(program, matmul(x, w, program.tensor([1, 1, 32, 32]), 200_000, cores=1))
    assert check.ask(program).status == "clean"

    def shared_out(cores):
        """TTNN 0.81.1 gives 40 tiles in shards to 40 cores, with a core_grid too: its choice is not modelled."""
        made = Program("blackhole", grid=(11, 10))
        x, w = made.tensor([1, 1, 32, 4096], placement=L1), made.tensor([1, 1, 4096, 1280], "BFLOAT8_B")
        y = made.tensor([1, 1, 32, 1280], placement=width_sharded(32, 32, 40))
        put(made, matmul(x, w, y, 60_300, cores=cores))
        return made

    check.pair(shared_out, silent=40, fires=20)
    assert check.ask(shared_out(20)).claim.fix.endswith(": 40 of 110 cores")


@for_all("where", ["first", "second", "out"])
def test_one_interleaved_operand_in_l1_is_enough(check, where):
    column = {"first": "INPUT_0_MEMORY", "second": "INPUT_1_MEMORY", "out": "OUTPUT_0_MEMORY"}[where]
    assert cells(check.ask(linear(**{"first": DRAM, where: L1})))[1][1] == column


@for_all(
    "change",
    [
        {"first": DRAM},
        {"first": height_sharded(64, 512, 16), "out": L1},
        {"first": DRAM, "out": height_sharded(64, 1024, 16)},
        {"program_config": GRID_OF_2D},
        {"core_grid": "(x=8,y=2)"},
    ],
    ids=["all in DRAM", "sharded", "sharded output", "a config", "a core grid"],
)
def test_a_matmul_that_was_told_or_lies_elsewhere_is_no_trap(check, change):
    assert check.ask(linear(**change)).status == "clean"


def test_the_trap_is_told_below_sixty_percent_of_the_grid(check):
    check.pair(lambda cores: linear(cores=cores), silent=39, fires=38)


def test_the_trap_is_told_from_one_percent_on(check):
    check.share_pair(left_to_ttnn, 0.01, of="saving")


def test_what_is_spread_takes_its_share_of_the_cores(check):
    assert check.ask(linear(cores=32)).at_most_ns == 100_000


def test_it_gets_four_times_as_fast_at_best(check):
    assert check.ask(linear(cores=2)).at_most_ns == 150_000


def test_what_it_moves_and_computes_stays(check):
    """3.1 MB through DRAM at 240 GB/s: 13.1 us, more than a quarter of 40."""
    moved = (512 * 1024 + 1024 * 1024) * 2
    assert check.ask(linear(kernel_ns=40_000, cores=8)).at_most_ns == pytest.approx(40_000 - moved / 240)


def test_the_fewest_cores_and_the_two_heaviest_are_named(check):
    program = Program("wormhole_b0")
    for cores, kernel_ns in ((16, 100_000), (8, 200_000), (12, 300_000)):
        x, w = program.tensor([1, 1, 32 * cores, 512], placement=L1), program.weight([1, 1, 512, 1024])
        op = DeviceOp("MatmulDeviceOperation", (x, w), (program.tensor([1, 1, 32 * cores, 1024]),), kernel_ns)
        op.cores, op.attributes = cores, {"program_config": None}
        put(program, op)
    outcome = check.ask(program)
    assert outcome.claim.claim.startswith("3 matmuls left to TTNN with an operand in L1_INTERLEAVED, on 8 of 64")
    heaviest = outcome.case.line(2)
    assert f"at line {heaviest}" in outcome.claim.claim
    assert {row for row, _ in cells(outcome)} == {outcome.case.line(1), heaviest}


def test_a_run_of_linears_alone_is_judged_too(check):
    program = linear()
    program.device_ops[0].op_code = "LinearDeviceOperation"
    assert check.ask(program).fires


def test_a_fidelity_that_is_not_told_is_what_ttnn_takes_for_bfloat16(check, tmp_path):
    assert "MathFidelity.LoFi, " in check.ask(linear(fidelity="LoFi")).claim.fix
    assert "MathFidelity.HiFi2, " in check.ask(rewritten(tmp_path, linear(), MATH_FIDELITY="invalid")).claim.fix


def test_a_grid_of_no_known_card_is_left_to_the_device(check):
    program = Program("wormhole_b0", grid=(7, 7))
    left_to_ttnn(program)
    assert "core_grid=ttnn.CoreGrid(y=g.y, x=g.x)" in check.ask(program).claim.fix


def test_a_window_without_kernel_time_is_clean(check):
    assert check.ask(timeless(linear())).status == "clean"


def test_a_compiler_has_an_option_instead(check):
    program = linear()
    left_to_ttnn(program, cores=64, first=DRAM)
    fix = check.ask(program, generation="tt-torch").claim.fix
    assert "optimization_level" in fix
    assert fix.endswith("chooses shards and cores")


def test_a_report_without_the_grid_says_so(check):
    program = linear()
    left_to_ttnn(program, cores=64, first=DRAM)
    assert "64 is the most cores any op used" in check.ask(program, generation="C3").claim.caveat


def test_a_run_without_matmuls_is_not_applicable(check):
    outcome = check.ask(no_such_ops())
    assert (outcome.status, outcome.why) == ("not_applicable", "no Matmul ops")


@for_all(
    ("lost", "word"),
    [
        ("PUT_", "MEMORY columns"),
        ("_MEMORY", "MEMORY columns"),
        ("CORE COUNT", "no CORE COUNT"),
        ("=CORE COUNT=", "no CORE COUNT"),
        ("ATTRIBUTES", "program_config in ATTRIBUTES"),
    ],
)
def test_what_it_cannot_see_it_cannot_tell(check, tmp_path, lost, word):
    assert_cannot_tell(check.ask(without(tmp_path, (lost,))), word)


def test_matmuls_that_say_nothing_of_their_config_cannot_be_judged(check):
    program = Program("wormhole_b0")
    x, w = program.tensor([1, 1, 64, 64], placement=L1), program.weight([1, 1, 64, 64])
    put(program, DeviceOp("MatmulDeviceOperation", (x, w), (program.tensor([1, 1, 64, 64]),), 10_000, cores=2))
    assert_cannot_tell(check.ask(program), "program_config in ATTRIBUTES")
