"""Ops whose shapes a damaged report lost: told by their times alone, and asked nothing else."""

import numpy as np
import pytest

from tests.asking import ask, session
from tests.for_all import for_all
from tests.profiles import Iteration, header_of, performance_rows, write_rows
from tests.programs import block
from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.readers.performance.csv_file import read_performance_csv
from ttnn_mcp.run.performance import Performance

LINE = 2  # of the matmul, the first op
HEIGHT = "{}_Y_PAD[LOGICAL]"


def damaged(folder, **cells):
    """A report of one pass, whose matmul has these cells."""
    rows = performance_rows(block(layers=1), [Iteration()])
    rows[LINE - 2].update(cells)
    return write_rows(folder / "ops.csv", rows, header_of(rows, "C7"))


@for_all(
    ("op_code", "operand", "cell", "lost"),
    [
        ("Matmul", "INPUT_0", "64[64]", False),
        ("Matmul", "INPUT_0", "0[0]", True),
        ("Matmul", "INPUT_0", "64[0]", True),
        ("Matmul", "INPUT_1", "0[0]", True),
        ("Matmul", "OUTPUT_0", "0[0]", True),
        ("Unary", "INPUT_1", "0[0]", False),
        ("Unary", "INPUT_1", "", True),
        ("MadeUp", "INPUT_0", "0[0]", True),
        ("Conv2d", "INPUT_1", "0[0]", True),
        ("SDPA", "INPUT_1", "0[0]", True),
    ],
)
def test_a_shape_that_cannot_be_is_lost(tmp_path, op_code, operand, cell, lost):
    path = damaged(tmp_path, **{"OP CODE": f"{op_code}DeviceOperation", HEIGHT.format(operand): cell})
    report = Performance(read_performance_csv(path))
    assert report.lost.tolist() == [LINE] * lost
    names = [report.ops.texts("op_code")[0], report.timed.texts("op_code")[0]]
    assert names == ["LostShape" if lost else f"{op_code}DeviceOperation", f"{op_code}DeviceOperation"]
    assert report.ops.inputs[0].present.tolist() == report.ops.outputs[0].present.tolist() == [not lost, True, True]
    np.testing.assert_array_equal(report.ops.numbers("kernel_ns"), report.timed.numbers("kernel_ns"))


def test_keys_and_values_are_never_empty_and_what_is_beside_them_may_be(tmp_path):
    header = {f"INPUT_{place}_{part}_PAD[LOGICAL]": "64[64]" for place in (2, 3) for part in "WZYX"}
    for name, place, lost in (("SDPA", 2, True), ("SDPA", 3, False), ("Matmul", 2, False), ("Conv2d", 2, False)):
        row = {"OP CODE": f"{name}Operation", **header, HEIGHT.format(f"INPUT_{place}"): "0[0]"}
        report = Performance(read_performance_csv(damaged(tmp_path, **row)))
        assert bool(len(report.lost)) == lost
        left_out = Performance(read_performance_csv(damaged(tmp_path, **row, **{"DEVICE ID": ""})))
        assert left_out.lost.tolist() == []


@for_all(
    ("op_code", "operand", "lost"),
    [
        ("Matmul", "INPUT_0", True),
        ("Matmul", "INPUT_1", False),
        ("Matmul", "OUTPUT_0", True),
        ("MadeUp", "OUTPUT_0", False),
        ("AllGather", "INPUT_0", False),
    ],
)
@for_all("others", [1, 0])
def test_without_its_first_input_or_output_an_op_is_lost_where_others_have_one(
    tmp_path, op_code, operand, lost, others
):
    rows = performance_rows(block(layers=1), [Iteration()])[: 1 + others]
    rows[0] |= {"OP CODE": op_code} | {name: "" for name in rows[0] if name.startswith(operand)}
    path = write_rows(tmp_path / "ops.csv", rows, header_of(performance_rows(block(), [Iteration()]), "C7"))
    assert bool(len(Performance(read_performance_csv(path)).lost)) == bool(lost and others)


async def test_nobody_is_asked_about_it_and_every_answer_says_so(tmp_path):
    at, path = session(tmp_path), damaged(tmp_path, **{HEIGHT.format("INPUT_0"): "0[0]"})
    answer = await ask(at, "optimization_check", run=str(path))
    (doubt,) = answer["window"]["doubts"]
    assert doubt.startswith(
        f"shapes_lost: a shape that cannot be, or none, at 1 op (line {LINE}): told as LostShape"
    )
    assert "no Conv2d ops (a 1x1 conv of stride 1 runs as a Matmul), beside ops whose shapes" in str(
        answer["steps"]
    )
    assert answer["steps"][-1]["why"] == "one device"
    queried = await ask(at, "query_run", run=str(path), sql=f"SELECT op, in0_shape FROM ops WHERE line = {LINE}")
    assert queried["rows"] == [["Matmul", "0x64"]]
    for tool, more in (("check_setting", {"setting": "math_fidelity", "value": "LoFi"}), ("replay_op", {})):
        with pytest.raises(QuestionRefused, match="LostShape"):
            await ask(at, tool, run=str(path), op=LINE, **more)
