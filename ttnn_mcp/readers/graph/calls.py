"""Which launches of a device op are launches of the same program, as far as a graph prints it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ttnn_mcp.readers.graph.graph_params import Params

# Conv2dParams prints how much L1 was in use before the op, which is no part of its program
_IN_USE_BEFORE = re.compile(r"(Conv2dParams\(.*\)(?:, [01]){5}), \d+(?=, )")


def call_of(name: str, node: Params, nodes: list[Params]) -> int:
    """One number for name, program factory, attributes and operands of a device op; 0 where nothing of it is printed.

    Attributes may print addresses of objects: then no two launches are the same. A matmul prints its config as
    `<variant>`: only the factory tells two of them apart that TTNN planned for different room.
    """
    operands = [_operand(counter, nodes) for counter in node.get("input_tensors") or ()]
    printed = [str(text) for text in node.get("arguments") or ()]
    if name.startswith("Conv2d"):
        printed = [_IN_USE_BEFORE.sub(r"\1", text) for text in printed]
    params: Params = node.get("params") or {}
    factory = str(params.get("program_factory_type") or "")
    return hash((name, factory, *printed, *operands)) if printed or operands else 0


def _operand(counter: object, nodes: list[Params]) -> str:
    """What a program is built for: shape, dtype, layout and place of an operand, but not its address."""
    node = nodes[counter] if isinstance(counter, int) and 0 <= counter < len(nodes) else {}
    params: Params = node.get("params") or {}
    return "|".join(str(params.get(key) or "") for key in ("shape", "dtype", "layout", "memory_config"))
