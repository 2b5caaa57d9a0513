"""fidelity-above-operands: passes that no mantissa can use cost time where arithmetic binds."""

import pytest

from tests.checks.programs import NARROW, WIDE, conv, decode, linear, prefill, scaled
from tests.checks.rows import pass_time, put
from tests.for_all import for_all
from tests.profiles import L1, Program
from tests.profiles.model import DeviceOp
from tests.profiles.ops import matmul
from ttnn_mcp.analyses.roofline.launch import LAUNCH_FLOOR_NS
from ttnn_mcp.checks import expectation

FLOP = 2 * 4096**3


@pytest.fixture
def program() -> Program:
    return Program("wormhole_b0")  # 64 cores at 1 GHz; 240 GB/s of DRAM are achievable


def test_one_percent_of_the_window_is_the_line(check):
    check.share_pair(prefill, 0.01, of="saving")


def test_the_claim_is_sound(check, program):
    prefill(program)
    check.assert_sound(program)


@for_all("other", [lambda program: pass_time(program, 1000), scaled], ids=["no engine", "eltwise"])
def test_the_fidelity_of_ops_without_the_engine_means_nothing(check, program, other):
    other(program)
    assert check.ask(program).status == "not_applicable"


def test_half_the_passes_save_half_the_time_where_nothing_else_binds(check, program):
    prefill(program)
    outcome = check.ask(program)
    assert outcome.at_most_ns == 2_000_000
    assert "math_fidelity=ttnn.MathFidelity.HiFi2" in outcome.claim.fix
    assert "compute_kernel_config=" in outcome.claim.fix
    assert "computes at HiFi4 what HiFi2 covers" in outcome.claim.claim


def test_attention_that_softmax_keeps_is_not_claimed_with_other_attention(check, program):
    """Its passes take a seventeenth of its time."""
    attend(program, 0.6)
    attend(program, 0.06, heads=4)
    assert check.ask(program).claim.rows.tolist() == [0]


def attend(program, used, heads=8):
    """Attention whose two products, in four passes, take such a share of its time."""
    q, k, v, y = (program.tensor([1, heads, 4096, 128], WIDE) for _ in range(4))
    engine_ns = 2 * 2 * heads * 4096 * 4096 * 128 * 4 / 4096 / 64
    put(program, DeviceOp("SDPADeviceOperation", (q, k, v), (y,), round(engine_ns / used), fidelity="HiFi4"))


def test_attention_expects_nothing_of_what_matmuls_gained(check, program, monkeypatch):
    """Softmax takes no passes: three tries in two ledgers brought nothing."""
    tries = {"tried": 9, "gained": 7, "part": 0.5}
    known = {"checks": {}, "levers": {}, "tries": {"fidelity-above-operands": tries}}
    monkeypatch.setattr(expectation, "measured_cases", lambda: known)
    attend(program, 0.6)
    linear(program, 4096, 4096, 4096, round(FLOP * 4 / 4096 / 64 / 0.6), weights=WIDE, fidelity="HiFi4")
    claims = check.ask(program).claims
    assert [(len(claim.rows), claim.expected is None) for claim in claims] == [(1, False), (1, True)]


def test_fewer_passes_never_promise_to_beat_the_arithmetic_that_stays(check, program):
    prefill(program, fidelity="HiFi4", output=NARROW)
    roofline = check.case(program).roofline
    assert roofline.compute_ns[0] == pytest.approx(FLOP * 4 / 4096 / 64)
    slow = Program("wormhole_b0")
    linear(slow, 4096, 4096, 4096, 2_100_000, weights=NARROW, fidelity="HiFi4")
    outcome = check.ask(slow)
    assert outcome.at_most_ns == pytest.approx(2_100_000 / 2)
    assert outcome.at_most_ns <= 2_100_000 - FLOP * 2 / 4096 / 64 + 1


def test_a_short_op_keeps_its_launch(check, program):
    x, w, y = (program.tensor([1, 1, 256, 256], NARROW, placement=L1) for _ in range(3))
    put(program, matmul(x, w, y, 600, fidelity="HiFi4"))  # 0.5 us of arithmetic, half of it without need
    assert check.ask(program).at_most_ns == 600 - LAUNCH_FLOOR_NS


def test_a_conv_takes_its_compute_config_by_another_name(check, program):
    conv(program)
    claim = check.ask(program).claim
    assert claim.fix.startswith("compute_config=")
    assert "1 conv " in claim.claim


@for_all(
    "change",
    [
        {"fidelity": "LoFi"},
        {"fidelity": "HiFi2"},
        {"weights": "FLOAT32", "activations": "FLOAT32"},
        {"weights": "BFLOAT4_B", "fidelity": "LoFi"},
    ],
    ids=lambda change: "-".join(change.values()),
)
def test_a_fidelity_that_the_operands_can_use_is_right(check, program, change):
    prefill(program, **change)
    assert not check.ask(program).fires


def test_an_op_at_the_right_fidelity_is_not_among_those_claimed(check, program):
    prefill(program)
    linear(program, 4096, 4096, 2048, 2_000_000, weights=NARROW, fidelity="HiFi2")
    assert check.ask(program).claim.rows.tolist() == [0]


def test_bfloat4_weights_need_no_second_pass(check, program):
    prefill(program, weights="BFLOAT4_B", fidelity="HiFi2", kernel_ns=2_000_000)
    assert "MathFidelity.LoFi" in check.ask(program).claim.fix


def test_a_matmul_that_the_engine_keeps_for_less_than_half_of_its_time_gains_nothing(check):
    engine_ns = 4 * 2 * 4096**3 / (64 * 4096)  # HiFi4 on 64 cores at 1 GHz

    def at(share):
        program = Program("wormhole_b0")
        prefill(program, kernel_ns=round(engine_ns / share))
        return program

    check.pair(at, silent=0.49, fires=0.51)


def test_a_matmul_that_something_else_keeps_is_not_claimed_with_others(check, program):
    prefill(program)
    linear(program, 4096, 4096, 2048, 40_000_000, weights=NARROW, fidelity="HiFi4")
    assert check.ask(program).claim.rows.tolist() == [0]


def test_a_memory_bound_matmul_gains_nothing_from_fewer_passes(check, program):
    decode(program, fidelity="HiFi4")
    assert check.ask(program).status == "clean"


def test_a_matmul_whose_bytes_take_longer_than_its_arithmetic_waits_for_them(check):
    """131 us of arithmetic at HiFi4 on 64 cores; its bytes at 240 GB/s take 157 us, with narrow weights 92 us."""

    def of_weights(dtype):
        program = Program("wormhole_b0")
        linear(program, 256, 4096, 4096, 200_000, weights=dtype, fidelity="HiFi4")
        return program

    check.pair(of_weights, silent=WIDE, fires=NARROW)


def test_a_memory_bound_matmul_is_not_claimed_with_others(check, program):
    prefill(program)
    decode(program, fidelity="HiFi4")
    assert check.ask(program).claim.rows.tolist() == [0]


def test_an_empty_fidelity_column_is_no_verdict(check, program):
    prefill(program)
    program.calls[-1].ops[0].fidelity = None
    outcome = check.ask(program)
    assert outcome.status == "cannot_tell"
    assert "MATH FIDELITY is empty" in outcome.why


def test_one_op_without_fidelity_hides_no_other(check, program):
    prefill(program)
    program.calls[-1].ops[0].fidelity = None
    linear(program, 4096, 4096, 2048, 2_000_000, weights=NARROW, fidelity="HiFi4")
    assert check.ask(program).claim.rows.tolist() == [1]


def test_a_window_that_took_no_time_has_nothing_to_save(check, program):
    linear(program, 4096, 4096, 4096, 0, weights=NARROW, fidelity="HiFi2")
    assert check.ask(program).status == "clean"


def test_a_compilers_config_is_the_compilers_business(check, program):
    prefill(program)
    fix = check.ask(program, generation="tt-torch").claim.fix
    assert fix.startswith("the compiler writes the compute config")
    assert "ttnn." not in fix
