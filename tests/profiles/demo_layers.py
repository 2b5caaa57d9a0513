"""The layers of the demo's model: what each ttnn call of it starts on the device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import conv, ops
from .conv import Window
from .model import Attribute, DeviceOp, Placement, Tensor, height_sharded
from .program import Program

if TYPE_CHECKING:
    from collections.abc import Mapping

SOURCE = (
    "# The calls of resources/demo/model.py, as made reports of it have them.",
    "import ttnn",
    "",
    "",
    "def forward(host, device, w):",
)
SOURCE_PATH = "/home/user/demo/model.py"
GRID = (8, 8)
CORES = 64


@dataclass(frozen=True)
class ConvLayer:
    """`halo_rows`: rows of one core's shard with the border that its window needs. `before_bytes`: as TTNN tells it."""

    source: str  # the names of the input and the result in the model
    result: str
    channels: tuple[int, int]
    window: Window
    config: str
    halo_rows: int
    halo_ns: int
    move_ns: int | None
    kernel_ns: int
    before_bytes: int
    act_block_h: int = 1  # tiles
    activation: str | None = None

    def code(self, name: str) -> str:
        return (
            f'{self.result} = ttnn.conv2d(\n    input_tensor={self.source}, **w["{name}"],\n'
            f"    conv_config=ttnn.Conv2dConfig(weights_dtype=ttnn.bfloat16, {self.config}))"
        )


WINDOW = Window((64, 64), (3, 3), 1, 1)
ONE_TILE = "act_block_h_override=32"
FREEING = f"{ONE_TILE}, deallocate_activation=True"
RELU = "shard_layout=HEIGHT, activation=ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU)"
CONVS = {
    "stem": ConvLayer(
        "x", "y_conv", (3, 64), Window((256, 256), (7, 7), 2, 3), FREEING, 2357, 15_200, 4_300, 64_300, 37_728
    ),
    "a": ConvLayer("p", "a_conv", (64, 64), WINDOW, ONE_TILE, 3 * 66, 6_400, None, 24_200, 66_304),
    "b": ConvLayer("p", "b_conv", (64, 128), WINDOW, FREEING, 3 * 66, 6_500, None, 36_300, 66_304),
    "mix": ConvLayer(
        "c",
        "m_conv",
        (192, 256),
        WINDOW,
        f"shard_layout=HEIGHT, {FREEING}",
        3 * 66,
        11_500,
        4_400,
        122_400,
        125_184,
    ),
    "deep": ConvLayer(
        "m", "d", (256, 256), WINDOW, RELU, 3 * 66, 13_400, None, 135_200, 150_528, act_block_h=2, activation="RELU"
    ),
}


def on_all_cores(rows: int, columns: int) -> Placement:
    """HEIGHT_SHARDED over the whole grid."""
    return height_sharded(rows // CORES, columns, GRID)


class Layers:
    """The program so far, the model's weights, and its kinds of layer."""

    def __init__(self) -> None:
        self.program = Program("wormhole_b0", source=SOURCE, source_path=SOURCE_PATH)
        weight = self.program.weight
        self.host = self.program.tensor([1, 1, 65536, 3], layout="ROW_MAJOR", placement=None)
        self.mean, self.scale = weight([1, 1, 1, 3]), weight([1, 1, 1, 3])
        # 3 channels are padded to 8 for each of the 7 x 7 taps, rows in groups of 7 to whole tiles.
        stem = self.program.tensor([1, 1, 147, 64], padded=[1, 1, 448, 64])
        self.filters = {
            name: (
                stem if name == "stem" else weight([1, 1, 9 * layer.channels[0], layer.channels[1]]),
                weight([1, 1, 1, layer.channels[1]]),
            )
            for name, layer in CONVS.items()
        }
        self.gamma = weight([1, 1, 24, 32], layout="ROW_MAJOR")
        self.beta = weight([1, 1, 24, 32], layout="ROW_MAJOR")
        self.project = weight([1, 1, 256, 768], "BFLOAT8_B")
        self.expand = weight([1, 1, 768, 8192])
        self.classify = weight([1, 1, 8192, 1000], "BFLOAT8_B")

    def step(
        self,
        name: str,
        code: str,
        op: DeviceOp,
        arguments: Mapping[str, Attribute] | None = None,
        *,
        seconds: float = 0.0012,
    ) -> Tensor:
        """A call that starts one device op."""
        out = op.outputs[0]
        self.program.call(name, op.inputs, (out,), (op,), arguments=arguments, code=code, seconds=seconds)
        return out

    def conv(self, name: str, x: Tensor, *, before: DeviceOp | None = None, free: Tensor | None = None) -> Tensor:
        """Halo, Move where the layer has one, Conv2d. `before` makes x; `free` goes as soon as it is read."""
        layer, program = CONVS[name], self.program
        (inputs, outputs), window = layer.channels, layer.window
        shape = [1, 1, layer.halo_rows * CORES, max(inputs, 8)]
        where = height_sharded(layer.halo_rows, shape[-1], GRID)
        border = program.tensor(shape, layout="ROW_MAJOR", placement=where)
        steps = [*([before] if before else []), conv.halo(x, border, window, layer.halo_ns)]
        if layer.move_ns is not None:
            moved = program.tensor(shape, layout="ROW_MAJOR", placement=where)
            steps.append(conv.move(border, moved, layer.move_ns))
            border = moved
        weight, bias = self.filters[name]
        rows = window.output_hw[0] * window.output_hw[1]
        out = program.tensor([1, 1, rows, outputs], placement=on_all_cores(rows, outputs))
        last = conv.conv2d(
            border, weight, bias, out, window=window, kernel_ns=layer.kernel_ns, in_channels=inputs,
            act_block_h=layer.act_block_h, activation=layer.activation,
        )  # fmt: skip
        last.attributes = {**last.attributes, "pre_op_l1_allocation_size_bytes": layer.before_bytes}
        source = before.inputs[0] if before else x
        program.call(
            "ttnn.conv2d",
            (source, weight, bias),
            (out,),
            (*steps, last),
            arguments={
                "input_tensor": source, "weight_tensor": weight, "in_channels": inputs, "out_channels": outputs,
                "kernel_size": str(window.kernel), "stride": str((window.stride,) * 2),
                "padding": str((window.padding,) * 2), "batch_size": 1, "input_height": window.input_hw[0],
                "input_width": window.input_hw[1],
                "conv_config": f"Conv2dConfig(weights_dtype=DataType::BFLOAT16,"
                f"act_block_h_override={0 if layer.activation else 32 * layer.act_block_h},"
                f"deallocate_activation={int(free is not None)},enable_act_double_buffer=0)",
            },
            code=layer.code(name),
            seconds=0.0117,
            frees=(free,) if free else (),
        )  # fmt: skip
        return out

    def relu(self, x: Tensor, kernel_ns: int, name: str) -> Tensor:
        out = self.program.tensor(x.shape, placement=x.placement)
        op = ops.unary("RELU", x, out, kernel_ns)
        self.step("ttnn.relu", f"{name} = ttnn.relu({name}_conv)", op, {"input_tensor": x})
        self.program.free(x, code=f"ttnn.deallocate({name}_conv)")
        return out

    def pool(
        self, x: Tensor, out: Tensor, window: Window, *, times: tuple[int, int], halo_rows: int, code: str
    ) -> None:
        """Halo and Pool2D; `times` are theirs."""
        channels = x.shape[-1]
        where = height_sharded(halo_rows, channels, GRID)
        border = self.program.tensor([1, 1, halo_rows * CORES, channels], layout="ROW_MAJOR", placement=where)
        steps = (conv.halo(x, border, window, times[0]), conv.max_pool(border, out, window, times[1]))
        arguments = {"input_tensor": x, "kernel_size": str(window.kernel), "stride": str((window.stride,) * 2)}
        self.program.call("ttnn.max_pool2d", (x,), (out,), steps, arguments=arguments, code=code, seconds=0.0058)
