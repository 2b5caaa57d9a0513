"""The call behind a device op, per family: a table of short functions, each from what a row tells to a `OpCall`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ttnn_mcp.analyses.settings.compute import grid_of
from ttnn_mcp.replay.convolution import convolution, grid_sample, pool, upsample
from ttnn_mcp.replay.expressions import activations, applied, dtype, enum, flag, functions, number, whole
from ttnn_mcp.replay.matmuls import matmul, minimal_matmul
from ttnn_mcp.replay.moving import CALLS as MOVING
from ttnn_mcp.replay.source import RANK, Given, OpCall, OpSource
from ttnn_mcp.run.ops.op_names import family

BINARY = {
    "ADD": ("add", "+"),
    "SUB": ("subtract", "-"),
    "MUL": ("multiply", "*"),
    "DIV": ("divide", "/"),
    **{name: (name.lower(), "") for name in ("GT", "LT", "GE", "LE", "EQ", "NE", "MAXIMUM", "MINIMUM", "POWER")},
}
FUSED = {  # functions that a binary op runs beside: the argument, and what rows call it
    "activations": ("activations", "post_activations"),
    "input_tensor_a_activations": ("lhs_activations", "input_tensor_a_activation"),
    "input_tensor_b_activations": ("rhs_activations",),
}
TERNARY = {"ADDCMUL": "addcmul", "WHERE": "where"}
REDUCED = {"H": "-2", "W": "-1", "HW": "(-2, -1)"}
FOLDS = {"SUM": ("sum", "sum"), "MAX": ("max", "amax"), "MIN": ("min", "amin")}  # in TTNN, in torch
NO_CALL = {
    "Halo": "it runs within ttnn.conv2d and the pools, and no call of TTNN runs it alone: replay these",
    "Move": "it fills a hole that other tensors left, and alone on a device there is none",
    "RingJointSDPA": "its semaphores and its cores beside the links belong to the whole model",
}
QUERIES, KEYS, VALUES = range(3)


def call_of(source: OpSource) -> OpCall:
    """The call that is the op.

    Raises:
        QuestionRefused: there is none, or the row does not tell enough; the message says what is missing.
    """
    write = CALLS.get(source.name)
    if write is None:
        kind = family(source.op.table.texts("op_code")[0])
        raise source.refused(NO_CALL.get(source.name, f"no {kind} op of this name is rebuilt"))
    if not all(
        operands and operands[0].present[0] for operands in (source.op.table.inputs, source.op.table.outputs)
    ):
        raise source.refused("its row does not show what it read and wrote: profile again with tracy -r")
    source.forbid(sub_core_grids="", sub_core_grid="", on_subcoregrids="false", input_on_subcoregrids="false")
    return _with_all_operands(source, write(source))


def _with_all_operands(source: OpSource, call: OpCall) -> OpCall:
    """The call where each operand of its script is an argument; the last may be where the result was written."""
    words = " ".join(filter(None, (*call.positional, *call.named.values())))
    operands = call.operands if call.operands is not None else tuple(map(source.operand, range(len(source.inputs))))
    spare = [place for place in range(len(operands)) if f"x[{place}]" not in words]
    for place in spare:
        name = source.inputs[place].name
        if place < len(operands) - 1 or not source.is_result(source.inputs[place]):
            raise source.refused(f"its row does not tell what its {name} is for")
        source.assumed.append(f"{name} is where its result was written: here that is a new tensor")
    return replace(call, operands=operands[: len(operands) - len(spare)])


def _binary(source: OpSource) -> OpCall:
    source.forbid(is_where_op="false", is_quant_op="false")
    name = source.needed("binary_op_type", lambda text: enum("", text)).rpartition(".")[2]
    if name not in BINARY:
        raise source.refused(f"its binary_op_type {name} is not rebuilt")
    function, sign = BINARY[name]
    scalar = source.written("scalar", number)
    if scalar is None and len(source.inputs) < 2:
        raise source.refused("it has one operand, and its row prints no scalar")
    texts = [source.text(*keys) for keys in FUSED.values()]
    names = [functions(text or "") for text in texts]
    a, b = (applied(one, which) for one, which in zip(names[1:], ("x[0]", scalar or "x[1]"), strict=True))
    return OpCall(
        f"ttnn.{function}",
        ("x[0]", scalar or "x[1]"),
        {
            **{
                key: f"[{', '.join(activations(text))}]" if text and "op_type" in text else None
                for key, text in zip(FUSED, texts, strict=True)
            },
            "dtype": source.dtype(),
            "memory_config": source.memory(),
        },
        applied(names[0], f"({a} {sign} {b})") if sign and a and b else None,
    )


def _unary(source: OpSource) -> OpCall:
    text = source.needed("op_chain", str)
    chain = source.needed("op_chain", lambda one: f"[{', '.join(activations(one))}]")
    if chain == "[]":
        raise source.refused("its row prints no function")
    plain = text.count("op_type") == text.count("param={}")
    return OpCall(
        "ttnn.unary_chain",
        ("x[0]", chain),
        {"memory_config": source.memory()},
        applied(functions(text), "x[0]") if plain else None,
    )


def _ternary(source: OpSource) -> OpCall:
    name = source.needed("ternary_op_type", lambda text: enum("", text)).rpartition(".")[2]
    source.forbid(ternary_variant="TTT")
    if name not in TERNARY:
        raise source.refused(f"its ternary_op_type {name} is not rebuilt")
    value = source.written("scalar_input_a", number) if name == "ADDCMUL" else None
    return OpCall(
        f"ttnn.{TERNARY[name]}",
        ("x[0]", "x[1]", "x[2]"),
        {"value": value, "memory_config": source.memory()},
        f"x[0] + {value or 1.0} * x[1] * x[2]" if name == "ADDCMUL" else None,
    )


def _typecast(source: OpSource) -> OpCall:
    return OpCall(
        "ttnn.typecast",
        ("x[0]", source.needed("output_dtype", dtype)),
        {"memory_config": source.memory()},
        "x[0]",
    )


def _norm(source: OpSource) -> OpCall:
    source.forbid(fused_activation="", distributed_norm_stage="NOT_DISTRIBUTED")
    kind = source.needed("norm_type", lambda text: enum("", text)).rpartition(".")[2]
    if kind not in ("LAYERNORM", "RMSNORM"):
        raise source.refused(f"its norm_type {kind} is not rebuilt")
    shape = source.shape(0)
    beside = list(range(1, len(source.inputs)))
    alike = [place for place in beside if source.shape(place) == shape]
    # weights of a single row may have its shape: there are no three, and both are of one layout (TTNN 0.81.1)
    of_two_kinds = len(beside) > 2 or len({source.inputs[place].layout[0] for place in beside}) > 1
    residual = alike[0] if alike and (shape[-2] > 1 or of_two_kinds) else None
    names = [f"x[{place}]" for place in beside if place != residual]
    weight, bias = (*names, None, None)[:2]
    if len(names) > 1 and (kind == "RMSNORM" or (residual is None and alike)):
        source.assumed.append("its operands are the weight and the bias, in this order")
    added = f"x[{residual}]" if residual is not None else None
    over = f"(x[0] + {added})" if added else "x[0]"
    epsilon = source.written("eps", number, "epsilon")
    least = epsilon or "1e-12"  # TTNN's own
    wide = ", ".join(f"{one}.flatten()[: x[0].shape[-1]]" for one in names) or ""
    reference = (
        f"torch.nn.functional.layer_norm({over}, x[0].shape[-1:], {wide + ', ' if wide else ''}eps={least})"
        if kind == "LAYERNORM"
        else f"{over} * torch.rsqrt({over}.pow(2).mean(-1, keepdim=True) + {least})"
        + (f" * {names[0]}.flatten()[: x[0].shape[-1]]" if names else "")
    )
    return OpCall(
        "ttnn.layer_norm" if kind == "LAYERNORM" else "ttnn.rms_norm",
        ("x[0]",),
        {
            "epsilon": epsilon,
            "weight": weight,
            "bias": bias,
            "residual_input_tensor": added,
            "program_config": source.config("program_config"),
            "compute_kernel_config": source.kernel(),
            "memory_config": source.memory(),
        },
        reference,
    )


def _group_norm(source: OpSource) -> OpCall:
    source.forbid(use_welford="false")
    config = source.op.attributes.struct("program_config")
    grid = grid_of(config) if config else None
    if config is None or grid is None:  # unmoved: where there is no config there is no grid
        raise source.refused("its row prints no program_config with a grid")
    beside = range(1, len(source.inputs))
    masks = [place for place in beside if source.inputs[place].layout[0] == "TILE"]
    weights = [place for place in beside if place not in masks]
    if len(masks) > 1 or len(weights) > 2:
        raise source.refused("it has operands beside the weight, the bias and the mask")
    named = dict(zip(("weight", "bias"), (f"x[{place}]" for place in weights), strict=False))
    layout = config.fields.get("output_layout", "")
    return OpCall(
        "ttnn.group_norm",
        ("x[0]",),
        {
            "num_groups": source.needed("num_groups", whole),
            "epsilon": source.needed("eps", number),
            "input_mask": f"x[{masks[0]}]" if masks else None,
            **named,
            "core_grid": f"ttnn.CoreGrid(x={grid[0]}, y={grid[1]})",
            "inplace": str(config.number("inplace") == 1),
            "num_out_blocks": str(config.number("num_out_blocks")) if config.number("num_out_blocks") else None,
            "output_layout": f"ttnn.{'ROW_MAJOR' if 'ROW_MAJOR' in layout else 'TILE'}_LAYOUT" if layout else None,
            "compute_kernel_config": source.kernel(),
            "memory_config": source.memory(),
        },
    )


def _softmax(source: OpSource) -> OpCall:
    source.forbid(is_causal_mask="false", is_scale_causal_mask_hw_dims_softmax="false")
    in_place = (source.written("inplace", flag) or "False") == "True"
    scale, masked = source.written("scale", number), len(source.inputs) > 1
    own = source.written("has_explicit_compute_kernel_config", flag) != "False"  # given one, TTNN keeps other sums
    config, kernel = source.config("program_config"), source.kernel() if own else None
    stable = source.written("numeric_stable", flag)
    mask = "x[1]" if masked else "None"
    added = " + x[1][..., :1, :]" if masked else ""  # one row, filled up to a tile: TTNN takes no others (0.81.1)
    reference = f"torch.softmax(x[0]{f' * {scale}' if scale else ''}{added}, -1)"
    if in_place:
        return OpCall(
            "ttnn.scale_mask_softmax_in_place",
            ("x[0]", scale or "None", mask),
            {"program_config": config, "compute_kernel_config": kernel, "numeric_stable": stable},
            reference,
        )
    named = {"compute_kernel_config": kernel, "numeric_stable": stable, "memory_config": source.memory()}
    if scale or masked:
        return OpCall("ttnn.scale_mask_softmax", ("x[0]", scale or "None", mask), named, reference)
    return OpCall("ttnn.softmax", ("x[0]",), {"dim": _last(source), **named}, reference)


def _attention(source: OpSource) -> OpCall:
    source.forbid(use_mla="false", chunk_start_idx="", sliding_window_size="")
    if len(source.inputs) < 3:
        raise source.refused("its row does not have the queries, keys and values")
    causal, scale = source.written("is_causal", flag) or "True", source.written("scale", number)
    mask = f"x[{VALUES + 1}]" if len(source.inputs) > VALUES + 1 else None
    sides = (source.inputs[QUERIES].padded[0, 2], source.inputs[KEYS].padded[0, 2])
    if mask and (causal == "True" or tuple(source.inputs[VALUES + 1].padded[0, 2:]) != sides):
        raise source.refused("it has a fourth operand that is no mask")
    k, v = (_repeated(f"x[{one}]", source.shape(QUERIES)[1], source.shape(KEYS)[1]) for one in (KEYS, VALUES))
    wanted = f"attn_mask={mask}, is_causal={causal}, scale={scale}"
    return OpCall(
        "ttnn.transformer.scaled_dot_product_attention",
        ("x[0]", "x[1]", "x[2]"),
        {
            "attn_mask": mask,
            "is_causal": causal,
            "scale": scale,
            "program_config": source.config("program_config"),
            "compute_kernel_config": source.kernel(),
            "memory_config": source.memory(),
        },
        f"torch.nn.functional.scaled_dot_product_attention(x[0], {k}, {v}, {wanted})",
    )


def _repeated(keys: str, heads: int, of_keys: int) -> str:
    """Keys or values for each head of the queries."""
    groups = heads // max(of_keys, 1)
    return f"{keys}.repeat_interleave({groups}, 1)" if groups > 1 else keys


def _decode(source: OpSource) -> OpCall:
    """Attention of a token. At which position it was no report tells: it is taken to be the last."""
    source.forbid(sliding_window_size="")
    latent = source.written("use_mla", flag) == "True"
    integers = [place for place, one in enumerate(source.inputs) if "INT" in one.dtype[0]]
    first = len(source.inputs) - len(integers)
    if first < (2 if latent else 3):
        raise source.refused("its row does not have the queries, keys and values")
    if first > 3 or len(integers) > 2 or any(place < first for place in integers):
        raise source.refused("it has operands beside the positions and the page table")
    batch = source.shape(QUERIES)[1]
    tables = [place for place in integers if source.shape(place)[-2] == batch and len(integers) == 2]
    table = tables[0] if tables else None
    keys = source.shape(KEYS)
    length = keys[2] * (source.shape(table)[-1] if table is not None else 1)
    operands = [source.operand(place) for place in range(first)]
    named: dict[str, str | None] = {}
    if latent:
        named["head_dim_v"] = source.needed("head_dim_v", whole)
    if table is not None:
        shape = source.shape(table)[-2:]
        named["page_table_tensor"] = f"x[{len(operands)}]"
        operands.append(replace(source.operand(table), shape=shape, values=f"pages below {keys[0]}"))
    positions = Given(
        (batch,), "ttnn.int32", "ttnn.ROW_MAJOR_LAYOUT", "ttnn.DRAM_MEMORY_CONFIG", f"all {length - 1}"
    )
    source.assumed.append(f"the position is not in a report: {length - 1}, the last, which takes longest")
    named["cur_pos_tensor"] = f"x[{len(operands)}]"
    operands.append(positions)
    kind = "flash_multi_latent_attention" if latent else "scaled_dot_product_attention"
    scale = source.written("scale", number)
    pages = f"[{named['page_table_tensor']}].transpose(1, 2).flatten(2, 3)" if table is not None else ""
    k, v = (_repeated(f"x[{one}]{pages}", source.shape(QUERIES)[2], keys[1]) for one in (KEYS, VALUES))
    attention = (
        f"torch.nn.functional.scaled_dot_product_attention(x[0].permute(1, 2, 0, 3), {k}, {v}, scale={scale})"
    )
    return OpCall(
        f"ttnn.transformer.{'paged_' if table is not None else ''}{kind}_decode",
        tuple(f"x[{place}]" for place in range(first)),
        {
            **named,
            "scale": scale,
            "program_config": source.config("program_config"),
            "compute_kernel_config": source.kernel(),
            "memory_config": source.memory(),
        },
        None if latent else f"{attention}.permute(2, 0, 1, 3)",
        tuple(operands),
    )


def _rotated(source: OpSource) -> OpCall:
    return OpCall(
        "ttnn.experimental.rotary_embedding_llama",
        ("x[0]", "x[1]", "x[2]", "x[3]"),
        {
            "is_decode_mode": source.written("is_decode_mode", flag),
            "memory_config": source.memory(),
            "compute_kernel_config": source.kernel(),
        },
    )


def _reduced(source: OpSource) -> OpCall:
    """One that a call is: a mean of many rows takes two steps, with a result between them that no call gives."""
    dim = source.needed("dim", lambda text: enum("", text)).rpartition(".")[2]
    fold = FOLDS.get(source.needed("math_op", lambda text: enum("", text)).rpartition(".")[2])
    *rest, rows, columns = source.shape(0)
    wanted = (*rest, 1 if "H" in dim else rows, 1 if "W" in dim else columns)
    if fold is None or dim not in REDUCED:
        raise source.refused("its math_op or its dim is not rebuilt")
    if source.inputs[0].layout[0] == "ROW_MAJOR" or wanted != source.shape(-1):
        raise source.refused("it is one step of a reduction in several, and no call runs that alone")
    scale, along = source.written("scaler", number), REDUCED[dim]
    return OpCall(
        f"ttnn.{fold[0]}",
        ("x[0]",),
        {
            "dim": along,
            "keepdim": "True",
            "scalar": scale,
            "memory_config": source.memory(),
            "compute_kernel_config": source.kernel(),
        },
        f"x[0].{fold[1]}({along}, keepdim=True){f' * {scale}' if scale else ''}",
    )


def _fast_reduced(source: OpSource) -> OpCall:
    dim = source.needed("dim", whole)
    named = {"memory_config": source.memory(), "compute_kernel_config": source.kernel()}
    return OpCall(
        "ttnn.experimental.fast_reduce_nc",
        ("x[0]",),
        {"dims": f"[{dim}]", **named},
        f"x[0].sum({dim}, keepdim=True)",
    )


def _accumulated(source: OpSource) -> OpCall:
    source.forbid(op="CUMSUM")
    dim = source.needed("dim", whole)
    if source.shape(0)[0] == 1 and not dim.startswith("-"):
        raise source.refused(f"its dim is {dim}, of a tensor whose rank the row does not print")
    return OpCall(
        "ttnn.cumsum", ("x[0]", dim), {"dtype": source.dtype(), "reverse_order": source.written("flip", flag)}
    )


def _topk(source: OpSource) -> OpCall:
    return OpCall(
        "ttnn.topk",
        ("x[0]", source.needed("k", whole)),
        {
            "dim": _last(source),
            "largest": source.written("largest", flag),
            "sorted": source.written("sorted", flag),
            "memory_config": source.memory(),
        },
        f"torch.topk(x[0], {source.needed('k', whole)}, -1, {source.written('largest', flag) or True})[0]",
        (source.operand(0),),  # further ones are buffers of its own
    )


def _argmax(source: OpSource) -> OpCall:
    whole_tensor = "dim" in source.op.attributes and source.text("dim") is None
    return OpCall(
        "ttnn.argmax",
        ("x[0]",),
        {
            "dim": None if whole_tensor else _last(source),
            "keepdim": source.written("keepdim", flag),
            "memory_config": source.memory(),
        },
    )


def _gathered(source: OpSource) -> OpCall:
    """A collective on a mesh: it is written, and only a machine with the chips can run it."""
    chips = source.op.attributes.number("ring_size", "num_devices")
    if chips is None or chips < 2:
        raise source.refused("its row does not print on how many chips")
    axis = source.op.attributes.number("cluster_axis")
    gathers = "Gather" in source.name
    whole_one, result = source.shape(0), tuple(source.result.logical[0].tolist())
    small, large = (whole_one, result) if gathers else (result, whole_one)
    dims = [dim for dim in range(RANK) if small[dim] * chips == large[dim]]
    if len(dims) != 1:
        raise source.refused("the shapes of its row do not tell along which dimension")
    return OpCall(
        "ttnn.all_gather" if gathers else "ttnn.reduce_scatter",
        ("x[0]", str(dims[0])),
        {
            "cluster_axis": str(axis) if axis is not None else None,
            "num_links": source.written("num_links", whole),
            "topology": source.written("topology", lambda text: enum("Topology", text)),
            "memory_config": source.memory(),
        },
        operands=(source.operand(0),),
        on_mesh=(chips, 0 if axis == 0 else 1),
    )


def _last(source: OpSource) -> str:
    dim = source.written("dim", whole)
    if dim not in (None, "3", "-1"):
        raise source.refused(f"its dim is {dim}, of a tensor whose rank the row does not print")
    return "-1"


CALLS: dict[str, Callable[[OpSource], OpCall]] = {
    **MOVING,
    **dict.fromkeys(("Matmul", "Linear"), matmul),
    "MinimalMatmul": minimal_matmul,
    "Conv2d": convolution,
    "Pool2D": pool,
    "Upsample": upsample,
    "GridSample": grid_sample,
    "Binary": _binary,
    "Unary": _unary,
    "Ternary": _ternary,
    "Typecast": _typecast,
    "Accumulation": _accumulated,
    "LayerNorm": _norm,
    "GroupNorm": _group_norm,
    "Softmax": _softmax,
    "ScaledDotProductAttention": _attention,
    "ScaledDotProductAttentionDecode": _decode,
    "RotaryEmbeddingLlama": _rotated,
    "Reduce": _reduced,
    "FastReduceNC": _fast_reduced,
    "TopK": _topk,
    "ArgMax": _argmax,
    **dict.fromkeys(("AllGather", "AllGatherAsync", "ReduceScatter", "ReduceScatterMinimalAsync"), _gathered),
}
