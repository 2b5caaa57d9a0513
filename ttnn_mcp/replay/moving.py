"""The calls that move data or give it another shape, layout or place, as a table of short functions too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ttnn_mcp.replay.expressions import enum, flag, whole
from ttnn_mcp.replay.source import RANK, Given, OpCall, OpSource

TURNED = {"WH": (2, 3), "HC": (1, 2), "CN": (0, 1), "NH": (0, 2), "NW": (0, 3), "CW": (1, 3)}


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
    kept = f"[{', '.join(f':{size}' for size in source.shape(-1))}]" if cut else ""
    return OpCall(
        "ttnn.untilize_with_unpadding" if cut else "ttnn.untilize",
        (f"x[0]{ends}",),
        {"memory_config": source.memory(), "use_multicore": source.written("use_multicore", flag)},
        f"x[0]{kept}",
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
    if len(dims) != 1:
        raise source.refused("the shapes of its row do not tell along which dimension")
    source.forbid(groups="1")
    all_of_them = f"[{', '.join(f'x[{place}]' for place in range(len(shapes)))}]"
    return OpCall(
        "ttnn.concat", (all_of_them, str(dims[0])), {"memory_config": source.memory()}, f"torch.cat(x, {dims[0]})"
    )


def _sliced(source: OpSource, name: str) -> tuple[list[int], list[int], list[int]]:
    """Where a slice starts and ends, and its steps."""
    starts, ends = source.sizes(f"{name}_start"), source.sizes(f"{name}_end")
    steps = source.sizes("step", "slice_step") if source.text("step", "slice_step") else [1] * len(starts)
    if not len(starts) == len(ends) == len(steps):
        raise source.refused("its starts, ends and steps are not of one rank")
    return starts, ends, steps


def _slice(source: OpSource) -> OpCall:
    source.forbid(use_tensor_args="false")
    starts, ends, steps = _sliced(source, "slice")
    cut = ", ".join(f"{start}:{end}:{step}" for start, end, step in zip(starts, ends, steps, strict=True))
    return OpCall(
        "ttnn.slice",
        ("x[0]", str(starts), str(ends), str(steps)),
        {"memory_config": source.memory()},
        f"x[0][{cut}]",
        (_ranked(source, len(starts)),),
    )


def _padded_slice(source: OpSource) -> OpCall:
    """A part of an image for a convolution in slices of DRAM, spread on shards."""
    starts, ends, steps = _sliced(source, "padded_slice")
    return OpCall(
        "ttnn.experimental.padded_slice",
        ("x[0]", str(starts), str(ends), str(steps)),
        {"memory_config": source.memory()},
    )


def _slice_write(source: OpSource) -> OpCall:
    """What such a convolution gives, back into its whole image."""
    starts, ends, steps = _sliced(source, "slice")
    return OpCall("ttnn.experimental.slice_write", ("x[0]", "x[1]", str(starts), str(ends), str(steps)))


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


def _embeddings(source: OpSource) -> OpCall:
    """Indices in tiles have a program of their own, on few cores, which gives rows whatever layout is asked for."""
    source.forbid(embeddings_type="GENERIC", pad_token="")
    ids = source.operand(0)
    below = f"below {source.shape(1)[-2]}"
    ids = replace(ids, shape=(ids.shape[0], ids.shape[-1]), values=below)
    tiled = source.written("tilized", flag) == "True"
    return OpCall(
        "ttnn.embedding",
        ("x[0]", "x[1]"),
        {"layout": "ttnn.TILE_LAYOUT" if tiled else None, "memory_config": source.memory()},
        "torch.nn.functional.embedding(x[0], x[1].flatten(0, -2))",
        (ids, source.operand(1)),
    )


def _cached(source: OpSource) -> OpCall:
    """Keys or values into their cache."""
    kind = source.needed("op_type", lambda text: enum("", text)).rpartition(".")[2]
    if kind == "FILL":
        return OpCall("ttnn.fill_cache", ("x[0]", "x[1]", source.needed("batch_idx", whole)))
    named = {"batch_offset": source.written("batch_offset", whole), "compute_kernel_config": source.kernel()}
    return OpCall("ttnn.update_cache", ("x[0]", "x[1]", source.needed("update_idx", whole)), named)


def _create_heads(source: OpSource) -> OpCall:
    source.forbid(kv_tied="false")
    return OpCall(
        "ttnn.experimental.nlp_create_qkv_heads",
        tuple(f"x[{place}]" for place in range(len(source.inputs))),
        {
            "num_heads": source.needed("num_q_heads", whole),
            "num_kv_heads": source.written("num_kv_heads", whole),
            "transpose_k_heads": source.written("transpose_k_heads", flag),
            "memory_config": source.memory(),
        },
    )


def _create_heads_of_a_token(source: OpSource) -> OpCall:
    if len(source.inputs) > 1:
        raise source.refused("it has an offset whose values no report prints")
    return OpCall(
        "ttnn.experimental.nlp_create_qkv_heads_decode",
        ("x[0]",),
        {
            "num_heads": source.needed("num_q_heads", whole),
            "num_kv_heads": source.written("num_kv_heads", whole),
            "overlap_qk_coregrid": source.written("overlap_qk_coregrid", flag),
            "slice_size": source.written("slice_size", whole),
            "memory_config": source.memory(),
        },
    )


def _create_heads_of_segformer(source: OpSource) -> OpCall:
    return OpCall("ttnn.experimental.nlp_create_qkv_heads_segformer", ("x[0]",), {"memory_config": source.memory()})


def _concat_heads_of_a_token(source: OpSource) -> OpCall:
    return OpCall(
        "ttnn.experimental.nlp_concat_heads_decode", ("x[0]",), {"num_heads": source.needed("num_heads", whole)}
    )


def _concat_heads(source: OpSource) -> OpCall:
    return OpCall(
        "ttnn.experimental.nlp_concat_heads",
        ("x[0]",),
        {"memory_config": source.memory()},
        "x[0].transpose(1, 2).flatten(2).unsqueeze(1)",
    )


def _ranked(source: OpSource, rank: int) -> Given:
    """The first operand with as many dimensions as the call counts."""
    operands = source.operand(0)
    if rank > RANK or any(size != 1 for size in operands.shape[: RANK - rank]):
        raise source.refused(f"it counts {rank} dimensions, and its row prints others")
    return replace(operands, shape=operands.shape[RANK - rank :])


CALLS: dict[str, Callable[[OpSource], OpCall]] = {
    **dict.fromkeys(("Tilize", "TilizeWithValPadding"), _tilize),
    **dict.fromkeys(("Untilize", "UntilizeWithUnpadding"), _untilize),
    "Reshape": _reshape,
    "Permute": _permute,
    "Transpose": _transpose,
    "Concat": _concat,
    "Slice": _slice,
    "PaddedSlice": _padded_slice,
    "SliceWrite": _slice_write,
    **dict.fromkeys(("InterleavedToSharded", "ShardedToInterleaved", "Reshard"), _moved),
    **dict.fromkeys(("Copy", "Clone"), _clone),
    "Embeddings": _embeddings,
    "UpdateKVCache": _cached,
    "NlpCreateHeads": _create_heads,
    "NLPCreateQKVHeadsDecode": _create_heads_of_a_token,
    "NlpCreateHeadsSegformer": _create_heads_of_segformer,
    "NLPConcatHeads": _concat_heads,
    "NLPConcatHeadsDecode": _concat_heads_of_a_token,
}
