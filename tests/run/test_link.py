"""Memory and performance report are linked only where every device op fits."""

import pytest

from tests.profiles import (
    CsvStyle,
    header_of,
    performance_rows,
    write_memory_report,
    write_performance_report,
    write_rows,
    write_run,
)
from tests.programs import block
from ttnn_mcp.session.opening import read_run


@pytest.mark.parametrize("style", [CsvStyle(), CsvStyle(call_counts="plain")])
async def test_every_op_of_both_iterations_is_linked(tmp_path, style):
    made = write_run(tmp_path, block(), csv_style=style)
    run = await read_run("x", "x", made.performance, made.memory)
    assert run.linked.said.status == "linked"
    assert run.linked.said.matched == run.linked.said.of == 2 * len(block().device_ops)
    operation = run.linked.operation_at[2]
    assert run.memory.operations.names[run.memory.operations.row(operation)] == "ttnn.linear"


async def test_devices_that_ran_one_launch_share_its_operation(tmp_path):
    made = write_run(tmp_path, block(devices=2))
    run = await read_run("x", "x", made.performance, made.memory)
    ops = run.performance.ops
    assert run.linked.said.status == "linked"
    assert len({run.linked.operation_at[int(line)] for line in ops.lines[:2]}) == 1


async def test_another_model_is_never_linked_by_force(tmp_path):
    other = block()
    other.op("SoftmaxDeviceOperation", [other.tensor([1, 1, 32, 32])], call="ttnn.softmax")
    performance = write_performance_report(tmp_path / "perf", block())
    memory = write_memory_report(tmp_path / "memory", other)
    run = await read_run("x", "x", performance, memory)
    assert run.linked.said.status == "not_linked"
    assert "Softmax" in run.linked.said.why or "holds" in run.linked.said.why
    assert run.linked.operation_at == {}


async def test_set_up_ops_before_the_passes_stay_unlinked(tmp_path):
    rows = performance_rows(block(), style=CsvStyle(call_counts="plain"))
    first = {**rows[-1], "GLOBAL CALL COUNT": "0"}
    performance = write_rows(tmp_path / "perf.csv", [first, *rows], header_of(rows, "C7"))
    run = await read_run("x", "x", performance, write_memory_report(tmp_path / "memory", block()))
    assert run.linked.said.status == "linked"
    assert (run.linked.said.matched, run.linked.said.of) == (len(rows), len(rows) + 1)
    assert 2 not in run.linked.operation_at
