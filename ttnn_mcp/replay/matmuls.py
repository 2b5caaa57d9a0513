"""The call behind a matmul: as it was given, or with a config of its own where TTNN chose one."""

from __future__ import annotations

from dataclasses import replace

from ttnn_mcp.analyses.programs.matmul import MatmulPlan
from ttnn_mcp.analyses.settings.matmul import FIELDS, OTHER_SIDES
from ttnn_mcp.analyses.settings.matmul_printed import KINDS, printed_matmul
from ttnn_mcp.errors import shown
from ttnn_mcp.hardware import TILE_SIDE
from ttnn_mcp.readers.printed.nesting import parse_struct
from ttnn_mcp.replay.expressions import activations, applied, config, flag, functions, struct_of
from ttnn_mcp.replay.source import OpCall, OpSource

OWN = "own_config"  # the setting that takes a config of ours instead of TTNN's
# the functions that TTNN takes these names for: "gelu" is its fast form (tt-metal, string_to_unary_with_param)
NAMES = {f"ttnn.UnaryWithParam(ttnn.UnaryOpType.{one})": name for one, name in (
    ("RELU", "relu"), ("SILU", "silu"), ("GELU, 1", "gelu"), ("GELU, 1.0", "gelu"),
)}  # fmt: skip


def matmul(source: OpSource) -> OpCall:
    """`ttnn.linear` where a bias was fused, else `ttnn.matmul`."""
    source.forbid(global_cb="", untilize_out="false")
    if len(source.inputs) < 2:
        raise source.refused("its row has one operand")
    turned = [(source.written(key, flag) or "False") == "True" for key in ("transpose_a", "transpose_b")]
    text = source.text("user_fused_activation") or ""
    named: dict[str, str | None] = {"activation": _named(source, text), **_grid(source)}
    given_config = source.config("program_config")
    printed = struct_of(source.op.attributes, "program_config")
    if printed is not None:
        named = {}
        text = printed.fields.get("fused_activation", "")
    own = None if given_config else _own_config(source)
    if own and "core_grid" in named:
        named["core_grid"] = f'None if s["{OWN}"] else {named["core_grid"]}'
    a, b = (f"x[{place}].transpose(-1, -2)" if turned[place] else f"x[{place}]" for place in (0, 1))
    bias = "x[2]" if len(source.inputs) > 2 else None
    product = f"{a} @ {b}{' + x[2]' if bias else ''}"
    operands = [source.operand(place) for place in range(len(source.inputs))]
    operands[1] = source.weights(operands[1])
    if bias and operands[2].shape[-2] == TILE_SIDE:  # as older builds print it: a fused bias is a row
        operands[2] = replace(operands[2], shape=(*operands[2].shape[:-2], 1, operands[2].shape[-1]))
        source.assumed.append("its bias is one row, which the report prints filled up")
    return OpCall(
        "ttnn.linear" if bias or named.get("activation") else "ttnn.matmul",
        ("x[0]", "x[1]"),
        {
            "bias": bias,
            **{f"transpose_{side}": "True" for side, is_so in zip("ab", turned, strict=True) if is_so},
            **named,
            "program_config": given_config or own,
            "compute_kernel_config": source.kernel(),
            "dtype": source.dtype(),
            "memory_config": source.memory(),
        },
        applied(functions(text), f"({product})"),
        tuple(operands),
    )


def minimal_matmul(source: OpSource) -> OpCall:
    """`ttnn.experimental.minimal_matmul`."""
    source.forbid(fused_activation="", fused_ternary_scalar="", fuse_swiglu="false")
    if any(one.present[0] for one in source.op.table.outputs[1:]):
        raise source.refused("its result is split into several")
    bias = "x[2]" if len(source.inputs) > 2 else None
    operands = [source.operand(place) for place in range(len(source.inputs))]
    operands[1] = source.weights(operands[1])
    return OpCall(
        "ttnn.experimental.minimal_matmul",
        ("x[0]", "x[1]"),
        {
            "bias_tensor": bias,
            "config": source.config("config"),
            "compute_kernel_config": source.kernel(),
            "dtype": source.dtype(),
            "memory_config": source.memory(),
        },
        f"x[0] @ x[1]{' + x[2]' if bias else ''}",
        tuple(operands),
    )


def _named(source: OpSource, text: str) -> str | None:
    """The activation that the call named; one with numbers of its own is none that is rebuilt."""
    if not text:
        return None
    name = NAMES.get(source.needed("user_fused_activation", lambda one: "".join(activations(one))))
    if name is None:
        named = ", ".join(functions(text)) or shown(text[:60])
        raise source.refused(f"its activation {named} with its numbers is not rebuilt")
    return f'"{name}"'


def _grid(source: OpSource) -> dict[str, str]:
    grid = source.op.attributes.struct("user_core_coord")
    x, y = (grid.number("x"), grid.number("y")) if grid else (None, None)
    return {"core_grid": f"ttnn.CoreGrid(x={x}, y={y})"} if x and y else {}


def _own_config(source: OpSource) -> str | None:
    """The config that a sweep starts from, where the call gave none."""
    swept = [name for name in source.swept if name in FIELDS]
    if not swept or source.inputs[0].sharded[0] or source.output.sharded[0]:
        return None  # shards leave the blocks no choice, and what they leave is TTNN's own config
    text = suggested_text(source)
    printed = parse_struct(text) if text else None
    if printed is None:
        return None
    names = (*swept, *OTHER_SIDES)  # subblocks follow the blocks
    source.settings |= {OWN: False, **{name: printed.number(name) for name in names}}
    return f'{config(printed, {name: f"""s["{name}"]""" for name in names})} if s["{OWN}"] else None'


def suggested_text(source: OpSource) -> str | None:
    """The config that we suggest, as a row would print it; None where we suggest none."""
    plan = printed_matmul(source.op, source.safe_bytes).plan
    if not isinstance(plan, MatmulPlan):
        return None
    name = next(name for name, kind in KINDS.items() if kind == plan.kind)
    fields = ";".join(f"{name}={getattr(plan, field)}" for name, field in FIELDS.items())
    more = {"1D": f";fuse_batch=1;mcast_in0={int(plan.mcast_in0)}", "2D": ";transpose_mcast=0;fuse_batch=1"}
    x, y = plan.grid
    blocks = f"out_block_h={plan.per_core_m};out_block_w={plan.per_core_n};" if plan.kind != "Reuse" else ""
    grid = f"compute_with_storage_grid_size=(x={x};y={y})"
    return f"{name}({grid};{blocks}{fields}{more.get(plan.kind, '')})"
