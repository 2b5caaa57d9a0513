"""What went wrong, from errors, unfinished operations and graphs."""

import asyncio
from types import SimpleNamespace

import numpy as np

from tests.analyses.memory.replays import opened
from tests.analyses.memory.small_tables import asked, error, memory, operations, real
from tests.for_all import for_all
from ttnn_mcp.analyses.memory.failures import failures_of
from ttnn_mcp.analyses.memory.replay import replay_of
from ttnn_mcp.analyses.memory.replayed import Trouble
from ttnn_mcp.readers.graph.graph_events import GraphError

OUT = (
    "Out of Memory: Not enough space to allocate 64 B L1 buffer across 64 banks, where each bank needs to store 1 B"
)
ENDED = ("ttnn.a", "ttnn.b", "ttnn.a", "ttnn.c")


def failed(errors=(), names=ENDED, troubles=None, never_ended=()):
    report = memory(operations=operations(*names, never_ended=never_ended), errors=tuple(errors))
    replayed = SimpleNamespace(
        memory=report, operations=report.operations.ids, troubles=troubles or {}, place=report.operations.row
    )
    return failures_of(replayed)


def places(*asked, **more):
    return [(failure.place, failure.outcome) for failure in failed(*asked, **more)]


def trouble(*messages, aborted=(), unfinished=()):
    return Trouble(tuple(GraphError(0, "x", "TT_THROW", text) for text in messages), aborted, unfinished)


def test_an_error_belongs_to_the_operation_that_it_names():
    (failure,) = failed([error(2, "ttnn.a", "words", "KindOfError")])
    assert (failure.place, failure.name, failure.same_name) == (1, "ttnn.b", 1)
    assert (failure.kind, failure.message, failure.scope, failure.shortage) == ("KindOfError", "words", None, None)
    assert failure.outcome == "finished"


def test_a_caught_error_is_no_death_and_the_last_one_is():
    assert places([error(1, "ttnn.a")]) == [(0, "finished")]
    assert places([error(4, "ttnn.c")]) == [(3, "aborted")]


def test_a_name_alone_means_the_last_operation_that_failed_or_the_last_of_all():
    assert places([error(None, "ttnn::a")]) == [(2, "unknown")]
    assert places([error(99, "ttnn::a")]) == [(2, "unknown")]
    assert places([error(None, "ttnn.a")], never_ended=(0,)) == [(0, "unfinished")]
    assert places([error(None, "ttnn.a")], troubles={0: trouble("words")}) == [(0, "unknown")]
    assert places([error(None, "ttnn.a")], names=("ttnn.a", "ttnn.a", "ttnn.c"), never_ended=(0, 1)) == [
        (0, "unfinished"),
        (1, "unfinished"),
    ]


def test_the_number_of_operations_of_the_name_is_told():
    (failure,) = failed([error(None, "ttnn::a")])
    assert (failure.name, failure.same_name) == ("ttnn.a", 2)


def test_a_name_that_the_report_lacks_has_no_place():
    (failure,) = failed([error(None, "ttnn.z", OUT)])
    assert (failure.place, failure.name, failure.outcome, failure.same_name) == (None, "ttnn.z", "unknown", 0)
    assert failure.shortage.asked_bytes == 1


def test_operations_that_never_ended_are_failures_without_words():
    (failure,) = failed(never_ended=(1,))
    assert (failure.place, failure.outcome, failure.kind, failure.message) == (1, "unfinished", "", "")


def test_graphs_tell_errors_and_scopes():
    inner = ("ttnn::prim::b", "Tensor::to_device")
    (failure,) = failed(troubles={1: trouble("words", aborted=("ttnn::b", *inner))})
    assert (failure.outcome, failure.scope, failure.kind, failure.message) == (
        "aborted",
        "Tensor::to_device",
        "TT_THROW",
        "words",
    )
    (failure,) = failed(troubles={1: trouble(aborted=("x",), unfinished=("y", "ttnn::b"))})
    assert (failure.outcome, failure.scope) == ("unfinished", "x")
    (failure,) = failed(troubles={1: trouble(unfinished=("ttnn::b",))})
    assert (failure.outcome, failure.scope) == ("unfinished", None)
    (failure,) = failed(troubles={1: trouble("words")})
    assert (failure.outcome, failure.scope) == ("finished", None)


def test_of_several_messages_the_one_with_a_shortage_counts_else_the_longest():
    long = "many more words than that " * 20
    (failure,) = failed([error(2, "ttnn.b", long), error(2, "ttnn.b", OUT), error(2, "ttnn.b", "few")])
    assert (failure.message, failure.shortage.asked_bytes) == (OUT, 1)
    (failure,) = failed([error(2, "ttnn.b", "few"), error(2, "ttnn.b", long)])
    assert (failure.message, failure.shortage) == (long, None)


def test_failures_are_in_the_order_of_the_run_shortages_first():
    listed = [error(None, "ttnn.z", "words"), error(4, "ttnn.c", OUT), error(2, "ttnn.b"), error(1, "ttnn.a")]
    assert [failure.place for failure in failed(listed)] == [3, 0, 1, None]


def test_a_run_that_went_well_has_none():
    assert failed() == []


@for_all(
    ("name", "kind"), [("aborted", None), ("cb_clash", "beyond_l1"), ("out_of_l1", "no_room"), ("views", None)]
)
def test_real_runs_failed_where_their_errors_table_says(name, kind):
    folder = real(name)
    errors = asked(folder, "SELECT operation_id, operation_name FROM errors")

    async def replayed():
        return await replay_of(await opened(folder / "db.sqlite"))

    replay = asyncio.run(replayed())
    failures = failures_of(replay)
    assert [(int(replay.operations[one.place]), one.name) for one in failures] == errors
    assert [one.shortage and one.shortage.kind for one in failures] == [kind] * len(errors)
    assert all(one.outcome in {"aborted", "unfinished"} for one in failures)
    assert np.isfinite(replay.memory.operations.duration_s).all()
