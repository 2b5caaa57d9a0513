"""The call behind a device op, per family: a table of short functions, each from what a row tells to a `OpCall`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ttnn_mcp.replay.convolution import convolution
from ttnn_mcp.replay.expressions import activations, dtype, enum, flag, functions, number, whole
from ttnn_mcp.replay.matmuls import matmul, minimal_matmul
from ttnn_mcp.replay.source import Given, OpCall
from ttnn_mcp.replay.torch_words import applied
from ttnn_mcp.run.ops.op_names import family

if TYPE_CHECKING:
    from collections.abc import Callable

    from ttnn_mcp.replay.source import OpSource

RANK = 4  # of the shapes in a performance report
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
TURNED = {"WH": (2, 3), "HC": (1, 2), "CN": (0, 1), "NH": (0, 2), "NW": (0, 3), "CW": (1, 3)}
QUERIES, KEYS, VALUES = range(3)


def call_of(source: OpSource) -> OpCall:
    """The call that is the op.

    Raises:
        QuestionRefused: there is none, or the row does not tell enough; the message says what is missing.
    """
    write = CALLS.get(source.name)
    if write is None:
        kind = family(source.op.table.texts("op_code")[0])
        raise source.refused(f"no {kind} op of this name is rebuilt")
    if not source.inputs or not source.op.table.outputs:
        raise source.refused("it has no operand columns: profile again with tracy -r")
    return write(source)


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
    plain = "param={}" in text and text.count("op_type") == text.count("param={}")
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
    residual = f"x[{beside.pop(0)}]" if beside and source.shape(beside[0]) == shape and shape[-2] > 1 else None
    names = [f"x[{place}]" for place in beside[:2]]
    weight, bias = (*names, None, None)[:2]
    if kind == "RMSNORM" and len(beside) > 1:
        source.assumed.append("its operands are the weight and the bias, in this order")
    over = f"(x[0] + {residual})" if residual else "x[0]"
    epsilon = source.needed("eps", number)
    wide = ", ".join(f"{one}.flatten()[: x[0].shape[-1]]" for one in names) or ""
    reference = (
        f"torch.nn.functional.layer_norm({over}, x[0].shape[-1:], {wide + ', ' if wide else ''}eps={epsilon})"
        if kind == "LAYERNORM"
        else f"{over} * torch.rsqrt({over}.pow(2).mean(-1, keepdim=True) + {epsilon})"
        + (f" * {names[0]}.flatten()[: x[0].shape[-1]]" if names else "")
    )
    return OpCall(
        "ttnn.layer_norm" if kind == "LAYERNORM" else "ttnn.rms_norm",
        ("x[0]",),
        {
            "epsilon": epsilon,
            "weight": weight,
            "bias": bias,
            "residual_input_tensor": residual,
            "program_config": source.config("program_config"),
            "compute_kernel_config": source.kernel(),
            "memory_config": source.memory(),
        },
        reference,
    )


def _softmax(source: OpSource) -> OpCall:
    source.forbid(is_causal_mask="false", is_scale_causal_mask_hw_dims_softmax="false")
    in_place = (source.written("inplace", flag) or "False") == "True"
    scale, masked = source.written("scale", number), len(source.inputs) > 1
    config, kernel = source.config("program_config"), source.kernel()
    stable = source.written("numeric_stable", flag)
    mask = "x[1]" if masked else "None"
    reference = f"torch.softmax(x[0]{f' * {scale}' if scale else ''}{' + x[1]' if masked else ''}, -1)"
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
    dim = source.written("dim", whole)
    if dim not in (None, "3", "-1"):
        raise source.refused(f"its dim is {dim}, of a tensor whose rank the row does not print")
    return OpCall("ttnn.softmax", ("x[0]",), {"dim": "-1", **named}, reference)


def _attention(source: OpSource) -> OpCall:
    source.forbid(use_mla="false", chunk_start_idx="", sliding_window_size="")
    if len(source.inputs) < 3:
        raise source.refused("its row does not have the queries, keys and values")
    causal, scale = source.written("is_causal", flag) or "True", source.written("scale", number)
    mask = f"x[{VALUES + 1}]" if len(source.inputs) > VALUES + 1 else None
    if mask and causal == "True":
        raise source.refused("it has a fourth operand that is no mask")
    groups = source.shape(QUERIES)[1] // max(source.shape(KEYS)[1], 1)
    k, v = (f"x[{one}].repeat_interleave({groups}, 1)" if groups > 1 else f"x[{one}]" for one in (KEYS, VALUES))
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


def _decode(source: OpSource) -> OpCall:
    """Attention of a token. At which position it was no report tells: it is taken to be the last."""
    source.forbid(use_mla="false", sliding_window_size="")
    if len(source.inputs) < 3:
        raise source.refused("its row does not have the queries, keys and values")
    whole_numbers = [place for place in range(3, len(source.inputs)) if "INT" in source.inputs[place].dtype[0]]
    if len(whole_numbers) < len(source.inputs) - 3 or len(whole_numbers) > 2:
        raise source.refused("it has operands beside the positions and the page table")
    batch = source.shape(QUERIES)[1]
    tables = [place for place in whole_numbers if source.shape(place)[-2] == batch and len(whole_numbers) == 2]
    table = tables[0] if tables else None
    keys = source.shape(KEYS)
    length = keys[2] * (source.shape(table)[-1] if table is not None else 1)
    operands = [source.operand(place) for place in range(3)]
    named: dict[str, str | None] = {}
    if table is not None:
        shape = source.shape(table)[-2:]
        named["page_table_tensor"] = f"x[{len(operands)}]"
        operands.append(replace(source.operand(table), shape=shape, values="pages"))
    positions = Given(
        (batch,), "ttnn.int32", "ttnn.ROW_MAJOR_LAYOUT", "ttnn.DRAM_MEMORY_CONFIG", f"all {length - 1}"
    )
    source.assumed.append(f"the position is not in a report: {length - 1}, the last, which takes longest")
    named["cur_pos_tensor"] = f"x[{len(operands)}]"
    operands.append(positions)
    return OpCall(
        f"ttnn.transformer.{'paged_' if table is not None else ''}scaled_dot_product_attention_decode",
        ("x[0]", "x[1]", "x[2]"),
        {
            **named,
            "scale": source.written("scale", number),
            "program_config": source.config("program_config"),
            "compute_kernel_config": source.kernel(),
            "memory_config": source.memory(),
        },
        operands=tuple(operands),
    )


def _tilize(source: OpSource) -> OpCall:
    padded = source.name != "Tilize"
    shape = f", {list(source.output.padded[0].tolist())}, 0.0" if padded else ""
    return OpCall(
        "ttnn.tilize_with_val_padding" if padded else "ttnn.tilize",
        (f"x[0]{shape}",),
        {
            "dtype": source.dtype(),
            "memory_config": source.memory(),
            "use_multicore": source.written("use_multicore", flag),
        },
        "x[0]",
    )


def _untilize(source: OpSource) -> OpCall:
    cut = source.name != "Untilize"
    ends = f", {[size - 1 for size in source.shape(-1)]}" if cut else ""
    return OpCall(
        "ttnn.untilize_with_unpadding" if cut else "ttnn.untilize",
        (f"x[0]{ends}",),
        {"memory_config": source.memory(), "use_multicore": source.written("use_multicore", flag)},
        None if cut else "x[0]",
    )


def _reshape(source: OpSource) -> OpCall:
    shape = source.sizes("logical_output_shape", "output_shape")
    return OpCall(
        "ttnn.reshape", ("x[0]", str(shape)), {"memory_config": source.memory()}, f"x[0].reshape({shape})"
    )


def _permute(source: OpSource) -> OpCall:
    dims = source.sizes("dims")
    operands = _ranked(source, len(dims))
    return OpCall(
        "ttnn.permute",
        ("x[0]", str(dims)),
        {"memory_config": source.memory()},
        f"x[0].permute({dims})",
        (operands,),
    )


def _transpose(source: OpSource) -> OpCall:
    turned = TURNED.get(source.needed("dim", lambda text: enum("", text)).rpartition(".")[2])
    if turned is None:
        raise source.refused("its dim is none that is rebuilt")
    first, second = turned
    return OpCall(
        "ttnn.transpose",
        ("x[0]", str(first), str(second)),
        {"memory_config": source.memory()},
        f"x[0].transpose({first}, {second})",
    )


def _concat(source: OpSource) -> OpCall:
    shapes = [source.shape(place) for place in range(len(source.inputs))]
    dims = [dim for dim in range(RANK) if sum(shape[dim] for shape in shapes) == source.shape(-1)[dim]]
    if len(shapes) < 2 or len(dims) != 1:
        raise source.refused("the shapes of its row do not tell along which dimension")
    source.forbid(groups="1")
    all_of_them = f"[{', '.join(f'x[{place}]' for place in range(len(shapes)))}]"
    return OpCall(
        "ttnn.concat", (all_of_them, str(dims[0])), {"memory_config": source.memory()}, f"torch.cat(x, {dims[0]})"
    )


def _slice(source: OpSource) -> OpCall:
    source.forbid(use_tensor_args="false")
    starts = source.sizes("slice_start")
    ends = source.sizes("slice_end")
    steps = source.sizes("step", "slice_step") if source.text("step", "slice_step") else [1] * len(starts)
    if not len(starts) == len(ends) == len(steps):
        raise source.refused("its starts, ends and steps are not of one rank")
    cut = ", ".join(f"{start}:{end}:{step}" for start, end, step in zip(starts, ends, steps, strict=True))
    return OpCall(
        "ttnn.slice",
        ("x[0]", str(starts), str(ends), str(steps)),
        {"memory_config": source.memory()},
        f"x[0][{cut}]",
        (_ranked(source, len(starts)),),
    )


def _moved(source: OpSource) -> OpCall:
    """To shards, from shards, or from some to others."""
    memory = source.memory()
    if memory is None:
        raise source.refused("its row does not print where it moves its operand")
    changed = source.dtype() if source.output.dtype[0] != source.inputs[0].dtype[0] else None
    return OpCall("ttnn.to_memory_config", ("x[0]", memory), {"dtype": changed}, "x[0]", (source.operand(0),))


def _clone(source: OpSource) -> OpCall:
    named = {"dtype": source.dtype(), "memory_config": source.memory()}
    return OpCall("ttnn.clone", ("x[0]",), named, "x[0]", (source.operand(0),))


def _concat_heads(source: OpSource) -> OpCall:
    return OpCall(
        "ttnn.experimental.nlp_concat_heads",
        ("x[0]",),
        {"memory_config": source.memory()},
        "x[0].transpose(1, 2).flatten(2).unsqueeze(1)",
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
    return OpCall(
        "ttnn.argmax",
        ("x[0]",),
        {"dim": _last(source), "keepdim": source.written("keepdim", flag), "memory_config": source.memory()},
    )


def _gathered(source: OpSource) -> OpCall:
    """A collective on a mesh: it is written, and only a machine with the chips can run it."""
    chips = source.op.attributes.number("ring_size", "num_devices")
    if chips is None or chips < 2:
        raise source.refused("its row does not print on how many chips")
    axis = source.op.attributes.number("cluster_axis")
    gathers = "Gather" in source.name
    small, large = (0, -1) if gathers else (-1, 0)
    dims = [dim for dim in range(RANK) if source.shape(small)[dim] * chips == source.shape(large)[dim]]
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


def _ranked(source: OpSource, rank: int) -> Given:
    """The first operand with as many dimensions as the call counts."""
    operands = source.operand(0)
    if rank > RANK or any(size != 1 for size in operands.shape[: RANK - rank]):
        raise source.refused(f"it counts {rank} dimensions, and its row prints others")
    return replace(operands, shape=operands.shape[RANK - rank :])


CALLS: dict[str, Callable[[OpSource], OpCall]] = {
    **dict.fromkeys(("Matmul", "Linear"), matmul),
    "MinimalMatmul": minimal_matmul,
    "Conv2d": convolution,
    "Binary": _binary,
    "Unary": _unary,
    "Ternary": _ternary,
    "Typecast": _typecast,
    "LayerNorm": _norm,
    "Softmax": _softmax,
    "ScaledDotProductAttention": _attention,
    "ScaledDotProductAttentionDecode": _decode,
    **dict.fromkeys(("Tilize", "TilizeWithValPadding"), _tilize),
    **dict.fromkeys(("Untilize", "UntilizeWithUnpadding"), _untilize),
    "Reshape": _reshape,
    "Permute": _permute,
    "Transpose": _transpose,
    "Concat": _concat,
    "Slice": _slice,
    **dict.fromkeys(("InterleavedToSharded", "ShardedToInterleaved", "Reshard"), _moved),
    **dict.fromkeys(("Copy", "Clone"), _clone),
    "NLPConcatHeads": _concat_heads,
    "TopK": _topk,
    "ArgMax": _argmax,
    **dict.fromkeys(("AllGather", "AllGatherAsync", "ReduceScatter", "ReduceScatterMinimalAsync"), _gathered),
}
