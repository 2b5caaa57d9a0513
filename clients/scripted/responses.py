"""The wire of OpenAI's responses."""

from __future__ import annotations

import json
from uuid import uuid4

from clients.scripted.model import Result, as_text, events

PATH = "/responses"
SPACE = "/"  # between the name of a group of tools and the tool's own


def tools(request):
    named = {}
    for tool in request.get("tools") or ():
        if tool["type"] == "namespace":
            named |= {f"{tool['name']}{SPACE}{inner['name']}": inner for inner in tool["tools"]}
        elif tool["type"] == "function":
            named[tool["name"]] = tool
    return named


def results(request):
    items = request["input"] if isinstance(request["input"], list) else []
    return [Result(as_text(item["output"])) for item in items if item.get("type") == "function_call_output"]


def told(request):
    groups = [tool.get("description", "") for tool in request.get("tools") or () if tool["type"] == "namespace"]
    items = request["input"] if isinstance(request["input"], list) else [{"content": request["input"]}]
    return "\n".join(
        [request.get("instructions") or "", *groups, *(as_text(item.get("content")) for item in items)]
    )


def reply(request, call):
    item = {
        "id": f"msg_{uuid4().hex}",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "done", "annotations": []}],
    }
    if call:
        space, _, name = call.name.rpartition(SPACE)
        item = {
            "id": f"fc_{uuid4().hex}",
            "type": "function_call",
            "status": "completed",
            **({"namespace": space} if space else {}),
            "call_id": f"call_{call.number:04}",
            "name": name,
            "arguments": json.dumps(call.arguments),
        }
    begun, done = _response([], "in_progress"), _response([item], "completed")
    if not request.get("stream"):
        return json.dumps(done)
    return events(
        {"type": "response.created", "sequence_number": 0, "response": begun},
        {"type": "response.output_item.added", "sequence_number": 1, "output_index": 0, "item": item},
        {"type": "response.output_item.done", "sequence_number": 2, "output_index": 0, "item": item},
        {"type": "response.completed", "sequence_number": 3, "response": done},
        named=True,
    )


def _response(output, status):
    usage = {
        "input_tokens": 1,
        "output_tokens": 1,
        "total_tokens": 2,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    return {
        "id": f"resp_{uuid4().hex}",
        "object": "response",
        "created_at": 1,
        "model": "scripted",
        "status": status,
        "output": output,
        "usage": usage,
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
        "error": None,
        "incomplete_details": None,
        "metadata": {},
    }
