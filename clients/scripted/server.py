"""The address at which a scripted model answers, over whichever wire a client speaks."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from clients.scripted import chat, contents, messages, responses

WIRES = (messages, chat, responses, contents)


@contextmanager
def serving(model):
    """The address of a server that answers as `model`."""

    class Door(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self):
            self.reply("application/json", "")

        def do_GET(self):
            self.reply("application/json", '{"object":"list","data":[],"models":[]}')

        def do_POST(self):
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or "{}")
            wire = next((wire for wire in WIRES if wire.PATH in self.path), None)
            if wire is None or "count" in self.path:
                self.reply("application/json", json.dumps({"input_tokens": 1, "totalTokens": 1}))
                return
            if "enerateContent" in self.path:
                request["stream"] = "streamGenerateContent" in self.path
            text = wire.reply(request, model.answer(wire, request))
            self.reply("text/event-stream" if request.get("stream") else "application/json", text)

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
