"""Python libraries that agents are made of, each in an environment of its own."""

import json
from pathlib import Path

import pytest

from clients.conftest import ran_in, started_in
from clients.installed import interpreter
from clients.script import ANSWERS, MISSPELT, REFUSAL, SCRIPT, answer
from clients.scripted.model import Model
from clients.scripted.server import serving
from ttnn_mcp.served import pages
from ttnn_mcp.tools import TOOLS

PROGRAMS = Path(__file__).with_name("libraries")
URI = "ttnn://checks/stalled-on-host"
CLIENTS = {"python-mcp": "mcp_session.py", "fastmcp": "fastmcp_client.py"}
AGENTS = {
    "langchain": "langchain_agent.py",
    "openai-agents": "openai_agent.py",
    "pydantic-ai": "pydantic_agent.py",
}


@pytest.fixture(scope="module", params=CLIENTS)
def client(request, environment, tmp_path_factory):
    """What a client got, as its program prints it."""
    home = tmp_path_factory.mktemp(request.param)
    program = [str(interpreter(request.param)), str(PROGRAMS / CLIENTS[request.param])]
    words = [*program, json.dumps(SCRIPT), URI, *started_in(home)]
    done = ran_in(words, home, {**environment, "HOME": str(home)}, seconds=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module", params=AGENTS)
def model(request, environment, tmp_path_factory):
    """The model of an agent, after the script."""
    home = tmp_path_factory.mktemp(request.param)
    program = [str(interpreter(request.param)), str(PROGRAMS / AGENTS[request.param])]
    model = Model(*SCRIPT)
    with serving(model) as address:
        done = ran_in([*program, address, *started_in(home)], home, {**environment, "HOME": str(home)}, seconds=60)
    assert done.returncode == 0, done.stderr
    return model


def test_a_client_gets_tools_answers_refusals_and_pages(client):
    assert client["tools"] == [tool.name for tool in TOOLS]
    assert client["seen"] == [[answer(number)] for number in range(len(SCRIPT))]
    assert client["refused"] == [number in (REFUSAL, MISSPELT) for number in range(len(SCRIPT))]
    assert client["structured"][:2] == [json.loads(answer(number)) for number in ANSWERS]
    assert client["structured"][2:] == [None] * 3
    assert client["page"] == pages.catalogue()[URI].text


def test_the_model_of_an_agent_is_offered_every_tool_at_once(model):
    offered = model.tools()
    assert {tool.name: offered[tool.name]["description"] for tool in TOOLS} == {
        tool.name: tool.description for tool in TOOLS
    }


@pytest.mark.parametrize("number", range(len(SCRIPT)))
def test_the_model_of_an_agent_is_shown_our_words_once_and_whole(model, number):
    shown = model.seen(number).text
    if number in (REFUSAL, MISSPELT) and shown.startswith("{"):
        (shown,) = json.loads(shown).values()  # pydantic-ai: {"error": ...}
    assert shown == answer(number)
