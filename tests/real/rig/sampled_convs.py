"""Convolutions at random: every layout, windows, formats, double buffers, with and without a bias."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.real.rig.bench import Bench, Question

if TYPE_CHECKING:
    from collections.abc import Callable

SIZES = {  # image sides and channels
    "HEIGHT": ((17, 28, 40, 56, 64, 96), (16, 32, 64, 96, 128)),
    "BLOCK": ((10, 14, 20, 28, 32), (96, 128, 256, 320, 480)),
    "WIDTH": ((5, 7, 8, 10, 14), (256, 512, 640, 768, 1024)),
}
BLOCKS = (0, 32, 64, 96, 128, 160, 192, 256, 384, 512, 50)
FLAGS = ("act_block_h_override", "act_block_w_div", "enable_act_double_buffer", "enable_weights_double_buffer")


def conv(bench: Bench) -> dict[str, Any]:
    """One setting of a convolution in a layout at random; any of the others may differ from its default."""
    return _asked(bench, bench.one_of(*SIZES))


def sliced(bench: Bench) -> dict[str, Any]:
    """The same with an input in DRAM, of which L1 holds a slice at a time."""
    how = {"slice": bench.one_of("Height", "Width"), "slices": bench.one_of(2, 3, 4)}
    return _asked(bench, bench.one_of("HEIGHT", "BLOCK"), how)


def relaid(bench: Bench) -> dict[str, Any]:
    """The same layout for all that TTNN makes of a convolution, and then another; images and channels suit either."""
    layout, other = bench.chance.sample(list(SIZES), 2)
    case = _case(bench, layout, (8, 14, 16, 28, 32, 56), (32, 64, 96, 128, 256, 320, 512))
    now = {**case, "shard_layout": other}
    asked = Question("conv2d", case, "shard_layout", other, _image(bench, now), conv_call(bench, now), "Conv2d")
    return bench.trial(asked)


def _asked(bench: Bench, layout: str, how: dict[str, Any] | None = None) -> dict[str, Any]:
    one_of = bench.one_of
    case = _case(bench, layout, *SIZES[layout]) | (how or {})
    settings: list[tuple[str, Any]] = [("act_block_h_override", size) for size in BLOCKS]
    settings += [(flag, not case[flag]) for flag in FLAGS[2:]]
    settings += [("weights_dtype", "bfloat4_b"), ("fp32_dest_acc_en", True)]
    settings += [] if how else [("output_layout", "ROW_MAJOR")]
    if layout == "WIDTH":
        settings += [("act_block_w_div", divisor) for divisor in (2, 3, 4)]
    setting, value = one_of(*settings)
    now = {**case, setting: value}
    return bench.trial(
        Question("conv2d", case, setting, value, _image(bench, now), conv_call(bench, now), "Conv2d")
    )


def _case(bench: Bench, layout: str, sizes: tuple[int, ...], channels: tuple[int, ...]) -> dict[str, Any]:
    one_of = bench.one_of
    return {
        "b": one_of(1, 1, 2, 4), "h": one_of(*sizes), "cin": one_of(*channels), "cout": one_of(*channels),
        "k": one_of(3, 3, 3, 5, 7), "s": one_of(1, 1, 2), "layout": layout, "act_block_h_override": 0,
        "act_block_w_div": 1, "enable_act_double_buffer": one_of(False, True),
        "enable_weights_double_buffer": one_of(False, True), "weights_dtype": one_of("bfloat8_b", "bfloat16"),
        "fp32_dest_acc_en": one_of(False, False, True), "packer_l1_acc": one_of(True, False),
        "output_dtype": one_of("bfloat16", "bfloat16", "bfloat8_b"), "bias": one_of(True, True, False),
        "config_tensors_in_dram": one_of(False, True),
        "output_layout": "TILE", "input": one_of("ROW_MAJOR", "TILE"),
    }  # fmt: skip


def _image(bench: Bench, now: dict[str, Any]) -> Callable[[], list[Any]]:
    rows, memory = now["b"] * now["h"] ** 2, None if now.get("slices") else bench.ttnn.L1_MEMORY_CONFIG
    layout = f"{now.get('input', 'ROW_MAJOR')}_LAYOUT"
    return lambda: [bench.tensor(1, 1, rows, now["cin"], layout=layout, memory=memory)]


def conv_call(bench: Bench, now: dict[str, Any]) -> Callable[..., Any]:
    """The convolution as the case has it, of the image that it is given."""
    ttnn, k, s = bench.ttnn, now["k"], now["s"]
    config = ttnn.Conv2dConfig(
        weights_dtype=getattr(ttnn, now["weights_dtype"]),
        shard_layout=getattr(ttnn.TensorMemoryLayout, f"{now.get('shard_layout', now['layout'])}_SHARDED"),
        output_layout=getattr(ttnn, f"{now['output_layout']}_LAYOUT"),
        config_tensors_in_dram=now.get("config_tensors_in_dram", False),
        **{name: now[name] for name in FLAGS},
    )

    slices = ttnn.Conv2dL1FullSliceConfig
    if now.get("slices"):
        kind = getattr(ttnn, f"Conv2dDRAMSlice{now['slice']}")
        slices = ttnn.Conv2dSliceConfig(slice_type=kind, num_slices=now["slices"])

    def host(*shape: int) -> Any:
        return ttnn.zeros(shape, dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT)

    def call(image: Any) -> Any:
        return ttnn.conv2d(
            input_tensor=image, weight_tensor=host(now["cout"], now["cin"], k, k), device=bench.device,
            bias_tensor=host(1, 1, 1, now["cout"]) if now["bias"] else None, batch_size=now["b"],
            input_height=now["h"], input_width=now["h"], in_channels=now["cin"], out_channels=now["cout"],
            kernel_size=(k, k), stride=(s, s), padding=(k // 2, k // 2), conv_config=config,
            dtype=getattr(ttnn, now["output_dtype"]), slice_config=slices,
            compute_config=bench.kernel(fp32=now["fp32_dest_acc_en"], packer=now["packer_l1_acc"]),
        )  # fmt: skip

    return call
