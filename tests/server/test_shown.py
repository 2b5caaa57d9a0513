"""What hosts are sent to show to a model: pages as plain text, and structure only where the client knows of it."""

import json

import pytest
from mcp.client import Client

from generate.first_answers import CLIENT, replies
from tests.asking import required
from ttnn_mcp.served.documents import skill_page, skill_pages
from ttnn_mcp.server import server
from ttnn_mcp.session.session import Session, Settings
from ttnn_mcp.tools import TOOLS
from ttnn_mcp.wire import compact

CLINE_CHARS = (
    8_000  # Cline 3.0.65 cuts the middle out of anything longer: maxToolResultChars of its message builder
)
LONG_BY_NATURE = {"skill_step"}  # a page is as long as it is


async def result_of(version, name, arguments):
    said = await replies(
        {
            "id": 1,
            "method": "initialize",
            "params": {"protocolVersion": version, "capabilities": {}, "clientInfo": CLIENT},
        },
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": name, "arguments": arguments}},
    )
    return json.loads(said[-1])["result"]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_page_of_the_skill_is_plain_text(tmp_path, mode):
    session = Session(Settings(state=tmp_path, roots=(tmp_path,)))
    async with Client(server.build(session), mode=mode) as client:
        for page in skill_pages():
            result = await client.call_tool("skill_step", {"page": page})
            assert [block.text for block in result.content] == [skill_page(page)]
            assert result.structured_content is None
        refused = await client.call_tool("skill_step", {"page": "step-3"})
        assert refused.is_error
        listed = (await client.list_tools()).tools
    assert [tool.name for tool in listed if tool.output_schema is None] == ["skill_step"]


@pytest.mark.parametrize(
    ("version", "structured"),
    [("2024-11-05", False), ("2025-03-26", False), ("2025-06-18", True), ("2025-11-25", True)],
)
async def test_only_a_client_that_knows_structured_answers_is_sent_them(version, structured):
    result = await result_of(version, "optimization_check", {"run": "demo"})
    answer = json.loads(result["content"][0]["text"])
    assert answer["findings"]
    assert result.get("structuredContent") == (answer if structured else None)


async def test_a_refusal_reads_the_same_in_an_old_version():
    result = await result_of("2024-11-05", "list_ops", {"run": "demo", "limmit": 3})
    assert result["isError"] is True
    assert "Did you mean limit?" in result["content"][0]["text"]


@pytest.mark.parametrize("tool", [each for each in TOOLS if each.name not in LONG_BY_NATURE], ids=lambda t: t.name)
async def test_a_default_answer_fits_a_host_that_shows_the_whole_result_as_json(tool):
    result = await result_of("2024-11-05", tool.name, required(tool, "demo", 50))
    assert len(compact(result)) < CLINE_CHARS


def parts_of(schema, path=""):
    """Every schema inside a schema, with where it stands."""
    for name in ("properties", "$defs"):
        for key, part in schema.get(name, {}).items():
            yield from ((f"{path}.{key}", part), *parts_of(part, f"{path}.{key}"))
    for name in ("items", "propertyNames", "additionalProperties"):
        if isinstance(schema.get(name), dict):
            yield from ((f"{path}.{name}", schema[name]), *parts_of(schema[name], f"{path}.{name}"))
    for part in schema.get("anyOf", ()):
        yield from parts_of(part, path)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_no_part_of_a_schema_only_describes(tool):
    """Linters of hosts take a part without any constraint for one that was forgotten."""
    for schema in (tool.input_schema, tool.output_schema):
        assert [
            path for path, part in parts_of(schema) if not part.keys() - {"description", "default", "title"}
        ] == []
