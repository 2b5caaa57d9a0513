"""What stays above the floors after the plan is split by why, and named by kind of op, the heaviest first."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.checks.made_checks import saves
from tests.checks.programs import linear
from tests.checks.rows import ONE_PASS, case_of, pass_time, put
from tests.profiles import L1, Program
from tests.profiles.model import DeviceOp
from ttnn_mcp.checks.diagnosis import ask
from ttnn_mcp.checks.levers import TRACE
from ttnn_mcp.checks.plan.plan import plan_of
from ttnn_mcp.checks.unexplained import KINDS, unexplained

FLOOR_NS = 370  # an op that no roofline is known for must at least be launched


def of_kinds(folder, *times, again=0, iterations=ONE_PASS):
    """Ops named A, B, C ..., each with a time; the first `again` times more."""
    program = Program()
    for place, ns in [*enumerate(times), *[(0, times[0] + 1)] * again]:
        x, y = (program.tensor([1, 1, 32, 32 * (place + 1)], "UINT16", placement=L1) for _ in range(2))
        put(program, DeviceOp(f"{chr(65 + place)}{chr(97 + place)}DeviceOperation", (x,), (y,), ns))
    return case_of(folder, program, iterations)


def left_by(case, *checks):
    return unexplained(
        case, plan_of(case, [(check, claim) for check in checks for claim in ask(check, case).claims])
    )


def test_the_heaviest_kinds_come_first_and_name_their_costliest_op(tmp_path):
    left = left_by(of_kinds(tmp_path, 10_000, 30_000, 5_000, again=1))
    assert [(kind.name, kind.ops, kind.above_ns, kind.now_ns) for kind in left.kinds] == [
        ("Bb", 1, 30_000 - FLOOR_NS, 30_000),
        ("Aa", 2, 20_001 - 2 * FLOOR_NS, 20_001),
        ("Cc", 1, 5_000 - FLOOR_NS, 5_000),
    ]
    assert [kind.heaviest for kind in left.kinds] == [1, 3, 2]
    assert {kind.why for kind in left.kinds} == {"no_edit"}
    assert left.by_why == {"no_edit": pytest.approx(55_001 - 4 * FLOOR_NS)}


def test_five_kinds_are_named(tmp_path):
    left = left_by(of_kinds(tmp_path, *range(10_000, 80_000, 10_000)))
    assert len(left.kinds) == KINDS == 5
    assert left.kinds[-1].now_ns == 30_000


def test_a_finding_explains_only_what_its_bound_reaches(tmp_path):
    left = left_by(of_kinds(tmp_path, 10_000, 30_000), saves("half", 0.5, rows=[1]))
    assert left.by_why == {
        "after_edits": pytest.approx(15_000 - FLOOR_NS),
        "no_edit": pytest.approx(10_000 - FLOOR_NS),
    }
    assert [(kind.name, kind.why) for kind in left.kinds] == [("Bb", "after_edits"), ("Aa", "no_edit")]


def test_what_goes_away_leaves_nothing(tmp_path):
    left = left_by(of_kinds(tmp_path, 10_000, 30_000), saves("gone", 1.0, rows=[1]))
    assert [kind.name for kind in left.kinds] == ["Aa"]


def test_gaps_that_a_trace_leaves_are_told_apart(tmp_path):
    case = of_kinds(tmp_path, 10_000, 30_000, 20_000, iterations=(*ONE_PASS, *ONE_PASS))
    gaps = float(case.timeline.idle_ns.sum())
    assert left_by(case).by_why.get("gaps", 0.0) == pytest.approx(gaps if case.scope.window.warm else 0.0)
    traced = left_by(case, replace(saves("trace", 1.0, gap=True), lever=TRACE, slot=""))
    assert traced.by_why.get("gaps", 0.0) <= gaps


def test_a_trace_is_no_edit_of_the_ops_between_the_gaps(tmp_path):
    case = of_kinds(tmp_path, 10_000, 30_000, iterations=(*ONE_PASS, *ONE_PASS))
    trace = replace(saves("trace", 1.0, gap=True), lever=TRACE, slot="")
    assert {kind.why for kind in left_by(case, trace).kinds} == {"no_edit"}


def test_an_op_at_seven_tenths_of_its_roofline_is_near_its_floor(tmp_path):
    """33.6 MB of weights and 0.5 of activations: 118.3 us at 288 GB/s."""

    def at(kernel_ns):
        program = Program()
        linear(program, 32, 4096, 4096, kernel_ns)
        pass_time(program, 10_000)
        return left_by(case_of(tmp_path, program))

    near, far = at(168_000), at(170_500)
    assert [kind.name for kind in near.kinds] == ["MadeUpOfNoFamily"]
    assert near.by_why["near_floor"] == pytest.approx(168_000 - 118_300, rel=0.01)
    assert (far.kinds[0].name, far.kinds[0].why, far.kinds[0].ops) == ("Matmul", "no_edit", 1)


def test_a_window_without_kernel_time_leaves_nothing(tmp_path):
    assert left_by(of_kinds(tmp_path, 0)).kinds == ()
