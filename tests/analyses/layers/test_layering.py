"""Layers by names that repeat, and the ops that differ from their like."""

import asyncio

import pytest

from tests.asking import session
from tests.profiles import Iteration, Program, write_performance_report
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
    return layering_of(run.scope("last", None, None).ops)


def test_every_op_has_its_layer_and_its_role(tmp_path):
    layering = of(tmp_path, layered())
    assert (layering.count, layering.roles) == (LAYERS, 4)
    assert layering.layer.tolist() == [BEFORE, *(n for n in range(1, LAYERS + 1) for _ in range(4)), AFTER]
    assert layering.role.tolist() == [0, *([1, 2, 3, 4] * LAYERS), 0]


@pytest.mark.parametrize(("slow_ns", "differs"), [(20_900, 0), (21_100, 1)])
def test_an_op_differs_from_a_twentieth_and_a_microsecond_on(tmp_path, slow_ns, differs):
    layering = of(tmp_path, layered(3, slow_ns))
    assert layering.differs.sum() == differs
    assert not differs or layering.layer[layering.differs].tolist() == [3]


def test_a_real_encoder_has_thirty_two_layers_that_begin_at_a_norm(tmp_path):
    layering = of(tmp_path, shared(CLIP))
    assert (layering.count, layering.roles) == (32, 29)
    assert [(layering.layer == edge).sum() for edge in (BEFORE, AFTER)] == [5, 3]
    assert {*layering.layer[layering.differs].tolist()} == {1, 10, 11, 20, 28}


def test_a_convolutional_model_has_none(tmp_path):
    assert of(tmp_path, shared(DEEPLAB)) is None
