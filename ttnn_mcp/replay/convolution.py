"""The call behind a convolution: with what comes before it, as its device op reads an image that is already spread."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ttnn_mcp.analyses.settings.conv import conv_in
from ttnn_mcp.hardware import TILE_SIDE
from ttnn_mcp.readers.printed.memory_config import parse_memory_config
from ttnn_mcp.replay.expressions import activations, flag, functions
from ttnn_mcp.replay.source import PLACES, Given, OpCall
from ttnn_mcp.replay.torch_words import applied

if TYPE_CHECKING:
    from ttnn_mcp.analyses.settings.trial import Value
    from ttnn_mcp.readers.printed.nesting import PrintedStruct
    from ttnn_mcp.replay.source import OpSource

_NUMBERS = re.compile(r"\d{1,9}")
FLAGS = ("enable_act_double_buffer", "enable_weights_double_buffer", "full_inner_dim", "config_tensors_in_dram")


def convolution(source: OpSource) -> OpCall:
    """`ttnn.conv2d` of an image in DRAM, whole and not in slices: halo and moves before it run too."""
    window = source.op.attributes.struct("sliding_window_config")
    place = parse_memory_config(source.text(*PLACES) or "")
    image = _pair(window, "input_hw")
    shape = _NUMBERS.findall(source.text("input_tensor_shape") or "")
    conv = conv_in(source.op)
    if window is None or image is None or place is None or not place.sharded or len(shape) != 4 or conv is None:
        raise source.refused("its row does not print the image, the window and the shards")
    if window.fields.get("is_transpose", "").strip() == "true":
        raise source.refused("it is a transposed one")
    channels, out = int(shape[-1]), source.shape(-1)[-1]
    out = source.op.attributes.number("output_channels") or out
    groups = source.op.attributes.number("groups") or 1
    kernel, stride = _pair(window, "window_hw") or (1, 1), _pair(window, "stride_hw") or (1, 1)
    dilation = _pair(window, "dilation_hw") or (1, 1)
    sides = [int(one) for one in _NUMBERS.findall(window.fields.get("padding", ""))]
    if len(sides) != 4:
        high, wide = _pair(window, "pad_hw") or (0, 0)
        sides = [high, high, wide, wide]
    batch = window.number("batch_size") or 1
    biased = source.written("has_bias", flag) == "True"
    x_dtype = source.dtype_of(source.inputs[0])
    tiled = x_dtype.endswith("_b")
    weights = source.dtype_of(source.inputs[1]).rpartition(".")[2].upper() if len(source.inputs) > 1 else "BFLOAT16"
    block = 0 if conv.block_h >= conv.per_core_h else TILE_SIDE * conv.block_h
    now: dict[str, Value] = {
        "act_block_h_override": block,
        "shard_layout": place.layout.removesuffix("_SHARDED"),
        "weights_dtype": weights,
        **{name: source.written(name, flag) == "True" for name in FLAGS if source.text(name) is not None},
    }
    source.settings |= {name: value for name, value in now.items() if name in source.swept}
    write = {
        "shard_layout": "getattr(ttnn.TensorMemoryLayout, {} + '_SHARDED')",
        "weights_dtype": "getattr(ttnn, {}.lower())",
    }
    text = source.text("activation") or ""
    activation = source.written("activation", lambda one: activations(one)[0]) if "op_type" in text else None
    config = {
        **{
            name: write.get(name, "{}").format(f's["{name}"]' if name in source.swept else repr(value))
            for name, value in now.items()
        },
        "activation": activation,
        "output_layout": "ttnn.ROW_MAJOR_LAYOUT" if source.written("untilize_out", flag) == "True" else None,
    }
    fields = ", ".join(f"{name}={value}" for name, value in config.items() if value is not None)
    host = Given((out, channels // groups, *kernel), "ttnn.float32", "ttnn.ROW_MAJOR_LAYOUT", None)
    operands = [
        Given(
            (1, 1, batch * image[0] * image[1], channels),
            x_dtype if tiled else "ttnn.bfloat16",
            f"ttnn.{'TILE' if tiled else 'ROW_MAJOR'}_LAYOUT",
            "ttnn.DRAM_MEMORY_CONFIG",
        ),
        host,
        *([Given((1, 1, 1, out), "ttnn.float32", "ttnn.ROW_MAJOR_LAYOUT", None)] if biased else []),
    ]
    source.assumed.append(
        "its image comes from DRAM, so halo and moves before it may differ; the conv is the op measured"
    )
    even = sides[0] == sides[1] and sides[2] == sides[3]
    bias = "x[2].flatten()" if biased else "None"
    reference = (
        f"torch.nn.functional.conv2d(x[0].reshape({batch}, {image[0]}, {image[1]}, {channels}).permute(0, 3, 1, 2), "
        f"x[1], {bias}, {list(stride)}, {sides[::2]}, {list(dilation)}, {groups}).permute(0, 2, 3, 1)"
        f".reshape(1, 1, -1, {out})"
    )
    return OpCall(
        "ttnn.conv2d",
        (),
        {
            "input_tensor": "x[0]",
            "weight_tensor": "x[1]",
            "bias_tensor": "x[2]" if biased else None,
            "device": "device",
            "in_channels": str(channels),
            "out_channels": str(out),
            "batch_size": str(batch),
            "input_height": str(image[0]),
            "input_width": str(image[1]),
            "kernel_size": str(kernel),
            "stride": str(stride),
            "padding": str(tuple(sides)),
            "dilation": str(dilation),
            "groups": str(groups),
            "dtype": source.dtype(),
            "conv_config": f"ttnn.Conv2dConfig({fields})",
            "compute_config": source.kernel(),
            "slice_config": "ttnn.Conv2dL1FullSliceConfig",
        },
        applied(functions(text), reference) if even else None,
        tuple(operands),
    )


def _pair(window: PrintedStruct | None, name: str) -> tuple[int, int] | None:
    sizes = _NUMBERS.findall(window.fields.get(name, "")) if window else []
    return (int(sizes[0]), int(sizes[1])) if len(sizes) == 2 else None
