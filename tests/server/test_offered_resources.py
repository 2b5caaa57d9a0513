"""What has an address says what the tool says that knows it."""

import json

from mcp.client import Client

from tests.asking import ask, session
from tests.for_all import for_all
from ttnn_mcp.server import server

A_CONV = 67  # of the demo


@for_all(
    ("uri", "tool", "arguments"),
    [
        ("ttnn://runs", "list_runs", {}),
        ("ttnn://experiments", "experiments", {"action": "list"}),
        ("ttnn://runs/demo", "open_run", {"run": "demo"}),
        (f"ttnn://runs/demo/ops/{A_CONV}", "op_detail", {"run": "demo", "op": A_CONV}),
    ],
)
async def test_an_address_reads_as_the_tool_answers(tmp_path, uri, tool, arguments):
    at = session(tmp_path)
    async with Client(server.build(at)) as client:
        [content] = (await client.read_resource(uri)).contents
    assert content.mime_type == "application/json"
    assert json.loads(content.text) == await ask(at, tool, **arguments)
