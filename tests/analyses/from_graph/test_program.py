"""What a memory report tells of its chip, and how often a model is asked."""

from types import SimpleNamespace

import numpy as np

from tests.analyses.from_graph.programs import BANK, WORMHOLE, modelled, sharded, tensor
from tests.for_all import for_all
from ttnn_mcp.analyses.from_graph import models
from ttnn_mcp.analyses.from_graph.program import machine_of
from ttnn_mcp.analyses.memory.left_out import Room
from ttnn_mcp.readers.graph.launches import Launch

X = tensor(1, 8, 256, 512)


def report(arch="wormhole_b0", grid=(8, 8), chips=1, names=(), arguments=()):
    device = SimpleNamespace(compute_grid_x=grid[0], compute_grid_y=grid[1], l1_bank_bytes=BANK, l1_small_bytes=0)

    async def program_arguments():
        return dict(enumerate(arguments))

    operations = SimpleNamespace(ids=np.arange(len(names)), names=names)
    return SimpleNamespace(
        arch=arch, devices=[device] * chips, operations=operations, program_arguments=program_arguments
    )


@for_all(
    ("arch", "grid", "banks"),
    [
        ("wormhole_b0", (8, 8), 12),
        ("blackhole", (13, 10), 8),
        ("grayskull", (12, 9), 8),
        ("unheard_of", (8, 8), 0),
    ],
)
def test_the_banks_of_dram_are_the_most_that_a_chip_of_its_kind_has(arch, grid, banks):
    machine = machine_of(report(arch, grid, 2))
    assert (machine.grid, machine.arch, machine.dram_banks, machine.chips) == (grid, arch, banks, 2)


async def test_a_report_that_describes_no_chip_has_no_models():
    blind = [report(chips=0), report(grid=(None, 8)), report(grid=(8, None))]
    assert [machine_of(one) for one in blind] == [None] * 3
    assert [await models.models_of(one) for one in blind] == [None] * 3


async def test_a_layer_is_modelled_once_and_a_call_is_named_only_where_its_name_tells(monkeypatch):
    asked = []
    monkeypatch.setitem(models.MODELS, "Some", lambda program: asked.append(dict(program.settings)))
    of_report = await models.models_of(
        report(names=("ttnn.relu", "ttnn.gelu", "ttnn.logit", "ttnn.relu", "ttnn.conv2d"))
    )
    for operation in range(5):
        assert of_report.bytes_per_core(Launch("Some", "", "", (X,), (X,)), operation, Room(1, 1)) is None
    assert asked == [{}, {"call": "ttnn.logit"}, {"call": "ttnn.conv2d"}]


async def test_of_a_residual_it_is_kept_only_that_there_is_one():
    printed = ("ttnn.Tensor(shape=Shape([1, 1, 1, 512]), dtype=DataType.BFLOAT16)", "None")
    of_report = report(
        names=("ttnn.rms_norm",) * 2, arguments=[{"residual_input_tensor": text} for text in printed]
    )
    assert await models.arguments_of(of_report) == {0: {"residual_input_tensor": "Tensor"}, 1: {}}


def test_what_nobody_modelled_is_not_told():
    assert modelled("UnknownDeviceOperation", [X], X) is None


def test_a_fused_update_gives_nothing_but_its_operands():
    new = sharded(1, 8, 32, 64, layout="HEIGHT", shard=(32, 64), cores=(8, 1))
    cache, positions = tensor(8, 1, 1024, 64), tensor(1, 8, dtype="f32", rows=True)
    inputs = [cache, new, cache, new, positions]
    assert modelled("PagedFusedUpdateCacheDeviceOperation", inputs, (), machine=WORMHOLE) == 57_376
