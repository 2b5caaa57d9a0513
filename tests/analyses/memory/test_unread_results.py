"""Results that nobody reads, in memory reports that TTNN itself wrote on mock devices."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import numpy as np
import pytest

from tests.analyses.memory.small_tables import numbers, spans
from tests.for_all import for_all
from tests.shared_reports import SHARED
from ttnn_mcp.analyses.memory.buffer_spans import before, inside
from ttnn_mcp.analyses.memory.lifetimes import NOBODY, Lifetimes
from ttnn_mcp.analyses.memory.replay import replay_of
from ttnn_mcp.analyses.memory.unread_results import unread_operations
from ttnn_mcp.session.opening import read_run

CAPTURES = SHARED.parent / "real" / "reports"


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
