"""What is known of a window as a whole."""

import numpy as np

from tests.checks.rows import case_of
from tests.for_all import for_all
from tests.profiles import Iteration, Program
from tests.programs import LAYERS, layered
from ttnn_mcp.analyses.layers.layering import AFTER, BEFORE


def test_the_heaviest_ops_come_before_their_repeats(tmp_path):
    program = Program("wormhole_b0")
    for width, kernel_ns in ((64, 9_000), (64, 8_000), (96, 7_000), (128, 6_000)):
        program.op("UnaryDeviceOperation", [program.tensor([1, 1, 32, width])], kernel_ns=kernel_ns)
    case = case_of(tmp_path, program, [Iteration()])
    assert [case.heaviest(np.arange(4), most) for most in (1, 2, 3)] == [[0], [0, 2], [0, 2, 3]]


@for_all("build", [layered, lambda: Program("wormhole_b0")])
def test_layers_are_those_of_the_critical_device(tmp_path, build):
    program = build()
    program.devices = 2
    if not program.device_ops:
        program.op("UnaryDeviceOperation", [program.tensor([1, 1, 32, 64])])
    layering = case_of(tmp_path, program).layering_here
    expected = [BEFORE, *(n for n in range(1, LAYERS + 1) for _ in range(4)), AFTER]
    assert (layering and layering.layer.tolist()) == (expected if build is layered else None)
