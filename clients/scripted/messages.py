"""The wire of Anthropic's Messages API."""

from __future__ import annotations

import json
from uuid import uuid4

from clients.scripted.model import Result, as_text, events

PATH = "/v1/messages"


def tools(request):
    return {tool["name"]: tool for tool in request.get("tools") or ()}


def results(request):
    return [
        Result(as_text(block["content"]) or json.dumps(block["content"]), bool(block.get("is_error")))
        for block in _blocks(request)
        if block["type"] == "tool_result"
    ]


def told(request):
    return as_text(request.get("system")) + "".join(as_text(one["content"]) for one in request["messages"])


def reply(request, call):
    block = {"type": "text", "text": "done"}
    if call:
        block = {"type": "tool_use", "id": f"toolu_{call.number:04}", "name": call.name, "input": call.arguments}
    return events(*_stream(block), named=True) if request.get("stream") else json.dumps(_message([block]))


def _blocks(request):
    """Every block of a request's messages; those that are plain strings have none."""
    return [block for one in request["messages"] if not isinstance(one["content"], str) for block in one["content"]]


def _message(content, reason="end_turn"):
    return {
        "id": f"msg_{uuid4().hex}",  # Claude Code takes messages with one id for one message
        "type": "message",
        "role": "assistant",
        "model": "scripted",
        "content": content,
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def _stream(block):
    if block["type"] == "tool_use":
        opened, reason = {**block, "input": {}}, "tool_use"
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    else:
        opened, reason = {**block, "text": ""}, "end_turn"
        delta = {"type": "text_delta", "text": block["text"]}
    ended = {"stop_reason": reason, "stop_sequence": None}
    return (
        {"type": "message_start", "message": _message([], None)},
        {"type": "content_block_start", "index": 0, "content_block": opened},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": ended, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    )
