"""A small transformer with knobs: runs that differ in one known thing, for whoever compares runs."""

import random
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.profiles import Iteration, Program, height_sharded, write_performance_report

COLD_AND_TWO_WARM = (Iteration(cold=True), Iteration(), Iteration(kernel_scale=1.001))
OLD_NAMES = {
    "MatmulDeviceOperation": "Matmul",
    "LayerNormDeviceOperation": "LayerNorm",
    "UnaryDeviceOperation": "Unary",
    "SoftmaxDeviceOperation": "Softmax",
    "BinaryNgDeviceOperation": "BinaryDeviceOperation",
    "ReshapeViewDeviceOperation": "ReshapeDeviceOperation",
}


@dataclass(frozen=True)
class Model:
    """What can differ. A layer is norm, 3 projections, softmax, reshape, up, relu, down, add."""

    layers: int = 4
    batch: int = 1
    rows: int = 256
    weights: str = "BFLOAT16"
    fidelity: str = "HiFi4"
    up_ns: int = 90_000
    fused_relu: bool = False
    fused_qkv: bool = False
    reshape: bool = True
    reshard_in: int | None = None  # layer with an extra reshard
    split_softmax: bool = False
    old_names: bool = False
    arch: str = "wormhole_b0"
    grid: tuple[int, int] | None = None
    devices: int = 1
    seed: int = 0
    jitter: float = 0.0
    head_ops: int = 5  # with fewer the layers are (nearly) all there is, and one of them is an iteration

    def program(self) -> Program:
        return _Writer(self).program


class _Writer:
    def __init__(self, model: Model) -> None:
        self.model = model
        self.random = random.Random(model.seed)  # noqa: S311
        self.program = Program(model.arch, grid=model.grid, devices=model.devices)
        x = self.program.tensor([model.batch, 1, model.rows, 256])
        for layer in range(1, model.layers + 1):
            x = self._layer(x, layer)
        if model.head_ops:
            x = self._matmul(x, 1000, 70_000 * model.batch)
        for _ in range(model.head_ops - 1):
            x = self._op("UnaryDeviceOperation", [x], 3_000 * model.batch)

    def _op(self, op_code, inputs, kernel_ns, **more):
        name = OLD_NAMES.get(op_code, op_code) if self.model.old_names else op_code
        took = round(kernel_ns * (1 + self.random.uniform(-1, 1) * self.model.jitter))
        return self.program.op(name, inputs, kernel_ns=took, **more)

    def _matmul(self, x, wide, kernel_ns, activation=None):
        w = self.program.weight([1, 1, x.shape[-1], wide], self.model.weights)
        attributes = {"program_config": None, "user_fused_activation": activation}
        return self._op(
            "MatmulDeviceOperation", [x, w], kernel_ns, call="ttnn.linear", shape=(*x.shape[:-1], wide),
            fidelity=self.model.fidelity, attributes=attributes,
        )  # fmt: skip

    def _layer(self, x, layer):
        model, batch = self.model, self.model.batch
        h = self._op("LayerNormDeviceOperation", [x], 12_000 * batch, fidelity="HiFi4", cores=8)
        if model.fused_qkv:
            q = self._matmul(h, 768, 48_000 * batch)
        else:
            q, _k, _v = (self._matmul(h, 256, 20_000 * batch) for _ in range(3))
        if layer == model.reshard_in:
            q = self._op(
                "ReshardDeviceOperation", [q], 7_000 * batch, call="ttnn.to_memory_config",
                placement=height_sharded(32, 256, (8, 1)),
            )  # fmt: skip
        square = [batch, 1, model.rows, model.rows]
        if model.split_softmax:
            e = self._op("UnaryDeviceOperation", [q], 6_000 * batch, shape=square)
            s = self._op("ReduceDeviceOperation", [e], 5_000 * batch)
            p = self._op("BinaryNgDeviceOperation", [e, s], 4_000 * batch)
        else:
            p = self._op("SoftmaxDeviceOperation", [q], 9_000 * batch, shape=square)
        if model.reshape:
            p = self._op("ReshapeViewDeviceOperation", [p], 5_000 * batch, shape=[batch, 1, model.rows, 256])
        relu = "UnaryWithParam(op_type=UnaryOpType::RELU)" if model.fused_relu else None
        up = self._matmul(p, 1024, (model.up_ns + 1_000 * model.fused_relu) * batch, relu)
        if not model.fused_relu:
            up = self._op("UnaryDeviceOperation", [up], 8_000 * batch, fidelity="HiFi4")
        down = self._matmul(up, 256, 80_000 * batch)
        return self._op("BinaryNgDeviceOperation", [down, x], 6_000 * batch, fidelity="HiFi4")


def write(folder: Path, model: Model, iterations=COLD_AND_TWO_WARM, **more) -> str:
    """The report of one run of the model; returns its path."""
    name, files = _made(model, tuple(iterations), **more)
    for each, content in files:
        (folder / each).parent.mkdir(parents=True, exist_ok=True)
        (folder / each).write_bytes(content)
    return str(folder / name)


@lru_cache(maxsize=64)
def _made(model: Model, iterations, **more) -> tuple[Path, list[tuple[Path, bytes]]]:
    """Where the report of such a run lies below its folder, and all files that are written there."""
    with TemporaryDirectory() as made:
        folder = Path(made)
        path = write_performance_report(folder, model.program(), iterations, **more)
        files = [each for each in folder.rglob("*") if each.is_file()]
        return path.relative_to(folder), [(each.relative_to(folder), each.read_bytes()) for each in files]
