"""Programs that show no buffers: those of a first launch, of a model, and of nobody; and those that were refused."""

import asyncio
import json

from tests.analyses.memory.replays import opened
from tests.analyses.memory.small_tables import asked, event, real, tensors
from tests.for_all import for_all
from ttnn_mcp.analyses.memory.left_out import LeftOut, Programs, Room, ran
from ttnn_mcp.analyses.memory.replay import replay_of
from ttnn_mcp.readers.graph.graph_events import DeviceOp, GraphError, GraphMemory

MODELS = object()
ENDED = {"started_at": 0, "ended_at": 1}


def graph(*device_ops, printed=("attributes",), **more):
    """A graph whose device ops all begin at its first node."""
    return GraphMemory(device_ops=[*device_ops], nodes=[{"arguments": [*printed]}, {}], **more)


def silent(name="Matmul", call=5, **more):
    return DeviceOp(name, call=call, **{**ENDED, **more})


def programs(models=None, **loads):
    known = Programs(tensors(), models)
    if loads:
        known.learn(graph(silent(buffers=1)), {0: loads["load"]})
    return known


def test_programs_that_show_buffers_or_never_ended_leave_nothing_out():
    known = programs()
    shown = [silent(buffers=2), silent(ended_at=-1), silent(ended_at=-1, buffers=1), silent("Softmax")]
    assert list(known.left_out(graph(*shown), 7)) == [3]
    assert (known.launched, known.silent) == (2, {"Softmax": 1})


def test_a_later_launch_takes_what_the_first_one_took():
    left = programs(load=300).left_out(graph(silent(), silent(call=6)), 7)
    assert [(one.name, one.operation, one.carried) for one in left.values()] == [
        ("Matmul", 7, 300),
        ("Matmul", 7, None),
    ]


@for_all(("cached", "carried"), [(None, 300), (True, 300), (False, None)])
def test_a_program_that_was_made_anew_is_another_one(cached, carried):
    assert programs(load=300).left_out(graph(silent(cached=cached)), 7)[0].carried == carried


def test_of_equal_programs_the_fullest_is_remembered():
    known = programs(load=300)
    for load in (200, 400, 100):
        known.learn(graph(silent(buffers=1)), {0: load})
    assert known.left_out(graph(silent()), 7)[0].carried == 400


def test_only_launches_with_buffers_and_a_name_of_their_own_are_remembered():
    known = programs()
    known.learn(graph(silent(buffers=0), silent(call=0, buffers=1), silent(call=6, buffers=1)), {0: 10, 1: 20})
    left = known.left_out(graph(silent(), silent(call=0), silent(call=6)), 7)
    assert [one.carried for one in left.values()] == [None, None, 0]


def test_a_launch_is_parsed_for_a_model_alone():
    assert programs().left_out(graph(silent()), 7)[0].launch is None
    assert programs(MODELS, load=300).left_out(graph(silent()), 7)[0].launch is None
    left = programs(MODELS).left_out(graph(silent()), 7)[0]
    assert (left.launch.attributes, left.models) == ("attributes", MODELS)


@for_all(
    ("call", "printed", "once"), [(5, "attributes", True), (0, "attributes", False), (5, "unsupported type", False)]
)
def test_launches_that_print_the_same_are_parsed_once(call, printed, once):
    known = programs(MODELS)
    first, second = (known.left_out(graph(silent(call=call), printed=(printed,)), 7)[0].launch for _ in range(2))
    assert (first is second) == once
    assert first == second


def test_what_was_found_is_counted():
    known = programs()
    found = [
        LeftOut("Matmul", 3, None, None, None, None),
        LeftOut("Matmul", 4, None, None, None, None),
        LeftOut("Softmax", 5, 300, None, None, 300),
        LeftOut("Softmax", 6, None, None, None, 200),
        LeftOut("Softmax", 6, None, None, None, 0),
    ]
    known.count(found)
    assert (known.unknown, known.unknown_at, known.carried, known.modelled) == ({"Matmul": 2}, {3, 4}, 1, 2)


EVENTS = [event("allocate", 4096, 16, op=0), event("circular", 8192, 16, op=0), event("circular", 8192, 16, op=1)]
ERROR = GraphError(0, "ttnn.a", "TT_THROW", "words")


def left(device_ops, **more):
    return [(one.kind, one.device_op) for one in ran(graph(*device_ops, events=EVENTS, **more))]


ALL = [("allocate", 0), ("circular", 0), ("circular", 1)]


def test_without_an_error_every_buffer_was_there():
    assert left([silent(ended_at=-1), silent()]) == ALL


@for_all("failed", [{"aborted": ["ttnn.a"]}, {"errors": [ERROR]}])
def test_buffers_of_refused_programs_were_never_there(failed):
    assert left([silent(ended_at=-1), silent()], **failed) == [("allocate", 0), ("circular", 1)]
    assert left([silent(), silent(ended_at=-1)], **failed) == [("allocate", 0), ("circular", 0)]
    assert left([silent(ended_at=-1, executed=True), silent()], **failed) == ALL
    assert left([silent(executed=True), silent()], **failed) == ALL


def test_nobody_s_program_takes_nothing():
    program = programs().left_out(graph(silent()), 7)[0]
    assert program.bytes_per_core(Room(0, 0)) == 0


@for_all("name", ["views", "resnet50_stages"])
def test_real_runs_launched_the_device_ops_that_their_graphs_end(name):
    """Real: against plain counting in the JSON of the graphs."""
    folder = real(name)
    replay = asyncio.run(replay_of(asyncio.run(opened(folder / "db.sqlite"))))
    ended = 0
    for (text,) in asked(folder, "SELECT captured_graph FROM captured_graph"):
        names = [node["params"]["name"] for node in json.loads(text) if node["node_type"] == "function_end"]
        ended += sum("::" not in name and "ttnn." not in name and "(torch)" not in name for name in names)
    assert replay.programs.launched == ended
    assert replay.programs.silent.total() == (
        replay.programs.carried + replay.programs.modelled + replay.programs.unknown.total()
    )
