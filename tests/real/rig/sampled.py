"""Tries settings at random shapes on a mock device, in the format that `tests.real.trials` judges.

    PYTHON -m tests.real.rig.sampled KIND SEED COUNT OUT        within the environment

Every seed gives other shapes and values, so that rules cannot have been fitted to them. Each trial is asked dry first,
which is when TTNN 0.81.1 tells its buffers, and then for real.
"""

from __future__ import annotations

import json
import random
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.real.rig.devices import first_line, imported, opened
from tests.real.rig.program_buffers import fullest_core

if TYPE_CHECKING:
    from collections.abc import Callable

TILE = 32
CONV_AS_IS = {
    "act_block_h_override": 0, "act_block_w_div": 1, "enable_act_double_buffer": False,
    "enable_weights_double_buffer": False, "weights_dtype": "bfloat8_b", "fp32_dest_acc_en": False,
    "packer_l1_acc": True, "output_dtype": "bfloat16",
}  # fmt: skip


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

    def tensor(self, *shape: int, dtype: str = "bfloat16", layout: str = "TILE_LAYOUT", l1: bool = False) -> Any:
        """Zeros, interleaved."""
        ttnn = self.ttnn
        memory = ttnn.L1_MEMORY_CONFIG if l1 else ttnn.DRAM_MEMORY_CONFIG
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

    def trial(self, asked: Question) -> dict[str, Any]:
        """Ask once dry, once for real."""
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
                row["circular_bytes_per_core"] = fullest_core(graph, asked.program)
            del given, result
        return {**row, "accepted": error is None, "error": error}

    def matmul(self) -> dict[str, Any]:
        """A matmul of random size with one value of its config at random."""
        chance, ttnn, (columns, rows) = self.chance, self.ttnn, self.grid
        m, k, n = (
            TILE * chance.choice(sizes) for sizes in ((8, 16, 24, 32, 64), (8, 16, 32, 48, 96), (16, 32, 64, 96))
        )
        flat = chance.random() < 0.4
        across = (columns * rows, 1) if flat else (columns, rows)
        case: dict[str, Any] = {
            "m": m, "k": k, "n": n, "kind": "1D" if flat else "2D", "grid": self.grid, "in0_block_w": 2,
            "out_subblock_h": 1, "out_subblock_w": 1, "per_core_M": -(-m // TILE // across[1]),
            "per_core_N": -(-n // TILE // across[0]), "a": "bfloat16", "b": chance.choice(("bfloat16", "bfloat8_b")),
            "out": "bfloat16", "fp32": chance.random() < 0.3, "packer": True,
        }  # fmt: skip
        if flat:
            case["mcast_in0"] = True
        setting = chance.choice(
            ("in0_block_w", "in0_block_w", "out_subblock_h", "out_subblock_w", "per_core_M", "per_core_N")
        )
        value = chance.choice((1, 2, 3, 4, 6, 8, 12, 16))
        now = {**case, setting: value}
        fields = ("in0_block_w", "out_subblock_h", "out_subblock_w", "per_core_M", "per_core_N")
        given = {name: now[name] for name in fields} | {"compute_with_storage_grid_size": tuple(self.grid)}

        def call(a: Any, b: Any) -> Any:
            if flat:
                make = ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig
                config = make(**given, fuse_batch=True, fused_activation=None, mcast_in0=True)
            else:
                make = ttnn.MatmulMultiCoreReuseMultiCastProgramConfig
                config = make(**given, transpose_mcast=False, fused_activation=None)
            kernel = self.kernel(fp32=case["fp32"], packer=True)
            return ttnn.linear(a, b, program_config=config, compute_kernel_config=kernel, dtype=ttnn.bfloat16)

        def operands() -> list[Any]:
            return [self.tensor(1, 1, m, k), self.tensor(1, 1, k, n, dtype=case["b"])]

        return self.trial(Question("matmul", case, setting, value, operands, call, "Matmul"))

    def sdpa(self) -> dict[str, Any]:
        """Attention with random chunks."""
        chance, ttnn = self.chance, self.ttnn
        case: dict[str, Any] = {
            "heads": chance.choice((4, 8, 16)), "rows": chance.choice((1024, 2048, 4096)),
            "head": chance.choice((64, 128)), "dtype": chance.choice(("bfloat16", "bfloat8_b")),
            "causal": chance.random() < 0.5, "q_chunk_size": 128, "k_chunk_size": 128,
        }  # fmt: skip
        case["keys"] = case["rows"]
        setting = chance.choice(("q_chunk_size", "k_chunk_size"))
        value = chance.choice((32, 48, 64, 96, 160, 256, 384, 512, 1024))
        now = {**case, setting: value}
        config = ttnn.SDPAProgramConfig(
            compute_with_storage_grid_size=(8, 8),
            q_chunk_size=now["q_chunk_size"],
            k_chunk_size=now["k_chunk_size"],
            exp_approx_mode=False,
        )

        def call(*qkv: Any) -> Any:
            return ttnn.transformer.scaled_dot_product_attention(
                *qkv, is_causal=case["causal"], program_config=config
            )

        def operands() -> list[Any]:
            shape = (1, case["heads"], case["rows"], case["head"])
            return [self.tensor(*shape, dtype=case["dtype"]) for _ in range(3)]

        return self.trial(Question("sdpa", case, setting, value, operands, call, "SDPA"))

    def conv(self) -> dict[str, Any]:
        """A convolution with one value of its config at random."""
        chance, ttnn = self.chance, self.ttnn
        layout, sizes, channels = chance.choice(
            (
                ("HEIGHT", (40, 56, 64), (32, 64, 96)),
                ("BLOCK", (14, 20, 28), (128, 256, 320)),
                ("WIDTH", (7, 8, 10), (512, 768)),
            )
        )
        case: dict[str, Any] = {
            "b": chance.choice((1, 2, 4)), "h": chance.choice(sizes), "cin": chance.choice(channels),
            "cout": chance.choice(channels), "k": 3, "s": 1, "layout": layout, **CONV_AS_IS,
        }  # fmt: skip
        setting, value = chance.choice(
            [("act_block_h_override", size) for size in (32, 64, 96, 128, 192, 50)]
            + [
                ("enable_act_double_buffer", True),
                ("enable_weights_double_buffer", True),
                ("weights_dtype", "bfloat16"),
            ]
        )
        now = {**case, setting: value}

        def call(image: Any) -> Any:
            fields = (
                "act_block_h_override",
                "act_block_w_div",
                "enable_act_double_buffer",
                "enable_weights_double_buffer",
            )
            config = ttnn.Conv2dConfig(
                weights_dtype=getattr(ttnn, now["weights_dtype"]),
                shard_layout=getattr(ttnn.TensorMemoryLayout, f"{layout}_SHARDED"),
                **{name: now[name] for name in fields},
            )
            weight = ttnn.zeros((now["cout"], now["cin"], 3, 3), dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT)
            bias = ttnn.zeros((1, 1, 1, now["cout"]), dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT)
            return ttnn.conv2d(
                input_tensor=image, weight_tensor=weight, bias_tensor=bias, device=self.device, batch_size=now["b"],
                input_height=now["h"], input_width=now["h"], in_channels=now["cin"], out_channels=now["cout"],
                kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), conv_config=config, dtype=ttnn.bfloat16,
                compute_config=self.kernel(fp32=False, packer=True), slice_config=ttnn.Conv2dL1FullSliceConfig,
            )  # fmt: skip

        def operands() -> list[Any]:
            return [self.tensor(1, 1, now["b"] * now["h"] ** 2, now["cin"], layout="ROW_MAJOR_LAYOUT", l1=True)]

        return self.trial(Question("conv2d", case, setting, value, operands, call, "Conv2dDeviceOperation"))


def main(kind: str, seed: int, count: int, out: Path) -> None:
    """Try that many settings of each op."""
    ttnn = imported(kind)
    device = opened(ttnn)
    bench = Bench(ttnn, device, kind, random.Random(f"{kind} {seed}"))  # noqa: S311 - a sample, not a secret
    rows = [ask() for ask in (bench.matmul, bench.sdpa, bench.conv) for _ in range(count)]
    out.write_text(json.dumps(rows, indent=0))
    ttnn.close_device(device)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]).absolute())
