"""In what partners differ, and how equal differences become one change."""

import numpy as np
import pytest

from tests.analyses.tables import ops_of
from tests.for_all import for_all
from tests.profiles import L1, Program
from ttnn_mcp.analyses.comparison.aspects import SAME, aspects_of
from ttnn_mcp.analyses.comparison.comparison import changes_of


def table(folder, *ops, without=""):
    """One matmul per mapping of what differs."""
    program = Program()
    for op in ops:
        x = program.tensor(op.get("shape", [1, 1, 64, 64]), op.get("dtype", "BFLOAT16"), placement=op.get("where"))
        w = program.weight([1, 1, 64, 64])
        program.op(
            op.get("name", "MatmulDeviceOperation"),
            [x, w] if op.get("weights", True) else [x],
            fidelity=op.get("fidelity", "HiFi4"),
            cores=op.get("cores", 64),
            attributes={"axis": op.get("axis", 0)},
            shape=op.get("shape", [1, 1, 64, 64]),
        )
    return ops_of(folder, program, without=without)


@pytest.fixture
def told(tmp_path):
    """The changes in words, without those of nothing."""

    def changes(before, after, without=("", "")):
        left, right = (
            table(tmp_path, *ops, without=lost) for ops, lost in zip((before, after), without, strict=True)
        )
        found = changes_of(list(aspects_of(left, right, padded=False)), right)
        return {change.what: change.pairs.tolist() for change in found if change.what}

    return changes


def test_equal_changes_are_one_and_pairs_without_one_are_left(told):
    assert told([{}, {}, {}], [{"fidelity": "LoFi"}, {}, {"fidelity": "LoFi"}]) == {
        "fidelity HiFi4 -> LoFi": [0, 2]
    }


def test_the_cores_of_both_sides_are_told_where_both_reports_count_them(told):
    cores = [{"cores": 8}, {}], [{"cores": 64}, {}]
    assert told(*cores) == {"cores 8 -> 64": [0]}
    assert told(*cores, ("CORE COUNT", "")) == told(*cores, ("", "CORE COUNT")) == {}


@for_all("written", ["HiFi4", "LoFi"])
def test_a_cell_that_one_report_leaves_empty_is_no_difference(told, written):
    empty, full = [{"fidelity": None}, {}, {"fidelity": "LoFi"}], [{"fidelity": written}, {}, {"fidelity": "LoFi"}]
    assert told(empty, full) == told(full, empty) == {}


def test_an_operand_that_one_side_lacks_is_no_difference(told):
    assert told([{}, {}], [{"weights": False}, {}]) == told([{"weights": False}, {}], [{}, {}]) == {}


def test_shapes_are_told_by_the_operand(told):
    assert told([{}], [{"shape": [1, 1, 128, 64]}]) == {"in0 shape, out0 shape": [0]}


def test_three_parts_of_a_change_are_told_and_the_rest_counted(told):
    three = {"fidelity": "LoFi", "axis": 1, "cores": 8}
    assert told([{}], [three]) == {"fidelity HiFi4 -> LoFi, axis, cores 64 -> 8": [0]}
    assert [*told([{}], [{**three, "dtype": "BFLOAT8_B", "where": L1}])] == [
        "fidelity HiFi4 -> LoFi, axis, in0 BFLOAT16 -> BFLOAT8_B, 4 more"
    ]


def test_a_code_of_cores_holds_two_counts(tmp_path):
    left, right = table(tmp_path, {"cores": 140}), table(tmp_path, {"cores": 7})
    cores = next(aspect for aspect in aspects_of(left, right, padded=False) if aspect.kind == "cores")
    assert [*cores.labels.values()] == ["cores 140 -> 7"]
    assert (cores.before.tolist(), cores.after.tolist()) == ([140], [7])
    same = next(aspect for aspect in aspects_of(left, left, padded=False) if aspect.kind == "cores")
    assert np.array_equal(same.codes, [SAME])
