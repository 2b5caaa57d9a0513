"""The layers of the demo's model: what each ttnn call of it starts on the device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import conv, ops
from .conv import Window
from .model import Attribute, DeviceOp, Placement, Tensor, height_sharded
from .program import Program

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SOURCE = (
    "# MADE SAMPLE: not a real profile and not a real model.",
    "# ttnn-mcp's own tests write it (python -m tests.made.demo), with faults on purpose.",
    "import ttnn",
    "from shapes import HIFI4, shape_of",
    "",
    "",
    "def forward(host, device, w):",
)
SOURCE_PATH = "/home/user/made-sample/model.py"
GRID = (8, 8)
CORES = 64


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
            "stem": (stem, weight([1, 1, 1, 64])),
            **{
                name: (weight([1, 1, 9 * channels, outputs]), weight([1, 1, 1, outputs]))
                for name, channels, outputs in (
                    ("a", 64, 64),
                    ("b", 64, 128),
                    ("mix", 192, 256),
                    ("deep", 256, 256),
                )
            },
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
        # An operand may stand twice (Move), an input of the call only once.
        self.program.call(name, op.inputs, (out,), (op,), arguments=arguments, code=code, seconds=seconds)
        return out

    def conv(
        self,
        name: str,
        x: Tensor,
        channels: tuple[int, int],
        window: Window,
        times: tuple[int, int | None, int],
        result: str,
        sizes: str,
        config: str,
        *,
        halo_rows: int,
        act_block_h: int = 1,
        activation: str | None = None,
        before: Sequence[DeviceOp] = (),
        free: Tensor | None = None,
    ) -> Tensor:
        """Halo, Move where `times` has one, Conv2d; `halo_rows` are the rows of one core's shard with its border."""
        h, w = window.output_hw
        program, (inputs, outputs) = self.program, channels
        padded_inputs = max(inputs, 8)
        shape = [1, 1, halo_rows * CORES, padded_inputs]
        where = height_sharded(halo_rows, padded_inputs, GRID)
        border = program.tensor(shape, layout="ROW_MAJOR", placement=where)
        steps = [*before, conv.halo(x, border, window, times[0])]
        if times[1] is not None:
            moved = program.tensor(shape, layout="ROW_MAJOR", placement=where)
            steps.append(conv.move(border, moved, times[1]))
            border = moved
        weight, bias = self.filters[name]
        out = program.tensor([1, 1, h * w, outputs], placement=on_all_cores(h * w, outputs))
        last = conv.conv2d(
            border,
            weight,
            bias,
            out,
            window,
            times[2],
            in_channels=inputs,
            act_block_h=act_block_h,
            activation=activation,
        )
        source = before[0].inputs[0] if before else x
        source_name = {"stem": "x", "a": "p", "b": "p", "mix": "c", "deep": "m"}[name]
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
                "conv_config": f"Conv2dConfig(weights_dtype=DataType::BFLOAT16,act_block_h_override={32 * act_block_h},"
                f"deallocate_activation={int(free is not None)},enable_act_double_buffer=0)",
            },
            code=f'{result} = ttnn.conv2d({source_name}, w["{name}"], {sizes}, **shape_of({source_name}),\n'
            f"    conv_config=ttnn.Conv2dConfig(weights_dtype=ttnn.bfloat16, {config}))",
            seconds=0.0117, frees=(free,) if free else (),
        )  # fmt: skip
        return out

    def relu(self, x: Tensor, kernel_ns: int, name: str) -> Tensor:
        out = self.program.tensor(x.shape, placement=x.placement)
        op = ops.unary("RELU", x, out, kernel_ns)
        self.step("ttnn.relu", f"{name} = ttnn.relu({name}_conv)", op, {"input_tensor": x})
        self.program.free(x, code=f"ttnn.deallocate({name}_conv)")
        return out

    def pool(
        self, x: Tensor, out: Tensor, window: Window, times: tuple[int, int], halo_rows: int, code: str
    ) -> None:
        channels = x.shape[-1]
        where = height_sharded(halo_rows, channels, GRID)
        border = self.program.tensor([1, 1, halo_rows * CORES, channels], layout="ROW_MAJOR", placement=where)
        steps = (conv.halo(x, border, window, times[0]), conv.max_pool(border, out, window, times[1]))
        arguments = {"input_tensor": x, "kernel_size": str(window.kernel), "stride": str((window.stride,) * 2)}
        self.program.call("ttnn.max_pool2d", (x,), (out,), steps, arguments=arguments, code=code, seconds=0.0058)
