"""cast-before-attention: a wider copy of Q, K or V that attention alone reads."""

from __future__ import annotations

import pytest

from tests.checks.programs import NARROW, WIDE, cast, relu
from tests.checks.rows import pass_time, put
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp
from tests.profiles.ops import unary

SHAPE = [8, 16, 512, 64]


def attention(program, *, before=NARROW, after=WIDE, also_read=False, by=cast, kernel_ns=900_000, apart=32):
    heads = []
    for place in range(3):
        made = relu(program, program.tensor([*SHAPE[:3], 64 + apart * place], before))
        heads.append(by(program, made, after, 100_000))
        if also_read:
            relu(program, heads[-1], "FLOAT32")  # of another type, so that attention does not seem to read it
    out = program.tensor(SHAPE, after)
    put(program, DeviceOp("SDPAOperation", tuple(heads), (out,), kernel_ns, fidelity="HiFi2"))


def activated(program, x, dtype, kernel_ns):
    """Computes while it widens."""
    y = program.tensor(x.shape, dtype)
    return put(program, unary("GELU", x, y, kernel_ns))


def of_attention(**how):
    program = Program("wormhole_b0")
    attention(program, **how)
    return program


def test_q_k_and_v_of_one_size_are_told_apart(check):
    """BGE-M3, batch 32: 72 casts took 11.1 ms, attention behind them 35.2 instead of 21.5."""
    outcome = check.ask(of_attention(apart=0))
    assert outcome.claim.claim.startswith("3 casts from BFLOAT8_B to BFLOAT16 serve only attention (300 us")
    assert outcome.claim.at_most_ns[3] == pytest.approx(900_000 * (1 - 1.0625 / 2))


def test_the_casts_go_and_attention_reads_half(check):
    outcome = check.ask(of_attention())
    claim, kernel_ns = outcome.claim, outcome.case.kernel_ns
    assert claim.claim.startswith("3 casts from BFLOAT8_B to BFLOAT16 serve only attention (300 us")
    assert claim.at_most_ns[:3].tolist() == [100_000] * 3
    assert kernel_ns[claim.rows[3]] == 900_000
    assert claim.at_most_ns[3] == pytest.approx(900_000 * (1 - 1.0625 / 2))
    assert "ttnn.bfloat8_b as it is" in claim.fix


def test_queries_of_a_decode_keep_16_bits(check):
    """Real TTNN: "GQA expects BFLOAT16 input tensor"; keys and values it takes as they are."""
    program = of_attention()
    program.device_ops[-1].op_code = "SdpaDecodeDeviceOperation"
    assert check.ask(program).claim.claim.startswith("2 casts from BFLOAT8_B to BFLOAT16 serve only attention")


def test_the_claim_is_sound(check):
    check.assert_sound(of_attention())


def test_one_percent_of_the_window_is_the_line(check):
    check.share_pair(attention, 0.01, of="saving")


@for_all(
    "change",
    [
        {"before": "FLOAT32"},
        {"before": "UINT8"},
        {"before": "INT8"},
        {"before": WIDE, "after": NARROW},
        {"also_read": True},
        {"by": activated},
    ],
    ids=["narrows from float32", "an integer", "one with a sign", "narrows", "read by another op", "computes too"],
)
def test_casts_with_a_reason_stay(check, change):
    assert check.ask(of_attention(**change)).status == "clean"


def test_a_cast_that_narrows_beside_those_that_widen_stays(check):
    program = of_attention()
    wide = [cast(program, relu(program, program.tensor([*SHAPE[:3], 256], NARROW)), WIDE, 100_000)]
    wide.append(cast(program, relu(program, program.tensor([*SHAPE[:3], 512], WIDE)), NARROW, 100_000))
    put(program, DeviceOp("SDPAOperation", tuple(wide), (program.tensor(SHAPE, WIDE),), 900_000, fidelity="HiFi2"))
    assert check.ask(program).claim.rows.tolist() == [1, 3, 5, 6, 8, 11]


def test_a_cast_that_nobody_reads_is_not_claimed_with_others(check):
    program = of_attention()
    cast(program, program.tensor([1, 1, 32, 32], NARROW), WIDE)
    assert check.ask(program).claim.rows.tolist() == [1, 3, 5, 6]


def test_a_report_without_the_second_operand_does_not_show_what_attention_reads(check):
    assert check.ask(of_attention(), without="INPUT_[12]").status == "cannot_tell"


def test_a_run_without_attention_is_not_applicable(check):
    program = Program("wormhole_b0")
    pass_time(program, 1000)
    assert check.ask(program).status == "not_applicable"
