"""One replay of a run's memory report serves everybody who asks, and a replay that failed serves nobody."""

import asyncio
import json

import pytest

from tests.analyses.memory.replays import opened
from tests.analyses.memory.small_tables import (
    REAL,
    device,
    error,
    links,
    memory,
    numbers,
    operations,
    real,
    tensor,
    tensors,
)
from tests.for_all import for_all
from tests.profiles import write_memory_report
from tests.programs import block
from ttnn_mcp.analyses.memory import replay
from ttnn_mcp.analyses.memory.buffer_spans import NEVER
from ttnn_mcp.analyses.memory.device_lane import BEYOND
from ttnn_mcp.analyses.memory.memory_comparison import memory_delta
from ttnn_mcp.analyses.memory.replay import replay_of, replayed
from ttnn_mcp.analyses.memory.replayed import Trouble
from ttnn_mcp.errors import ReportBroken
from ttnn_mcp.readers.graph.graph_events import GraphError
from ttnn_mcp.readers.memory.spaces import L1
from ttnn_mcp.readers.memory.stream import SnapshotRows
from ttnn_mcp.readers.printed.memory_config import Placement
from ttnn_mcp.run.run import Run


@pytest.fixture
def replays(monkeypatch):
    """The runs that were replayed, one entry for each replay."""
    runs, once = [], replay._replay

    async def counted(run, memory):
        runs.append(run)
        return await once(run, memory)

    monkeypatch.setattr(replay, "_replay", counted)
    return runs


async def test_callers_at_the_same_time_share_one_replay(tmp_path, replays):
    run = await opened(write_memory_report(tmp_path, block()))
    other = Run("other", "other", None, run.memory)
    results = await asyncio.gather(*(replay_of(run) for _ in range(8)), memory_delta(run, other))
    assert all(each is replayed(run) for each in results[:8])
    assert [each.id for each in replays].count(run.id) == 1
    assert len(replays) == 2  # the other run's own


async def test_a_caller_who_gives_up_leaves_the_replay_to_the_others(tmp_path, replays):
    run = await opened(write_memory_report(tmp_path, block()))
    first, second = (asyncio.create_task(replay_of(run)) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    assert await second is replayed(run)
    assert first.cancelled()
    assert len(replays) == 1


async def test_a_replay_that_failed_is_tried_again(tmp_path, monkeypatch):
    run = await opened(write_memory_report(tmp_path, block()))

    async def broken(memory):
        raise ReportBroken("cut off")

    with monkeypatch.context() as patched:
        patched.setattr(replay, "read_snapshots", broken)
        with pytest.raises(ReportBroken):
            await replay_of(run)
    assert replayed(run) is None
    assert len((await replay_of(run)).operations)


async def test_who_asks_later_gets_the_replay_that_is_there(tmp_path, replays):
    run = await opened(write_memory_report(tmp_path, block()))
    assert await replay_of(run) is await replay_of(run)
    assert len(replays) == 1


def test_a_replay_that_another_loop_left_unfinished_is_not_waited_for(tmp_path):
    run = asyncio.run(opened(write_memory_report(tmp_path, block())))
    loop = asyncio.new_event_loop()
    left = replay._under_way[run.kept] = loop.create_task(asyncio.sleep(9))
    assert asyncio.run(replay_of(run)) is replayed(run) is not None
    left.cancel()
    loop.run_until_complete(asyncio.gather(left, return_exceptions=True))
    loop.close()


def node(kind, **params):
    return {"node_type": kind, "params": params, "connections": []}


ALLOCATE = node("buffer_allocate", address="4096", type="L1", size="640", max_size_per_bank="10", device_id="0")
FREE = node("buffer_deallocate", address="4096", type="L1", size="640", max_size_per_bank="10", device_id="0")
ERROR = node("error", error_operation="ttnn.a", error_type="TT_THROW", error_message="words")
ABORTED = (node("function_start", name="ttnn::a"), node("function_end", name="ttnn::a", aborted=True))


def under_way(count=3, rows=(), **parts):
    """A replay of operations 10, 20, ..., before any graph; `rows` of the table of buffers."""
    report = memory(
        operations=operations(*["ttnn.a"] * count, ids=range(10, 10 * count + 1, 10)),
        **{"devices": (device(),), "has": frozenset({"captured_graph"}), **parts},
    )
    columns = zip(*rows, strict=True) if rows else [()] * 5
    return replay._Replay(report, SnapshotRows(*(numbers(*column) for column in columns)), None)


def finished(going, *graphs):
    going.feed((operation, json.dumps(nodes)) for operation, nodes in graphs)
    return going.finished(None, {})


def test_graphs_of_operations_that_are_not_listed_and_second_ones_are_left_out():
    found = finished(under_way(), (20, [ALLOCATE]), (15, [ALLOCATE]), (20, [ALLOCATE] * 2), (10, [ALLOCATE]))
    assert found.captured.tolist() == [False, True, False]
    assert found.fullest.l1.tolist() == [0, 10, 10]


def test_a_graph_that_cannot_be_read_is_counted():
    going = under_way()
    going.feed([(10, "[{"), (20, "[]")])
    assert (going.broken, going.captured.tolist()) == (1, [False, True, False])


@for_all(
    ("nodes", "trouble"),
    [
        ([ERROR], Trouble((GraphError(0, "ttnn.a", "TT_THROW", "words"),), (), ())),
        (ABORTED, Trouble((), ("ttnn::a",), ())),
        (ABORTED[:1], Trouble((), (), ("ttnn::a",))),
        ([ALLOCATE], None),
    ],
)
def test_what_went_wrong_in_a_graph_is_kept(nodes, trouble):
    assert finished(under_way(), (20, [*nodes])).troubles.get(1) == trouble


@for_all(("failed", "level"), [([ERROR], 48), (ABORTED, 48), (ABORTED[:1], 48), ([], 32)])
def test_what_python_drops_with_an_exception_was_there_while_the_operation_failed(failed, level):
    """Snapshots show it after the first operation, and no longer after the one that failed."""
    going = under_way(rows=[(10, 0, 8192, 16, L1), (20, 0, 12_288, 32, L1), (30, 0, 4096, 48, L1)])
    found = finished(going, (10, []), (20, failed), (30, [])).fullest
    assert found.l1.tolist() == [16, level, 48]


@for_all(
    ("nodes", "there"),
    [([], [4096] * 3), ([ALLOCATE], [0, 10, 10]), ([FREE, ALLOCATE], [4096, 4096, 10])],
)
def test_a_tensor_in_place_was_there_before_unless_the_operation_lays_it_down(nodes, there):
    in_l1 = tensor(
        1, address=4096, buffer=L1, size=64 * 4096, dtype="FLOAT32", placement=Placement("INTERLEAVED", "L1")
    )
    links_to = links((20, 1))
    found = finished(
        under_way(tensors=tensors(in_l1), inputs=links_to, outputs=links_to), (10, []), (20, nodes), (30, [])
    )
    assert found.fullest.l1.tolist() == there


def test_of_many_troubles_a_hundred_are_kept():
    graphs = [(10 * at, [ERROR]) for at in range(1, 151)]
    assert sorted(finished(under_way(150), *graphs).troubles) == list(range(100))


SHOWN = [(20, 0, 4096, 16, 1)]


@for_all(
    ("tables", "rows", "unknown"),
    [({"captured_graph"}, (), True), ({"captured_graph"}, SHOWN, False), (set(), (), False), (set(), SHOWN, False)],
)
def test_only_graphs_without_a_snapshot_leave_open_what_is_live_after_an_operation(tables, rows, unknown):
    assert finished(under_way(rows=rows, has=frozenset(tables))).without_snapshots is unknown


@for_all(("tables", "taken"), [({"captured_graph"}, [False, True, False]), (set(), [True, True, True])])
def test_without_graphs_an_operation_that_shows_no_buffer_left_none(tables, taken):
    assert under_way(rows=SHOWN, has=frozenset(tables)).snapshots[0].taken == taken


def test_without_graphs_what_an_operation_writes_ends_what_was_there():
    rows = [(operation, 0, 4096, 16, 1) for operation in (10, 20, 30)]
    parts = {"has": frozenset(), "tensors": tensors(tensor(1)), "outputs": links((20, 1))}
    spans = finished(under_way(rows=rows, **parts)).fullest.spans
    assert (spans.starts.tolist(), spans.ends.tolist()) == ([0, 3], [3, NEVER])


def test_shards_know_the_banks_of_l1():
    nodes = [
        node("buffer_allocate", address="4096", type="L1", size="6400", device_id="0", layout="HEIGHT_SHARDED")
    ]
    assert finished(under_way(), (10, nodes)).fullest.l1.tolist() == [100, 100, 100]


def test_an_operation_that_ran_out_of_l1_frees_what_nobody_recorded():
    words = (
        "Out of Memory: Not enough space to allocate 64 B L1 buffer across 64 banks, where each bank needs to store 1 "
        "B, but bank size is 9 B (allocated: 0 B, free: 1 B, largest free block: 1 B)"
    )
    parts = {"tensors": tensors(tensor(1)), "inputs": links((20, 1)), "errors": (error(30, "ttnn.a", words),)}
    found = finished(under_way(**parts), (10, [ALLOCATE]), (20, []), (30, []))
    assert found.fullest.l1.tolist() == [10, 10, 0]


@for_all(
    ("described", "first"),
    [
        (None, BEYOND),
        (device(l1_bank_bytes=1_393_312), BEYOND),
        (device(l1_bank_bytes=None), BEYOND),
        (device(cb_limit_bytes=None), BEYOND),
        (device(), 105_824 + 1_360_544),
        (device(first_cb_address=None), 1_360_544),
    ],
)
def test_l1_small_begins_above_what_tensors_share(described, first):
    assert replay._small_region(described) == first


def test_buffers_above_that_address_are_small():
    high = {**ALLOCATE, "params": {**ALLOCATE["params"], "address": str(105_824 + 1_360_544)}}
    found = finished(under_way(), (10, [high, ALLOCATE]))
    assert (found.fullest.l1.tolist()[0], found.fullest.small.tolist()[0]) == (10, 10)


@for_all(
    "name",
    ["aborted", "bert_dram", "cb_clash", "late_frees", "mesh_tp2", "mobilenet", "out_of_l1", "views"],
    sampled=4,
)
def test_real_reports_replay_to_the_peak_that_ttnn_s_own_allocations_make(name):
    """Real: the truth beside the reports, of what can be read from them."""
    folder = real(name)
    truth = json.loads((REAL.parent / "truth" / f"{name}.json").read_text())
    found = asyncio.run(replay_of(asyncio.run(opened(folder / "db.sqlite"))))
    peak = truth["l1_peak_by_what_the_report_holds"]
    fullest = found.fullest
    assert int(fullest.recorded.max()) == peak["bytes_per_bank"]
    assert int(fullest.dram.max()) == truth["dram_peak_bytes_per_bank"]
