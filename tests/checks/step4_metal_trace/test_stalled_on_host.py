"""stalled-on-host: gaps count where they are dispatch, and not where they are compiling, a sync or not measured."""

import pytest

from tests.checks.mesh_programs import mesh
from tests.checks.rows import put
from tests.for_all import for_all
from tests.profiles import Iteration, Program
from tests.profiles.model import DeviceOp
from tests.profiles.ops import collective
from ttnn_mcp.analyses.roofline.launch import LAUNCH_FLOOR_NS
from ttnn_mcp.checks import CATALOGUE
from ttnn_mcp.checks.expectation import measured_cases
from ttnn_mcp.checks.levers import LATE_CHIPS
from ttnn_mcp.checks.plan.plan import plan_of

COLD, WARM = Iteration(cold=True), Iteration()
CHECK = next(one for one in CATALOGUE if one.id == "stalled-on-host")
REPLAYED = (COLD, Iteration(capture=True), Iteration(trace=(1, 1)), Iteration(trace=(1, 2)))


def model(gap_ns: int, ops: int = 20, kernel_ns: int = 10_000) -> Program:
    """Kernels of 10 us: 20 of them with 19 gaps are busy for 200 / (200 + 19 gap)."""
    program = Program("wormhole_b0")
    x = program.tensor([1, 1, 32, 32])
    for width in range(1, ops + 1):
        x = program.op(
            "UnaryDeviceOperation", [x], shape=[1, 1, 32, 32 * width], kernel_ns=kernel_ns, gap_ns=gap_ns
        )
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


def within(check, program, iterations=(COLD, WARM), **how):
    """The program's window, given its wall time in microseconds."""
    return lambda us: check.case(program, iterations, **how).of_wall(us * 1e3)


def test_kernels_that_fill_ninety_percent_of_the_wall_are_the_line(check):
    at = within(check, model(90_000))  # 200 us of kernels
    check.pair(at, silent=222.2, fires=222.3)
    why = "kernels fill 95% of wall_ms 0.21: longer gaps of the profile are the profiler's"
    assert check.ask(at(210)).why == why


def test_a_wall_that_leaves_a_microsecond_an_op_has_nothing_to_trace(check):
    at = within(check, model(90_000, kernel_ns=5_000))  # 100 us of kernels, 84 % of 119
    check.pair(at, silent=119, fires=119.1)
    assert "wall_ms 0.119 leaves no more between ops than a trace does" in check.ask(at(119)).why


def test_the_wall_bounds_the_saving_and_lets_expect_a_share_of_it(check):
    case = within(check, model(90_000))(400)
    claim, walls = check.ask(case).claim, measured_cases()["walls"]["trace"]
    most_ns = 200_000 - 19_000
    assert claim.gap_ns == (0.0, pytest.approx(most_ns))
    ends = [claim.expected.saved_ns, claim.expected.low_ns, claim.expected.high_ns]
    assert [each.sum() for each in ends] == pytest.approx(
        [most_ns * walls["median"], most_ns * walls["low"], most_ns]
    )
    assert claim.claim == "kernels fill 50% of wall_ms 0.4: 200 us are left, of 1,710 us of gaps in the profile"
    assert claim.assumption.endswith("kernels unchanged; wall_ms 0.4 is of this window, profiler off")
    assert claim.caveat.startswith("where ops waited for other chips, a trace saved nothing of it; shapes repeat")
    assert not claim.at_most_ns.any()
    plan = plan_of(case, [(CHECK, claim)])
    (trace,) = plan.ranked
    assert plan.before_ns == pytest.approx(400_000)
    assert trace.alone_ns == pytest.approx(most_ns)
    assert plan.after_ns == pytest.approx(219_000)
    assert plan.expected_ns == pytest.approx(400_000 - most_ns * walls["median"])


def test_a_wall_with_more_than_the_gaps_only_tells_of_work_around_the_pass(check):
    at = within(check, model(11_000))  # 409 us with its gaps
    for us, by_wall in ((408, True), (410, False)):
        claim = check.ask(at(us)).claim
        assert claim.gap_ns[1] == pytest.approx(min(us - 219, 190) * 1e3)
        assert (claim.expected is not None) == by_wall
        assert ("of wall_ms" in claim.claim) == by_wall
    assert claim.caveat.startswith(
        "wall_ms 0.41 leaves more than these gaps: the rest is work around the pass; shapes"
    )
    assert "wall_ms" not in claim.assumption


def test_a_wall_shows_that_a_pause_is_the_profilers(check):
    program = with_a_pause(1_150_000)  # 210 us of kernels, 2,290 of gaps
    check.pair(within(check, program), silent=2_510, fires=2_490, silent_is="cannot_tell")


@for_all("how", [{"iterations": (COLD,)}, {"without": "OP TO OP LATENCY"}], ids=["cold", "no gaps"])
def test_without_gaps_of_a_warm_pass_a_wall_tells_only_that_kernels_fill_it(check, how):
    at = within(check, model(20_000), **how)
    assert check.ask(at(222.2)).status == "clean"
    assert check.ask(at(222.3)).status == "cannot_tell"


def test_short_gaps_of_the_profile_are_not_called_the_profilers(check):
    """19 gaps of 0.9 us: a trace saves nothing of them, and the wall has more."""
    at = within(check, model(900, kernel_ns=5_000))
    claim = check.ask(at(400)).claim
    assert claim.gap_ns == (0.0, 0.0)
    assert claim.caveat.startswith("wall_ms 0.4 leaves more than these gaps")


def with_exchange(exchange_us: float, rest_us: float, gap_ns: int = 90_000) -> Program:
    """An exchange of a few bytes between two ops on four chips, of which three wait for the last."""
    program = mesh()
    x, y = program.tensor([1, 1, 32, 64]), program.tensor([1, 1, 32, 256])
    put(program, DeviceOp("UnaryDeviceOperation", (x,), (x,), 1_000))
    waiting_ns = round(1_000 * exchange_us)
    gather = collective("AllGatherAsync", x, y, [waiting_ns] * 3 + [int(LAUNCH_FLOOR_NS)], ring_size=4)
    gather.gap_ns = [1_000] * 3 + [2_000 + waiting_ns]
    put(program, gather)
    put(program, DeviceOp("UnaryDeviceOperation", (y,), (x,), round(1_000 * (rest_us - 1)), gap_ns=gap_ns))
    return program


def test_a_wall_is_filled_by_kernels_that_do_not_wait(check):
    """Of 1 ms 990 us are kernels; what the exchange takes beyond its launch may be waiting."""
    at = [within(check, with_exchange(us, 990 - us))(1_000) for us in (90, 91)]
    assert [check.ask(case).status for case in at] == ["clean", "found"]


def test_exchanges_that_wait_in_their_kernels_are_a_trial_beside_the_gaps(check):
    gaps, exchanges = check.ask(within(check, with_exchange(400, 200))(800)).claims
    assert (gaps.gap_ns, gaps.is_trial) == ((0.0, pytest.approx(89_000)), False)
    assert exchanges.rows.tolist() == [1]
    assert exchanges.at_most_ns.tolist() == [400_000 - LAUNCH_FLOOR_NS]  # of 800 us 200.4 are work, 91 gaps
    assert exchanges.lever == LATE_CHIPS
    assert (exchanges.expected, exchanges.is_trial) == (None, True)
    assert exchanges.claim.startswith("kernels fill 75% of wall_ms 0.8, of which exchanges take 400 us")
    assert exchanges.fix == gaps.fix
    assert "device_balance" in exchanges.caveat


def test_no_more_waits_than_the_wall_has_beyond_the_work_of_any_chip(check):
    """Chip 0 works 500 us and waits 100 in an exchange of 20 for chip 3, which the host feeds late."""
    program = mesh()
    x, y = program.tensor([1, 1, 32, 64]), program.tensor([1, 1, 32, 256])
    put(program, DeviceOp("UnaryDeviceOperation", (x,), (x,), [500_000, 300_000, 300_000, 300_000]))
    gather = collective("AllGatherAsync", x, y, [120_000, 300_000, 300_000, 20_000], ring_size=4)
    gather.gap_ns = [1_000, 20_000, 20_000, 320_000]
    put(program, gather)
    for wall_us, waits_us in ((700, 100), (620.5, 99.5)):
        (claim,) = check.ask(within(check, program)(wall_us)).claims
        assert claim.rows.tolist() == [1]
        assert claim.at_most_ns.tolist() == pytest.approx([1_000 * waits_us])


def test_chips_that_take_as_long_for_an_exchange_do_not_wait(check):
    program = mesh()
    x, y = program.tensor([1, 1, 32, 64]), program.tensor([1, 1, 32, 256])
    put(program, DeviceOp("UnaryDeviceOperation", (x,), (x,), 200_000))
    put(program, collective("AllGatherAsync", x, y, 400_000, ring_size=4))
    assert check.ask(within(check, program)(601.6)).status == "clean"


def test_where_the_wall_leaves_no_gap_exchanges_may_still_wait(check):
    (claim,) = check.ask(within(check, with_exchange(400, 200))(600.9)).claims
    assert claim.rows.tolist() == [1]


def test_without_a_wall_exchanges_wait_no_longer_than_the_gaps_of_another_chip(check):
    gaps, exchanges = check.ask(with_exchange(400, 200)).claims
    assert gaps.gap_ns[1] == pytest.approx(89_000)
    assert exchanges.at_most_ns.tolist() == [400_000 - LAUNCH_FLOOR_NS]
    assert exchanges.claim.startswith("kernels fill 87% of the warm window, of which exchanges take 400 us")


def test_of_one_chip_of_a_mesh_nothing_is_said_of_exchanges_without_a_wall(check):
    program = with_exchange(400, 200)
    program.devices = 1
    for op in program.device_ops:
        op.kernel_ns, op.gap_ns = 300_000, 90_000
    (claim,) = check.ask(program).claims
    assert claim.gap_ns is not None
