"""The room below the lowest tensor while one device op runs, from a graph written by hand."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from tests.for_all import for_all
from tests.readers.graph.test_graph_memory import graph
from ttnn_mcp.analyses.settings import room
from ttnn_mcp.readers.memory.spaces import DRAM, L1, key_of

FIRST, CAPACITY = 1_000, 9_000  # where buffers begin, and the bytes from there to the top
LINES = {10: ("Matmul", 7), 11: ("Unary", 7), 12: ("Matmul", 7)}


def allocate(address, kind="L1", **more):
    return ("buffer_allocate", {"type": kind, "address": str(address), "size": "64", **more})


def free(address, kind="L1"):
    return ("buffer_deallocate", {"type": kind, "address": str(address), "size": "64"})


def ops(*named):
    """Device ops of a call, each with what happens within it."""
    for name, *within in named:
        yield "function_start", {"name": f"{name}DeviceOperation"}
        yield from within
        yield "function_end", {"name": f"{name}DeviceOperation"}


class Spans:
    """Tensors that live before the call, by address: one of them in DRAM."""

    def __init__(self, addresses):
        self.addresses = np.array([*addresses, 1_100])
        self.buffers = np.array([L1] * len(addresses) + [DRAM])
        self.keys = np.array(
            [key_of(*pair) for pair in zip(self.addresses.tolist(), self.buffers.tolist(), strict=True)]
        )

    def live_at(self, moment):
        assert moment == 2 * 5  # just before the sixth operation
        return np.arange(len(self.addresses))


@pytest.fixture
def found(monkeypatch):
    """The room of an op of operation 7, with these tensors before it and this graph."""

    chip = SimpleNamespace(first_cb_address=FIRST)

    async def of(nodes, live=(9_000,), *, line=10, lines=LINES, text=None, chips=(chip,), ask=room.room_at, **more):
        async def graph_of(operation):
            assert operation == 7
            return graph(*nodes) if text is None else text

        parts = {
            "place": {7: 5}.get,
            "captured": [True] * 6,
            "capacity_bytes": CAPACITY,
            "devices": [SimpleNamespace(spans=Spans(live))],
            "memory": SimpleNamespace(devices=chips, graph_of=graph_of, tensors=None),
        }
        replayed = SimpleNamespace(**{**parts, **more})

        async def replay_of(_run):
            return replayed

        monkeypatch.setattr(room, "replay_of", replay_of)
        codes = [f"{lines[at][0]}DeviceOperation" for at in lines]
        table = SimpleNamespace(at_line=[*lines].index, texts=lambda _: codes)
        linked = SimpleNamespace(operation_at={at: operation for at, (_, operation) in lines.items()})
        run = SimpleNamespace(linked=linked, performance_report=SimpleNamespace(ops=table))
        return await ask(run, line)

    return of


async def test_it_ends_at_the_lowest_tensor_of_that_moment(found):
    nodes = [*ops(("Matmul",), ("Unary", allocate(6_000), free(6_000)), ("Matmul", free(9_000)))]
    rooms = [await found(nodes, (9_000, 9_500), line=line) for line in LINES]
    assert rooms == [8_000, 5_000, 8_000]


async def test_a_tensor_freed_before_an_op_makes_room_for_it(found):
    nodes = [*ops(("Matmul", free(4_000)), ("Unary",), ("Matmul", allocate(5_000)))]
    assert [await found(nodes, (4_000, 9_000), line=line) for line in LINES] == [3_000, 8_000, 4_000]


@for_all(
    "node",
    [
        allocate(2_000, "DRAM"),
        allocate(2_000, "L1_SMALL", exact_buffer_type="L1_SMALL"),
        ("buffer_allocate", {"type": "L1", "size": "64"}),  # no address
        ("circular_buffer_allocate", {"address": "2000", "size": "64", "globally_allocated": "0"}),
        free(3_000),  # never seen
    ],
    ids=["DRAM", "L1_SMALL", "no address", "of the program", "unknown"],
)
async def test_other_buffers_take_none_of_it(found, node):
    assert await found([*ops(("Matmul", node), ("Unary",), ("Matmul",))]) == 8_000


async def test_without_a_tensor_it_is_all_of_l1(found):
    assert await found([*ops(("Matmul",), ("Unary",), ("Matmul",))], ()) == CAPACITY
    assert await found([], (9_000,)) == CAPACITY  # a graph of no device op


async def test_a_tensor_among_the_buffers_leaves_nothing(found):
    assert await found([*ops(("Matmul",), ("Unary",), ("Matmul",))], (500,)) == 0


@for_all(
    ("named", "line", "expected"),
    [
        (
            (("Unary", allocate(3_000), free(3_000)), ("Matmul", allocate(6_000))),
            12,
            5_000,
        ),  # other counts: by name
        ((("Matmul", allocate(6_000)), ("Matmul", allocate(5_000))), 10, 4_000),  # two of that name: the lowest
        ((("Unary", allocate(3_000)), ("Copy", allocate(6_000))), 12, 2_000),  # none of it: the lowest of all
        ((("Matmul", allocate(3_000), free(3_000)),), 12, 2_000),
    ],
)
async def test_an_op_is_found_by_its_turn_or_by_its_name(found, named, line, expected):
    assert await found([*ops(*named)], line=line) == expected


@for_all(("line", "expected"), [(10, 2_000), (11, 8_000), (13, 2_000), (14, 8_000)])
async def test_passes_over_one_operation_begin_anew(found, line, expected):
    twice = dict.fromkeys((10, 11, 13, 14), ("Unary", 7))
    nodes = [*ops(("Unary", allocate(3_000), free(3_000)), ("Unary",))]
    assert await found(nodes, line=line, lines=twice) == expected


@for_all(("line", "expected"), [(10, 2_000), (11, 2_000), (12, 2_000)])
async def test_a_turn_of_another_name_is_not_believed(found, line, expected):
    """Three lines and three device ops, in another order: then all of the name count."""
    nodes = [*ops(("Unary", allocate(3_000), free(3_000)), ("Matmul", allocate(3_000), free(3_000)), ("Copy",))]
    assert await found(nodes, line=line) == expected


@for_all(
    "more",
    [
        {"place": lambda _: None},
        {"captured": [True] * 5 + [False]},
        {"capacity_bytes": None},
        {"chips": []},
        {"chips": [SimpleNamespace(first_cb_address=None)]},
        {"text": "{"},
    ],
    ids=["no place", "not captured", "no capacity", "no device", "no address", "broken"],
)
async def test_what_no_report_shows_is_not_known(found, more):
    assert await found([*ops(("Matmul",))], **more) is None


async def test_an_op_of_no_operation_has_none(found):
    assert await found([], line=99, lines={**LINES, 99: ("Matmul", None)}) is None


@for_all(
    ("line", "more", "names"),
    [
        (11, {}, ["UnaryDeviceOperation"]),
        (10, {"lines": {**LINES, 13: ("Matmul", 7)}}, ["MatmulDeviceOperation"] * 2),  # two may be it
        (11, {"text": "{"}, []),
        (99, {"lines": {**LINES, 99: ("Matmul", None)}}, []),
    ],
)
async def test_what_the_graph_prints_of_an_op_is_found_the_same_way(found, line, more, names):
    nodes = [*ops(("Matmul",), ("Unary",), ("Matmul",))]
    launches = await found(nodes, line=line, ask=room.captured_launches, **more)
    assert [launch.name for launch in launches] == names


def circular(size, cores="[0-0 - 1-0]", lies_on="0", device="0"):
    borrowed = {} if lies_on is None else {"globally_allocated": lies_on}
    return ("circular_buffer_allocate", {"size": str(size), "core_range_set": f"{{{cores}}}", "device_id": device, **borrowed})  # fmt: skip


async def taken(*nodes, room_bytes=None, operation=7):
    async def graph_of(_operation):
        return graph(*nodes)

    run = SimpleNamespace(memory_report=SimpleNamespace(graph_of=graph_of, tensors=None))
    return await room.taken_by(run, operation, "Matmul", room_bytes)


async def test_what_an_op_took_is_what_its_graph_shows_of_the_fullest_core():
    own = [circular(100), circular(50, "[1-0 - 1-0]"), circular(999, lies_on="1"), circular(999, device="1")]
    others = [("Unary", circular(7)), ("Halo", circular(9))]
    assert await taken(*ops(("Matmul", *own), *others)) == 150
    assert await taken(*ops(("Matmul", *own), *others), operation=None) is None
    assert await taken(*ops(*others)) is None


async def test_what_a_graph_leaves_open_is_not_told():
    """Whose buffers they are, of two ops of a name; and until 2025, whether they lie on tensors."""
    assert await taken(*ops(("Matmul", circular(100)), ("Matmul", circular(100)))) is None
    assert await taken(*ops(("Matmul", circular(100), circular(50, lies_on=None)))) is None


async def test_where_the_graph_shows_no_buffers_an_exact_model_tells_them(monkeypatch):
    asked = []

    def footprint(launch, operation, free):
        asked.append((launch.name, operation, free.before, free.running))
        return SimpleNamespace(total=64, exact=exact)

    async def models_of(_report):
        return SimpleNamespace(footprint=footprint)

    monkeypatch.setattr(room, "models_of", models_of)
    exact = True
    assert await taken(*ops(("Matmul",)), room_bytes=500) == 64
    assert asked == [("MatmulDeviceOperation", 7, 500, 500)]
    assert await taken(*ops(("Matmul",))) is None
    exact = False
    assert await taken(*ops(("Matmul",)), room_bytes=500) is None

    async def no_models(_report):
        return None

    monkeypatch.setattr(room, "models_of", no_models)  # of a chip that is not known
    assert await taken(*ops(("Matmul",)), room_bytes=500) is None
