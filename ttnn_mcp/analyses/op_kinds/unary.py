"""Unary ops: which function they apply."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ttnn_mcp.readers.printed.attributes import Attributes

_FUNCTION = re.compile(r"UnaryOpType::(\w+)")


def function_of(attributes: Attributes) -> str:
    """The function of a Unary op ("RELU"); empty where it applies several, or the report does not say."""
    chain = _FUNCTION.findall(attributes.get("op_chain", ""))
    return chain[0] if len(chain) == 1 else ""
