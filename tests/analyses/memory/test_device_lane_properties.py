"""Random allocations, frees and circular buffers against a simulation of a few lines that knows everything."""

import json
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ttnn_mcp.analyses.memory.buffer_spans import inside
from ttnn_mcp.analyses.memory.device_lane import Lane
from ttnn_mcp.analyses.memory.snapshots import snapshots_of
from ttnn_mcp.readers.graph.graph_memory import read_graph_memory
from ttnn_mcp.readers.memory.stream import SnapshotRows

SLOTS = 6  # addresses are few, so that they are re-used all the time
SLOT_BYTES = 1_024
TYPES = {"DRAM": 0, "L1": 1, "L1_SMALL": 3}
RANGES = (((0, 0, 7, 7),), ((0, 0, 3, 3),), ((2, 2, 5, 5), (7, 7, 7, 7)))
WEIGHT = ("DRAM", 1 << 30, 64)  # every real run has one: a snapshot is never empty

buffer_types = st.sampled_from(tuple(TYPES))
places = st.tuples(buffer_types, st.integers(1, SLOTS))  # address 0 is nobody's
sizes = st.integers(1, SLOT_BYTES // 16).map(lambda steps: 16 * steps)  # the allocator's step
actions = st.one_of(
    st.tuples(st.just("use"), places, sizes),
    st.tuples(st.just("circular"), st.integers(1, 5_000), st.sampled_from(RANGES), st.booleans()),
    st.tuples(st.just("clear")),
    st.tuples(st.just("start")),
    st.tuples(st.just("end")),
)
gaps = st.lists(st.tuples(places, sizes), max_size=3)
runs = st.lists(st.tuples(gaps, st.lists(actions, max_size=14)), min_size=1, max_size=6)


@dataclass
class Machine:
    """What is there: `live` buffers by (type, address), circular buffers with the device op they belong to."""

    live: dict[tuple[str, int], int] = field(default_factory=lambda: {WEIGHT[:2]: WEIGHT[2]})
    circular: list[tuple[int, int, tuple]] = field(default_factory=list)
    open_ops: list[int] = field(default_factory=list)
    started: int = 0
    most: int = 0
    nodes: list[dict] = field(default_factory=list)

    def level(self):
        cores = Counter()
        for _, size, ranges in self.circular:
            for x0, y0, x1, y1 in ranges:
                cores.update({(x, y): size for x in range(x0, x1 + 1) for y in range(y0, y1 + 1)})
        return sum(s for (kind, _), s in self.live.items() if kind == "L1") + max(cores.values(), default=0)

    def node(self, kind, **params):
        self.nodes.append({"counter": len(self.nodes), "node_type": kind, "params": params, "connections": []})

    def toggle(self, where, size, *, recorded):
        """A place that is taken is freed, a free one is taken."""
        kind, slot = where
        address = slot * SLOT_BYTES + (100_000 if kind == "L1_SMALL" else 0)
        taken = self.live.pop((kind, address), None)
        if taken is None:
            self.live[kind, address] = size
        if recorded:
            told = {"address": str(address), "type": kind, "device_id": "0"}
            told |= {"size": str(64 * (taken or size)), "max_size_per_bank": str(taken or size)}
            self.node("buffer_allocate" if taken is None else "buffer_deallocate", **told)

    def act(self, action):
        match action:
            case ("use", where, size):
                self.toggle(where, size, recorded=True)
            case ("circular", size, ranges, over):
                spelled = ", ".join(f"[(x={a},y={b}) - (x={c},y={d})]" for a, b, c, d in ranges)
                self.node(
                    "circular_buffer_allocate",
                    address="0", size=str(size), core_range_set=f"{{{spelled}}}", globally_allocated=str(int(over)),
                )  # fmt: skip
                if not over:
                    self.circular.append((self.open_ops[-1] if self.open_ops else -1, size, ranges))
            case ("clear",):
                self.node("circular_buffer_deallocate_all")
                self.circular = []
            case ("start",):
                self.node("function_start", name=f"Op{self.started}")
                self.open_ops.append(self.started)
                self.started += 1
            case ("end",) if self.open_ops:
                over = self.open_ops.pop()
                self.node("function_end", name=f"Op{over}")
                self.circular = [one for one in self.circular if one[0] != over]
            case _:
                pass
        self.most = max(self.most, self.level())

    def operation(self, gap, listed):
        """Its graph, and the level at its fullest moment."""
        silent = dict(gap)  # one change per place: two would leave no trace
        for where, size in silent.items():
            self.toggle(where, size, recorded=False)
        self.circular, self.open_ops, self.started, self.nodes = [], [], 0, []
        self.most = self.level()
        for action in listed:
            self.act(action)
        return json.dumps(self.nodes), self.most


def played(run):
    """The graphs, the true levels, and what is live after each operation."""
    machine, told = Machine(), []
    for gap, listed in run:
        text, most = machine.operation(gap, listed)
        told.append((text, most, dict(machine.live)))
    return told


def table(told):
    rows = [
        (n, address, size, TYPES[kind])
        for n, (*_, live) in enumerate(told)
        for (kind, address), size in live.items()
    ]
    operations, addresses, sizes, codes = (np.array(column, dtype=np.int64) for column in zip(*rows, strict=True))
    return SnapshotRows(operations, np.zeros(len(rows), dtype=np.int64), addresses, sizes, codes)


def lane_of(told):
    snapshots = snapshots_of(table(told), np.arange(len(told)), np.zeros(len(told), dtype=np.bool_))
    lane = Lane(snapshots[0])
    for place, (text, *_) in enumerate(told):
        graph = read_graph_memory(text, operation=place)
        lane.feed(place, graph.events)
    return lane


@pytest.mark.slow
@given(runs)
@settings(max_examples=300)
def test_the_replay_finds_every_level_and_everything_live(run):
    told = played(run)
    lane = lane_of(told)
    assert lane.levels.l1 == [most for _, most, _ in told]
    spans = lane.log.spans()
    for place, (*_, live) in enumerate(told):
        rows = spans.live_at(inside(place)).tolist()
        mine = sorted((int(spans.buffers[r]), int(spans.addresses[r]), int(spans.bytes_per_bank[r])) for r in rows)
        assert mine == sorted((TYPES[kind], address, size) for (kind, address), size in live.items())
    assert lane.differences.contradicted == 0
    check_consistent(lane)


def check_consistent(lane):
    levels, snapshots = lane.levels, lane.snapshots
    assert all(tensors <= most for tensors, most in zip(levels.tensors, levels.l1, strict=True))
    assert all(floor <= most for floor, most in zip(snapshots.l1_bytes.tolist(), levels.l1, strict=True))
    spans = lane.log.spans()
    assert (spans.starts <= spans.ends).all()
    assert (spans.bytes_per_bank >= 0).all()


@pytest.mark.slow
@given(runs, st.data())
@settings(max_examples=150)
def test_without_snapshots_graphs_alone_tell_what_they_saw(run, data):
    """Nothing between operations then; the replay is the graphs' own story."""
    told = played([([], listed) for _, listed in run])
    lane = Lane(None)
    for place, (text, *_) in enumerate(told):
        graph = read_graph_memory(text, operation=place)
        lane.feed(place, graph.events)
    assert lane.levels.l1 == [most for _, most, _ in told]


@pytest.mark.slow
@given(runs)
@settings(max_examples=100)
def test_from_snapshots_alone_the_level_is_their_sum(run):
    told = played(run)
    snapshots = snapshots_of(table(told), np.arange(len(told)), np.zeros(len(told), dtype=np.bool_))
    lane = Lane(snapshots[0])
    for place in range(len(told)):
        lane.feed(place, None)
    assert lane.levels.l1 == snapshots[0].l1_bytes.tolist()
    assert lane.levels.l1 == [sum(s for (kind, _), s in live.items() if kind == "L1") for *_, live in told]
