"""wide-weights: narrower weights save bytes where the op waits for them, and nothing elsewhere."""

import pytest

from tests.checks.programs import NARROW, decode, linear, relu
from tests.checks.rows import pass_time, put
from tests.for_all import for_all
from tests.profiles import L1, Program, height_sharded
from tests.profiles.conv import Window, conv2d
from tests.profiles.model import DeviceOp
from tests.profiles.ops import binary
from ttnn_mcp.analyses.roofline.launch import LAUNCH_FLOOR_NS


@pytest.fixture
def program() -> Program:
    return Program("wormhole_b0")  # 64 cores at 1 GHz; 240 GB/s of DRAM are achievable


def test_one_percent_of_the_window_is_the_line(check):
    check.share_pair(decode, 0.01, of="saving")


def test_the_claim_is_sound(check, program):
    decode(program)
    check.assert_sound(program)


def test_a_run_without_weights_is_not_applicable(check, program):
    pass_time(program, 1000)
    assert check.ask(program).status == "not_applicable"


@for_all("took", [280_000, 600_000])
def test_time_falls_with_the_bytes_as_far_as_they_take_it(check, program, took):
    """Twice what they take at 240 GB/s is theirs at most, 284 us."""
    linear(program, 32, 4096, 4096, took)
    weights, rest = 4096 * 4096, 2 * 32 * 4096 * 2
    spared = weights * (2 - 1.0625) / (weights * 2 + rest)
    assert check.ask(program).at_most_ns == pytest.approx(min(took, 2 * (weights * 2 + rest) / 240) * spared)


def test_a_weight_bound_op_at_its_roofline_keeps_the_bytes_that_stay(check, program):
    linear(program, 32, 4096, 4096, 125_000)
    stays = (4096 * 4096 * 1.0625 + 2 * 32 * 4096 * 2) / 240
    assert check.ask(program).at_most_ns == pytest.approx(125_000 - stays)


def test_a_short_op_keeps_its_launch(check, program):
    linear(program, 32, 192, 192, 500)
    assert check.ask(program).at_most_ns == 500 - LAUNCH_FLOOR_NS


@for_all(
    "change",
    [{"weights": NARROW}, {"where": L1}, {"fidelity": "HiFi4", "cores": 1}],
    ids=["narrow already", "in L1", "arithmetic of one core outweighs the bytes"],
)
def test_weights_stay_as_they_are_where_narrower_ones_would_not_help(check, program, change):
    decode(program, **change)
    assert not check.ask(program).fires


def test_wide_weights_beside_narrow_ones_are_claimed_alone(check, program):
    decode(program)
    linear(program, 32, 4096, 2048, 300_000, weights=NARROW)
    claim = check.ask(program).claim
    assert claim.claim.startswith("1 of 2 ops with weights read BFLOAT16 ones and wait for bytes")
    assert claim.rows.tolist() == [0]


def test_matmuls_of_activations_and_those_that_wait_for_arithmetic_are_not_claimed_with_others(check, program):
    decode(program)
    key = relu(program, program.tensor([1, 1, 4096, 2048]))
    linear_of_two = (program.tensor([1, 1, 32, 4096]), key), (program.tensor([1, 1, 32, 2048]),)
    put(program, DeviceOp("MatmulDeviceOperation", *linear_of_two, 300_000, fidelity="HiFi2"))
    linear(program, 4096, 4096, 4096, 4_000_000)
    assert check.ask(program).claim.rows.tolist() == [0]


def test_attention_has_no_weights_to_narrow(check, program):
    key = relu(program, program.tensor([1, 1, 4096, 4096]))
    x, y = program.tensor([1, 1, 32, 4096]), program.tensor([1, 1, 32, 4096])
    put(program, DeviceOp("MatmulDeviceOperation", (x, key), (y,), 300_000, fidelity="HiFi2"))
    assert check.ask(program).status == "not_applicable"


def test_without_an_architecture_bytes_have_no_time(check):
    program = Program("wormhole_b0", clock_ghz=0.5)
    decode(program)
    outcome = check.ask(program, generation="C2")
    assert outcome.status == "cannot_tell"
    assert "unknown architecture" in outcome.why


def test_an_unknown_architecture_matters_from_one_percent_of_wide_weights_on(check):
    def program(share):
        made = Program("wormhole_b0", clock_ghz=0.5)
        decode(made)
        pass_time(made, 300_000 * (1 / share - 1))
        return made

    assert check.ask(program(0.0099), generation="C2").status == "clean"
    assert check.ask(program(0.0101), generation="C2").status == "cannot_tell"


@for_all(("architecture", "rows"), [("wormhole_b0", 32), ("blackhole", 33)])
def test_where_the_bandwidth_is_far_from_reached_the_program_config_comes_first(check, architecture, rows):
    assert at_share(check, architecture, rows, 0.31).claim.caveat.startswith("keep heads")
    assert at_share(check, architecture, rows, 0.29).claim.caveat.startswith(
        "they reach only 29% of that bandwidth"
    )


def test_a_matmul_of_one_token_far_from_blackholes_bandwidth_does_not_wait_for_bytes(check):
    """As CosyVoice's: 5.48 ms a token with BFLOAT16 weights and with BFLOAT8_B ones."""
    assert at_share(check, "blackhole", 32, 0.382).claim.caveat.startswith("keep heads")
    assert at_share(check, "blackhole", 32, 0.378).status == "clean"


def test_blocks_of_k_that_explain_the_time_of_a_token_are_no_bytes_on_blackhole(check):
    """GLM-4.7-Flash's: 1034 us a step in BFLOAT16, 1030 in BFLOAT8_B; 128 tiles of K in 64 blocks."""

    def program(ns, *, rows=32, block=2, arch="blackhole"):
        made = Program(arch)
        given = f"MatmulMultiCoreReuseMultiCast1DProgramConfig(in0_block_w={block})"
        linear(made, rows, 4096, 4096, ns, program_config=given)
        return made

    check.pair(program, silent=91_400, fires=91_500)
    check.pair(lambda block: program(91_000, block=block), silent=2, fires=4)
    check.pair(lambda rows: program(91_000, rows=rows), silent=32, fires=33)
    check.pair(lambda arch: program(180_000, block=1, arch=arch), silent="blackhole", fires="wormhole_b0")


def at_share(check, architecture, rows, share):
    """What is said of one matmul that reaches this share of the achievable bandwidth."""
    gb_s = {"wormhole_b0": 240, "blackhole": 0.85 * 512}[architecture]
    made = Program(architecture)
    linear(made, rows, 4096, 4096, round((4096 * 4096 * 2 + 2 * -(-rows // 32) * 32 * 4096 * 2) / gb_s / share))
    return check.ask(made)


@for_all(("fidelity", "told"), [("HiFi4", 0), ("LoFi", 1)])
def test_bytes_do_not_decide_where_arithmetic_outweighs_them(check, program, fidelity, told):
    """1024 rows at HiFi4 take 525 us of arithmetic, at LoFi 131, and their bytes 210."""
    linear(program, 1024, 4096, 4096, 530_000, fidelity=fidelity)
    assert len(check.ask(program).claims) == told


def test_a_conv_far_from_its_bandwidth_still_gains(check, program):
    """Its weights leave room in L1 too."""
    weight_bound_conv(program)
    program.device_ops[-1].kernel_ns = 100_000
    assert check.ask(program).fires


def test_a_small_conv_is_no_matmul_of_one_token(check):
    """25 rows on Blackhole, a quarter of its bandwidth."""
    program = Program("blackhole")
    weight_bound_conv(program, 5)
    assert check.ask(program).claim.caveat.startswith("they reach only ")


def test_a_front_end_is_told_its_own_option_and_its_line_is_cited(check, program):
    decode(program)
    claim = check.ask(program, generation="tt-torch").claim
    assert '"experimental_weight_dtype": "bfp_bf8"' in claim.fix
    assert any(one.column == "LOC" for one in claim.evidence)


def weight_bound_conv(program, side=7):
    """4.7 MB of weights: 20 us; 1 us to multiply."""
    x = program.tensor([1, 1, side**2, 512], layout="ROW_MAJOR")
    w, bias = program.weight([1, 1, 9 * 512, 512]), program.weight([1, 1, 1, 512])
    y = program.tensor([1, 1, side**2, 512], placement=height_sharded(32, 512, 2))
    window = Window((side, side), (3, 3), padding=1)
    op = conv2d(x, w, bias, y, window=window, kernel_ns=40_000, in_channels=512, act_block_h=1, fidelity="LoFi")
    op.cores = 64
    put(program, op)


def test_no_option_of_a_front_end_narrows_the_weights_of_convs(check, program):
    weight_bound_conv(program)
    assert check.ask(program).fires
    assert check.ask(program, generation="tt-torch").status == "clean"


def test_an_op_without_weights_is_not_claimed_in_compiled_code_either(check, program):
    decode(program)
    x, y, total = (program.tensor([1, 1, 4096, 4096]) for _ in range(3))
    put(program, binary("ADD", x, y, total, 600_000))
    claim = check.ask(program, generation="tt-torch").claim
    assert claim.claim.startswith("1 of 1 ops with weights")
    assert claim.rows.tolist() == [0]


def test_a_conv_takes_the_type_of_its_weights_by_its_config(check, program):
    weight_bound_conv(program)
    assert check.ask(program).claim.fix.startswith("conv_config=ttnn.Conv2dConfig(weights_dtype=ttnn.bfloat8_b)")


def test_a_matmul_takes_weights_that_were_loaded_narrow(check, program):
    decode(program)
    assert check.ask(program).claim.fix.startswith("w = ttnn.from_torch(torch_w, dtype=ttnn.bfloat8_b")


def test_a_window_that_took_no_time_has_nothing_to_save(check, program):
    linear(program, 32, 4096, 4096, 0)
    assert check.ask(program).status == "clean"


@for_all(("nnz", "batches"), [("2", 1), ("2", 16), ("std::nullopt", 1), ("99", 1)], ids=str)
def test_of_experts_only_the_active_ones_are_read(check, program, nnz, batches):
    took = (30_000 if batches > 1 else 20_000) if nnz == "2" else 100_000
    x, w = program.tensor([1, batches, 32, 512]), program.tensor([1, 16, 512, 1024])
    y = program.tensor([1, 16, 32, 1024])
    put(
        program,
        DeviceOp("SparseMatmulDeviceOperation", (x, w), (y,), took, fidelity="LoFi", attributes={"nnz": nnz}),
    )
    outcome = check.ask(program)
    if nnz == "std::nullopt":
        assert outcome.status == "clean"  # how many experts were read is not in the report
        return
    active = min(int(nnz), 16)
    weights, rest = active * 512 * 1024, 32 * (512 * batches + 16 * 1024) * 2
    assert outcome.at_most_ns == pytest.approx(took * weights * (2 - 1.0625) / (2 * weights + rest), rel=0.001)


def test_a_matmul_that_took_no_time_waits_for_nothing(check, program):
    decode(program)
    linear(program, 32, 2048, 2048, 0)
    assert check.ask(program).claim.claim.startswith("1 of 2 ops with weights")
