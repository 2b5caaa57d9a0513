"""The calls behind the ops that a fix speaks of, as `replay_op` writes them: what the op was before the fix."""

from __future__ import annotations

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.real.rig.convolutions import convolution
from ttnn_mcp.analyses.settings.told_shards import told_placements, told_shards
from ttnn_mcp.analyses.settings.trial import op_of
from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.readers.printed.memory_config import Placement, parse_memory_cell
from ttnn_mcp.replay.families import call_of
from ttnn_mcp.replay.source import Given, OpCall, OpSource
from ttnn_mcp.run.ops.op_names import canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ttnn_mcp.analyses.window_facts import WindowFacts
    from ttnn_mcp.checks.check import Claim
    from ttnn_mcp.run.ops.op_table import OpTable
    from ttnn_mcp.run.ops.operand import Operand
    from ttnn_mcp.run.run import Run

SPAN = re.compile(r"from line (\d+) to (\d+)")
LINES = re.compile(r"lines? (\d+)(?:(?: and|,) (\d+))?")
CHANGED_AT_MOST, BESIDE = 6, 3  # ops of a claim, and those before and behind the one it cites
# what a config of a matmul must have, where a report of a test prints a part of it
BLOCKS = {"in0_block_w": "1", "out_subblock_h": "1", "out_subblock_w": "1"}
NEEDED = {
    "MatmulMultiCoreReuseMultiCastProgramConfig": {
        **BLOCKS, "transpose_mcast": "False", "fused_activation": "None", "fuse_batch": "True",
    },
    "MatmulMultiCoreReuseMultiCast1DProgramConfig": {
        **BLOCKS, "fuse_batch": "True", "fused_activation": "None", "mcast_in0": "True",
    },
    "MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig": {"fused_activation": "None"},
}  # fmt: skip
CONFIG = re.compile(r"ttnn\.(\w+)\((.*)\)")
UNPRINTED: dict[
    str, Callable[[OpTable], dict[str, str]]
] = {  # what else such a report leaves out, told by the row's shapes and types
    "LayerNorm": lambda row: {"norm_type": "LayerNormType::LAYERNORM"},
    "Typecast": lambda row: {"output_dtype": f"DataType::{row.outputs[0].dtype[0]}"},
    "Reduce": lambda row: {
        "math_op": "ReduceOpMath::SUM",
        "dim": f"ReduceOpDim::{'W' if row.outputs[0].logical[0, 3] == 1 else 'H'}",
    },
    "Binary": lambda row: {"binary_op_type": "BinaryOpType::ADD"},
    "Unary": lambda row: {"op_chain": "{UnaryWithParam(op_type=UnaryOpType::RELU;param={})}"},
    "Reshape": lambda row: {
        "logical_output_shape": f"Shape({row.outputs[0].logical[0].tolist()})".replace(",", ";")
    },
    "TopK": lambda row: {"k": str(row.outputs[0].logical[0, 3]), "dim": "3"},
}


def calls_of(facts: WindowFacts, claim: Claim, row: int) -> dict[str, dict[str, Any]]:
    """By line: the op itself, those of its fix's words, those it cites or changes, and those around it."""
    return {
        str(facts.line(at)): {**call(facts, at), **operands_of(facts, at)}
        for at in dict.fromkeys(_rows(facts, claim, row))
    }


def operands_of(facts: WindowFacts, row: int) -> dict[str, Any]:
    """What an op reads and writes, as its row prints it."""
    sides = {"inputs": facts.ops.inputs, "outputs": facts.ops.outputs}
    return {side: [operand(one, row) for one in some if one.present[row]] for side, some in sides.items()}


def operand(one: Operand, row: int) -> dict[str, Any]:
    """One tensor of a row."""
    return {
        "padded": [int(size) for size in one.padded[row]],
        "logical": [int(size) for size in one.logical[row]],
        "dtype": one.dtype[row],
        "layout": one.layout[row],
        "placement": one.placement[row],
    }


def _rows(facts: WindowFacts, claim: Claim, row: int) -> Iterator[int]:
    rows = {facts.line(at): at for at in range(len(facts))}
    spoken = [int(line) for pair in LINES.findall(claim.fix) for line in pair if line]
    spans = [line for start, end in SPAN.findall(claim.fix) for line in range(int(start), int(end) + 1)]
    yield row
    yield from (rows[line] for line in (*spoken, *spans) if line in rows)
    yield from (rows[line] for line in _cited(facts, claim) if line in rows)
    yield from (int(one) for one in claim.rows[:CHANGED_AT_MOST])
    around = [row + step * side for step in range(1, BESIDE + 1) for side in (1, -1)]
    yield from (one for one in around if 0 <= one < len(facts))


def _cited(facts: WindowFacts, claim: Claim) -> list[int]:
    return [int(one.row) for one in claim.evidence if one.source == facts.ops.source]


def call(facts: WindowFacts, row: int) -> dict[str, Any]:
    """The call of one op, or why there is none."""
    shards, places = _at_once(facts.run, facts.line(row))
    table = _completed(facts.ops.take(np.array([row])), facts.names[row])
    source = OpSource(op_of(table, facts.chip, shards=shards), {**_interleaved(table, places), **places})
    try:
        told = call_of(source)
    except QuestionRefused as refusal:
        conv = convolution(facts, row) if source.name == "Conv2d" else None
        if conv is None:
            return {"name": source.name, "refused": str(refusal)}
        told = _conv(source, conv)
    operands = told.operands if told.operands is not None else tuple(map(source.operand, range(len(source.inputs))))
    return {
        "name": source.name,
        "function": told.function,
        "positional": told.positional,
        "named": {name: _whole(text) for name, text in told.named.items() if text is not None},
        "operands": [asdict(one) for one in operands],
        "on_mesh": told.on_mesh,
    }


def _completed(table: OpTable, name: str) -> OpTable:
    """A row with what its report leaves out."""
    text = table.texts("attributes")[0]
    more = UNPRINTED.get(canonical(name))
    lacking = {key: value for key, value in (more(table) if more else {}).items() if f"'{key}'" not in text}
    added = "; ".join(f"'{key}': '{value}'" for key, value in lacking.items())
    inside = text.strip().removeprefix("{").removesuffix("}")
    return table.with_attributes(f"{{{'; '.join(filter(None, (added, inside)))}}}") if added else table


def _interleaved(table: OpTable, places: Mapping[str, Placement]) -> dict[str, Placement]:
    """Operands in shards that nobody tells: in one piece."""
    cells = {one.name: parse_memory_cell(one.memory[0]) for one in table.inputs if one.sharded[0]}
    return {
        name: replace(place, layout="INTERLEAVED", shard=None)
        for name, place in cells.items()
        if place is not None and place.shard is None and name not in places
    }


def _whole(text: str) -> str:
    """A config with the fields that it must have."""
    match = CONFIG.fullmatch(text)
    needed = NEEDED.get(match[1], {}) if match else {}
    lacking = [f"{name}={value}" for name, value in needed.items() if match and f"{name}=" not in match[2]]
    return f"ttnn.{match[1]}({', '.join([match[2], *lacking])})" if match and lacking else text


def _conv(source: OpSource, told: dict[str, Any]) -> OpCall:
    """A convolution of which a report prints a part."""
    rows = told["batch_size"] * told["input_height"] * told["input_width"]
    kernel = (told["out_channels"], told["in_channels"] // told["groups"], *told["kernel_size"])
    shape = {name: str(value) for name, value in told.items() if name not in ("layout", "double", "block")}
    weights = source.dtype_of(source.inputs[1])
    fields = {"shard_layout": f"ttnn.TensorMemoryLayout.{told['layout']}", "weights_dtype": weights,
              "enable_act_double_buffer": told["double"], "act_block_h_override": told["block"]}  # fmt: skip
    config = ", ".join(f"{name}={value}" for name, value in fields.items())
    named = {
        "input_tensor": "x[0]", "weight_tensor": "x[1]", "device": "device", **shape, "dtype": source.dtype(),
        "conv_config": f"ttnn.Conv2dConfig({config})", "slice_config": "ttnn.Conv2dL1FullSliceConfig",
        "compute_config": source.kernel(),
    }  # fmt: skip
    image = Given(
        (1, 1, rows, told["in_channels"]), "ttnn.bfloat16", "ttnn.ROW_MAJOR_LAYOUT", "ttnn.DRAM_MEMORY_CONFIG"
    )
    weight = Given(kernel, "ttnn.float32", "ttnn.ROW_MAJOR_LAYOUT", None)
    return OpCall("ttnn.conv2d", (), named, None, (image, weight))


def _at_once(run: Run, line: int) -> tuple[dict[str, tuple[int, int]], dict[str, Placement]]:
    """What reports tell of its shards; in a thread of its own, as a test may run in a loop."""

    async def told() -> tuple[dict[str, tuple[int, int]], dict[str, Placement]]:
        return await told_shards(run, line), await told_placements(run, line)

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, told()).result()
