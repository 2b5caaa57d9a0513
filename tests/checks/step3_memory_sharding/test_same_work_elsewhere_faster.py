"""same-work-elsewhere-faster: the run's own evidence that another placement or op is quicker for the same product."""

from __future__ import annotations

from tests.checks.asking import real_case
from tests.checks.rows import put
from tests.checks.step3_programs import assert_cannot_tell, no_such_ops, without
from tests.for_all import for_all
from tests.profiles import DRAM, Program, height_sharded
from tests.profiles.model import DeviceOp
from tests.profiles.ops import matmul
from tests.shared_reports import CLIP, DEEPLAB

SHARDS = height_sharded(32, 256, (8, 4))


def forms(*ops):
    """Products of 1024x256 by 256x512: (placement, microseconds, changes), between ops that are no part of it."""
    program = Program("wormhole_b0")
    for at, (place, us, *more) in enumerate(ops):
        how = {
            "name": "MatmulDeviceOperation",
            "fidelity": "HiFi2",
            "m": 1024,
            "dtype": "BFLOAT16",
            **(more[0] if more else {}),
        }
        x = program.tensor([1, 1, how["m"], 256], how["dtype"], placement=place)
        w, y = program.weight([1, 1, 256, 512]), program.tensor([1, 1, how["m"], 512], how["dtype"], placement=DRAM)
        op = matmul(x, w, y, round(us * 1e3), fidelity=how["fidelity"])
        op.op_code = how["name"]
        put(program, op)
        between = program.tensor([1, 1, 32, 32 * (at + 1)])
        put(program, DeviceOp("MadeUpOfNoFamily", (between,), (between,), 1_000))
    return program


def test_the_quicker_placement_of_the_same_run_is_named(check):
    outcome = check.ask(forms((DRAM, 41), (SHARDS, 9), (DRAM, 43), (SHARDS, 10)))
    claim, lines = outcome.claim, [outcome.case.line(row) for row in range(8)]
    assert claim.rows.tolist() == [0, 4]
    assert claim.at_most_ns.tolist() == [32_000, 34_000]
    assert claim.claim.startswith("2 matmuls are faster in another form in this run (84 us,")
    assert f"at line {lines[4]} 43 us, at line {lines[2]} 9 us as Matmul, x in L1_HEIGHT_SHARDED" in claim.claim
    assert claim.fix.startswith(f"as line {lines[2]}: ttnn.linear(x, w, ...) with x L1_HEIGHT_SHARDED")
    assert {cell.row for cell in claim.evidence} == {lines[2], lines[4]}


def test_the_function_of_the_other_form_is_not_taken_over(check):
    """Its config would apply it here too."""

    def fix(*functions):
        made = forms((DRAM, 41), (SHARDS, 9))
        for op, function in zip(made.device_ops[::2], functions, strict=True):
            op.attributes["user_fused_activation"] = function and f"Any(op_type=UnaryOpType::{function},param={{}})"
        return check.ask(made).claim.fix

    assert fix(None, "SILU").endswith("; the function as here")
    assert fix("SILU", None).endswith("; the function as here")
    assert not fix("SILU", "SILU").endswith("as here")


def test_another_op_is_another_form(check):
    claim = check.ask(forms((DRAM, 61, {"name": "MinimalMatmulDeviceOperation"}), (DRAM, 26))).claim
    assert claim.rows.tolist() == [0]
    assert "ttnn.linear(x, w, ...)" in claim.fix


def test_a_tenth_is_more_than_noise(check):
    check.pair(lambda us: forms((DRAM, 40), (SHARDS, us)), silent=36, fires=35.9)


def test_a_form_that_is_not_always_quicker_is_not(check):
    check.pair(lambda us: forms((DRAM, 40), (SHARDS, 9), (SHARDS, us)), silent=38, fires=30)


@for_all("other", [{"fidelity": "LoFi"}, {"m": 2048}, {"dtype": "BFLOAT8_B"}])
def test_other_work_is_no_precedent(check, other):
    assert check.ask(forms((DRAM, 41), (SHARDS, 9, other))).status == "clean"


def test_ops_of_five_microseconds_count(check):
    check.pair(lambda us: forms((DRAM, us), (SHARDS, us / 1.3)), silent=6.4, fires=6.6)


def test_a_time_that_the_hardware_cannot_reach_is_no_precedent(check):
    """1.8 MB to and from DRAM take 6.4 us at its peak."""
    check.pair(lambda us: forms((SHARDS, 40), (DRAM, us)), silent=5.5, fires=6.5)


def test_ops_that_multiply_nothing_are_not_applicable(check):
    assert check.ask(no_such_ops()).why == "no matmuls"


def test_without_weights_it_cannot_tell(check, tmp_path):
    assert_cannot_tell(check.ask(without(tmp_path, ("INPUT_",), forms((DRAM, 41), (SHARDS, 9)))), "INPUT_n")


def test_half_a_percent_of_the_window_is_the_line(check):
    check.share_pair(lambda made: [made.calls.extend(forms((DRAM, 41), (SHARDS, 9)).calls)], 0.005, of="saving")


@for_all(("report", "ops", "us"), [(DEEPLAB, 2, 57.4), (CLIP, 128, 4554.8)])
def test_real_runs_hold_such_precedents(check, report, ops, us):
    claim = check.ask(real_case(report)).claim
    assert (len(claim.rows), round(claim.promise_ns / 1e3, 1)) == (ops, us)
