"""host-number-in-op: a number that Python gives an op, and that is another one in the next pass."""

from __future__ import annotations

from tests.checks.asking import asker, real_case
from tests.checks.rows import ONE_PASS, put
from tests.for_all import for_all
from tests.profiles import Iteration, Program
from tests.profiles.model import DeviceOp
from tests.shared_reports import DEEPLAB

REPLAYED = (Iteration(cold=True), Iteration(capture=True), Iteration(trace=(1, 1)), Iteration(trace=(1, 2)))


def passes(*starts, name="SliceDeviceOperation", key="slice_start", shape="Shape([0, 0, {}, 0])", gap_ns=500):
    """Three ops before and two behind the slices of a pass; `starts` per pass."""
    program = Program("wormhole_b0")
    for of_pass in starts:
        x = program.tensor([1, 1, 1024, 64])
        for width in (64, 96, 128):
            x = program.op(
                "UnaryDeviceOperation", [x], shape=[1, 1, 1024, width], gap_ns=800_000 if width == 64 else gap_ns
            )
        for start in of_pass:
            attributes = {} if start is None else {key: shape.format(start)}
            out = program.tensor([1, 1, 32, 128])
            put(program, DeviceOp(name, (x,), (out,), attributes=attributes, compile_ns=100))
        for width in (160, 192):
            x = program.op("UnaryDeviceOperation", [x], shape=[1, 1, 1024, width])
    return program


def test_a_start_that_moves_with_the_steps_is_told(check):
    outcome = check.ask(passes([0], [32], [64]), ONE_PASS)
    claim = outcome.claim
    assert claim.at_most_ns.tolist() == [0]
    assert (
        "1 Slice takes another slice_start from the host in each pass: Shape([0; 0; 64; 0]) at line" in claim.claim
    )
    assert [one.value for one in claim.evidence] == ["Shape([0; 0; 64; 0])", "Shape([0; 0; 32; 0])"]
    assert [one.row for one in claim.evidence] == [outcome.case.line(3), outcome.case.line(3) - 6]
    assert "ttnn.slice(x, starts, ends, slice_dim=" in claim.fix
    assert len(claim.claim) <= 200
    assert len(claim.fix) <= 260


def test_starts_that_repeat_can_be_traced(check):
    check.pair(lambda last: passes([0], [32, 64], [last, 64]), silent=32, fires=96, iterations=ONE_PASS)


def test_only_those_that_change_are_named(check):
    outcome = check.ask(passes([0, 0], [0, 32], [0, 64]), ONE_PASS)
    assert outcome.claim.rows.tolist() == [4]
    assert "1 Slice takes" in outcome.claim.claim


def test_a_place_in_a_cache_that_moves_on_is_told(check):
    how = {"name": "UpdateKVCacheOperation", "key": "update_idx", "shape": "{}"}
    claim = check.ask(passes([7], [8], [9], **how), ONE_PASS).claim
    assert "1 UpdateKVCache takes another update_idx from the host in each pass: 9 at line" in claim.claim
    assert "update_idxs_tensor=positions" in claim.fix


@for_all("unknown", [[None], [0]], ids=["now", "before"])
def test_a_start_that_is_not_printed_is_no_evidence(check, unknown):
    other = [None] if unknown == [0] else [0]
    assert not check.ask(passes([0], other, unknown), ONE_PASS).fires


def test_a_window_without_the_last_pass_has_no_such_op(check):
    assert check.ask(passes([0], [32], [64]), ONE_PASS, chosen=2).status == "clean"


def test_one_pass_tells_nothing(check):
    assert not check.ask(passes([0]), ONE_PASS).fires


def test_the_finding_of_a_slow_host_does_not_call_it_traceable(tmp_path):
    about = asker("test_stalled_on_host", tmp_path)
    told = [
        about.ask(passes(*starts, gap_ns=40_000), ONE_PASS).claim.caveat
        for starts in ([[0], [0], [0]], [[0], [32], [64]])
    ]
    assert "so it can be traced" in told[0]
    assert told[1].endswith("numbers change with each pass: host-number-in-op first")


def test_a_trace_that_is_replayed_has_frozen_it_already(check):
    assert check.ask(passes([0]), REPLAYED).status == "not_applicable"


def test_without_such_ops_it_is_not_applicable(check):
    assert check.ask(passes([], [], []), ONE_PASS).status == "not_applicable"


def test_slices_of_a_conv_repeat(check):
    assert check.ask(real_case(DEEPLAB)).status in ("clean", "not_applicable")
