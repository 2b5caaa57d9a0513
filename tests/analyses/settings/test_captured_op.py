"""What the arguments of a call add to what its graph prints, and what is said where the graph shows no op."""

from __future__ import annotations

import pytest

from tests.analyses.settings.graphs import graph, report
from tests.analyses.settings.test_printed_row import DRAM, EMPTY, KERNEL
from tests.asking import session
from ttnn_mcp.analyses.settings.captured_op import captured_in_full
from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.session.places import demo_reports

SIDE = (1, 1, 64, 64)
SCALED = graph(
    "BinaryNgDeviceOperation", f"operation_attributes_t(BinaryOpType::MUL, {EMPTY}<variant>, {DRAM}, ", [SIDE], SIDE
)


async def test_a_number_that_a_graph_does_not_print_stands_among_the_arguments(tmp_path):
    calls = {"multiply": "0.5", "multiply_": "-2", "add": "1e-05", "rsub": "0.5", "subtract": "x()"}
    path = report(tmp_path, *((f"ttnn.{name}", SCALED, {"1": text}) for name, text in calls.items()))
    run = await session(tmp_path).open(None, path)
    found = [(await captured_in_full(run, number, others=True))[0] for number in range(1, 6)]
    assert [op.attributes.get("scalar") for op in found] == ["0.5", "-2", "1e-05", None, None]


async def test_an_operation_without_a_device_op_is_told_from_one_without_settings(tmp_path):
    path = report(tmp_path, ("ttnn.view", graph("ttnn::view", "", [SIDE], SIDE), {}), ("ttnn.multiply", SCALED, {}))
    run = await session(tmp_path).open(None, path)
    with pytest.raises(QuestionRefused, match=r"\(ttnn.view\) shows no device op"):
        await captured_in_full(run, 1, others=True)
    for number in (1, 2):
        with pytest.raises(QuestionRefused, match="shows no conv, matmul, attention or norm to judge"):
            await captured_in_full(run, number)


async def test_a_norm_has_settings_and_a_function_is_not_told_by_its_graph(tmp_path):
    printed = f"LayerNormParams(LayerNormType::RMSNORM, DistributedLayerNormStage::NOT_DISTRIBUTED, 1e-05, {DRAM}, <variant>, {KERNEL}, std::nullopt)"
    norm = graph("LayerNormDeviceOperation", printed, [SIDE], SIDE)
    relu = graph("UnaryDeviceOperation", f"x({KERNEL}", [SIDE], SIDE)
    run = await session(tmp_path).open(None, report(tmp_path, ("ttnn.rms_norm", norm, {}), ("ttnn.relu", relu, {})))
    op, *_ = await captured_in_full(run, 1)
    assert op.attributes["norm_type"] == "RMSNORM"
    with pytest.raises(QuestionRefused, match="shows not all that Unary was called with: its row does"):
        await captured_in_full(run, 2, others=True)


async def test_a_graph_that_cannot_be_read_and_one_of_several_ops_are_no_op_to_ask_about(tmp_path):
    run = await session(tmp_path).open(None, report(tmp_path / "cut", ("ttnn.add", "[cut off", {})))
    with pytest.raises(QuestionRefused, match="shows no device op"):
        await captured_in_full(run, 1, others=True)
    demo = await session(tmp_path).open(None, demo_reports()[1])
    with pytest.raises(QuestionRefused, match="launched 2 such ops; a performance report tells them apart"):
        await captured_in_full(demo, 45, others=True)
