"""The bundled demo run: a small CNN on one Wormhole n150, with faults planted where each step of the skill looks.

Every kernel time stands above what the hardware needs at best (compute and DRAM); tests check it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import ops
from .conv import Window
from .demo_layers import Layers, on_all_cores
from .model import DRAM, L1

if TYPE_CHECKING:
    from .program import Program

FIRST_GAP_NS, GAP_SPREAD_NS = 12_000, 15_000


class DemoModel(Layers):
    """Writes the calls of the model in order; `program` is the result."""

    def __init__(self) -> None:
        super().__init__()
        self._input_normalised()
        self._stem()
        self._branches()
        self._mixed_and_pooled()
        self._tokens()
        self._head()
        self._finish()

    def _input_normalised(self) -> None:
        program = self.program
        rows = program.tensor([1, 1, 65536, 3], layout="ROW_MAJOR")
        program.call(
            "ttnn.to_device", (self.host,), (rows,), arguments={"tensor": self.host, "memory_config": DRAM},
            code="x = ttnn.to_device(host, device)  # 256 x 256 pixels, 3 channels", seconds=0.0021,
        )  # fmt: skip
        tiles = program.tensor([1, 1, 65536, 3])
        self.step(
            "ttnn.to_layout", "t = ttnn.to_layout(x, ttnn.TILE_LAYOUT)  # 3 channels become 32",
            ops.tilize(rows, tiles, 48_200), {"tensor": rows, "layout": "Layout.TILE"},
        )  # fmt: skip
        program.free(rows, code="ttnn.deallocate(x)")
        centred = program.tensor([1, 1, 65536, 3], alias_of=tiles)
        self.step(
            "ttnn.subtract", 't = ttnn.subtract(t, w["mean"], output_tensor=t)',
            ops.binary("SUB", tiles, self.mean, centred, 36_500), {"input_tensor_a": tiles, "input_tensor_b": self.mean},
        )  # fmt: skip
        scaled = program.tensor([1, 1, 65536, 3], alias_of=tiles)
        self.step(
            "ttnn.multiply", 't = ttnn.multiply(t, w["scale"], output_tensor=t)',
            ops.binary("MUL", centred, self.scale, scaled, 36_400),
            {"input_tensor_a": centred, "input_tensor_b": self.scale},
        )  # fmt: skip
        self.x = program.tensor([1, 1, 65536, 3], layout="ROW_MAJOR")
        self.step(
            "ttnn.to_layout", "x = ttnn.to_layout(t, ttnn.ROW_MAJOR_LAYOUT)", ops.untilize(scaled, self.x, 44_100),
            {"tensor": scaled, "layout": "Layout.ROW_MAJOR"},
        )  # fmt: skip
        program.free(scaled, code="ttnn.deallocate(t)")

    def _stem(self) -> None:
        program = self.program
        shards = program.tensor(
            [1, 1, 65536, 3], layout="ROW_MAJOR", placement=on_all_cores(65536, 8), padded=[1, 1, 65536, 8]
        )
        y = self.conv("stem", shards, before=ops.interleaved_to_sharded(self.x, shards, 38_200), free=self.x)
        self.stem = self.relu(y, 9_600, "y")
        copy = program.tensor(self.stem.shape)
        self.step(
            "ttnn.to_memory_config", "spilled = ttnn.to_memory_config(y, ttnn.DRAM_MEMORY_CONFIG)  # y stays in L1",
            ops.sharded_to_interleaved(self.stem, copy, 12_400), {"tensor": self.stem, "memory_config": DRAM},
        )  # fmt: skip
        back = program.tensor(self.stem.shape, placement=self.stem.placement)
        self.step(
            "ttnn.to_memory_config", "z = ttnn.to_memory_config(spilled, y.memory_config())  # the same shards again",
            ops.interleaved_to_sharded(copy, back, 11_200), {"tensor": copy, "memory_config": back.placement},
        )  # fmt: skip
        program.free(copy, code="ttnn.deallocate(spilled)")
        self.p = program.tensor([1, 1, 4096, 64], layout="ROW_MAJOR", placement=on_all_cores(4096, 64))
        self.pool(
            back, self.p, Window((128, 128), (3, 3), 2, 1), times=(10_500, 28_100), halo_rows=389,
            code="p = ttnn.max_pool2d(\n    z, batch_size=1, input_h=128, input_w=128, channels=64,",
        )  # fmt: skip
        program.free(back, code="ttnn.deallocate(z)")

    def _branches(self) -> None:
        program = self.program
        a = self.conv("a", self.p)
        a = self.relu(a, 3_900, "a")
        b = self.conv("b", self.p, free=self.p)
        self.b = self.relu(b, 5_100, "b")
        self.c = program.tensor([1, 1, 4096, 192], placement=on_all_cores(4096, 192))
        self.step(
            "ttnn.concat",
            'c = ttnn.concat([a, b], dim=3, memory_config=w["rows of c"])',
            ops.concat((a, self.b), self.c, 8_800),
            {"dim": 3},
        )
        program.free(a, code="ttnn.deallocate(a)  # and b?")

    def _mixed_and_pooled(self) -> None:
        program = self.program
        m = self.conv("mix", self.c, free=self.c)
        m = self.relu(m, 7_200, "m")
        program.free(self.stem, code="ttnn.deallocate(y)  # last read long ago")
        d = self.conv("deep", m)
        program.free(self.b, code="ttnn.deallocate(b)  # last read before m")
        e = program.tensor(m.shape, placement=m.placement)
        self.step("ttnn.add", "e = ttnn.add(m, d)", ops.binary("ADD", m, d, e, 6_300), {"input_tensor_a": m})
        program.free(m, code="ttnn.deallocate(m)")
        program.free(d, code="ttnn.deallocate(d)")
        self.q = program.tensor([1, 1, 1024, 256], layout="ROW_MAJOR", placement=on_all_cores(1024, 256))
        self.pool(
            e, self.q, Window((64, 64), (2, 2), 2), times=(12_200, 17_100), halo_rows=96,
            code="q = ttnn.max_pool2d(\n    e, batch_size=1, input_h=64, input_w=64, channels=256,",
        )  # fmt: skip
        program.free(e, code="ttnn.deallocate(e)")

    def _tokens(self) -> None:
        program, shape = self.program, [1, 1, 1024, 256]
        u = program.tensor(shape, layout="ROW_MAJOR", placement=L1)
        self.step(
            "ttnn.sharded_to_interleaved", "rows = ttnn.sharded_to_interleaved(q, ttnn.L1_MEMORY_CONFIG)",
            ops.sharded_to_interleaved(self.q, u, 5_500), {"input_tensor": self.q, "memory_config": L1},
        )  # fmt: skip
        program.free(self.q, code="ttnn.deallocate(q)")
        for before, after, layout, kernel_ns in (
            ("rows", "tiles", "TILE", 6_800),
            ("tiles", "shown", "ROW_MAJOR", 8_900),
            ("shown", "u", "TILE", 8_400),
        ):
            v = program.tensor(shape, layout=layout, placement=L1)
            op = ops.tilize(u, v, kernel_ns) if layout == "TILE" else ops.untilize(u, v, kernel_ns, codegen=True)
            op.cores = 32 if layout == "TILE" else None
            code = f"{after} = ttnn.to_layout({before}, ttnn.{layout}_LAYOUT)"
            self.step("ttnn.to_layout", code, op, {"tensor": u, "layout": f"Layout.{layout}"})
            program.free(u, code=f"ttnn.deallocate({before})")
            u = v
        v = program.tensor([1, 1, 1024, 768], placement=L1)
        self.step(
            "ttnn.matmul", 'v = ttnn.matmul(u, w["project"], memory_config=ttnn.L1_MEMORY_CONFIG)',
            ops.matmul(u, self.project, v, 68_300, cores=4), {"input_tensor_a": u, "memory_config": L1},
        )  # fmt: skip
        program.free(u, code="ttnn.deallocate(u)")
        halves = program.tensor([1, 1, 2, 768], "FLOAT32", layout="ROW_MAJOR")
        self.v = program.tensor([1, 1, 1, 768])
        program.call(
            "ttnn.mean", (v,), (self.v,),
            (ops.reduce_mean(v, halves, 11_300, cores=48), ops.reduce_mean(halves, self.v, 2_900, cores=24)),
            arguments={"input_tensor": v, "dim": 2},
            code="t = ttnn.mean(v, dim=2, keepdim=True, memory_config=ttnn.DRAM_MEMORY_CONFIG)", seconds=0.0012,
        )  # fmt: skip
        program.free(v, code="ttnn.deallocate(v)")

    def _head(self) -> None:
        program = self.program
        normed = program.tensor([1, 1, 1, 768])
        self.step(
            "ttnn.layer_norm", 't = ttnn.layer_norm(t, weight=w["gamma"], bias=w["beta"])',
            ops.layer_norm(self.v, self.gamma, self.beta, normed, 34_100), {"input_tensor": self.v, "epsilon": 1e-05},
        )  # fmt: skip
        wide = program.tensor([1, 1, 1, 8192])
        self.step(
            "ttnn.linear", 't = ttnn.linear(t, w["expand"], compute_kernel_config=w["hifi4"])  # bfloat16 weights, 12.6 MB',
            ops.matmul(normed, self.expand, wide, 66_200, fidelity="HiFi4", buffers=(49_152, 98_304, 8_192)),
            {"input_tensor_a": normed, "input_tensor_b": self.expand},
        )  # fmt: skip
        scores = program.tensor([1, 1, 1, 1000])
        self.step(
            "ttnn.linear", 't = ttnn.linear(t, w["classify"])',
            ops.matmul(wide, self.classify, scores, 41_200, buffers=(32_768, 69_632, 2_048), cores=32),
            {"input_tensor_a": wide, "input_tensor_b": self.classify},
        )  # fmt: skip
        rows = program.tensor([1, 1, 1, 1000], layout="ROW_MAJOR")
        untilized = ops.untilize(scores, rows, 4_500)
        untilized.cores = 1
        self.step(
            "ttnn.to_layout", "t = ttnn.to_layout(t, ttnn.ROW_MAJOR_LAYOUT)", untilized,
            {"tensor": scores, "layout": "Layout.ROW_MAJOR"},
        )  # fmt: skip
        out = program.tensor([1, 1, 1, 1000], layout="ROW_MAJOR", placement=None)
        program.call(
            "ttnn.from_device", (rows,), (out,), arguments={"tensor": rows}, code="return ttnn.from_device(t)",
            seconds=0.0007,
        )  # fmt: skip

    def _finish(self) -> None:
        """Gaps as a profiled, untraced run has them."""
        for position, op in enumerate(self.program.device_ops):
            op.gap_ns = FIRST_GAP_NS + position * 7_919 % GAP_SPREAD_NS


def demo_program() -> Program:
    return DemoModel().program
