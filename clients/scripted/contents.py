"""The wire of Gemini's generateContent."""

from __future__ import annotations

import json

from clients.scripted.model import Result, events

PATH = "enerateContent"  # of generateContent and streamGenerateContent


def tools(request):
    groups = request.get("tools") or ()
    return {tool["name"]: tool for group in groups for tool in group.get("functionDeclarations", ())}


def results(request):
    answered = [part["functionResponse"]["response"] for part in _parts(request) if "functionResponse" in part]
    return [Result(one.get("output") or one.get("error") or json.dumps(one), "error" in one) for one in answered]


def told(request):
    system = request.get("systemInstruction") or {}
    return "\n".join(part.get("text", "") for part in [*system.get("parts", ()), *_parts(request)])


def reply(request, call):
    part = {"functionCall": {"name": call.name, "args": call.arguments}} if call else {"text": "done"}
    whole = {
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
        "modelVersion": "scripted",
    }
    return events(whole) if request["stream"] else json.dumps(whole)


def _parts(request):
    return [part for one in request.get("contents", ()) for part in one.get("parts", ())]
