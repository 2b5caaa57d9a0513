"""A host of MCP Apps: Chromium shows the page that our server serves, and the server answers what the page asks."""

import json
from pathlib import Path

from mcp.client import Client
from mcp.shared.exceptions import MCPError

from browser.elsewhere import elsewhere
from tests.asking import session
from ttnn_mcp.server import server, views

HOST = (Path(__file__).parent / "host.html").read_text(encoding="utf-8")
EVERYTHING = ("serverTools", "serverResources")


class Host:
    """Shows views in a page of Chromium.

    Attributes:
        page: the page, with the view in a frame.
        asked: method and parameters of what the view asked of the server.
        complaints: what the browser had to say about it.
    """

    def __init__(self, page, state, document=HOST):
        self.page, self.state, self.asked, self.complaints = page, state, [], []
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.expose_function("toServer", self._to_server)
        page.set_content(document)

    def _heard(self, message):
        if message.type != "debug":  # AppBridge tells every message there
            self.complaints.append(message.text)

    def call(self, method, **parameters):
        """What our server answers: {"result": ...} or {"error": ...}, as it goes over the wire."""

        async def answered():
            async with Client(server.build(session(self.state))) as client:
                ask = {"tools/call": client.call_tool, "resources/read": client.read_resource}[method]
                try:
                    result = await ask(*parameters.values())
                except MCPError as refusal:
                    return {"error": {"code": refusal.error.code, "message": refusal.error.message}}
                return {"result": json.loads(result.model_dump_json(by_alias=True, exclude_none=True))}

        return elsewhere(answered)

    def show(self, tool, theme="light", result=None, able=EVERYTHING, **arguments):
        """The view beside an answer of `tool`; returns its frame and the structured answer."""
        answer = result or self.call("tools/call", name=tool, arguments=arguments)["result"]
        page = self.call("resources/read", uri=views.URI)["result"]["contents"][0]["text"]
        initialized = {
            "protocolVersion": "2026-01-26",
            "hostInfo": {"name": "test", "version": "1"},
            "hostCapabilities": {name: {} for name in able},
            "hostContext": {"theme": theme},
        }
        given = {"initialized": initialized, "arguments": arguments, "result": answer}
        self.page.evaluate("([html, given]) => show(html, given)", [page, given])
        return self.page.frame_locator("iframe"), answer.get("structuredContent")

    def _to_server(self, text):
        message = json.loads(text)
        self.asked.append((message["method"], message["params"]))
        return json.dumps(self.call(message["method"], **message["params"]))
