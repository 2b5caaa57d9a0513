"""A model that never ran on a device: what laws of time say of its graph, and what they do not."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from tests.analyses.laws import asked as described
from tests.analyses.settings.test_printed_row import CONFIG, DRAM, EMPTY, PRODUCT, SHARDS
from tests.asking import ask, session
from tests.profiles import Program, write_memory_report
from tests.shared_reports import CLIP, DEEPLAB, DEEPSEEK, OFT, SEGFORMER, shared
from ttnn_mcp.analyses.laws.catalogue import expected
from ttnn_mcp.analyses.laws.described import described as op_in

MATMUL = PRODUCT.format(batched=1, first=0, second=0).replace("BFLOAT8_B", "BFLOAT16")
TWO_D = CONFIG.replace("8-7", "8-8")
ADD = f"operation_attributes_t(BinaryOpType::ADD, {EMPTY}<variant>, {DRAM}, "
LAUNCH_US = 0.37
ROWS, ROWS_US = (1, 1, 1024, 1024), 2 * 1024**2 / 288e3  # read once from an N150's DRAM
ENGINE_US = 2 * 2048**3 * 2 / (4096 * 64) / 1e3  # of an N150 at HiFi2


def graph(name, printed, inputs, output, *, ends=True, out=DRAM):
    """What TTNN captures of a call with one device op."""
    tensors = [
        {
            "counter": place,
            "node_type": "tensor",
            "params": {
                "tensor_id": str(place),
                "shape": f"Shape({list(shape)})",
                "dtype": "DataType::BFLOAT16",
                "layout": "Layout::TILE",
                "memory_config": out if place == len(inputs) else DRAM,
            },
        }
        for place, shape in enumerate((*inputs, output))
    ]
    start = {"node_type": "function_start", "params": {"name": name}, "arguments": [printed]}
    start["input_tensors"] = list(range(len(inputs)))
    end = {"node_type": "function_end", "params": {"name": name}, "connections": [len(inputs)]}
    return json.dumps([*tensors, start, *([end] if ends else [])])


def report(folder, *operations, arch="blackhole"):
    """A memory report of operations: name, graph, arguments."""
    program = Program(arch)
    for name, _, _ in operations:
        x = program.tensor([1, 1, 32, 32])
        program.call(name, [x], [x])
    path = write_memory_report(folder, program)
    with closing(sqlite3.connect(path)) as database, database:
        for number, (_, text, arguments) in enumerate(operations, 1):
            database.execute("UPDATE captured_graph SET captured_graph = ? WHERE operation_id = ?", (text, number))
            database.execute("DELETE FROM operation_arguments WHERE operation_id = ?", (number,))
            rows = [(number, key, value) for key, value in arguments.items()]
            database.executemany("INSERT INTO operation_arguments VALUES (?, ?, ?, 0)", rows)
    return str(path)


def matmul():
    sides = [(1, 1, 2048, 2048)] * 3
    return graph("MatmulDeviceOperation", MATMUL, sides[:2], sides[2])


@pytest.fixture
def told(tmp_path):
    async def of(*operations, arch="blackhole"):
        return await ask(session(tmp_path), "list_ops", run=report(tmp_path / "memory", *operations, arch=arch))

    return of


def kinds(answer):
    return {row[0]: row[1:] for row in answer["predicted"]["kinds"]["rows"]}


async def test_ops_that_a_law_knows_have_its_time_and_all_others_their_least(told):
    rows = (1, 1, 4096, 2560)
    addition = graph("BinaryNgDeviceOperation", ADD, [rows, rows], rows)
    law = expected(described.many_rows(block_w=2))
    tiles = 4096 * 2560 // 1024
    added = expected(described.addition(tiles=tiles, dtype="BFLOAT16", out_dtype="BFLOAT16", cores=110))
    transposed = graph("TransposeDeviceOperation", f"TransposeParams(TransposeOpDim::WH, {DRAM}, ", [rows], rows)
    answer = await told(
        ("ttnn.linear", matmul(), {"program_config": TWO_D}),
        ("ttnn.linear", matmul(), {"program_config": TWO_D}),
        ("ttnn.add", addition, {}),
        ("ttnn.transpose", transposed, {}),
    )
    said, least_us = kinds(answer), 2 * 2 * 4096 * 2560 / 512e9 * 1e6
    assert said["Matmul"] == [
        2,
        2,
        *(pytest.approx(2 * us, abs=0.01) for us in (law.us, law.low_us, law.high_us)),
        None,
    ]
    assert said["Binary"] == [
        1,
        1,
        *(pytest.approx(us, abs=0.01) for us in (added.us, added.low_us, added.high_us)),
        None,
    ]
    assert said["Transpose"] == [1, 0, None, None, None, pytest.approx(least_us, rel=0.01)]
    predicted = answer["predicted"]
    assert predicted["at_least_us"] == pytest.approx(2 * law.low_us + added.low_us + least_us, rel=0.001)
    likely, high = 2 * law.us + added.us, 2 * law.high_us + added.high_us
    share = high / (high + least_us)
    assert predicted["why"].startswith("predicted, not measured: laws of time speak of 3 of 4 device ops: ")
    assert f": {likely:.0f} us (" in predicted["why"]
    assert f"{high:.0f}), at most {share:.0%} of the time; the others take {least_us:.0f} us" in predicted["why"]


@pytest.mark.parametrize(
    ("operation", "least_us"),
    [
        # a conv of one point sets its matmul's config itself, which no graph prints
        (("ttnn.conv2d", matmul(), {}), ENGINE_US),
        # nobody knows the grid that a call with core_grid has
        (("ttnn.linear", matmul(), {"core_grid": "ttnn.CoreGrid(x=8, y=8)"}), ENGINE_US),
        # nobody knows how much of its operands it touches
        (("ttnn.x", graph("XDeviceOperation", "x(", [(1, 1, 4096, 2560)] * 2, (1, 1, 4096, 2560)), {}), LAUNCH_US),
        # cores with shards work on them, and a graph names them where its tensors are printed, which is not read here
        (("ttnn.to_memory_config", graph("InterleavedToShardedDeviceOperation", f"x({SHARDS}", [ROWS], ROWS, out=SHARDS), {}), ROWS_US),
        (("ttnn.conv3d", graph("Conv3dDeviceOperation", "x(", [(1, 2, 8, 64, 32)], (1, 2, 8, 64, 32)), {}), LAUNCH_US),
        (("ttnn.relu", graph("UnaryDeviceOperation", "x(", [], (32, 32)), {}), LAUNCH_US),
    ],
)  # fmt: skip
async def test_no_time_is_made_up(told, operation, least_us):
    predicted = (await told(operation, arch="wormhole_b0"))["predicted"]
    assert predicted["at_least_us"] == pytest.approx(least_us, rel=0.01)
    assert predicted["why"].startswith(
        "predicted, not measured: laws of time speak of 0 of 1 device ops; the others"
    )
    assert "changes" not in predicted


async def test_what_did_not_run_or_cannot_be_read_counts_nothing(told):
    died = graph("MatmulDeviceOperation", MATMUL, [(1, 1, 64, 64)] * 2, (1, 1, 64, 64), ends=False)
    assert "predicted" not in await told(("ttnn.matmul", died, {}), ("ttnn.matmul", "[cut off", {}))


async def test_a_matmul_left_to_ttnn_runs_on_the_cores_that_it_chooses(told):
    answer = await told(("ttnn.matmul", matmul(), {}), arch="wormhole_b0")
    chosen = described.many_rows("wormhole_b0", program="AUTO", grid=None, cores=64)
    assert kinds(answer)["Matmul"][2] == pytest.approx(expected(chosen).us, abs=0.01)


async def test_kinds_beyond_the_heaviest_are_counted(told):
    others = [("ttnn.x", graph(f"Op{one}DeviceOperation", "x(", [(32, 32)], (32, 32)), {}) for one in range(9)]
    predicted = (await told(*others))["predicted"]
    assert (len(predicted["kinds"]["rows"]), predicted["more_kinds"]) == (8, 1)


async def test_only_the_first_page_says_what_is_predicted(tmp_path):
    at, path = session(tmp_path), report(tmp_path / "m", *[("ttnn.linear", matmul(), {})] * 3)
    first = await ask(at, "list_ops", run=path, limit=2)
    assert first["predicted"] == (await ask(at, "list_ops", run=path))["predicted"]
    assert "predicted" not in await ask(at, "list_ops", run=path, limit=2, cursor=first["next_cursor"])


async def test_on_a_real_graph_changes_are_told_that_fit_and_that_a_law_expects_to_be_faster(tmp_path):
    """Llama's decode on a mock N150: its banked matmuls take deeper blocks beside the tensors alive there."""
    at, path = session(tmp_path), str(shared("../real/reports/llama_decode"))
    predicted = (await ask(at, "list_ops", run=path))["predicted"]
    rows = [dict(zip(predicted["changes"]["columns"], row, strict=True)) for row in predicted["changes"]["rows"]]
    assert [(one["op"], one["setting"], one["now"], one["value"]) for one in rows] == [
        (26, "in0_block_w", 4, 8),
        (32, "in0_block_w", 7, 28),
        (3, "in0_block_w", 4, 8),
    ]
    for one in rows:
        assert one["then_low_us"] < one["then_us"] < one["then_high_us"] < one["predicted_us"]
        listed = await ask(at, "check_setting", run=path, op=one["op"], setting=one["setting"])
        of_value = {choice["value"]: choice for choice in listed["choices"]}
        assert of_value[one["value"]]["verdict"] == "fits"
        assert of_value[one["value"]]["expected_us"] == one["then_us"]
        assert of_value[one["now"]]["expected_us"] == one["predicted_us"]
        best = min((choice.get("expected_us", 1e9), choice["value"]) for choice in listed["choices"])
        assert f"; {best[1]}: predicted by a law, not measured: {best[0]:.1f} us (" in listed["expected"]
    single = await ask(at, "check_setting", run=path, op=26, setting="in0_block_w", value=8)
    assert single["expected"].endswith("; predicted by a law, not measured: 204.2 us (194.0 to 214.4)")
    assert "now_us" not in single


# share of the kernel time that laws cover, their median error, and the share of these ops within 8 of 10
@pytest.mark.parametrize(
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
