"""What the pages leave to their reader: inputs, weights, a model, by page and block.

Every function gets the stage of its page; the last one of a page runs after its last block.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.real.rig.stage import Stage


@dataclass(frozen=True)
class Page:
    """A page's chips, and what is done before each of its blocks and after the last."""

    kind: str
    before: tuple[Callable[[Stage], None], ...]


def nothing(_stage: Stage) -> None:
    """Needs nothing."""


def only_device(stage: Stage) -> None:
    """Needs a device."""
    stage.open()


def formats(stage: Stage) -> None:
    """A linear and a convolution."""
    stage.open()
    stage.give(torch_weight=stage.host(1024, 2048), x=stage.tensor(1, 1, 256, 1024), bias=stage.tensor(1, 2048))
    stage.give(image=stage.rows(1, 1, 56 * 56, 64), conv_bias=_on_host(stage, 1, 1, 1, 128))
    stage.give(conv_weight=_on_host(stage, 128, 64, 3, 3))


def compiled_formats(stage: Stage) -> None:
    """A PyTorch model and its inputs."""
    stage.give(model=stage.torch.nn.Linear(8, 8), inputs=stage.host(8, 8))


def constants(stage: Stage) -> None:
    """Weights on the host."""
    stage.open()
    stage.give(torch_weight=stage.host(1024, 1024), torch_mask=stage.host(1, 1, 128, 128))


def chain(stage: Stage) -> None:
    """Activations of four dimensions."""
    x = stage.tensor(1, 8, 128, 1024)
    stage.give(x=x, residual=stage.tensor(1, 8, 128, 1024), bias=stage.tensor(1, 1024))


def heads(stage: Stage) -> None:
    """What a fused projection gives, and what attention gives."""
    stage.give(fused_qkv=stage.tensor(1, 128, 3 * 1024), attention=stage.tensor(1, 16, 128, 64))


def matmuls(stage: Stage) -> None:
    """A prefill and a decode matmul."""
    stage.open()
    m, k, n = 1024, 2048, 4096
    stage.give(m=m, k=k, n=n, cores=32, torch_weight=stage.host(k, n))
    stage.give(x=stage.tensor(1, 1, m, k), weight=stage.tensor(k, n), one_row=stage.tensor(1, 1, 32, k))


def attention(stage: Stage) -> None:
    """Heads for prefill, a cache for decode, a residual and a gate."""
    int32 = stage.ttnn.int32
    stage.give(**{name: stage.tensor(1, 16, 1024, 64) for name in "qkv"}, fused_row=stage.tensor(1, 1, 8, 3 * 1024))
    stage.give(k_cache=stage.tensor(8, 16, 1024, 64), v_cache=stage.tensor(8, 16, 1024, 64))
    positions = stage.ttnn.zeros(
        (8,), dtype=int32, layout=stage.ttnn.ROW_MAJOR_LAYOUT, device=stage.names["device"]
    )
    stage.give(positions=positions, gamma=stage.rows(1, 1, 64, 32))
    stage.give(x=stage.tensor(1, 1, 32, 2048), skip=stage.tensor(1, 1, 32, 2048))


def model_of(stage: Stage) -> Callable[[Any], Any]:
    """A model of one op."""
    return stage.ttnn.relu


def traced(stage: Stage) -> None:
    """Inputs; the block opens its own device."""
    stage.give(ttnn=stage.ttnn, model=model_of(stage), torch_input=stage.host(1, 1, 32, 1024))
    stage.give(batches=[stage.host(1, 1, 32, 1024) for _ in range(2)])


def compiled_trace(stage: Stage) -> None:
    """Variables of the environment that the block sets are taken back with the process."""
    stage.give(model=stage.torch.nn.Linear(8, 8), inputs=stage.host(2, 8), os=os)


def copies(stage: Stage) -> None:
    """An input here and there."""
    stage.open()
    ttnn, torch_input = stage.ttnn, stage.host(1, 1, 32, 1024)
    host = ttnn.from_torch(torch_input, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT)
    there = ttnn.allocate_tensor_on_device(host.spec, stage.names["device"])
    stage.give(torch_input=torch_input, host_input=host, device_input=there)


def queues(stage: Stage) -> None:
    """The block opens its device with two queues: what lies on it comes when it is asked for."""
    stage.close()
    ttnn = stage.ttnn
    device = ttnn.open_device(device_id=0, num_command_queues=2)
    shard = ttnn.create_sharded_memory_config(
        shape=(1, 1, 32, 1024), core_grid=ttnn.CoreGrid(y=1, x=8), strategy=ttnn.ShardStrategy.WIDTH
    )
    banks = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(7, 0))})
    spec = ttnn.ShardSpec(banks, (32, 128), ttnn.ShardOrientation.ROW_MAJOR)
    in_dram = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.WIDTH_SHARDED, ttnn.BufferType.DRAM, spec)
    host = ttnn.from_torch(stage.host(1, 1, 32, 1024), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT)
    stage.give(device=device, host_inputs=[host, host], trace=object())
    stage.give(l1_input_config=shard, dram_output_config=in_dram)
    for name, config in (("l1_input", shard), ("dram_input", in_dram), ("output", shard), ("dram_output", in_dram)):
        stage.names[name] = stage.tensor(1, 1, 32, 1024, memory_config=config)
    # the device is open: the block's own call gives it again
    stage.names["ttnn"] = Opening(ttnn, device)


class Opening:
    """TTNN, whose `open_device` takes the arguments of the page and gives a device that has tensors on it already."""

    def __init__(self, ttnn: Any, device: Any) -> None:
        self._ttnn, self._device = ttnn, device

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ttnn, name)

    def open_device(
        self, *, device_id: int, num_command_queues: int, trace_region_size: int, l1_small_size: int
    ) -> Any:
        """The names that the real one was asked with elsewhere."""
        return self._device


def conv(stage: Stage) -> None:
    """A convolution of 64 channels."""
    stage.open()
    stage.give(x=stage.rows(1, 1, 56 * 56, 64), weight=_on_host(stage, 64, 64, 3, 3))
    stage.give(bias=_on_host(stage, 1, 1, 1, 64))


def use_fold(stage: Stage) -> None:
    """Fold once."""
    convolution, norm = stage.torch.nn.Conv2d(4, 4, 3), stage.torch.nn.BatchNorm2d(4).eval()
    stage.names["folded"](convolution, norm)


def mesh(stage: Stage) -> None:
    """A batch for eight devices; the block opens the mesh."""
    stage.give(ttnn=stage.ttnn, torch_weight=stage.host(64, 64), torch_batch=stage.host(8, 1, 32, 64))
    stage.give(model=model_of(stage))


def parallel(stage: Stage) -> None:
    """A linear over eight devices."""
    stage.give(hidden=stage.tensor(1, 1, 256, 512), weight_by_rows=stage.tensor(512, 2048))
    stage.give(full=stage.ttnn.CoreGrid(y=8, x=8))
    stage.give(hifi2=stage.ttnn.init_device_compute_kernel_config(stage.names["mesh"].arch()))


def unopened(stage: Stage) -> None:
    """No mesh is open when the fabric is chosen."""
    stage.close()


def profiled(stage: Stage) -> None:
    """A profiled test."""
    stage.open()
    stage.give(model=model_of(stage), device_input=stage.tensor(1, 1, 32, 1024))


def use_profiled(stage: Stage) -> None:
    """Run the test, then capture the same model."""
    names = stage.names
    names["test_perf"](names["device"], names["model"], names["device_input"])


def use_wall(stage: Stage) -> None:
    """Measure a step."""
    stage.names["wall_ms"](lambda: None, stage.names["device"], count=2)


def use_pcc(stage: Stage) -> None:
    """Compare a tensor with itself."""
    same = stage.host(4, 4)
    if stage.names["pcc"](same, same) < 0.999:
        raise ValueError("a tensor does not agree with itself")
    stage.give(x=stage.tensor(1, 1, 32, 1024), weight=stage.tensor(1024, 1024))


def _on_host(stage: Stage, *shape: int) -> Any:
    return stage.ttnn.from_torch(stage.host(*shape), dtype=stage.ttnn.float32)


PAGES = {
    "step-01-data-formats.md": Page("n150", (formats, compiled_formats, nothing)),
    "step-02-tensor-layouts.md": Page("n150", (constants, chain, heads, nothing)),
    "step-03-memory-sharding.md": Page("n150", (matmuls, attention, nothing)),
    "step-04-metal-trace.md": Page("n150", (traced, compiled_trace, nothing)),
    "step-05-multi-cq.md": Page("n150", (copies, queues, nothing, nothing)),
    "step-06-conv2d-optimization.md": Page("n150", (conv, nothing, use_fold)),
    "step-07-multi-device.md": Page("t3000", (mesh, parallel, unopened, nothing)),
    "quick-reference.md": Page("n150", (profiled, use_profiled, nothing, use_wall, use_pcc, nothing)),
}
