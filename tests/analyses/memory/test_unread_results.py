"""Results that nobody reads, in memory reports that TTNN itself wrote on mock devices."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import numpy as np
import pytest

from tests.shared_reports import SHARED
from ttnn_mcp.analyses.memory.replay import replay_of
from ttnn_mcp.analyses.memory.unread_results import unread_operations
from ttnn_mcp.session.opening import read_run

CAPTURES = SHARED.parent / "real" / "reports"


@pytest.mark.parametrize(
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
