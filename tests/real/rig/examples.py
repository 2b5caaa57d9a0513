"""Operands for calls that leave theirs to the reader: `ttnn.linear(..., dtype=ttnn.bfloat8_b)`, or a name we cannot know.

What the fix says is given as it stands; only what it leaves out is made up here, of an ordinary shape.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Examples:
    """Ordinary operands on a device."""

    ttnn: Any
    device: Any

    def tiles(self, *shape: int, dtype: str = "bfloat16", layout: str = "TILE_LAYOUT") -> Any:
        """Zeros in DRAM."""
        ttnn = self.ttnn
        return ttnn.zeros(shape, dtype=getattr(ttnn, dtype), layout=getattr(ttnn, layout), device=self.device)

    def words(self, *shape: int) -> Any:
        """Zeros as integers in rows."""
        return self.tiles(*shape, dtype="int32", layout="ROW_MAJOR_LAYOUT")

    def value(self, name: str) -> Any:
        """What a name of a fix stands for; a KeyError where we do not know."""
        return VALUES[name](self)

    def run(self, name: str, keywords: dict[str, Any], *first: Any) -> bool:
        """Run a function of TTNN with what the fix gives and ordinary operands for the rest; False if unknown."""
        if name not in CALLS:
            return False
        operands, defaults = CALLS[name](self)
        operands[: len(first)] = first
        if "bias_tensor" in keywords and name.startswith("ttnn.experimental."):  # that of a conv lies on the host
            keywords = {**keywords, "bias_tensor": self.tiles(1, 1, 1, operands[1].shape[-1])}
        function = self.ttnn
        for part in name.split(".")[1:]:
            function = getattr(function, part)
        function(*operands, **{**defaults, **keywords})
        return True

    def given(self, value: Any) -> bool:
        """Give a configuration to an ordinary op that takes it."""
        name = type(value).__name__
        if name == "Conv2dConfig":
            return self.run("ttnn.conv2d", {"conv_config": value})
        if name == "SDPAProgramConfig":
            return self.run("ttnn.transformer.scaled_dot_product_attention", {"program_config": value})
        return "ComputeKernelConfig" in name and self.run("ttnn.linear", {"compute_kernel_config": value})

    def on_host(self, *shape: int) -> Any:
        """A tensor of float32 on the host."""
        return self.ttnn.zeros(shape, dtype=self.ttnn.float32, layout=self.ttnn.ROW_MAJOR_LAYOUT)

    def sharded(self, rows: int, columns: int, cores: int) -> Any:
        """A placement in L1, rows dealt out over a few cores."""
        ttnn = self.ttnn
        grid = ttnn.num_cores_to_corerangeset(cores, self.device.compute_with_storage_grid_size(), row_wise=True)
        spec = ttnn.ShardSpec(grid, (rows // cores, columns), ttnn.ShardOrientation.ROW_MAJOR)
        return ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, spec)

    def convolution(self) -> dict[str, Any]:
        """Arguments of a convolution."""
        sides = {"input_height": 32, "input_width": 32, "in_channels": 64, "out_channels": 64, "batch_size": 1}
        window = {"kernel_size": (3, 3), "stride": (1, 1), "padding": (1, 1), "device": self.device}
        return {**sides, **window}


def _norm(of: Examples) -> tuple[list[Any], dict[str, Any]]:
    given = {"num_groups": 16, "core_grid": of.ttnn.CoreGrid(y=4, x=4), "inplace": False, "num_out_blocks": 1}
    return [of.tiles(1, 1, 1024, 512)], given


def _heads(of: Examples) -> tuple[list[Any], dict[str, Any]]:
    return [of.tiles(1, 1, 32, 3 * 1024)], {"num_heads": 16, "num_kv_heads": 16}


def _decoded(of: Examples) -> tuple[list[Any], dict[str, Any]]:
    x = of.tiles(1, 32, 32, 64)  # heads are padded to a tile for each of 32 users
    return [of.ttnn.to_memory_config(x, of.sharded(32 * 32, 64, 32))], {"num_heads": 16}


def _experts(of: Examples) -> tuple[list[Any], dict[str, Any]]:
    """Sixteen experts, as the tests have, and the one config that a sparse matmul takes."""
    sizes = {"in0_block_w": 2, "out_subblock_h": 1, "out_subblock_w": 1, "per_core_M": 1, "per_core_N": 1}
    config = of.ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(
        compute_with_storage_grid_size=(4, 1), **sizes, fuse_batch=False, mcast_in0=True
    )
    chosen = of.tiles(1, 1, 1, 16, layout="ROW_MAJOR_LAYOUT")
    return [of.tiles(1, 16, 32, 64), of.tiles(1, 16, 64, 128)], {
        "sparsity": chosen,
        "program_config": config,
        "is_input_a_sparse": True,
        "is_input_b_sparse": False,
    }


def _cache(of: Examples) -> Any:
    return of.tiles(64, 8, 32, 128, dtype="bfloat8_b")


def _filled(of: Examples) -> tuple[list[Any], dict[str, Any]]:
    return [_cache(of), of.tiles(4, 8, 128, 128, dtype="bfloat8_b"), of.words(4, 16)], {}


def _updated(of: Examples) -> tuple[list[Any], dict[str, Any]]:
    """Keys and values of 8 users, each on a row of cores of its own."""
    ttnn = of.ttnn
    rows: list[Any] = []
    for row in (0, 1):
        cores = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, row), ttnn.CoreCoord(7, row))})
        spec = ttnn.ShardSpec(cores, (32, 128), ttnn.ShardOrientation.ROW_MAJOR)
        place = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, spec)
        rows.append(ttnn.to_memory_config(of.tiles(1, 8, 8, 128), place))
    return [_cache(of), rows[0], _cache(of), rows[1]], {}


def _sliced(of: Examples) -> tuple[list[Any], dict[str, Any]]:
    """One of four equal parts, by tensors."""
    ttnn = of.ttnn
    places = [ttnn.zeros([4], dtype=ttnn.uint32, layout=ttnn.ROW_MAJOR_LAYOUT, device=of.device) for _ in range(2)]
    return [of.tiles(1, 1, 128, 64), *places], {"slice_dim": 2, "num_devices": 4}


CALLS: dict[str, Callable[[Examples], tuple[list[Any], dict[str, Any]]]] = {
    "ttnn.linear": lambda of: ([of.tiles(1, 1, 32, 1024), of.tiles(1024, 1024)], {}),
    "ttnn.matmul": lambda of: ([of.tiles(1, 1, 32, 1024), of.tiles(1024, 1024)], {}),
    "ttnn.experimental.dit_minimal_matmul_addcmul_fused": lambda of: (
        [
            of.tiles(1, 1, 512, 1024),
            of.tiles(1, 1, 1024, 2048),
            1.0,
            of.tiles(1, 1, 512, 2048),
            of.tiles(1, 1, 1, 2048),
        ],
        {},
    ),
    "ttnn.experimental.minimal_matmul": lambda of: ([of.tiles(1, 1, 512, 1024), of.tiles(1, 1, 1024, 2048)], {}),
    "ttnn.sparse_matmul": _experts,
    **dict.fromkeys(
        ("ttnn.add", "ttnn.subtract", "ttnn.multiply", "ttnn.mul", "ttnn.divide"),
        lambda of: ([of.tiles(1, 1, 32, 1024), of.tiles(1, 1, 32, 1024)], {}),
    ),
    "ttnn.concat": lambda of: ([[of.tiles(1, 1, 32, 64), of.tiles(1, 1, 32, 64)]], {"dim": -1}),
    "ttnn.topk": lambda of: ([of.tiles(1, 1, 32, 4096)], {"k": 32}),
    "ttnn.group_norm": _norm,
    "ttnn.rms_norm": lambda of: ([of.tiles(1, 1, 64, 512)], {}),
    "ttnn.layer_norm": lambda of: ([of.tiles(1, 1, 64, 512)], {}),
    "ttnn.softmax": lambda of: ([of.tiles(1, 1, 64, 512)], {}),
    "ttnn.experimental.rotary_embedding": lambda of: (
        [of.tiles(1, 8, 64, 64), of.tiles(1, 1, 64, 64), of.tiles(1, 1, 64, 64)],
        {},
    ),
    "ttnn.experimental.rotary_embedding_hf": lambda of: (
        [of.tiles(1, 8, 64, 64), of.tiles(1, 1, 64, 64), of.tiles(1, 1, 64, 64)],
        {},
    ),
    "ttnn.update_cache": lambda of: ([of.tiles(1, 16, 256, 64), of.tiles(1, 16, 1, 64), 5], {}),
    "ttnn.experimental.paged_fill_cache": _filled,
    "ttnn.experimental.paged_fused_update_cache": _updated,
    "ttnn.experimental.paged_update_cache": lambda of: (_updated(of)[0][:2], {}),
    "ttnn.slice": _sliced,
    "ttnn.all_gather": lambda of: ([of.tiles(1, 1, 64, 512)], {"dim": 3}),
    "ttnn.reduce_scatter": lambda of: ([of.tiles(1, 1, 64, 512)], {"dim": 3}),
    "ttnn.conv2d": lambda of: (
        [],
        {
            "input_tensor": of.tiles(1, 1, 1024, 64, layout="ROW_MAJOR_LAYOUT"),
            "weight_tensor": of.on_host(64, 64, 3, 3),
            **of.convolution(),
        },
    ),
    "ttnn.prepare_conv_weights": lambda of: (
        [],
        {
            "weight_tensor": of.on_host(64, 64, 3, 3),
            "input_memory_config": of.ttnn.DRAM_MEMORY_CONFIG,
            "input_layout": of.ttnn.ROW_MAJOR_LAYOUT,
            "weights_format": "OIHW",
            "has_bias": False,
            "dilation": (1, 1),
            "groups": 1,
            "input_dtype": of.ttnn.bfloat16,
            **of.convolution(),
        },
    ),
    "ttnn.from_torch": lambda of: ([of.value("torch_w")], {"layout": of.ttnn.TILE_LAYOUT, "device": of.device}),
    "ttnn.reshard": lambda of: (
        [of.ttnn.to_memory_config(of.tiles(1, 1, 1024, 64), of.sharded(1024, 64, 4)), of.sharded(1024, 64, 8)],
        {},
    ),
    "ttnn.to_memory_config": lambda of: ([of.tiles(1, 1, 1024, 64), of.sharded(1024, 64, 8)], {}),
    "ttnn.create_sharded_memory_config": lambda of: ([of.value("shape")], {"core_grid": of.value("core_grid")}),
    "ttnn.SDPAProgramConfig": lambda of: (
        [],
        {"compute_with_storage_grid_size": (8, 8), "q_chunk_size": 32, "k_chunk_size": 32},
    ),
    "ttnn.copy_host_to_device_tensor": lambda of: (
        [of.ttnn.from_device(of.tiles(1, 1, 32, 64)), of.tiles(1, 1, 32, 64), 0],
        {},
    ),
    "ttnn.to_layout": lambda of: ([of.tiles(1, 1, 64, 64), of.ttnn.TILE_LAYOUT], {}),
    "ttnn.transformer.scaled_dot_product_attention": lambda of: (
        [of.tiles(1, 8, 128, 64) for _ in range(3)],
        {"is_causal": False},
    ),
    "ttnn.transformer.scaled_dot_product_attention_decode": lambda of: (
        [of.tiles(1, 8, 16, 64), of.tiles(8, 16, 1024, 64), of.tiles(8, 16, 1024, 64)],
        {"cur_pos": [7] * 8},
    ),
    "ttnn.transformer.split_query_key_value_and_split_heads": lambda of: (
        [of.tiles(1, 32, 3 * 480 * 32)],  # 480 heads of a tile are 20, 12 or 8 of whole ones, too
        {"num_heads": 20},
    ),
    "ttnn.unary_chain": lambda of: ([of.tiles(1, 1, 32, 64), [of.value("function")]], {}),
    "ttnn.MinimalMatmulConfig": lambda of: (
        [],
        {f"{side}_block_size": 8 for side in "MKN"} | {"subblock_h": 2, "subblock_w": 2},
    ),
    "ttnn.experimental.nlp_create_qkv_heads_decode": _heads,
    "ttnn.experimental.nlp_concat_heads_decode": _decoded,
    "ttnn.experimental.rotary_embedding_llama": lambda of: (
        [of.tiles(1, 8, 128, 64), of.tiles(1, 1, 128, 64), of.tiles(1, 1, 128, 64), of.tiles(1, 1, 32, 32)],
        {},
    ),
    "ttnn.experimental.deepseek_grouped_gate": lambda of: (
        [of.tiles(1, 1, 32, 256), of.tiles(1, 1, 32, 256)],
        {"route_scale": 2.5},
    ),
}
VALUES: dict[str, Callable[[Examples], Any]] = {
    "g": lambda of: of.device.compute_with_storage_grid_size(),
    "inf": lambda of: float("inf"),
    "slope": lambda of: 0.1,
    "alpha": lambda of: 1.0,
    "mask": lambda of: of.tiles(1, 1, 128, 128),
    "row": lambda of: of.tiles(1, 1, 1, 1024),  # of the ordinary matmul's output
    "r": lambda of: of.ttnn.FabricRouterConfig(),
    "t": lambda of: of.tiles(1, 1, 1, 1),
    "y": lambda of: of.tiles(1, 1, 64, 4096),  # of eight devices
    "x": lambda of: of.tiles(1, 1, 64, 512),
    "b": lambda of: of.tiles(1, 1, 64, 512),  # beside x
    "gamma": lambda of: of.tiles(1, 1, 1, 512),
    "beta": lambda of: of.tiles(1, 1, 1, 512),
    "users": lambda of: of.words(4),
    "ids": lambda of: of.tiles(1, 1, 1, 2, dtype="uint16", layout="ROW_MAJOR_LAYOUT"),  # of two of 16 experts
    "ones": lambda of: of.tiles(1, 1, 1, 16, layout="ROW_MAJOR_LAYOUT"),
    "positions": lambda of: of.words(8),
    "page_table": lambda of: of.words(8, 8),
    "weight": lambda of: of.on_host(64, 64, 3, 3),
    "bias": lambda of: of.on_host(1, 1, 1, 64),
    "shape": lambda of: (1, 1, 1024, 1024),
    "spec": lambda of: of.tiles(1, 1, 32, 64).spec,
    "core_grid": lambda of: of.ttnn.CoreGrid(y=4, x=4),
    "strategy": lambda of: of.ttnn.ShardStrategy.HEIGHT,
    "function": lambda of: of.ttnn.UnaryWithParam(of.ttnn.UnaryOpType.RELU),
    "torch_w": lambda of: of.ttnn.to_torch(of.on_host(64, 64)),
}
