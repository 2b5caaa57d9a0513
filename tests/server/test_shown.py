"""What hosts are sent to show to a model: pages as plain text, and structure only where the client knows of it."""

import json

from mcp.client import Client

from generate.first_answers import CLIENT, replies
from tests.asking import required, session
from tests.for_all import for_all
from tests.shared_reports import DEEPLAB, SEGFORMER, shared
from ttnn_mcp.served.documents import skill_page, skill_pages
from ttnn_mcp.server import server
from ttnn_mcp.session.settings import ARCHIVE_VARIABLE
from ttnn_mcp.tools import TOOLS
from ttnn_mcp.tools.answering import answer, tool_named
from ttnn_mcp.wire import compact

A_CONV = 67  # of the demo
CLINE_CHARS = (
    8_000  # Cline 3.0.65 cuts the middle out of anything longer: maxToolResultChars of its message builder
)


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


@for_all("mode", ["auto", "legacy"])
async def test_a_page_of_the_skill_is_plain_text(tmp_path, mode):
    async with Client(server.build(session(tmp_path)), mode=mode) as client:
        for page in skill_pages():
            result = await client.call_tool("skill_step", {"page": page})
            assert [block.text for block in result.content] == [skill_page(page)]
            assert result.structured_content is None
        refused = await client.call_tool("skill_step", {"page": "step-8"})
        assert refused.is_error
        listed = (await client.list_tools()).tools
    assert [tool.name for tool in listed if tool.output_schema is None] == ["skill_step"]


@for_all(
    ("version", "structured"),
    [("2024-11-05", False), ("2025-03-26", False), ("2025-06-18", True), ("2025-11-25", True)],
)
async def test_only_a_client_that_knows_structured_answers_is_sent_them(version, structured):
    result = await result_of(version, "list_ops", {"run": "demo", "limit": 1})
    said = json.loads(result["content"][0]["text"])
    assert said["ops"]["rows"]
    assert result.get("structuredContent") == (said if structured else None)


async def test_a_refusal_reads_the_same_in_an_old_version():
    result = await result_of("2024-11-05", "list_ops", {"run": "demo", "limmit": 3})
    assert result["isError"] is True
    assert "Did you mean limit?" in result["content"][0]["text"]


async def shown_by_cline(at, tool, arguments):
    """The result as Cline shows it, which knows no structured answers."""
    _structured, text = await answer(at, tool, arguments)
    return compact({"content": [{"text": text, "type": "text"}], "isError": False})


async def test_a_default_answer_fits_a_host_that_shows_the_whole_result_as_json(tmp_path, monkeypatch):
    monkeypatch.setenv(ARCHIVE_VARIABLE, "1")  # history needs an archive
    at = session(tmp_path)
    for tool in TOOLS:
        if not tool.prose:  # a page is as long as it is
            shown = await shown_by_cline(at, tool, required(tool, "demo", A_CONV))
            assert len(shown) < CLINE_CHARS, tool.name


@for_all("report", [DEEPLAB, SEGFORMER])  # the longest diagnoses of the real reports
async def test_a_diagnosis_of_a_real_report_fits_too(tmp_path, report):
    shown = await shown_by_cline(
        session(tmp_path), tool_named("optimization_check", TOOLS), {"run": str(shared(report))}
    )
    assert len(shown) < CLINE_CHARS


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


@for_all("tool", TOOLS, ids=lambda tool: tool.name)
def test_no_part_of_a_schema_only_describes(tool):
    """Linters of hosts take a part without any constraint for one that was forgotten."""
    for schema in (tool.input_schema, tool.output_schema):
        assert [
            path for path, part in parts_of(schema) if not part.keys() - {"description", "default", "title"}
        ] == []
