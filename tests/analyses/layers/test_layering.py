"""Layers by names that repeat, and the ops that differ from their like."""

import asyncio

import numpy as np

from tests.asking import session
from tests.for_all import for_all
from tests.profiles import Iteration, Program, header_of, performance_rows, write_performance_report, write_rows
from tests.programs import LAYERS, layered
from tests.shared_reports import CLIP, DEEPLAB, shared
from ttnn_mcp.analyses.layers.layering import AFTER, BEFORE, layering_of


def of(folder, program_or_path):
    path = (
        write_performance_report(folder, program_or_path, (Iteration(cold=True), Iteration()))
        if isinstance(program_or_path, Program)
        else program_or_path
    )
    run = asyncio.run(session(folder).run(str(path)))
    return layering_of(run.scope("last", None, None).ops, run.performance_report.signposts)


def test_every_op_has_its_layer_and_its_role(tmp_path):
    layering = of(tmp_path, layered())
    assert (layering.count, layering.roles) == (LAYERS, 4)
    assert layering.layer.tolist() == [BEFORE, *(n for n in range(1, LAYERS + 1) for _ in range(4)), AFTER]
    assert layering.role.tolist() == [0, *([1, 2, 3, 4] * LAYERS), 0]


@for_all(
    ("usual_ns", "slow_ns", "differs"),
    [(20_000, 21_000, 0), (20_000, 21_100, 1), (200_000, 210_000, 0), (200_000, 211_000, 1), (2_000, 2_900, 0)],
)
def test_an_op_differs_from_a_twentieth_and_a_microsecond_on(tmp_path, usual_ns, slow_ns, differs):
    program = layered(3, slow_ns)
    for op in program.device_ops:
        op.kernel_ns = usual_ns if op.kernel_ns == 20_000 else op.kernel_ns
    layering = of(tmp_path, program)
    assert layering.differs.sum() == differs
    assert not differs or layering.layer[layering.differs].tolist() == [3]


def test_ops_outside_the_layers_have_nothing_to_differ_from(tmp_path):
    program = layered()
    program.device_ops[-1].kernel_ns = 90_000
    assert not of(tmp_path, program).differs.any()


def test_ops_that_do_not_repeat_have_no_layers(tmp_path):
    program = Program("wormhole_b0")
    for family in ("Embeddings", "LayerNorm", "Unary", "BinaryNg", "Transpose"):
        program.op(f"{family}DeviceOperation", [program.tensor([1, 1, 32, 512])])
    assert of(tmp_path, program) is None


def test_no_ops_have_no_layers(tmp_path):
    run = asyncio.run(session(tmp_path).run(str(write_performance_report(tmp_path, layered(), [Iteration()]))))
    signposts = run.performance_report.signposts
    assert layering_of(run.scope().ops.take(np.arange(0)), signposts) is None


def test_a_real_encoder_has_thirty_two_layers_that_begin_at_a_norm(tmp_path):
    layering = of(tmp_path, shared(CLIP))
    assert (layering.count, layering.roles) == (32, 29)
    assert [(layering.layer == edge).sum() for edge in (BEFORE, AFTER)] == [5, 3]
    assert {*layering.layer[layering.differs].tolist()} == {1, 10, 11, 20, 28}


def test_a_convolutional_model_has_none(tmp_path):
    assert of(tmp_path, shared(DEEPLAB)) is None


def test_devices_with_different_layers_have_none(tmp_path):
    program = layered()
    program.devices = 2
    rows = performance_rows(program, [Iteration()])
    last = [place for place, row in enumerate(rows) if str(row["DEVICE ID"]) == "1"][-5:-1]
    kept = [row for place, row in enumerate(rows) if place not in last]
    assert of(tmp_path, write_rows(tmp_path / "both.csv", rows, header_of(rows, "C7"))).count == LAYERS
    assert of(tmp_path, write_rows(tmp_path / "fewer.csv", kept, header_of(rows, "C7"))) is None


def test_each_device_s_ops_are_compared_with_its_own(tmp_path):
    """One device takes twice as long for everything: none of its ops is unusual there."""
    program = layered()
    program.devices = 2
    for op in program.device_ops:
        op.kernel_ns = (20_000, 40_000)
    assert not of(tmp_path, program).differs.any()


def test_layers_that_run_in_several_passes_are_no_more_layers(tmp_path):
    """One iteration decodes three tokens: each token runs embedding, layers and head again."""
    program, token = Program("wormhole_b0"), layered()
    program.calls = [*token.calls, *token.calls, *token.calls]
    program.op("TypecastDeviceOperation", [program.tensor([1, 1, 32, 64])])
    layering = of(tmp_path, program)
    one = [BEFORE, *(n for n in range(1, LAYERS + 1) for _ in range(4)), BEFORE]
    assert layering.layer.tolist() == [*one, *one, *one, BEFORE]
    assert layering.role.tolist() == [*[0, *([1, 2, 3, 4] * LAYERS), 0] * 3, 0]
    assert layering.scattered
    assert layering.why == "6 layers of 4 ops in each of 3 passes, by op names that repeat"
