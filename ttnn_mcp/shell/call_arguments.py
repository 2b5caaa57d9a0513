"""The words after `ttnn-mcp call`: a tool and `name=value` arguments; and the help texts about them.

One tool by its name comes without the modules that only other tools need: they cost a call 0.2 s.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast

from ttnn_mcp.errors import ArgumentsInvalid, shown

if TYPE_CHECKING:
    from ttnn_mcp.tools.answering import AnyTool
    from ttnn_mcp.tools.tool import Tool


TOOLS = "ttnn_mcp.tools"


LINE = 100  # columns
PICTURE = "picture"  # an argument for chats that show images


def tool_alone(name: str) -> AnyTool:
    """The tool called `name`; its own module is loaded, or all of them where it is not found so.

    Raises:
        ArgumentsInvalid: there is none; the message names the nearest.
    """
    module = f"{TOOLS}.{name}"
    if name.isidentifier() and find_spec(module) is not None:
        tool = getattr(import_module(module), "TOOL", None)
        if getattr(tool, "name", None) == name:
            return cast("AnyTool", tool)
    from ttnn_mcp.tools import TOOLS as ALL  # noqa: PLC0415 - all of them load
    from ttnn_mcp.tools.answering import tool_named  # noqa: PLC0415

    return tool_named(name, ALL)


def arguments(tool: Tool[Any, Any], words: Sequence[str]) -> dict[str, object]:
    """The arguments of a call.

    A value that can be read as JSON is JSON, any other is a string. Where the tool takes strings only, the value
    stays a string: the id of a run may consist of digits.

    Raises:
        ArgumentsInvalid: a word is no `name=value`, a name is given twice, or an image is asked for.
    """
    schema: dict[str, Any] = tool.input_schema.get("properties", {}) if words else {}  # milliseconds
    values: dict[str, object] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise ArgumentsInvalid(f"Write arguments as name=value; '{shown(word)}' has no '='.")
        if name in values:
            raise ArgumentsInvalid(f"'{shown(name)}' is given twice; for several values write {shown(name)}=[1,2].")
        if name == PICTURE and name in schema:
            raise ArgumentsInvalid(
                "Images are sent to chats only. Here `ttnn-mcp report RUN --output FILE` draws them."
            )
        values[name] = _value(value, text=schema.get(name, {}).get("type") == "string")
    return values


def _value(word: str, *, text: bool) -> object:
    try:
        value = json.loads(word, parse_constant=str)
    except ValueError:
        return word
    return word if text and value is not None and not isinstance(value, str) else value


def listing(tools: Sequence[Tool[Any, Any]]) -> str:
    """The tools, a line each: name and first sentence."""
    widest = max((len(tool.name) for tool in tools), default=0)
    lines = [f"{tool.name:<{widest}}  {_first_sentence(tool.description, LINE - widest - 2)}" for tool in tools]
    return "\n".join([*lines, "", "ttnn-mcp call TOOL --help shows the arguments of one."])


def _first_sentence(text: str, room: int) -> str:
    return textwrap.shorten(re.split(r"(?<=[.?!;:])\s", text, maxsplit=1)[0].rstrip(";:"), room, placeholder=" ...")


def usage(tool: Tool[Any, Any]) -> str:
    """The help text of one tool: what it answers, and its arguments."""
    lines = [f"usage: ttnn-mcp call {tool.name} [name=value ...]", "", textwrap.fill(tool.description, LINE), ""]
    schema = tool.input_schema
    required = schema.get("required", [])
    for name, part in schema.get("properties", {}).items():
        if name == PICTURE:
            continue
        kind = f"{_kind(part)}, required" if name in required else _kind(part)
        default = f" (default {json.dumps(part['default'])})" if "default" in part else ""
        lines += _wrapped(f"{kind}{default}", f"  {name:<16} ")
        if part.get("description"):
            lines += _wrapped(part["description"], f"  {'':<16} ")
    return "\n".join(lines)


def _wrapped(text: str, lead: str) -> list[str]:
    return textwrap.wrap(text, LINE, initial_indent=lead, subsequent_indent=" " * len(lead))


def _kind(part: dict[str, Any]) -> str:
    """The type of a value, in words for a person."""
    if "enum" in part:
        return " | ".join(str(value) for value in part["enum"])
    if "const" in part:
        return str(part["const"])
    if "anyOf" in part:
        return " | ".join(_kind(option) for option in part["anyOf"])
    if part.get("type") == "array":
        return f"[{_kind(part.get('items', {}))}, ...]"
    return str(part.get("type", "any"))
