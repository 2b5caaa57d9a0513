"""A mock device on which one setting of one op is tried, in the format that `tests.real.trials` judges.

Each trial is asked dry first, which is when TTNN 0.81.1 tells its buffers, and then for real.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.real.rig.devices import first_line
from tests.real.rig.program_buffers import fullest_core

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

TILE = 32


@dataclass(frozen=True)
class Question:
    """A setting of an op at a value; how to make its operands and call it, and what its program is called."""

    op: str
    case: dict[str, Any]
    setting: str
    value: Any
    make: Callable[[], list[Any]]
    call: Callable[..., Any]
    program: str


@dataclass
class Bench:
    """A device, and the trials made on it."""

    ttnn: Any
    device: Any
    kind: str
    chance: random.Random

    def __post_init__(self) -> None:
        grid = self.device.compute_with_storage_grid_size()
        self.grid = [grid.x, grid.y]

    def tensor(self, *shape: int, dtype: str = "bfloat16", layout: str = "TILE_LAYOUT", memory: Any = None) -> Any:
        """Zeros; in DRAM, interleaved, unless told otherwise."""
        ttnn = self.ttnn
        memory = memory or ttnn.DRAM_MEMORY_CONFIG
        kind, how = getattr(ttnn, dtype), getattr(ttnn, layout)
        return ttnn.zeros(shape, dtype=kind, layout=how, device=self.device, memory_config=memory)

    def kernel(self, *, fp32: bool, packer: bool) -> Any:
        """A compute config."""
        return self.ttnn.init_device_compute_kernel_config(
            self.device.arch(),
            math_fidelity=self.ttnn.MathFidelity.HiFi2,
            math_approx_mode=False,
            fp32_dest_acc_en=fp32,
            packer_l1_acc=packer,
        )

    def sharded(self, rows: int, columns: int, grid: tuple[int, int], layout: str) -> Any:
        """A memory config that spreads a matrix evenly over the cores of a grid."""
        ttnn, (x, y) = self.ttnn, grid
        return ttnn.create_sharded_memory_config(
            (1, 1, rows, columns), core_grid=ttnn.CoreGrid(y=y, x=x), strategy=getattr(ttnn.ShardStrategy, layout),
            orientation=ttnn.ShardOrientation.ROW_MAJOR,
        )  # fmt: skip

    def one_of(self, *values: Any) -> Any:
        """One of them by chance."""
        return self.chance.choice(values)

    def trial(self, asked: Question) -> dict[str, Any]:
        """Ask once dry, once for real."""
        self.device.clear_program_cache()  # a cached convolution keeps its tables in L1_SMALL, until that is full
        row = {"kind": self.kind, "grid": self.grid, "op": asked.op, "case": asked.case}
        row |= {"setting": asked.setting, "value": asked.value}
        mode = self.ttnn.graph.RunMode
        for dispatched in (False, True):
            given = asked.make()
            view = self.ttnn.get_memory_view(self.device, self.ttnn.BufferType.L1)
            row["l1_tensors_before"] = int(view.total_bytes_allocated_per_bank)
            self.ttnn.graph.begin_graph_capture(mode.NORMAL if dispatched else mode.NO_DISPATCH)
            error = result = None
            try:
                result = asked.call(*given)
            except Exception as raised:  # noqa: BLE001 - a refusal is an answer
                error = first_line(raised)
            graph = self.ttnn.graph.end_graph_capture()
            if not dispatched:
                row["circular_bytes_per_core"] = fullest_core(graph, asked.program, of_all="slices" in asked.case)
            del given, result
        return {**row, "accepted": error is None, "error": error}
