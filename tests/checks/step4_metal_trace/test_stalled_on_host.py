"""stalled-on-host: gaps count where they are dispatch, and not where they are compiling, a sync or not measured."""

import pytest

from tests.for_all import for_all
from tests.profiles import Iteration, Program

COLD, WARM = Iteration(cold=True), Iteration()
REPLAYED = (COLD, Iteration(capture=True), Iteration(trace=(1, 1)), Iteration(trace=(1, 2)))


def model(gap_ns: int, ops: int = 20) -> Program:
    """Kernels of 10 us: 20 of them with 19 gaps are busy for 200 / (200 + 19 gap)."""
    program = Program("wormhole_b0")
    x = program.tensor([1, 1, 32, 32])
    for width in range(1, ops + 1):
        x = program.op("UnaryDeviceOperation", [x], shape=[1, 1, 32, 32 * width], kernel_ns=10_000, gap_ns=gap_ns)
    return program


def with_a_pause(pause_ns: int, gap_ns: int = 60_000) -> Program:
    """20 ops whose 19 gaps are 1.14 ms together, and one op more after a pause."""
    program = model(gap_ns)
    program.op("UnaryDeviceOperation", [program.tensor([1, 1, 64, 96])], kernel_ns=10_000, gap_ns=pause_ns)
    return program


def test_kernels_that_fill_ninety_percent_of_the_warm_window_are_the_line(check):
    outcome = check.pair(model, silent=1_165, fires=1_175)
    assert outcome.claim.claim.startswith("kernels fill 90% of the warm window: 22 of 222 us are gaps")


def test_the_saving_is_the_gaps_less_a_microsecond_each(check):
    claim = check.ask(model(11_000)).claim
    assert claim.gap_ns == (0.0, pytest.approx(19 * 11_000 - 19 * 1_000))
    assert claim.assumption == "a traced op keeps 1.0 us of gap; kernels unchanged"
    assert not claim.at_most_ns.any()  # nothing on the kernels
    assert len(claim.rows) == 20


@for_all("first", [COLD, WARM], ids=["compiling", "compiled before"])
def test_the_only_pass_is_no_evidence_of_a_slow_host(check, first):
    outcome = check.ask(model(20_000), [first])
    assert outcome.status == "cannot_tell"
    assert "gaps are compile time. Profile 2 or more iterations" in outcome.why


def test_a_cold_pass_is_no_evidence_even_where_kernels_fill_the_time(check):
    assert check.ask(model(0), [COLD]).status == "cannot_tell"


def test_gaps_that_were_not_measured_are_no_evidence(check):
    assert check.ask(model(20_000), without="OP TO OP LATENCY").status == "cannot_tell"


def test_a_run_that_replays_a_trace_has_no_use_for_one(check):
    outcome = check.ask(model(20_000), REPLAYED)
    assert outcome.status == "not_applicable"
    assert "already replays a trace" in outcome.why


def test_a_sync_or_print_that_holds_half_of_the_waiting_is_the_line(check):
    check.pair(with_a_pause, silent=1_150_000, fires=1_130_000, silent_is="cannot_tell")
    assert "1 gaps of over 1 ms hold most of the waiting: a sync or print" in check.ask(with_a_pause(1_150_000)).why


def test_a_pause_of_less_than_a_millisecond_is_dispatch(check):
    check.pair(lambda ns: with_a_pause(ns, gap_ns=20_000), silent=1_001_000, fires=999_000, silent_is="cannot_tell")


def test_the_two_longest_waits_are_cited(check):
    program = with_a_pause(90_000, gap_ns=20_000)
    assert [one.value for one in check.ask(program).claim.evidence] == [90_000, 20_000]


@for_all(("ops", "megabytes"), [(20, 1), (256, 1), (257, 2)])
def test_a_trace_region_has_4_kb_per_op_in_whole_megabytes(check, ops, megabytes):
    assert f"trace_region_size={megabytes * 1_048_576})" in check.ask(model(20_000, ops)).claim.fix


def test_a_front_end_has_an_option_of_its_own(check):
    cold_then_warm = (COLD, WARM, WARM)
    fix = check.ask(model(20_000), cold_then_warm, generation="tt-torch").claim.fix
    assert '"enable_trace": "true"' in fix
    assert "TT_RUNTIME_TRACE_REGION_SIZE=1048576" in fix


def test_shapes_that_repeat_can_be_traced(check):
    assert "shapes repeat over iterations" in check.ask(model(20_000)).claim.caveat
