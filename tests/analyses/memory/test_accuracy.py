"""PCC evidence: what TTNN recorded of its ops against their golden functions, wherever it is asked for."""

import sqlite3
from contextlib import closing

import pytest

from tests.analyses.memory.small_tables import links, memory, operations
from tests.asking import ask, session
from tests.for_all import for_all
from tests.profiles import Iteration, write_run
from tests.programs import block
from ttnn_mcp.analyses.memory.accuracy import losses_of, worst_global
from ttnn_mcp.readers.memory.comparisons import ComparedTensor
from ttnn_mcp.readers.memory.report import read_memory_report

LOCAL, GLOBAL = "local_tensor_comparison_records", "global_tensor_comparison_records"


@pytest.fixture
def made(tmp_path):
    return write_run(tmp_path / "home", block(), [Iteration(), Iteration()])


def outputs(path) -> list[tuple[int, int]]:
    """(operation, tensor) of every output, in the order of the run."""
    with closing(sqlite3.connect(path)) as database:
        return database.execute(
            "SELECT operation_id, tensor_id FROM output_tensors ORDER BY operation_id"
        ).fetchall()


def record(path, table, *values) -> None:
    """Write (tensor, matches, desired PCC, actual PCC)."""
    with closing(sqlite3.connect(path)) as database, database:
        columns = "tensor_id, golden_tensor_id, matches, desired_pcc, actual_pcc"
        database.execute(f"INSERT INTO {table} ({columns}) VALUES (?, 0, ?, ?, ?)", values)


async def test_the_first_operation_below_its_bound_is_named(made):
    (first, _), (second, tensor), *_ = outputs(made.memory)
    later = outputs(made.memory)[-1][1]
    record(made.memory, GLOBAL, later, 0, 0.999, 0.91)
    record(made.memory, LOCAL, tensor, 0, 0.99, 0.9312)
    record(made.memory, LOCAL, outputs(made.memory)[0][1], 1, 0.99, 0.9999)
    memory = await read_memory_report(made.memory)
    losses = losses_of(memory)
    assert losses[0].operation == second != first
    name = memory.operations.names[memory.operations.row(second)]
    assert losses[0].sentence == f"PCC 0.9312 below 0.99 first at operation {second} {name} (local comparison)"
    assert worst_global(memory) == pytest.approx(0.91)


async def test_a_run_that_compared_nothing_says_nothing(made):
    memory = await read_memory_report(made.memory)
    assert memory.comparisons == ()
    assert losses_of(memory) == []
    assert worst_global(memory) is None


@for_all("value", [float("inf"), 7.0, -3.0, "much", None])
async def test_a_value_that_is_no_pcc_is_not_shown_as_one(made, value):
    record(made.memory, LOCAL, outputs(made.memory)[0][1], 0, 1.5, value)
    (loss,) = losses_of(await read_memory_report(made.memory))
    assert loss.record.desired is None
    assert loss.record.actual in (None, 0.0)  # text reads as 0 in SQLite
    assert "below its bound" in loss.sentence


async def test_the_card_the_check_the_op_and_the_record_all_tell(made, tmp_path):
    operation, tensor = outputs(made.memory)[1]
    record(made.memory, LOCAL, tensor, 0, 0.99, 0.9312)
    record(made.memory, GLOBAL, tensor, 0, 0.99, 0.9)
    at = session(tmp_path)
    card = await ask(at, "open_run", performance=str(made.performance), memory=str(made.memory), name="both")
    assert any(f"PCC 0.9312 below 0.99 first at operation {operation}" in caveat for caveat in card["caveats"])
    checked = await ask(at, "optimization_check", run="both", steps=[1])
    (finding,) = (one for one in checked["findings"] if one["check"] == "pcc-below-bound")
    assert finding["evidence"][0] == {
        "source": "db.sqlite",
        "row": f"{LOCAL}:tensor_id={tensor}",
        "column": "actual_pcc",
        "value": 0.9312,
    }
    assert finding["saving_us"] == {"at_least": 0, "at_most": 0}
    run = await at.run("both")
    line = next(line for line, linked in run.linked.operation_at.items() if linked == operation)
    call = (await ask(at, "op_detail", run="both", op=line))["call"]
    assert (call["pcc_local"], call["pcc_global"], call["below_bound"]) == (0.9312, 0.9, True)
    told = await ask(at, "experiments", action="record", change="x", baseline="both", candidate="both")
    assert any("PCC 0.9312 below 0.99" in what for _code, what, _do in told["suspicious"]["rows"])
    assert "lowest global comparison" in told["experiment"]["why"]


async def test_records_that_match_are_no_finding(made, tmp_path):
    record(made.memory, LOCAL, outputs(made.memory)[1][1], 1, 0.99, 0.9999)
    at = session(tmp_path)
    await ask(at, "open_run", performance=str(made.performance), memory=str(made.memory), name="both")
    checked = await ask(at, "optimization_check", run="both", steps=[1])
    assert "pcc-below-bound" not in {one["check"] for one in checked["findings"]}


def compared(tensor, matches=False, actual=0.9, scope="local"):
    return ComparedTensor(tensor, scope, matches, 0.99, actual)


def run_of(*records):
    """Operations 1, 2, 3 give tensors 20, 10, 30."""
    given = links((1, 20), (2, 10), (3, 30))
    return memory(operations=operations("ttnn.a", "ttnn.b", "ttnn.c"), outputs=given, comparisons=records)


def test_losses_are_in_the_order_of_the_operations_local_ones_first():
    records = (compared(30), compared(20, scope="global"), compared(20), compared(10, matches=True))
    losses = losses_of(run_of(*records))
    assert [(loss.operation, loss.name, loss.record.scope) for loss in losses] == [
        (1, "ttnn.a", "local"),
        (1, "ttnn.a", "global"),
        (3, "ttnn.c", "local"),
    ]
    assert losses[1].table == GLOBAL


@for_all("unknown", [5, 15, 99])
def test_a_tensor_that_no_operation_gives_is_nobody_s_loss(unknown):
    assert losses_of(run_of(compared(unknown))) == []


def test_the_lowest_global_value_counts_whatever_local_ones_say():
    records = (compared(20, actual=0.1), compared(10, actual=0.5, scope="global"))
    more = (compared(30, actual=None, scope="global"), compared(30, actual=0.4, matches=True, scope="global"))
    assert worst_global(run_of(*records, *more)) == 0.4
    assert worst_global(run_of(records[0], more[0])) is None
