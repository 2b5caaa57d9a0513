"""The wire of OpenAI's chat completions."""

from __future__ import annotations

import json

from clients.scripted.model import Result, as_text, events

PATH = "/chat/completions"
USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


def tools(request):
    return {tool["function"]["name"]: tool["function"] for tool in request.get("tools") or ()}


def results(request):
    return [Result(as_text(one["content"])) for one in request["messages"] if one["role"] == "tool"]


def told(request):
    return "\n".join(as_text(one.get("content")) for one in request["messages"])


def reply(request, call):
    said = {"role": "assistant", "content": None if call else "done"}
    if call:
        asked = {"name": call.name, "arguments": json.dumps(call.arguments)}
        said["tool_calls"] = [{"index": 0, "id": f"call_{call.number:04}", "type": "function", "function": asked}]
    reason = "tool_calls" if call else "stop"
    if not request.get("stream"):
        whole = {"index": 0, "message": said, "finish_reason": reason}
        return json.dumps({**_envelope("chat.completion"), "choices": [whole], "usage": USAGE})
    chunk = _envelope("chat.completion.chunk")
    first = {**chunk, "choices": [{"index": 0, "delta": said, "finish_reason": None}]}
    last = {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
    return events(first, last, {**chunk, "choices": [], "usage": USAGE}) + "data: [DONE]\n\n"


def _envelope(kind):
    return {"id": "chatcmpl-scripted", "object": kind, "created": 1, "model": "scripted"}
