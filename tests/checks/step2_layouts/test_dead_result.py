"""dead-result: ops whose results nobody reads, by the tensors of a linked memory report."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import numpy as np
import pytest

from tests.analyses.memory.small_tables import numbers, spans
from tests.checks.asking import case_of_reports, outcome_of
from tests.checks.rows import pass_time
from tests.for_all import for_all
from tests.profiles import Iteration, Program
from tests.profiles.model import DeviceOp
from tests.shared_reports import LINKED, SHARED, shared
from ttnn_mcp.analyses.memory.buffer_spans import before, inside
from ttnn_mcp.analyses.memory.lifetimes import NOBODY, Lifetimes
from ttnn_mcp.analyses.memory.replay import replay_of
from ttnn_mcp.checks.step2_layouts.dead_result import unread_operations
from ttnn_mcp.session.opening import read_run

CAPTURES = SHARED.parent / "real" / "reports"
ONCE = [Iteration()]


def model(
    op: str = "BinaryNgDeviceOperation",
    *,
    freed: bool = True,
    early: bool = True,
    read: bool = False,
    kernel_ns=20_000,
) -> Program:
    """A chain of ops, one beside it whose result is freed `early`, before the last op, or after it."""
    program = Program("wormhole_b0")
    x = program.tensor([1, 1, 64, 64])
    y = program.op("UnaryDeviceOperation", [x])
    beside = program.op(op, [x, y], kernel_ns=kernel_ns)
    z = program.op("MatmulDeviceOperation", [y, beside if read else y], fidelity="HiFi2")
    if freed and early:
        program.free(beside)
    program.op("UnaryDeviceOperation", [z])
    if freed and not early:
        program.free(beside)
    return program


def ask(check, program, memory="3.3", **how):
    return check.ask(program, ONCE, memory=memory, **how)


def test_what_nobody_reads_and_the_model_frees_is_named(check):
    claim = check.assert_sound(model(), iterations=ONCE, memory="3.3")
    assert claim.claim == "1 result that nobody reads (20 us, 40.0%): Binary 64x64 * 64x64 -> 64x64 at line 3"
    assert claim.rows.tolist() == [1]
    assert claim.at_most_ns.tolist() == [20_000]
    assert claim.fix == "delete operation 2 ttnn.made_up (model.py:6)"


@for_all("memory", ["G2", "2.1", "3.3"])
def test_older_reports_tell_it_too(check, memory):
    assert ask(check, model(), memory).fires


@for_all(
    "change",
    [{"read": True}, {"freed": False}, {"early": False}],
    ids=["read", "a result", "freed after the last op"],
)
def test_what_is_read_or_lives_on_is_none(check, change):
    assert ask(check, model(**change)).status == "clean"


@for_all(
    "op",
    ["PagedUpdateCacheDeviceOperation", "CopyDeviceOperation", "AllGatherDeviceOperation", "DramPrefetcherOperation",
     "BatchNormOperation", "RingJointSDPADeviceOperation", "MoveDeviceOperation", "SliceWriteDeviceOperation",
     "AllGatherMatmulDeviceOperation", "MatmulReduceScatterDeviceOperation", "AllReduceMatmulDeviceOperation"],
 sampled=4)  # fmt: skip
def test_an_op_that_does_more_than_make_its_result_is_none(check, op):
    assert ask(check, model(op)).status == "clean"


def beside(result: str) -> Program:
    """A result that is read under another name, or beside another one that is."""
    program = Program("wormhole_b0")
    x = program.tensor([1, 1, 64, 64])
    y = program.op("UnaryDeviceOperation", [x])
    made = program.tensor([1, 1, 64, 64], alias_of=y if result == "in place" else None)
    other = [program.tensor([1, 1, 64, 64])] if result == "two results" else []
    op = DeviceOp("UnaryDeviceOperation", (y,), (made, *other), 20_000)
    program.call("ttnn.made_up", (y,), (made, *other), (op,))
    read = y if result == "in place" else made
    if result == "a view is read":
        read = program.tensor([1, 1, 32, 128], alias_of=made)
        program.call("ttnn.reshape", (made,), (read,))
    if result == "to torch":
        program.call("ttnn.to_torch", (made,), ())
        read = y
    if result == "two results":
        read = other[0]
    z = program.op("UnaryDeviceOperation", [read])
    if result != "in place":
        program.free(made)
    program.op("UnaryDeviceOperation", [z])
    return program


@for_all("result", ["in place", "a view is read", "to torch", "two results"])
def test_a_result_that_is_read_under_another_name_is_none(check, result):
    assert ask(check, beside(result)).status == "clean"


def test_half_a_percent_is_worth_telling(check):
    def longer(share):
        program = model(kernel_ns=10_000)
        pass_time(program, 10_000 / share - 40_000)
        return program

    check.pair(longer, silent=0.00498, fires=0.00502, iterations=ONCE, memory="3.3")


def test_without_the_memory_report_nobody_knows(check):
    outcome = check.ask(model(), ONCE)
    assert (outcome.status, outcome.why) == ("cannot_tell", "needs a memory report")


def test_a_memory_report_of_another_run_tells_nothing(check):
    ours, theirs = check.case(model(), ONCE, memory="3.3"), Program("wormhole_b0")
    for width in range(1, 9):
        theirs.op("MatmulDeviceOperation", [theirs.tensor([1, 1, 32, 32 * width])] * 2, fidelity="HiFi2")
    other = check.case(theirs, ONCE, memory="3.3")
    case = case_of_reports(ours.run.performance_report.csv.path, other.run.memory_report.path)
    outcome = check.ask(case)
    assert outcome.status == "cannot_tell"
    assert outcome.why.startswith("the memory report does not fit this CSV")


def test_a_report_that_was_not_replayed_tells_nothing(check):
    assert check.ask(check.case(model(), ONCE, memory="3.3", replayed=False)).status == "cannot_tell"


def test_a_window_of_unknown_ops_alone_is_not_asked(check):
    program = Program("wormhole_b0")
    program.op("DramPrefetcherOperation", [program.tensor([1, 1, 64, 64])])
    assert ask(check, program).status == "not_applicable"


def test_a_real_run_has_none():
    performance = shared(LINKED)
    case = case_of_reports(performance, shared("memory/v3_3") / "db.sqlite")
    assert case.run.linked.link.status == "linked"
    assert outcome_of("dead-result", case).status == "clean"


@for_all(
    ("model", "unread"),
    [
        ("late_frees", ["ttnn.multiply"]),  # its source multiplies once, and only frees the result at the end
        (
            "foreign_tutorial",
            ["ttnn.add", "ttnn.linear"],
        ),  # TTNN's tutorial: ends of the passes before the last ones
        ("bert_dram", []),
        ("llama_decode", []),
        ("mobilenet", []),
        ("resnet50_stages", []),
        ("views", []),
    ],
)
def test_what_ttnn_recorded_tells_whose_result_nobody_reads(model, unread):
    database = CAPTURES / model / "db.sqlite"
    if not database.exists():
        pytest.skip(f"the capture {model} is not beside this checkout (../shared)")

    async def replayed():
        return await replay_of(await read_run("made", "made", None, database))

    replay = asyncio.run(replayed())
    places = np.arange(len(replay.operations))[unread_operations(replay, len(replay.operations) - 1)]
    assert [replay.memory.operations.names[place] for place in places] == unread


def test_without_buffers_nothing_is_known_of_who_was_read():
    """A damaged report: tensors with makers, and no buffer at all."""
    none = np.array([], dtype=np.int64)
    spans = SimpleNamespace(starts=none, ends=none)
    lives = SimpleNamespace(
        spans=spans, last_reads=none, last_touches=none, producers=np.array([0, 1]), rows=np.array([-1, -1])
    )
    assert len(unread_operations(SimpleNamespace(lifetimes=lives), 5)) == 0


def wasted(*rows, tensors, until=9):
    """`rows` as for `spans`; `tensors` are (span, producer, last use)."""
    columns = [numbers(*column) for column in zip(*tensors, strict=True)]
    life = Lifetimes(
        spans(*rows), numbers(*range(len(tensors))), *columns, (numbers(), numbers()), np.ones(20, bool)
    )
    return unread_operations(SimpleNamespace(lifetimes=life), until).tolist()


MADE_AT_3 = (4096, 16, inside(3), before(5))
READ = (0, 3, 4)


def test_a_result_that_is_freed_unread_is_wasted():
    assert wasted(MADE_AT_3, tensors=[(0, 3, NOBODY)]) == [3]
    assert wasted(MADE_AT_3, tensors=[READ]) == []
    assert wasted((4096, 16, before(3), before(5)), tensors=[(0, 3, 3)]) == []  # its maker reads it


def test_one_that_is_freed_too_late_may_be_an_output():
    assert wasted(MADE_AT_3, tensors=[(0, 3, NOBODY)], until=5) == [3]
    assert wasted(MADE_AT_3, tensors=[(0, 3, NOBODY)], until=4) == []


def test_in_an_older_buffer_it_may_be_read_through_another_tensor():
    older = (4096, 16, inside(1), before(5))
    assert wasted(older, tensors=[(0, 3, NOBODY)]) == []
    assert wasted(MADE_AT_3, tensors=[(0, 3, NOBODY), (0, 4, NOBODY)]) == []  # written again, as a view


def test_an_operation_with_a_result_that_is_read_or_unknown_is_left_out():
    other = (8192, 16, inside(3), before(5))
    assert wasted(MADE_AT_3, other, tensors=[(0, 3, NOBODY), (1, 3, NOBODY)]) == [3]
    assert wasted(MADE_AT_3, other, tensors=[(0, 3, NOBODY), (1, 3, 4)]) == []
    assert wasted(MADE_AT_3, tensors=[(0, 3, NOBODY), (NOBODY, 3, NOBODY)]) == []


def test_what_no_operation_made_is_nobody_s_waste():
    assert wasted((4096, 16, before(0), before(5)), tensors=[(0, NOBODY, NOBODY)]) == []
