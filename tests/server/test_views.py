"""The Apps extension: announced, the page listed and read, and one tool that names it."""

import base64
import hashlib
import json
import re
from urllib.parse import quote

import pytest
from mcp.client import Client
from mcp.server.apps import APP_MIME_TYPE, EXTENSION_ID
from mcp.shared.exceptions import MCPError

from tests.asking import ask, session
from tests.for_all import for_all
from tests.pairs import Model, write
from ttnn_mcp.report.answers import answers_of
from ttnn_mcp.report.page import content_of
from ttnn_mcp.server import server, views
from ttnn_mcp.tools import TOOLS

pytestmark = pytest.mark.usefixtures("opened_once")


@pytest.fixture
def built(tmp_path):
    return server.build(session(tmp_path))


def test_the_extension_is_announced_as_the_sdk_names_it(built):
    assert built.extensions[views.IDENTIFIER] == {}
    assert (views.IDENTIFIER, views.MIME) == (EXTENSION_ID, APP_MIME_TYPE)


async def test_the_tools_that_have_a_view_name_a_page_that_is_there(built):
    async with Client(built) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        listed = {str(resource.uri): resource for resource in (await client.list_resources()).resources}
        [page] = (await client.read_resource(views.URI)).contents
    assert [tool.name for tool in TOOLS if tool.view] == ["memory_summary", "compare_runs", "time_budget"]
    assert all(tools[tool.name].meta["ui"] == {"resourceUri": views.URI} for tool in TOOLS if tool.view)
    assert listed[views.URI].mime_type == page.mime_type == views.MIME
    assert page.text.startswith("<!doctype html>")


def test_the_page_allows_its_own_script_and_no_address():
    text = views.text()
    script = re.search(r"<script>(.*?)</script>", text, re.DOTALL).group(1)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src &#x27;sha256-{digest}&#x27;" in text
    assert "default-src &#x27;none&#x27;" in text
    assert "http://" not in text
    assert "https://" not in text


def test_the_page_stays_small():
    assert len(views.text().encode()) < 60_000


async def read(built, picture):
    async with Client(built) as client:
        [content] = (await client.read_resource(f"ttnn://pictures/{picture}")).contents
    assert content.mime_type == "application/json"
    return json.loads(content.text)


async def test_what_a_view_reads_is_what_the_page_of_a_report_holds(built, tmp_path):
    page = content_of(await answers_of(session(tmp_path), "demo", None))
    window = await read(built, "window?run=demo")
    assert window.pop("card") == {"worker_cores": page["card"]["worker_cores"]}
    assert (window.pop("window_rows"), window.pop("device")) == (40, page["budget"]["device"])
    assert window == json.loads(json.dumps({name: page[name] for name in window}))
    assert await read(built, "levels?run=demo") == {"levels": page["levels"]}


async def test_a_view_reads_the_window_that_its_answer_is_about(built, tmp_path):
    first = await read(built, "window?run=demo&iteration=1")
    answer = await ask(session(tmp_path), "list_ops", run="demo", iteration=1, sort="order", limit=200)
    assert first["ops"]["op"] == [row[0] for row in answer["ops"]["rows"]]
    assert first["warm"] is False


async def test_a_path_with_all_kinds_of_characters_is_one_run(built, tmp_path):
    run = write(tmp_path / "a run, 50% & more?", Model(layers=1))
    assert (await read(built, f"window?run={quote(str(run), safe='')}"))["ops"]["op"]


@for_all(
    ("picture", "words"),
    [
        ("windw?run=demo", "There is no picture 'windw'. Did you mean window?"),
        ("window?run=demo&iteration=99", "No iteration 99"),
        ("window?run=demo&iteration=x", "iteration"),
        ("window?run=nowhere", "nowhere"),
        ("levels?run=demo&colour=red", "colour"),
        ("levels?run={timed}", "memory_summary needs one"),
    ],
)
async def test_what_cannot_be_drawn_is_refused_in_our_words(built, tmp_path, picture, words):
    timed = write(tmp_path / "timed", Model(layers=1))
    async with Client(built) as client:
        with pytest.raises(MCPError, match=re.escape(words)):
            await client.read_resource(f"ttnn://pictures/{picture.format(timed=timed)}")


async def test_what_is_read_is_offered_for_eyes_only(built):
    async with Client(built) as client:
        templates = (await client.list_resource_templates()).resource_templates
    [drawn] = [each for each in templates if each.uri_template.startswith(views.DRAWN)]
    assert drawn.annotations.audience == ["user"]
