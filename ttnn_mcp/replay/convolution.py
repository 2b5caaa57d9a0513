"""The call behind a convolution or a pool, with what comes before it: its device op reads an image in shards."""

from __future__ import annotations

import re

from ttnn_mcp.analyses.settings.conv import conv_in
from ttnn_mcp.analyses.settings.trial import Value
from ttnn_mcp.hardware import TILE_SIDE, filled_up
from ttnn_mcp.readers.printed.memory_config import Placement, parse_core_ranges, parse_memory_config
from ttnn_mcp.readers.printed.nesting import PrintedStruct
from ttnn_mcp.records import dataclass
from ttnn_mcp.replay.expressions import activation, applied, cores, enum, flag, functions, number, whole
from ttnn_mcp.replay.source import PLACES, Given, OpCall, OpSource

_NUMBERS = re.compile(r"\d{1,9}")
_INPUT_CORES = re.compile(r"core_range_set_=(\{[^{}]*\})")
FLAGS = ("enable_act_double_buffer", "enable_weights_double_buffer", "full_inner_dim", "config_tensors_in_dram")
CHANNELS = 8  # TTNN fills the channels of a conv in rows up to a multiple of it (0.81.1)


def convolution(source: OpSource) -> OpCall:
    """`ttnn.conv2d` of an image in DRAM, whole and not in slices: halo and moves before it run too."""
    window = window_of(source, "sliding_window_config")
    place = parse_memory_config(source.text(*PLACES) or "")
    shape = _NUMBERS.findall(source.text("input_tensor_shape") or "")
    conv = conv_in(source.op)
    if window is None or place is None or not place.sharded or len(shape) != 4 or conv is None:
        raise source.refused("its row does not print the image, the window and the shards")
    if window.turned:
        raise source.refused("it is a transposed one")
    channels, out = int(shape[-1]), source.shape(-1)[-1]
    out = source.op.attributes.number("output_channels") or out
    groups = source.op.attributes.number("groups") or 1
    image, sides, batch = window.image, window.sides, window.batch
    biased = source.written("has_bias", flag) == "True"
    x_dtype = source.dtype_of(source.inputs[0])
    weights = source.dtype_of(source.inputs[1]).rpartition(".")[2].upper()
    block = 0 if conv.block_h >= conv.per_core_h else TILE_SIDE * conv.block_h
    now: dict[str, Value] = {
        "act_block_h_override": block,
        "shard_layout": place.layout.removesuffix("_SHARDED"),
        "weights_dtype": weights,
        **{name: source.written(name, flag) == "True" for name in FLAGS if source.text(name) is not None},
    }
    source.settings |= {name: value for name, value in now.items() if name in source.swept}
    write = {
        "shard_layout": (
            "getattr(ttnn.TensorMemoryLayout, {} + '_SHARDED')",
            f"ttnn.TensorMemoryLayout.{place.layout}",
        ),
        "weights_dtype": ("getattr(ttnn, {}.lower())", f"ttnn.{weights.lower()}"),
    }
    text = source.text("activation") or ""
    fused = source.written("activation", activation) if "op_type" in text else None
    config = {
        **{
            name: swept.format(f's["{name}"]') if name in source.swept else plain
            for name, value in now.items()
            for swept, plain in [write.get(name, ("{}", repr(value)))]
        },
        **_cores(place, source),
        "activation": fused,
        "output_layout": "ttnn.ROW_MAJOR_LAYOUT" if source.written("untilize_out", flag) == "True" else None,
    }
    fields = ", ".join(f"{name}={value}" for name, value in config.items() if value is not None)
    host = Given((out, channels // groups, *window.kernel), "ttnn.float32", "ttnn.ROW_MAJOR_LAYOUT", None)
    operands = [
        _image(window, channels, x_dtype if x_dtype.endswith("_b") else "ttnn.bfloat16"),
        host,
        *([Given((1, 1, 1, out), "ttnn.float32", "ttnn.ROW_MAJOR_LAYOUT", None)] if biased else []),
    ]
    source.assumed.append(
        "its image comes from DRAM, so halo and moves before it may differ; the conv is the op measured"
    )
    filled, today = source.shape(0)[-1], filled_up(channels, CHANNELS)
    if place.layout == "HEIGHT_SHARDED" and filled > today:  # of early 2025; shards of a width are filled up more
        source.other_build = f"its build filled {channels} channels up to {filled}, today's fills {today}: less L1"
    if window.kernel == window.stride != (1, 1) and not any(sides):  # of the same report; 0.81.1 on a mock device
        source.other_build = "TTNN of today may fold such a window and run a matmul in its place, with other L1"
    source.assumed += [source.other_build] if source.other_build else []
    bias = "x[2].flatten()" if biased else "None"
    image_of = f"x[0].reshape({batch}, {image[0]}, {image[1]}, {channels}).permute(0, 3, 1, 2)"
    padded = f"torch.nn.functional.pad({image_of}, {[*sides[2:], *sides[:2]]})" if any(sides) else image_of
    reference = (
        f"torch.nn.functional.conv2d({padded}, x[1], {bias}, {list(window.stride)}, 0, {list(window.dilation)}, "
        f"{groups}).permute(0, 2, 3, 1).reshape(1, 1, -1, {out})"
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
            "kernel_size": str(window.kernel),
            "stride": str(window.stride),
            "padding": str(sides),
            "dilation": str(window.dilation),
            "groups": str(groups),
            "dtype": source.dtype(),
            "conv_config": f"ttnn.Conv2dConfig({fields})",
            "compute_config": source.kernel(),
            "slice_config": "ttnn.Conv2dL1FullSliceConfig",
        },
        applied(functions(text), reference),
        tuple(operands),
    )


def _cores(place: Placement, source: OpSource) -> dict[str, str]:
    """On the cores of the profile, where the shards lie as they did: an image from DRAM is spread on others.

    The grid is that of the input, which may have more columns than the output's.
    """
    if place.shard is None or not place.shard.ranges:
        return {}
    of_input = _INPUT_CORES.search(source.text("sliding_window_config") or "")
    ranges = parse_core_ranges(of_input[1]) if of_input else ()
    layout = place.layout.removesuffix("_SHARDED")
    asked = f's["shard_layout"] == {layout!r}' if "shard_layout" in source.swept else "True"
    return {"core_grid": cores(ranges or place.shard.ranges), "override_sharding_config": asked}


def pool(source: OpSource) -> OpCall:
    """`ttnn.max_pool2d` or `ttnn.avg_pool2d` of an image in DRAM: halo and moves before it run too."""
    window = window_of(source, "sliding_window_config")
    place = parse_memory_config(source.text(*PLACES) or "")
    kind = source.needed("pool_type", lambda text: enum("", text)).rpartition(".")[2]
    if window is None or place is None or not place.sharded or kind not in ("MAX_POOL2D", "AVG_POOL2D"):
        raise source.refused("its row does not print the image, the window and the shards")
    channels = source.shape(0)[-1]
    high, wide = window.image
    pairs: list[tuple[int, ...]] = [window.kernel, window.stride, window.sides]
    named: dict[str, str | None] = {
        "ceil_mode": str(window.rounds_up(source)),
        "applied_shard_scheme": f"ttnn.TensorMemoryLayout.{place.layout}",
    }
    if kind == "MAX_POOL2D":
        source.forbid(return_indices="false")
        pairs.append(window.dilation)
    else:
        named |= {
            "count_include_pad": source.written("count_include_pad", flag),
            "divisor_override": source.written("divisor_override", whole),
            "compute_kernel_config": source.kernel(),
        }
    if source.text("output_layout") is not None:
        named |= {"dtype": source.dtype(), "output_layout": f"ttnn.{source.output.layout[0]}_LAYOUT"}
    source.assumed.append(
        "its image comes from DRAM, so halo and moves before it may differ; the pool is the op measured"
    )
    return OpCall(
        f"ttnn.{kind.lower()}",
        ("x[0]", *map(str, (window.batch, high, wide, channels)), *(str(list(pair)) for pair in pairs)),
        named,
        operands=(_image(window, channels),),
    )


def upsample(source: OpSource) -> OpCall:
    """`ttnn.upsample`."""
    scale = [source.needed(f"scale_factor_{side}", number) for side in "hw"]
    mode = source.needed("mode", str)
    if mode not in ("nearest", "bilinear"):
        raise source.refused("its mode is not rebuilt")
    return OpCall(
        "ttnn.upsample",
        ("x[0]", f"[{', '.join(scale)}]"),
        {"mode": f'"{mode}"', "memory_config": source.memory(), "compute_kernel_config": source.kernel()},
    )


def grid_sample(source: OpSource) -> OpCall:
    """`ttnn.grid_sample`."""
    source.forbid(mode="bilinear", padding_mode="zeros")
    return OpCall(
        "ttnn.grid_sample",
        ("x[0]", "x[1]"),
        {
            "align_corners": source.written("align_corners", flag),
            "use_precomputed_grid": source.written("use_precomputed_grid", flag),
            "batch_output_channels": source.written("batch_output_channels", flag),
            "memory_config": source.memory(),
        },
    )


@dataclass(frozen=True)
class ImageWindow:
    """A window that slides over an image: sizes by height and width; `sides` by top, bottom, left and right."""

    image: tuple[int, int]
    kernel: tuple[int, int]
    stride: tuple[int, int]
    dilation: tuple[int, int]
    sides: tuple[int, int, int, int]
    batch: int
    turned: bool

    def rounds_up(self, source: OpSource) -> bool:
        """Whether a window that reaches beyond the image counts, by the rows of the result."""
        top, bottom, left, right = self.sides
        room = (self.image[0] + top + bottom, self.image[1] + left + right)
        spans = (
            size - spread * (length - 1) - 1
            for size, spread, length in zip(room, self.dilation, self.kernel, strict=True)
        )
        down, across = (divmod(span, step) for span, step in zip(spans, self.stride, strict=True))
        return self.batch * (down[0] + 1) * (across[0] + 1) != source.shape(-1)[-2]


def window_of(source: OpSource, key: str) -> ImageWindow | None:
    """The window that a row prints; None where it prints none."""
    window = source.op.attributes.struct(key)
    image = _pair(window, "input_hw")
    if window is None or image is None:  # unmoved: without a window there is no image
        return None
    sides = [int(one) for one in _NUMBERS.findall(window.fields.get("padding", ""))]
    if len(sides) != 4:
        high, wide = _pair(window, "pad_hw") or (0, 0)
        sides = [high, high, wide, wide]
    kernel, stride, dilation = (_pair(window, name) or (1, 1) for name in ("window_hw", "stride_hw", "dilation_hw"))
    top, bottom, left, right = sides
    turned = window.fields.get("is_transpose", "").strip() == "true"
    return ImageWindow(
        image, kernel, stride, dilation, (top, bottom, left, right), window.number("batch_size") or 1, turned
    )


def _image(window: ImageWindow, channels: int, dtype: str = "ttnn.bfloat16") -> Given:
    """An image in DRAM, in tiles where its data type knows no rows."""
    layout = f"ttnn.{'TILE' if dtype.endswith('_b') else 'ROW_MAJOR'}_LAYOUT"
    rows = window.batch * window.image[0] * window.image[1]
    return Given((1, 1, rows, channels), dtype, layout, "ttnn.DRAM_MEMORY_CONFIG")


def _pair(window: PrintedStruct | None, name: str) -> tuple[int, int] | None:
    sizes = _NUMBERS.findall(window.fields.get(name, "")) if window else []
    return (int(sizes[0]), int(sizes[1])) if len(sizes) == 2 else None
