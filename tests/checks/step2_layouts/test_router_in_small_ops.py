"""router-in-small-ops: DeepSeek's expert router as ops of its own, in place of one fused gate."""

from __future__ import annotations

import pytest

from tests.checks.rows import pass_time, put
from tests.checks.step3_programs import assert_cannot_tell, cells, no_such_ops, without
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp

STEPS = (  # name, output, share of the time
    ("Unary", [1, 1, 32, 256], 6), ("BinaryNg", [1, 1, 32, 256], 6), ("ReshapeView", [1, 32, 8, 32], 20),
    ("TopK", [1, 32, 8, 2], 150), ("Reduce", [1, 32, 8, 1], 8), ("ReshapeView", [1, 1, 32, 8], 20),
    ("TopK", [1, 1, 32, 4], 90), ("Scatter", [1, 1, 32, 8], 40), ("Repeat", [1, 32, 8, 32], 60),
    ("Where", [1, 1, 32, 256], 10), ("TopK", [1, 1, 32, 8], 200), ("Gather", [1, 1, 32, 8], 60),
    ("BinaryNg", [1, 1, 32, 8], 20),
)  # fmt: skip


def put_router(program, *, kernel_us=690, groups=8, per_group=32, steps=STEPS):
    """tt-metal PR #34267: 690 us a layer."""
    parts = sum(share for *_, share in steps)
    x = program.tensor([1, 1, 32, 256])
    for name, shape, share in steps:
        y = program.tensor([1, 32, groups, per_group] if shape == [1, 32, 8, 32] else shape)
        put(program, DeviceOp(f"{name}DeviceOperation", (x,), (y,), round(1000 * kernel_us * share / parts)))
        x = y


def router(**how):
    program = Program("wormhole_b0")
    put(program, DeviceOp("MatmulDeviceOperation", (program.tensor([1, 1, 32, 7168]),) * 2, (program.tensor([1, 1, 32, 256]),), 20_000))  # fmt: skip
    put_router(program, **how)
    pass_time(program, 10_000)
    return program


def test_a_router_in_small_ops_is_told(check):
    """690 us became 57."""
    outcome = check.ask(router())
    claim, case = outcome.claim, outcome.case
    assert claim.rows.tolist() == list(range(1, 14))
    assert outcome.at_most_ns == pytest.approx(685_000, rel=1e-3)
    assert 633_000 <= outcome.at_most_ns <= 5 * 633_000
    assert claim.claim == (
        f"1 router over 8 groups of experts run as 13 ops (690 us, 93.1%): 13 from line {case.line(1)} on"
    )
    assert claim.fix.startswith("weights, experts = ttnn.experimental.deepseek_grouped_gate(")
    assert {row for row, _ in cells(outcome)} == {case.line(row) for row in (4, 7, 11)}


def test_texts_are_short_and_cells_its_own(check):
    check.assert_sound(router())


@for_all("per_group", [32, 64])
def test_groups_of_32_experts_or_padded_to_64_are_deepseeks(check, per_group):
    assert check.ask(router(per_group=per_group)).fires


@for_all("change", [{"groups": 4}, {"groups": 16}, {"per_group": 128}, {"per_group": 48}], ids=str)
def test_another_gate_is_none(check, change):
    assert check.ask(router(**change)).status == "clean"


def test_one_topk_is_sampling_and_no_router(check):
    assert check.ask(router(steps=STEPS[:4])).status == "clean"
    assert check.ask(router(steps=STEPS[:7])).fires


@for_all("name", ["Matmul", "AllGatherAsync", "MadeUpOfNoFamily"])
def test_what_does_other_work_ends_the_router(check, name):
    steps = (*STEPS[:4], (name, [1, 1, 32, 8], 1), *STEPS[7:])
    assert check.ask(router(steps=steps)).status == "clean"


def test_twice_the_fused_gate_is_the_line(check):
    check.pair(lambda us: router(kernel_us=us), silent=113, fires=115)


def test_several_routers_are_one_claim(check):
    program = router(kernel_us=200)
    put_router(program)
    claim = check.ask(program).claim
    assert claim.claim.startswith("2 routers over 8 groups of experts run as 26 ops (890 us")
    assert claim.at_most_ns.sum() == pytest.approx(880_000, rel=1e-3)


def test_one_percent_is_worth_telling(check):
    check.share_pair(put_router, 0.01, of="saving")


def test_other_ops_are_not_applicable(check):
    assert check.ask(no_such_ops()).why == "no TopK ops"


def test_without_operands_it_cannot_tell(check, tmp_path):
    assert_cannot_tell(check.ask(without(tmp_path, ("INPUT_",), router())), "INPUT_n")
