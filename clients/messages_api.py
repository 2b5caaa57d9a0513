"""A model that plays a script: what Claude Code needs of the Messages API, and a record of what it was sent."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from uuid import uuid4

SAYS_DONE = {"type": "text", "text": "done"}


class Model:
    """Calls the tools of `script` one per turn, then says "done".

    `asked` are the requests of the conversation itself, in order; requests without tools (titles, summaries) get
    "done" and are not kept.
    """

    def __init__(self, *script):
        self.script = [
            {"type": "tool_use", "id": f"toolu_{turn:04}", "name": name, "input": given}
            for turn, (name, given) in enumerate(script)
        ]
        self.asked = []

    def answer(self, request):
        """The block the model answers with."""
        if not request.get("tools"):
            return SAYS_DONE
        self.asked.append(request)
        turn = sum(block["type"] == "tool_result" for block in blocks(request))
        return self.script[turn] if turn < len(self.script) else SAYS_DONE

    def seen(self, turn):
        """What the model was shown of its tool call number `turn`: the text, and whether it was an error."""
        result = self._result(turn)
        return as_text(result["content"]), bool(result.get("is_error"))

    def found(self, turn):
        """The names of the tools that the search in its tool call number `turn` came up with, best first."""
        content = self._result(turn)["content"]
        return [] if isinstance(content, str) else [block["tool_name"] for block in content]

    def _result(self, turn):
        for block in blocks(self.asked[-1]):
            if block["type"] == "tool_result" and block["tool_use_id"] == self.script[turn]["id"]:
                return block
        raise LookupError(f"the client never answered {self.script[turn]['name']}")

    def told(self):
        """All the model was told before its first answer: the system prompt, reminders, the person's words."""
        first = self.asked[0]
        return as_text(first.get("system", "")) + "".join(as_text(one["content"]) for one in first["messages"])

    def tools(self):
        """The tools with schemas that the model was offered from the start, by name."""
        return {tool["name"]: tool for tool in self.asked[0]["tools"]}


def blocks(request):
    """Every block of a request's messages; those that are plain strings have none."""
    return [block for one in request["messages"] if not isinstance(one["content"], str) for block in one["content"]]


def as_text(content):
    """The text of a string or of blocks."""
    if isinstance(content, str):
        return content
    return "".join(block.get("text", "") for block in content)


@contextmanager
def serving(model):
    """The address of a Messages API that answers as `model`."""

    class Door(BaseHTTPRequestHandler):
        def do_HEAD(self):
            self.send_response(200)
            self.end_headers()

        def do_POST(self):
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if not self.path.startswith("/v1/messages") or "count_tokens" in self.path:
                self.reply("application/json", json.dumps({"input_tokens": 1}))
                return
            block = model.answer(request)
            if request.get("stream"):
                self.reply("text/event-stream", "".join(events(block)))
            else:
                self.reply("application/json", json.dumps(message([block])))

        def reply(self, kind, text):
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *words):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Door)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def message(content, reason="end_turn"):
    """An assistant's message as the API wraps it."""
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


def events(block):
    """One block as the stream of server-sent events the API would send."""
    if block["type"] == "tool_use":
        opened, reason = {**block, "input": {}}, "tool_use"
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    else:
        opened, reason = {**block, "text": ""}, "end_turn"
        delta = {"type": "text_delta", "text": block["text"]}
    for event in (
        {"type": "message_start", "message": message([], None)},
        {"type": "content_block_start", "index": 0, "content_block": opened},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": reason, "stop_sequence": None},
            "usage": {"output_tokens": 1},
        },
        {"type": "message_stop"},
    ):
        yield f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"
