"""The official Inspector, over stdio, in both eras of the protocol."""

import json

import pytest

from clients.installed import command
from ttnn_mcp.tools import TOOLS

SAID_IS_ERROR = 5  # its exit status for a tool's refusal


@pytest.fixture(params=["legacy", "modern"])
def inspect(request, server, ran):
    """Ask the Inspector for one method: its exit status, the result, and what it said on stderr."""

    def ask(method, *words, era=request.param):
        inspector = [*command("inspector", "mcp-inspector"), "--cli", "--format", "json"]
        done = ran([*inspector, "--protocol-era", era, "--method", method, *words, "--", *server.command])
        said = json.loads(done.stdout.splitlines()[0]) if done.stdout.startswith("{") else {}
        return done.returncode, said.get("result", said), done.stderr

    return ask


def test_its_linter_finds_no_schema_that_some_host_could_not_take(inspect):
    status, result, said = inspect("tools/list", "--strict")
    assert (status, said) == (0, "")
    assert [tool["name"] for tool in result["tools"]] == [tool.name for tool in TOOLS]


def test_a_call_answers_with_structure(inspect):
    arguments = json.dumps({"run": "demo"})
    status, result, said = inspect("tools/call", "--tool-name", "optimization_check", "--tool-args-json", arguments)
    assert (status, said) == (0, "")
    assert result["structuredContent"]["findings"]


def test_a_refused_call_is_told_apart_from_an_answer(inspect):
    arguments = json.dumps({"rum": "demo"})
    status, result, _ = inspect("tools/call", "--tool-name", "optimization_check", "--tool-args-json", arguments)
    assert status == SAID_IS_ERROR
    assert "Did you mean run?" in result["content"][0]["text"]


@pytest.mark.parametrize(
    ("uri", "mime"),
    [
        ("skill://optimizing-ttnn-models/SKILL.md", "text/markdown"),
        ("ttnn://glossary", "text/markdown"),
        ("ttnn://checks/stalled-on-host", "text/markdown"),
        ("ttnn://hardware/wormhole_b0", "text/markdown"),
        ("ttnn://runs/demo", "application/json"),
    ],
)
def test_a_resource_reads_by_its_uri(inspect, uri, mime):
    status, result, said = inspect("resources/read", "--uri", uri)
    assert (status, said) == (0, "")
    (content,) = result["contents"]
    assert (content["uri"], content["mimeType"]) == (uri, mime)
    assert content["text"]


def test_a_prompt_takes_its_arguments(inspect):
    words = ("--prompt-name", "explain_op", "--prompt-args", "op=7", "run=demo")
    status, result, said = inspect("prompts/get", *words)
    assert (status, said) == (0, "")
    assert 'op_detail(run="demo", op=7)' in result["messages"][0]["content"]["text"]


@pytest.mark.parametrize("inspect", ["modern"], indirect=True)  # handshake-era connections carry no extensions
def test_every_page_of_the_skill_matches_its_digest(inspect):
    status, skill, said = inspect("skills/list", "--verify", "--require-digests")
    assert status == 0, said
    assert skill["conformance"] == []
    assert {file["status"] for file in skill["files"]} == {"verified"}
