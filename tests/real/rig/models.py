"""Small models in TTNN, each step of which is a `yield`: there the allocator is asked what lies in L1 and DRAM."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

Steps = Iterator[None]


@dataclass(frozen=True)
class On:
    """TTNN and a device."""

    ttnn: Any
    device: Any

    def tiles(self, *shape: int, dtype: str = "bfloat16", l1: bool = False) -> Any:
        """Zeros, interleaved."""
        ttnn = self.ttnn
        memory = ttnn.L1_MEMORY_CONFIG if l1 else ttnn.DRAM_MEMORY_CONFIG
        kind = getattr(ttnn, dtype)
        return ttnn.zeros(shape, dtype=kind, layout=ttnn.TILE_LAYOUT, device=self.device, memory_config=memory)


def encoder(on: On) -> Steps:
    """Attention and feed-forward; a mask is freed late, a debug tensor at the end."""
    ttnn, l1 = on.ttnn, on.ttnn.L1_MEMORY_CONFIG
    x, mask = on.tiles(2, 128, 256), on.tiles(2, 4, 128, 128)
    weights = [on.tiles(256, columns) for columns in (768, 256, 1024)] + [on.tiles(1024, 256)]
    yield
    x, mask = ttnn.to_memory_config(x, l1), ttnn.to_memory_config(mask, l1)
    yield
    first = ttnn.multiply(x, 2.0, memory_config=l1)
    qkv = ttnn.linear(x, weights[0], memory_config=l1)
    yield
    q, k, v = ttnn.transformer.split_query_key_value_and_split_heads(qkv, num_heads=4, memory_config=l1)
    yield
    ttnn.deallocate(qkv)
    scores = ttnn.matmul(q, k, memory_config=l1)
    scores = ttnn.softmax(ttnn.add(scores, mask, memory_config=l1), dim=-1, memory_config=l1)
    yield
    x = ttnn.linear(
        ttnn.transformer.concatenate_heads(ttnn.matmul(scores, v, memory_config=l1), memory_config=l1), weights[1]
    )
    yield
    x = ttnn.linear(ttnn.linear(x, weights[2], activation="gelu", memory_config=l1), weights[3])
    yield
    for tensor in (scores, q, k, v, mask, first):
        ttnn.deallocate(tensor)
    yield


def convolutions(on: On) -> Steps:
    """Two convolutions that hand shards on, a pool, and a move to DRAM."""
    ttnn = on.ttnn
    x = ttnn.zeros((1, 1, 32 * 32, 32), dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT, device=on.device)
    yield
    for inputs, outputs in ((32, 64), (64, 64)):
        weight = ttnn.zeros((outputs, inputs, 3, 3), dtype=ttnn.float32, layout=ttnn.ROW_MAJOR_LAYOUT)
        x = ttnn.conv2d(
            input_tensor=x, weight_tensor=weight, device=on.device, in_channels=inputs, out_channels=outputs,
            batch_size=1, input_height=32, input_width=32, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1),
            conv_config=ttnn.Conv2dConfig(shard_layout=ttnn.TensorMemoryLayout.HEIGHT_SHARDED),
            slice_config=ttnn.Conv2dL1FullSliceConfig,
        )  # fmt: skip
        yield
    x = ttnn.max_pool2d(
        input_tensor=x, batch_size=1, input_h=32, input_w=32, channels=64, kernel_size=[2, 2], stride=[2, 2],
        padding=[0, 0], dilation=[1, 1],
    )  # fmt: skip
    yield
    kept = ttnn.to_memory_config(x, ttnn.DRAM_MEMORY_CONFIG)
    ttnn.deallocate(x)
    yield
    ttnn.deallocate(kept)
    yield


def views(on: On) -> Steps:
    """Reshapes that are views, results in place, and one tensor under two names."""
    ttnn, l1 = on.ttnn, on.ttnn.L1_MEMORY_CONFIG
    x = ttnn.to_memory_config(on.tiles(1, 1, 512, 256), l1)
    yield
    flat = ttnn.reshape(x, (1, 4, 128, 256))
    ttnn.add_(flat, 1.0)
    yield
    other = ttnn.relu(flat, memory_config=l1)
    yield
    joined = ttnn.concat([other, flat], dim=3, memory_config=l1)
    yield
    ttnn.deallocate(other)
    ttnn.deallocate(x)
    yield
    ttnn.deallocate(joined)
    yield


def decode(on: On) -> Steps:
    """One token: a norm on shards, and a matmul on weights that are sharded over DRAM's banks."""
    ttnn = on.ttnn
    x = on.tiles(1, 1, 32, 1024)
    shards = ttnn.create_sharded_memory_config(
        shape=(1, 1, 32, 1024), core_grid=ttnn.CoreGrid(y=4, x=8), strategy=ttnn.ShardStrategy.WIDTH
    )
    yield
    held = ttnn.to_memory_config(x, shards)
    yield
    normed = ttnn.rms_norm(held, memory_config=shards)
    yield
    cast = ttnn.typecast(normed, ttnn.bfloat8_b)
    ttnn.deallocate(held)
    yield
    out = ttnn.linear(
        ttnn.sharded_to_interleaved(cast, ttnn.L1_MEMORY_CONFIG), on.tiles(1024, 2048, dtype="bfloat8_b")
    )
    yield
    for tensor in (normed, cast, out):
        ttnn.deallocate(tensor)
    yield


MODELS: dict[str, Callable[[On], Steps]] = {
    "encoder": encoder,
    "convolutions": convolutions,
    "views": views,
    "decode": decode,
}
