"""Kernel times of ops that never ran: by laws alone, and none where a graph does not tell enough."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.analyses.laws import asked as described
from tests.analyses.settings.graphs import MATMUL, TWO_D, graph, matmul, report
from tests.analyses.settings.test_printed_row import DRAM, EMPTY, SHARDS
from tests.asking import session
from tests.for_all import for_all
from tests.shared_reports import CLIP, DEEPLAB, DEEPSEEK, OFT, SEGFORMER, shared
from ttnn_mcp.analyses.laws.catalogue import expected
from ttnn_mcp.analyses.laws.described import described as op_in
from ttnn_mcp.analyses.settings import unmeasured
from ttnn_mcp.analyses.settings.captured_op import captured_op
from ttnn_mcp.analyses.settings.unmeasured import promising_changes, unmeasured_ops

LAUNCH_US = 0.37
ENGINE_US = 2 * 2048**3 * 2 / (4096 * 64) / 1e3  # of an N150 at HiFi2
ROWS, TALL = (1, 1, 1024, 1024), (1, 1, 4096, 2560)
READ_US = 2 * 1024**2 / 288e3  # those rows once from an N150's DRAM


@pytest.fixture
def ops(tmp_path):
    async def of(*operations, arch="wormhole_b0"):
        path = report(tmp_path / "memory", *operations, arch=arch)
        return await unmeasured_ops(await session(tmp_path).open(None, path))

    return of


async def test_no_time_is_made_up(ops):
    five, none = (1, 2, 8, 64, 32), graph("UnaryDeviceOperation", "x(", [], (1, 1, 4096, 2560))
    to_shards = graph("InterleavedToShardedDeviceOperation", f"x({SHARDS}", [ROWS], ROWS, out=SHARDS)
    half = matmul().replace(
        '"node_type": "tensor", "params": {"tensor_id": "1", "shape"',
        '"node_type": "tensor", "params": {"tensor_id": "1", "was"',
    )
    cases = [
        # a conv of one point sets its matmul's config itself, which no graph prints
        ("ttnn.conv2d", matmul(), {}, ENGINE_US),
        # where a core grid was given, a law of what TTNN chooses does not hold
        ("ttnn.linear", matmul(grid="<xy_pair>"), {"core_grid": "ttnn.CoreGrid(x=8, y=8)"}, ENGINE_US),
        # nobody knows how much of its operands it touches
        ("ttnn.x", graph("XDeviceOperation", "x(", [TALL] * 2, TALL), {}, LAUNCH_US),
        # the cores of shards are not among what is read
        ("ttnn.to_memory_config", to_shards, {}, READ_US),
        # more dims than a row has, an operand that is not printed, no result
        ("ttnn.conv3d", graph("Conv3dDeviceOperation", "x(", [five], five), {}, LAUNCH_US),
        ("ttnn.relu", none, {}, LAUNCH_US),
        ("ttnn.matmul", half, {}, LAUNCH_US),
        ("ttnn.rand", none.replace("shape", "was"), {}, LAUNCH_US),
    ]
    told = await ops(*(case[:3] for case in cases))
    assert [one.expected for one in told] == [None] * len(cases)
    assert [one.least_us for one in told] == [pytest.approx(case[3], rel=0.01) for case in cases]
    assert [one.operation for one in told] == [*range(1, len(cases) + 1)]


async def test_only_a_matmul_needs_a_config_that_is_told(ops):
    addition = graph(
        "BinaryNgDeviceOperation", f"x(BinaryOpType::ADD, {EMPTY}std::nullopt, {DRAM}, ", [TALL, TALL], TALL
    )
    [one] = await ops(("ttnn.add", addition, {}), arch="blackhole")
    assert one.expected.law == "element-wise, two tensors"


async def test_what_did_not_run_or_cannot_be_read_counts_nothing(ops):
    died = graph("MatmulDeviceOperation", MATMUL, [(1, 1, 64, 64)] * 2, (1, 1, 64, 64), ends=False)
    assert await ops(("ttnn.matmul", died, {}), ("ttnn.matmul", "[cut off", {})) == []


async def test_a_matmul_left_to_ttnn_runs_on_the_cores_that_it_chooses(ops):
    chosen = described.many_rows("wormhole_b0", program="AUTO", grid=None, cores=64)
    assert [one.expected for one in await ops(("ttnn.matmul", matmul(), {}))] == [expected(chosen)]


async def test_launches_that_print_the_same_are_told_apart_by_their_arguments(ops):
    given, left = await ops(("ttnn.linear", matmul(), {"program_config": TWO_D}), ("ttnn.linear", matmul(), {}))
    assert given.expected == expected(described.many_rows("wormhole_b0", block_w=2))
    assert left.expected.law == "matmul of many rows, left to TTNN"


# share of the kernel time that laws cover, their median error, and the share of these ops within 8 of 10
@for_all(
    ("name", "share", "error", "inside"),
    [(CLIP, 0.62, 0.13, 1.0), (DEEPSEEK, 0.13, 0.15, 0.78), *[(name, 0.0, None, None) for name in (DEEPLAB, OFT, SEGFORMER)]],
)  # fmt: skip
async def test_without_times_and_cores_real_ops_are_predicted_as_well_as_is_said(
    tmp_path, name, share, error, inside
):
    """As a graph shows them: laws are asked without what only a device tells, then compared with what it measured."""
    run = await session(tmp_path).run(str(shared(name)))
    ops = run.scope().ops
    measured_us = ops.numbers("kernel_ns") / 1e3
    laws = {}
    for row in range(len(ops)):
        op = op_in(ops, row, run.chip)
        answer = expected(replace(op, cores=None)) if op is not None else None
        if answer is not None:
            laws[row] = answer
    times = {row: measured_us[row] for row in laws}
    assert sum(times.values()) / measured_us.sum() == pytest.approx(share, abs=0.01)
    if share:
        assert np.median([abs(laws[row].us / us - 1) for row, us in times.items()]) == pytest.approx(
            error, abs=0.01
        )
        within = [laws[row].low_us <= us <= laws[row].high_us for row, us in times.items()]
        assert np.mean(within) == pytest.approx(inside, abs=0.01)


async def test_a_change_is_told_of_those_alike_ops_beside_which_it_fits(tmp_path, monkeypatch):
    run = await session(tmp_path).open(None, str(shared("../real/reports/llama_decode")))
    ops = await unmeasured_ops(run)

    async def told(most):
        return {
            one.ops[0].operation: [op.operation for op in one.ops]
            for one in await promising_changes(run, ops, most)
        }

    assert await told(4) == {26: [26, 27, 59, 60], 32: [32, 65], 3: [3, 36], 21: [21, 54]}
    assert await told(1) == {26: [26, 27, 59, 60]}

    async def full(run, operation):
        op, room = await captured_op(run, operation)
        return op, 0 if operation in (26, 32, 59, 65) else room

    monkeypatch.setattr(unmeasured, "captured_op", full)
    assert await told(2) == {27: [27, 60]}
