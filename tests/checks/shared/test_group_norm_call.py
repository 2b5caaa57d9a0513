"""The group norm that a fix prints: its grid and blocks where our model covers it, words elsewhere."""

from types import SimpleNamespace

import numpy as np
import pytest

from tests.for_all import for_all
from ttnn_mcp.checks.shared import group_norm_call as module
from ttnn_mcp.checks.shared.group_norm_call import CHOSEN, group_norm_call

ROOM = 1_300_000


@pytest.fixture
def call(monkeypatch):
    """The call for a norm over 1024 x 320 elements in 32 groups, on 8x8 cores."""
    monkeypatch.setattr(module, "worker_grid", lambda chip: chip)

    def printed(layout="TILE", dtype="BFLOAT16", *, sharded=False, groups=32, grid=(8, 8), room=ROOM):
        padded = np.array([[1, 1, 1024, 320]])
        x = SimpleNamespace(
            layout=[layout], dtype=[dtype], sharded=[sharded], padded=padded, height=np.array([1024])
        )
        return group_norm_call(
            SimpleNamespace(
                ops=SimpleNamespace(inputs=[x]),
                attributes=lambda _row: SimpleNamespace(number=lambda _name: groups),
                chip=grid,
                safe_l1_bytes=room,
            ),
            0,
        )

    return printed


def test_a_norm_that_the_model_covers_is_printed_with_its_grid(call):
    assert call().startswith("ttnn.group_norm(x, num_groups=32, core_grid=ttnn.CoreGrid(y=")


@for_all(
    "other",
    [
        {"layout": "ROW_MAJOR"},
        {"dtype": "BFLOAT8_B"},
        {"sharded": True},
        {"groups": 0},
        {"grid": None},
        {"room": 1},
    ],
    ids=str,
)
def test_any_other_is_told_in_words(call, other):
    assert call(**other) == CHOSEN
