"""Printed text of TTNN as a Python expression: a placement, a program config, a kernel config, an activation.

A report's text is data, and what is made of it is run: so nothing passes but names of ours, names of enums by their
form, and numbers. What is neither is told by `Unwritable`, with the text's own name left to the caller.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from ttnn_mcp.analyses.settings.compute import grid_of
from ttnn_mcp.readers.printed.attributes import Attributes
from ttnn_mcp.readers.printed.memory_config import Core, CoreRange, Placement
from ttnn_mcp.readers.printed.nesting import PrintedStruct, has_value, parse_struct, split_fields

_WHOLE = re.compile(r"-?\d{1,18}")
_NUMBER = re.compile(r"-?(?:\d{1,30}(?:\.\d{0,30})?|\.\d{1,30})(?:e[+-]?\d{1,3})?")
_ENUM = re.compile(r"(?:\w+(?:::|\.))*([A-Za-z][A-Za-z0-9_]{0,40})")
_ACTIVATION = re.compile(r"op_type=UnaryOpType(?:::|\.)([A-Z][A-Z0-9_]{0,40});\s*param=\{([^{}]*)\}")
_FLAGS = {**dict.fromkeys(("1", "true", "True"), "True"), **dict.fromkeys(("0", "false", "False"), "False")}

# TTNN 0.81.1: the arguments of each class; the others of a print are told apart by these defaults
_MULTICAST = (
    "in0_block_w",
    "out_subblock_h",
    "out_subblock_w",
    "out_block_h",
    "out_block_w",
    "per_core_M",
    "per_core_N",
)
CONFIGS: dict[str, tuple[str, ...]] = {
    "MatmulMultiCoreProgramConfig": (),
    "MatmulMultiCoreReuseMultiCastProgramConfig": (
        *_MULTICAST,
        "transpose_mcast",
        "fused_activation",
        "fuse_batch",
    ),
    "MatmulMultiCoreReuseMultiCast1DProgramConfig": (*_MULTICAST, "fuse_batch", "fused_activation", "mcast_in0"),
    "MatmulMultiCoreReuseProgramConfig": tuple(one for one in _MULTICAST if "out_block" not in one),
    "MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig": (
        *("in0_block_w", "per_core_M", "per_core_N", "fused_activation"),
    ),
    "MinimalMatmulConfig": ("M_block_size", "K_block_size", "N_block_size", "subblock_h", "subblock_w"),
    "SDPAProgramConfig": ("q_chunk_size", "k_chunk_size", "exp_approx_mode", "max_cores_per_head_batch"),
    "LayerNormShardedMultiCoreProgramConfig": ("subblock_w", "block_h", "block_w", "inplace", "use_welford"),
    "LayerNormDefaultProgramConfig": ("use_welford",),
    "SoftmaxShardedMultiCoreProgramConfig": ("subblock_w", "block_h", "block_w"),
    "SoftmaxDefaultProgramConfig": (),
}
GRID = "compute_with_storage_grid_size"
ON_A_GRID = ("MultiCast", "Reuse", "Minimal", "SDPA", "Sharded")
_DEFAULTS = {
    **dict.fromkeys(("gather_in0", "untilize_out", "stream_in1", "segmented_accumulation"), ("0", "false")),
    **dict.fromkeys(("num_global_cb_receivers", "max_k_splits", "num_workers_per_dram_bank"), ("0", "1")),
    "hop_cores": ("{}",),
}
_OF_NO_EFFECT = ("legacy_reduction", "legacy_rsqrt")  # deprecated: no kernel reads them
FLAGS = ("transpose_mcast", "fuse_batch", "mcast_in0", "inplace", "use_welford", "exp_approx_mode")
KERNEL = ("math_fidelity", "math_approx_mode", "fp32_dest_acc_en", "packer_l1_acc", "dst_full_sync_en")
FOLLOWS = {"out_block_h": "per_core_M", "out_block_w": "per_core_N"}

ACTIVATIONS = {
    **{name: f"torch.{name}" for name in ("relu", "sigmoid", "tanh", "exp", "sqrt", "rsqrt", "abs", "neg", "log")},
    **{name: f"torch.{name}" for name in ("reciprocal", "square", "sin", "cos")},
    "recip": "torch.reciprocal",
    "gelu": "torch.nn.functional.gelu",
    "relu6": "torch.nn.functional.relu6",
    "silu": "torch.nn.functional.silu",
}


class Unwritable(Exception):  # noqa: N818 - it is no fault: the caller says what cannot be rebuilt
    """A text that is no value we write."""


def whole(text: str) -> str:
    """A whole number."""
    return _fitting(_WHOLE, text)


def number(text: str) -> str:
    """A number."""
    return _fitting(_NUMBER, text)


def flag(text: str) -> str:
    """True or False."""
    if text.strip() not in _FLAGS:
        raise Unwritable(text)
    return _FLAGS[text.strip()]


def enum(kind: str, text: str) -> str:
    """A value of an enum of TTNN: `MathFidelity::HiFi2` -> `ttnn.MathFidelity.HiFi2`."""
    match = _ENUM.fullmatch(text.strip())
    if match is None:
        raise Unwritable(text)
    return f"ttnn.{kind}.{match[1]}"


def dtype(text: str) -> str:
    """`DataType::BFLOAT8_B` -> `ttnn.bfloat8_b`."""
    return f"ttnn.{enum('', text).rpartition('.')[2].lower()}"


def placement(place: Placement) -> str:
    """A memory config."""
    if place.layout == "INTERLEAVED" and place.buffer in ("DRAM", "L1"):
        return f"ttnn.{place.buffer}_MEMORY_CONFIG"
    kind = f"ttnn.TensorMemoryLayout.{place.layout}, ttnn.BufferType.{place.buffer}"
    if not place.sharded or place.layout == "ND_SHARDED":
        raise Unwritable(str(place))
    shard = place.shard
    if shard is None:
        return f"ttnn.MemoryConfig({kind})"
    if len(shard.shape) != 2 or not shard.ranges:
        raise Unwritable(str(place))
    turned = "COL_MAJOR" if shard.orientation == "COL_MAJOR" else "ROW_MAJOR"
    spec = f"ttnn.ShardSpec({cores(shard.ranges)}, {list(shard.shape)}, ttnn.ShardOrientation.{turned})"
    return f"ttnn.MemoryConfig({kind}, {spec})"


def cores(ranges: Sequence[CoreRange]) -> str:
    """A set of cores."""
    each = ", ".join(f"ttnn.CoreRange({_core(start)}, {_core(end)})" for start, end in ranges)
    return f"ttnn.CoreRangeSet({{{each}}})"


def config(printed: PrintedStruct, swept: Mapping[str, str]) -> str | None:
    """A program config; fields in `swept` stand for themselves. None for a default one, which nobody needs to give."""
    fields = CONFIGS.get(printed.name)
    if fields is None:
        raise Unwritable(printed.name)
    parts: list[str] = []
    if GRID in printed.fields and any(one in printed.name for one in ON_A_GRID):
        grid = grid_of(printed)
        if grid is None:
            raise Unwritable(printed.fields[GRID])
        parts.append(f"{GRID}={_core(grid)}")
    for name, text in printed.fields.items():
        if name in fields and has_value(text):
            parts.append(f"{name}={_field(name, text, printed, swept)}")
        elif name not in (*fields, GRID, *_OF_NO_EFFECT) and has_value(text):
            _usual(name, text)
    usual = "Default" in printed.name and all(part.endswith("=False") for part in parts)
    return None if usual else f"ttnn.{printed.name}({', '.join(parts)})"


def _usual(name: str, text: str) -> None:
    if text.strip() not in _DEFAULTS.get(name, ()):
        raise Unwritable(name)


def _field(name: str, text: str, printed: PrintedStruct, swept: Mapping[str, str]) -> str:
    side = FOLLOWS.get(name, name)
    if side in swept and printed.number(side) == printed.number(name):
        return swept[side]
    if name == "fused_activation":
        return activation(text)
    return (flag if name in FLAGS else whole)(text)


def kernel(printed: PrintedStruct, swept: Mapping[str, str]) -> str:
    """A compute kernel config, whatever chip's name it has."""
    parts: list[str] = []
    for name in KERNEL:
        text = printed.fields.get(name)
        if text is not None:
            write: Callable[[str], str] = flag if name != "math_fidelity" else lambda one: enum("MathFidelity", one)
            parts.append(f"{name}={swept.get(name) or write(text)}")
    if not parts:
        raise Unwritable(printed.name)
    return f"ttnn.init_device_compute_kernel_config(device.arch(), {', '.join(parts)})"


def activations(text: str) -> list[str]:
    """The functions of `{BasicUnaryWithParam<float>(op_type=UnaryOpType::RELU;param={})}`, each with its numbers."""
    functions_named = [(name, split_fields(params)) for name, params in _ACTIVATION.findall(text.replace(",", ";"))]
    if len(functions_named) != text.count("op_type"):
        raise Unwritable(text)
    return [
        f"ttnn.UnaryWithParam({', '.join([f'ttnn.UnaryOpType.{name}', *map(number, params)])})"
        for name, params in functions_named
    ]


def activation(text: str) -> str:
    """The first of them, where a call takes one."""
    for first in activations(text):
        return first
    raise Unwritable(text)


def functions(text: str) -> list[str]:
    """Their names alone, in small letters."""
    return [name.lower() for name, _ in _ACTIVATION.findall(text.replace(",", ";"))]


def struct_of(attributes: Attributes, *keys: str) -> PrintedStruct | None:
    """The struct of the first of these keys that has a value, also one without fields."""
    text = attributes.text_of(*keys)
    return parse_struct(text) if text is not None else None


def _fitting(form: re.Pattern[str], text: str) -> str:
    if not form.fullmatch(text.strip()):
        raise Unwritable(text)
    return text.strip()


def _core(core: Core) -> str:
    return f"ttnn.CoreCoord({core[0]}, {core[1]})"


def applied(names: Sequence[str], operand: str) -> str | None:
    """Functions one after the other; None where torch has one of them under no name known here."""
    for name in names:
        if name not in ACTIVATIONS:
            return None
        operand = f"{ACTIVATIONS[name]}({operand})"
    return operand
