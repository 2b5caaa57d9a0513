"""The Apps extension: announced, the page listed and read, and one tool that names it."""

import base64
import hashlib
import re

import pytest
from mcp.client import Client
from mcp.server.apps import APP_MIME_TYPE, EXTENSION_ID

from tests.asking import session
from ttnn_mcp.server import server, views
from ttnn_mcp.tools import TOOLS


@pytest.fixture
def built(tmp_path):
    return server.build(session(tmp_path))


def test_the_extension_is_announced_as_the_sdk_names_it(built):
    assert built.extensions[views.IDENTIFIER] == {}
    assert (views.IDENTIFIER, views.MIME) == (EXTENSION_ID, APP_MIME_TYPE)


async def test_the_tool_that_has_a_view_names_a_page_that_is_there(built):
    async with Client(built) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        listed = {str(resource.uri): resource for resource in (await client.list_resources()).resources}
        [page] = (await client.read_resource(views.URI)).contents
    assert tools["time_budget"].meta["ui"] == {"resourceUri": views.URI}
    assert [tool.name for tool in TOOLS if tool.view] == ["time_budget"]
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
