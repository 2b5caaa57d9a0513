"""Numbers of the host are compared between the last two passes, where those ran the same ops."""

from __future__ import annotations

import numpy as np

from tests.checks.rows import ONE_PASS, case_of, put
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp
from ttnn_mcp.analyses.devices.host_numbers import changing_numbers
from ttnn_mcp.run.iterations import Iterations


def slices(folder, *starts, wide=32):
    """Slices of one tensor, the last one `wide`; the op table."""
    program = Program("wormhole_b0")
    x = program.tensor([1, 1, 1024, 64])
    for number, start in enumerate(starts):
        rows = wide if number == len(starts) - 1 else 32
        attributes = {"slice_start": f"Shape([0, 0, {start}, 0])"}
        put(
            program,
            DeviceOp("SliceDeviceOperation", (x,), (program.tensor([1, 1, rows, 64]),), attributes=attributes),
        )
    return case_of(folder, program, ONE_PASS).run.performance_report.steady


def changing(ops, *number, count=2):
    """Lines of the last pass and of the one before."""
    passes = Iterations(np.array(number), count, 1, "")
    return [(one.lines.tolist(), one.before.tolist()) for one in changing_numbers(ops, passes)]


def test_the_last_two_passes_are_compared(tmp_path):
    ops = slices(tmp_path, 0, 0, 32)
    lines = ops.lines.tolist()
    assert changing(ops, 1, 2, 3, count=3) == [([lines[2]], [lines[1]])]
    assert changing(ops, 1, 2, 0) == []


@for_all(("number", "count"), [((1, 1, 2), 2), ((0, 0, 0), 0)], ids=["one more", "no passes"])
def test_passes_of_other_ops_are_not_compared(tmp_path, number, count):
    assert changing(slices(tmp_path, 0, 64, 32), *number, count=count) == []


def test_slices_of_other_shapes_are_other_ops(tmp_path):
    assert changing(slices(tmp_path, 0, 0, 32, wide=64), 0, 1, 2) == []


@for_all("layers", [False, True])
def test_layers_of_one_pass_may_have_numbers_of_their_own(tmp_path, layers):
    ops = slices(tmp_path, 0, 32)
    passes = Iterations(np.array([1, 2]), 2, 1, "repeating ops", may_be_layers=layers)
    assert bool(list(changing_numbers(ops, passes))) == (not layers)
