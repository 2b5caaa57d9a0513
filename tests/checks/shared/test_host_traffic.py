"""Traffic between host and device, on a report that TTNN wrote of its own tutorial."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import numpy as np

from tests.shared_reports import shared
from ttnn_mcp.checks.shared.host_traffic import computed_on_host, reads, round_trips
from ttnn_mcp.readers.memory.report import read_memory_report

TUTORIAL = "../real/reports/foreign_tutorial"  # TTNN 0.81.1: multi-head attention as its tutorial writes it


def test_ttnns_own_tutorial_takes_its_heads_through_the_host():
    """Four tensors of 6 x 384 x 1024 per attention, in eight trips; the two results at the end stay with the reader."""
    memory = asyncio.run(read_memory_report(shared(TUTORIAL)))
    assert [one.operation for one in round_trips(memory)] == [4, 11, 18, 29, 37, 44, 51, 62]
    assert {one.size_bytes for one in round_trips(memory)} == {6 * 384 * 1024 * 2}
    assert [one.operation for one in reads(memory)][-2:] == [104, 105]
    assert computed_on_host(memory) == []


def test_a_tensor_that_is_sent_once_makes_one_trip():
    """It is read twice before, and once after."""
    tensor = SimpleNamespace(id=1, shape=SimpleNamespace(elements=1_024), size_bytes=2_048, device=0)
    names = ("ttnn.from_torch", "ttnn.to_torch", "ttnn.to_torch", "ttnn.from_torch", "ttnn.to_torch")
    of_all = SimpleNamespace(of=lambda _: (1,))
    memory = SimpleNamespace(
        operations=SimpleNamespace(ids=np.arange(5), names=names),
        tensors={1: tensor},
        inputs=of_all,
        outputs=of_all,
    )
    assert [one.operation for one in reads(memory)] == [1, 2, 4]
    assert [one.operation for one in round_trips(memory)] == [1]
