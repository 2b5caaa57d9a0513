"""The server as a client meets it, in memory, in both eras of the protocol."""

import asyncio
import json
import time

import pytest
from jsonschema import Draft202012Validator
from mcp.client import Client
from mcp.shared.exceptions import MCPError
from mcp_types import PromptReference, ResourceTemplateReference

from tests.asking import ask, required
from tests.fakes import FAKES, PLANTED, STOP
from tests.for_all import for_all
from ttnn_mcp.served import pages
from ttnn_mcp.server import offered_tools, prompts, server
from ttnn_mcp.session.session import Session, Settings
from ttnn_mcp.session.settings import ARCHIVE_VARIABLE
from ttnn_mcp.tools import TOOLS, answering


@pytest.fixture(params=["auto", "legacy"])
def connect(request, tmp_path):
    """A client of a fresh server, per era: `async with connect() as client`."""

    def client(tools=FAKES, **options):
        session = Session(Settings(state=tmp_path, roots=(tmp_path,)))
        return Client(server.build(session, tools), mode=request.param, **options)

    return client


def text_of(result):
    assert [block.type for block in result.content] == ["text"]
    return result.content[0].text


async def test_the_structured_answer_and_the_text_say_the_same_in_compact_json(connect):
    async with connect() as client:
        result = await client.call_tool("count_ops", {"limit": 2})
    assert result.structured_content == {"kernel_us": 1.23, "ops": {"columns": ["op"], "rows": [[0], [1]]}}
    assert text_of(result) == '{"kernel_us":1.23,"ops":{"columns":["op"],"rows":[[0],[1]]}}'
    assert not result.is_error


async def test_a_misspelt_argument_is_refused_with_the_nearest_name(connect):
    async with connect() as client:
        result = await client.call_tool("count_ops", {"limmit": 2})
    assert result.is_error
    assert "unknown argument 'limmit'" in text_of(result)
    assert "limit" in text_of(result).removeprefix("count_ops: unknown argument 'limmit'")
    assert result.structured_content is None


async def test_a_wrong_value_is_refused_without_the_validators_own_text(connect):
    async with connect() as client:
        result = await client.call_tool("count_ops", {"limit": "many"})
    assert result.is_error
    assert "'limit'" in text_of(result)
    assert "pydantic" not in text_of(result)
    assert "many" not in text_of(result)


async def test_an_unknown_tool_is_refused_with_the_nearest_name(connect):
    async with connect() as client:
        result = await client.call_tool("count_op", {})
    assert result.is_error
    assert text_of(result) == "There is no tool 'count_op'. Did you mean count_ops?"


async def test_the_text_of_an_error_we_understand_reaches_the_client_verbatim(connect):
    async with connect() as client:
        result = await client.call_tool("refuse", {})
    assert result.is_error
    assert text_of(result) == "This report has no host timings. Profile again without --device-only."


async def test_the_text_of_a_crash_stays_on_the_server(connect, caplog):
    async with connect() as client:
        result = await client.call_tool("crash", {})
    assert result.is_error
    assert text_of(result) == answering.unforeseen("crash")
    assert PLANTED not in text_of(result)
    assert PLANTED in caplog.text  # whoever runs the server can still see it


async def test_an_answer_too_large_to_read_becomes_advice_how_to_narrow_it(connect):
    async with connect() as client:
        fits = await client.call_tool("count_ops", {"limit": 4000})
        too_large = await client.call_tool("count_ops", {"limit": 10_000})
    assert not fits.is_error
    assert too_large.is_error
    assert "Narrow it with limit" in text_of(too_large)


async def test_a_call_that_takes_long_beats_and_can_be_cancelled(connect, monkeypatch):
    monkeypatch.setattr(offered_tools, "BEAT_SECONDS", 0.02)
    STOP.clear()
    beats = []
    thrice = asyncio.Event()

    async def progress(done, total, message):
        beats.append((done, message))
        if len(beats) == 3:
            thrice.set()

    async with connect() as client:
        call = asyncio.create_task(client.call_tool("dawdle", {}, progress_callback=progress))
        await asyncio.wait_for(thrice.wait(), 10)
        other = await client.call_tool("count_ops", {})  # a long call does not block its neighbours
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        after = await client.call_tool("count_ops", {})
    STOP.set()
    assert [done for done, _ in beats[:3]] == [1, 2, 3]
    assert beats[0][1].startswith("dawdle")
    assert not other.is_error
    assert not after.is_error


async def test_every_tool_is_listed_in_order_with_truthful_annotations(connect):
    async with connect() as client:
        listed = (await client.list_tools()).tools
    assert [tool.name for tool in listed] == [tool.name for tool in FAKES]
    for tool, fake in zip(listed, FAKES, strict=True):
        assert tool.annotations.read_only_hint is not fake.writes
        assert tool.annotations.idempotent_hint is not fake.writes
        assert tool.annotations.destructive_hint is False
        assert tool.annotations.open_world_hint is False
    assert listed[0].meta == {"anthropic/alwaysLoad": True, "anthropic/searchHint": "numbers"}
    assert listed[1].meta is None


async def test_every_tool_is_listed_with_its_schemas_and_texts(connect):
    tools = (*FAKES, *TOOLS)
    async with connect(tools=tools) as client:
        listed = (await client.list_tools()).tools
    assert len(listed) == len(tools)
    for offered, tool in zip(listed, tools, strict=True):
        assert offered.input_schema == tool.input_schema
        assert offered.output_schema == (
            None if tool.name == "skill_step" else tool.output_schema
        )  # a page is text
        assert offered.title, tool.name
        assert offered.description, tool.name


@for_all("tool", [*FAKES, *TOOLS], ids=lambda tool: tool.name, sampled=4)
def test_every_schema_we_publish_is_valid_and_closed(tool):
    Draft202012Validator.check_schema(tool.input_schema)
    Draft202012Validator.check_schema(tool.output_schema)
    assert tool.input_schema["additionalProperties"] is False


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    "tool", [tool for tool in TOOLS if "run" in tool.arguments.model_fields], ids=lambda t: t.name
)
async def test_what_a_tool_says_of_the_demo_run_fits_the_schema_it_publishes(tool, tmp_path, monkeypatch):
    monkeypatch.setenv(ARCHIVE_VARIABLE, "1")  # history needs an archive; the demo never comes into it
    session = Session(Settings(state=tmp_path, roots=(tmp_path,)))
    convs = await ask(session, "list_ops", run="demo", op_code="Conv2dDeviceOperation", limit=1)
    a_conv = convs["ops"]["rows"][0][0]
    results = []
    for era in ("auto", "legacy"):
        async with Client(server.build(session, TOOLS), mode=era) as client:
            results.append(await client.call_tool(tool.name, required(tool, "demo", a_conv)))
    for result in results:
        assert not result.is_error, text_of(result)
        assert json.loads(text_of(result)) == result.structured_content
        assert result.structured_content == results[0].structured_content
    Draft202012Validator(tool.output_schema).validate(results[0].structured_content)


def test_the_instructions_fit_in_what_every_client_shows():
    assert len(prompts.INSTRUCTIONS) < 2000


async def test_the_server_introduces_itself_in_both_eras(connect):
    async with connect() as client:
        assert client.server_info.name == "ttnn-mcp"
        assert client.server_info.version
        assert client.instructions == prompts.INSTRUCTIONS
        assert client.server_capabilities.completions is not None


async def test_every_page_is_listed_and_reads_as_listed(connect):
    async with connect() as client:
        listed = [one for one in (await client.list_resources()).resources if one.mime_type == "text/markdown"]
        for resource in listed:
            (content,) = (await client.read_resource(resource.uri)).contents
            assert content.mime_type == resource.mime_type == "text/markdown"
            assert len(content.text.encode()) == resource.size
    uris = [resource.uri for resource in listed]
    assert uris == list(pages.catalogue())
    assert uris[0] == "skill://optimizing-ttnn-models/SKILL.md"
    assert {"ttnn://glossary", "ttnn://formats"} <= set(uris)


async def test_a_list_has_no_other_page(connect):
    async with connect() as client:
        for listed in (
            client.list_tools,
            client.list_prompts,
            client.list_resources,
            client.list_resource_templates,
        ):
            with pytest.raises(MCPError, match="Ask without one") as refusal:
                await listed(cursor="unknown")
            assert refusal.value.error.code == -32602
            assert await listed(cursor="") == await listed()


async def test_a_page_can_be_asked_for_without_its_suffix(connect):
    async with connect() as client:
        (content,) = (await client.read_resource("skill://optimizing-ttnn-models/key-concepts")).contents
    assert content.text.startswith("#")


@for_all(
    "uri",
    [
        "ttnn://glosary",
        "skill://optimizing-ttnn-models/../../pyproject.toml",
        "skill://optimizing-ttnn-models/%2e%2e/%2e%2e/README.md",
        "ttnn:///etc/passwd",
        "file:///etc/passwd",
        "ttnn://runs/",
        "ttnn://runs/a/b",
        "ttnn://runs/a/ops",
        "ttnn://runs/a/op/57",
        "ttnn://runs/a/ops/57/58",
        "file://ttnn://runs/a",
    ],
)
async def test_what_is_no_resource_is_refused_as_invalid(connect, uri):
    async with connect() as client:
        with pytest.raises(MCPError) as refusal:
            await client.read_resource(uri)
    assert refusal.value.error.code == -32602
    assert "no resource" in refusal.value.error.message


async def test_a_misspelt_page_is_refused_with_the_nearest(connect):
    async with connect() as client:
        with pytest.raises(MCPError, match="Did you mean ttnn://glossary"):
            await client.read_resource("ttnn://glosary")


async def test_a_run_is_readable_by_its_address(connect):
    async with connect() as client:
        templates = (await client.list_resource_templates()).resource_templates
        assert {"ttnn://runs/{run}", "ttnn://runs/{run}/ops/{op}"} <= {one.uri_template for one in templates}
        (content,) = (await client.read_resource("ttnn://runs/my%20run")).contents
    assert content.mime_type == "application/json"
    assert json.loads(content.text)["why"] == "my run"


async def test_the_skill_is_offered_over_the_skills_extension(connect):
    skill = "skill://optimizing-ttnn-models/SKILL.md"
    built = server.build(Session(Settings()), FAKES)
    assert built.extensions["io.modelcontextprotocol/skills"] == {"directoryRead": True}
    listing = await built.get_request_handler("skills/list").handler(None, None)
    (entry,) = listing.skills
    assert entry["uri"] == skill
    assert entry["frontmatter"]["name"] == "optimizing-ttnn-models"
    assert {file["uri"] for file in entry["resources"]} == {
        u for u in pages.catalogue() if u.startswith("skill://")
    }


async def test_a_directory_lists_what_lies_directly_in_it():
    read = server.build(Session(Settings()), FAKES).get_request_handler("resources/directory/read")

    async def listed(uri):
        result = await read.handler(None, read.params_type(uri=uri))
        return {resource.uri: resource.mime_type for resource in result.resources}

    skill = await listed("skill://optimizing-ttnn-models")
    assert skill == await listed("skill://optimizing-ttnn-models/")
    assert skill["skill://optimizing-ttnn-models/SKILL.md"] == "text/markdown"
    top = await listed("ttnn://")
    assert top["ttnn://hardware"] == "inode/directory"
    assert top["ttnn://glossary"] == "text/markdown"
    for no_directory in ("ttnn://glossary", "skill://other"):
        with pytest.raises(MCPError, match="no directory"):
            await listed(no_directory)


async def test_every_prompt_names_only_tools_there_are_and_fills_in_what_it_is_given(connect):
    async with connect(tools=TOOLS) as client:
        listed = (await client.list_prompts()).prompts
        assert [prompt.name for prompt in listed] == ["optimize_model", "why_slow", "explain_op"]
        given = {
            "optimize_model": {"run": "r1", "target": "10 ms"},
            "why_slow": {"run": "r1"},
            "explain_op": {"op": "57"},
        }
        for prompt in listed:
            (message,) = (await client.get_prompt(prompt.name, given[prompt.name])).messages
            assert message.role == "user"
            for value in given[prompt.name].values():
                assert value in message.content.text


async def test_a_prompt_without_what_it_needs_says_so(connect):
    async with connect() as client:
        with pytest.raises(MCPError, match="'op' is required"):
            await client.get_prompt("explain_op", {})
        with pytest.raises(MCPError, match="Did you mean why_slow"):
            await client.get_prompt("why_slo", {})


async def test_pages_steps_and_architectures_complete(connect):
    async with connect() as client:
        page = ResourceTemplateReference(uri="skill://optimizing-ttnn-models/{page}")
        found = await client.complete(page, {"name": "page", "value": "key"})
        assert found.completion.values == ["key-concepts.md"]
        arch = ResourceTemplateReference(uri="ttnn://hardware/{arch}")
        found = await client.complete(arch, {"name": "arch", "value": "worm"})
        assert found.completion.values == ["wormhole_b0"]
        step = await client.complete(PromptReference(name="optimize_model"), {"name": "step", "value": ""})
        assert step.completion.values == [str(number) for number in range(1, 8)]


async def test_completion_that_would_need_a_run_is_empty_where_there_is_none(connect):
    async with connect(tools=()) as client:
        for name in ("op", "signpost"):
            found = await client.complete(PromptReference(name="why_slow"), {"name": name, "value": ""})
            assert found.completion.values == []


async def test_one_server_serves_many_calls_at_once(connect):
    async with connect() as client:
        began = time.perf_counter()
        results = await asyncio.gather(*(client.call_tool("count_ops", {"limit": n}) for n in range(1, 40)))
    assert [len(result.structured_content["ops"]["rows"]) for result in results] == list(range(1, 40))
    assert time.perf_counter() - began < 10
