"""Clients written with the official TypeScript SDK, which check every structured answer against its schema."""

import json
from pathlib import Path

import pytest

from clients.installed import node, package
from ttnn_mcp.served import pages
from ttnn_mcp.server import prompts
from ttnn_mcp.tools import TOOLS

SCRIPT = Path(__file__).with_name("typescript.mjs")
INVALID_PARAMS = -32602


@pytest.fixture(params=["v1", "v2", "v2-modern"])
def met(request, server, ran):
    """What the client got of us."""
    folder = package(f"typescript-{request.param[:2]}")
    done = ran([*node(), str(SCRIPT), request.param, *server.command], cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def test_it_gets_all_we_offer_as_we_mean_it(met):
    assert met["server"]["name"] == "ttnn-mcp"
    assert met["instructions"] == prompts.INSTRUCTIONS
    assert [tool["name"] for tool in met["tools"]] == [tool.name for tool in TOOLS]
    assert met["tools"][0]["inputSchema"] == TOOLS[0].input_schema
    assert met["prompts"] == [prompt.name for prompt in prompts.PROMPTS]
    assert set(pages.catalogue()) <= set(met["resources"])
    assert "ttnn://runs/{run}/ops/{op}" in met["templates"]
    assert met["answer"]["structuredContent"] == json.loads(met["answer"]["content"][0]["text"])
    assert met["refusal"]["isError"] is True
    assert "Did you mean limit?" in met["refusal"]["content"][0]["text"]
    assert met["page"]["contents"][0]["text"] == pages.catalogue()["ttnn://glossary"].text
    assert met["missing"]["code"] == INVALID_PARAMS
    assert "Did you mean ttnn://glossary" in met["missing"]["message"]
    assert "op=7" in met["prompt"]["messages"][0]["content"]["text"]
    assert met["completion"]["completion"]["values"] == ["wormhole_b0"]
    if "skill" in met:
        assert met["skill"] == {"name": "optimizing-ttnn-models", "verified": True}
