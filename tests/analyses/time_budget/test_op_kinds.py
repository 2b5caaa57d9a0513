"""Every kind of op has a bound; what one leaves out is said."""

import asyncio

import pytest

from tests.asking import session
from tests.for_all import for_all
from tests.profiles import Iteration, Program, write_performance_report
from ttnn_mcp.analyses.roofline.flops import WHY_POSITION
from ttnn_mcp.analyses.roofline.parts_touched import WHY_EXPERTS, WHY_LINKS, WHY_OTHER, WHY_PARTS, WHY_SAMPLES
from ttnn_mcp.analyses.window_facts import facts_of

ROWS, COLUMNS = 1024, 1024
SIZE = ROWS * COLUMNS * 2
PEAK = 288  # bytes per nanosecond of Wormhole's DRAM

# op code -> operands of 2 MiB that it must read and write at least, and what its bound leaves out
KINDS = {
    "GridSample": (2, WHY_SAMPLES),
    "TopKDeviceOperation": (2, None),
    "ArgMaxDeviceOperation": (2, None),
    "ScatterDeviceOperation": (3, None),
    "GatherDeviceOperation": (3, None),
    "SortDeviceOperation": (3, None),
    "SamplingDeviceOperation": (3, None),
    "EmbeddingsDeviceOperation": (3, None),
    "Pool2D": (2, None),
    "UpsampleOperation": (2, None),
    "RotaryEmbeddingLlamaDeviceOperation": (3, None),
    "RotaryEmbeddingLlamaFusedQKDeviceOperation": (3, None),
    "UpdateKVCache": (2, None),
    "PagedUpdateCacheDeviceOperation": (2, None),
    "PagedFillCacheDeviceOperation": (2, None),
    "PagedFusedUpdateCacheDeviceOperation": (2, None),
    "MoeExpertTokenRemapDeviceOperation": (2, WHY_EXPERTS),
    "MoEComputeDeviceOperation": (2, WHY_EXPERTS),
    "AllToAllDispatchDeviceOperation": (2, WHY_PARTS),
    "AllToAllCombineDeviceOperation": (2, WHY_PARTS),
    "AllGatherMatmulAsync": (3, WHY_LINKS),
    "LayerNormDeviceOperation": (3, None),
    "LayerNormPreAllGatherDeviceOperation": (3, None),
    "RMSAllGatherDeviceOperation": (2, None),
    "DitFusedRmsnormDeviceOperation": (3, None),
    "GroupNormDeviceOperation": (3, None),
    "UntilizeCodegenDeviceOperation": (2, None),
    "RepeatCodegenDeviceOperation": (2, None),
    "GatherCodegenDeviceOperation": (3, None),
    "SdpaDecodeDeviceOperation": (2, WHY_POSITION),
    "NeverSeenBeforeDeviceOperation": (3, WHY_OTHER),
}


@pytest.fixture(scope="module")
def facts(tmp_path_factory):
    """One op of each kind, from two operands to one, all 2 MiB in DRAM; links are not told."""
    folder, program = tmp_path_factory.mktemp("kinds"), Program("wormhole_b0")
    for op_code in KINDS:
        program.op(op_code, [program.tensor([1, 1, ROWS, COLUMNS]) for _ in range(2)], kernel_ns=100_000)
    path = write_performance_report(folder, program, (Iteration(cold=True), Iteration()))
    run = asyncio.run(session(folder).run(str(path)))
    return facts_of(run, run.scope("last", None, None))


@for_all("op_code", KINDS)
def test_every_kind_of_op_moves_its_bytes_at_least(facts, op_code):
    operands, _ = KINDS[op_code]
    row = facts.names.distinct.index(op_code)
    (place,) = (facts.names.codes == row).nonzero()[0]
    assert facts.least_times.bounded[place]
    assert facts.least_times.as_it_is_ns[place] == pytest.approx(operands * SIZE / PEAK)


@for_all("op_code", KINDS)
def test_what_a_bound_leaves_out_is_said(facts, op_code):
    _, left_out = KINDS[op_code]
    (place,) = (facts.names.codes == facts.names.distinct.index(op_code)).nonzero()[0]
    assert facts.roofline.why[place] == (left_out or "")
    assert facts.least_times.complete[place] == (left_out is None)


def test_a_gather_of_few_elements_reads_few(tmp_path):
    program = Program("wormhole_b0")
    table, index = program.tensor([1, 1, ROWS, COLUMNS]), program.tensor([1, 1, ROWS, 32], "UINT32")
    program.op("GatherDeviceOperation", [table, index], shape=[1, 1, ROWS, 32], kernel_ns=100_000)
    path = write_performance_report(tmp_path, program, (Iteration(cold=True), Iteration()))
    run = asyncio.run(session(tmp_path).run(str(path)))
    least = facts_of(run, run.scope("last", None, None)).least_times
    assert least.as_it_is_ns == pytest.approx([ROWS * 32 * (2 + 4 + 2) / PEAK])
