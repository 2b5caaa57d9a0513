"""What a check may need of a run: each is met by a whole report, and missed where its cells are gone."""

from __future__ import annotations

from itertools import count

import numpy as np
import pytest

from tests.checks.asking import Asker, case_of_reports
from tests.checks.rows import put
from tests.checks.step3_programs import altered, held
from tests.for_all import for_all
from tests.profiles import Program, header_of, performance_rows, write_rows
from tests.profiles.model import DeviceOp
from tests.profiles.ops import matmul
from ttnn_mcp.checks import needs

DEVICE = "DEVICE ID"


def multiplied(*, attributes=None):
    program = Program("wormhole_b0")
    x, w, y = (program.tensor([1, 1, 512, 512]) for _ in range(3))
    op = matmul(x, w, y, 10_000)
    op.attributes = op.attributes if attributes is None else attributes
    put(program, op)
    return program


@pytest.fixture
def meets(tmp_path):
    """Whether a program's report meets a need; `how` is what `Asker.case` takes."""
    asker = Asker("", tmp_path, count())

    def met(need, about=None, **how):
        case = asker.case(multiplied() if about is None else about, **how)
        return bool(need.met(case, np.ones(len(case), dtype=np.bool_)))

    return met


@for_all(
    ("need", "spared", "lost"),
    [
        (needs.OPERANDS, "INPUT_[12]", "INPUT_"),
        (needs.OPERANDS, "INPUT_[12]", "OUTPUT_"),
        (needs.TWO_OPERANDS, "INPUT_2", "INPUT_[12]"),
        (needs.TWO_OPERANDS, "INPUT_2", "OUTPUT_"),
        (needs.PLACEMENTS, "INPUT_[12]|OUTPUT_0_MEMORY", "INPUT_"),
        (needs.PLACEMENTS, "INPUT_[12]|INPUT_0_MEMORY", "OUTPUT_"),
        (needs.PLACEMENTS, "INPUT_[12]", "_MEMORY"),
        (needs.CORES, "AVAILABLE", "CORE COUNT"),
        (needs.PROGRAM_CONFIG, "CORE COUNT", "ATTRIBUTES"),
        (needs.COMPUTE_CONFIG, "CORE COUNT", "ATTRIBUTES"),
        (needs.FIDELITY, "CORE COUNT", "MATH FIDELITY"),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_a_need_is_met_by_what_a_check_reads_and_by_no_less(meets, need, spared, lost):
    assert meets(need, without=spared)
    assert not meets(need, without=lost)


def test_one_op_with_attributes_is_enough(meets, tmp_path):
    rows = performance_rows(multiplied())
    for row in rows:
        row["ATTRIBUTES"] = ""
    empty = case_of_reports(write_rows(tmp_path / "ops_perf_results_made.csv", rows, header_of(rows, "C7")))
    assert meets(needs.ATTRIBUTES)
    assert not needs.ATTRIBUTES.met(empty, np.ones(len(empty), dtype=np.bool_))


def test_a_chip_nobody_knows_meets_none_of_its_figures(meets):
    unknown = Program("wormhole_b0", clock_ghz=0.5)
    x = unknown.tensor([1, 1, 512, 512])
    put(unknown, DeviceOp("UnaryDeviceOperation", (x,), (x,), 10_000))
    for need in (needs.ARCHITECTURE, needs.DRAM_BANDWIDTH, needs.L1_LIMIT, needs.LINK_RATE):
        assert meets(need)
        assert not meets(need, unknown, generation="C2")


@for_all("need", [needs.REPLAY, needs.CAPACITY, needs.CAPTURES, needs.MEMORY])
def test_what_is_replayed_is_asked_of_a_memory_report(meets, need):
    assert meets(need, held(80_000, 3), memory="3.3")
    assert not meets(need, held(80_000, 3))


def test_a_memory_report_without_operations_was_not_replayed(tmp_path):
    case = altered(tmp_path, held(80_000, 3), "DELETE FROM operations", "DELETE FROM captured_graph")
    assert not needs.REPLAY.met(case, np.ones(len(case), dtype=np.bool_))


def test_graphs_show_the_peak_and_snapshots_do_not(meets):
    assert meets(needs.CAPTURES, held(80_000, 3), memory="3.3")
    assert not meets(needs.CAPTURES, held(80_000, 3), memory="G1")


def test_a_bank_of_no_known_size_has_no_capacity(tmp_path):
    case = altered(tmp_path, held(80_000, 3), "DELETE FROM devices", arch="quasar")
    assert not needs.CAPACITY.met(case, np.ones(len(case), dtype=np.bool_))


def on_two_devices(folder, *, drop=(), rename=(), generation="C7"):
    """Three ops on each of two devices; `drop` and `rename` are rows of the second."""
    program = Program("wormhole_b0", devices=2)
    for width in (1, 2, 3):
        x = program.tensor([1, 1, 32, 32 * width])
        put(program, DeviceOp("UnaryDeviceOperation", (x,), (x,), 10_000))
    rows = performance_rows(program, generation=generation)
    second = [row for row in rows if str(row[DEVICE]) == "1"]
    for place in rename:
        second[place]["OP CODE"] = "MadeUpOfNoFamily"
    kept = [row for row in rows if not any(row is second[place] for place in drop)]
    case = case_of_reports(
        write_rows(folder / "ops_perf_results_made.csv", kept, header_of(kept, generation)), chosen="all"
    )
    return needs.SAME_OPS.met(case, np.ones(len(case), dtype=np.bool_))


def test_devices_are_compared_where_they_ran_the_same_ops(tmp_path):
    assert on_two_devices(tmp_path / "same")
    assert not on_two_devices(tmp_path / "fewer", drop=(5,))
    assert not on_two_devices(tmp_path / "others", rename=range(6))
