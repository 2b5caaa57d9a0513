"""What the model sees of us through Claude Code, with a script in the model's place.

The sizes and shapes here are what our design rests on: tools are deferred and listed by name alone, a successful
answer is shown as its compact structure without the text blocks, a refusal as its text alone.
"""

import json
from types import SimpleNamespace

import pytest

from clients.installed import package
from clients.scripted.model import Model
from clients.scripted.server import serving
from ttnn_mcp.served import pages
from ttnn_mcp.served.documents import skill_page
from ttnn_mcp.server import prompts
from ttnn_mcp.tools import TOOLS, answering

PREFIX = "mcp__ttnn__"
SHOWN_AT_ONCE = {tool.name for tool in TOOLS if tool.always_loaded}
SEARCHES = {  # how a model that has not seen our words might look for each
    "list_runs": "find profiling reports",
    "list_ops": "slowest ops",
    "op_detail": "roofline of one op",
    "sharding_summary": "tensor sharding memory layout",
    "reshard_detect": "unnecessary resharding",
    "host_overhead": "metal trace host bound",
    "tensor_formats": "bfloat8_b math fidelity",
    "memory_summary": "out of memory L1",
    "check_setting": "act_block_h legal value",
    "replay_op": "benchmark one op with other settings",
    "device_balance": "multi device all_gather imbalance",
    "compare_runs": "before after regression",
    "experiments": "record experiment log",
    "history": "slower since when",
    "time_budget": "how fast could the model be",
    "model_stages": "prefill decode time",
    "query_run": "sql query",
    "skill_step": "optimization guide",
}
QUIET = {
    "ANTHROPIC_API_KEY": "none",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "IS_SANDBOX": "1",  # or it refuses to skip permissions as root
}


@pytest.fixture
def play(server, ran):
    """Let Claude Code work on `words`, its model call the tools of `script`: the model, and what was printed."""
    found = list(package("claude-code").glob("node_modules/@anthropic-ai/claude-code-*/claude*"))
    if not found:
        pytest.skip("Claude Code has no program for this machine")
    over_stdio = {"command": server.command[0], "args": server.command[1:]}

    def start(words, *script, ours=over_stdio):
        settings = json.dumps({"mcpServers": {"ttnn": ours}})
        options = ["--mcp-config", settings, "--strict-mcp-config", "--dangerously-skip-permissions"]
        model = Model(*script)
        with serving(model) as address:
            done = ran([str(found[0]), "-p", words, *options], ANTHROPIC_BASE_URL=address, **QUIET)
        return SimpleNamespace(model=model, said=done.stdout.strip())

    return start


def test_the_model_is_told_our_instructions_whole_and_shown_the_entry_tools(play):
    model = play("go").model
    assert prompts.INSTRUCTIONS.strip() in model.told()
    offered = {name.removeprefix(PREFIX): tool for name, tool in model.tools().items() if name.startswith(PREFIX)}
    assert set(offered) == SHOWN_AT_ONCE
    for tool in TOOLS:
        assert PREFIX + tool.name in model.told() or tool.name in offered
        if tool.name in offered:  # no title, no annotations, no output schema: units belong in field names
            assert set(offered[tool.name]) == {"name", "description", "input_schema"}
            assert offered[tool.name]["description"] == tool.description
            assert offered[tool.name]["input_schema"] == tool.input_schema
    assert len(answering.compact(list(offered.values()))) < 2_500  # what everybody pays for having us connected


def test_a_deferred_tool_is_found_by_what_it_is_for(play):
    model = play("go", *(("ToolSearch", {"query": words, "max_results": 3}) for words in SEARCHES.values())).model
    found = {tool: found_by(model.seen(turn).text) for turn, tool in enumerate(SEARCHES)}
    assert {tool: names for tool, names in found.items() if PREFIX + tool not in names} == {}
    assert set(SEARCHES) == {tool.name for tool in TOOLS} - SHOWN_AT_ONCE


def found_by(search):
    """The names of the tools that a search came up with, best first."""
    return [block["tool_name"] for block in json.loads(search)] if search.startswith("[") else []


def test_the_model_reads_an_answer_as_compact_structure_and_a_refusal_as_text(play):
    model = play(
        "go",
        (PREFIX + "optimization_check", {"run": "demo"}),
        (PREFIX + "list_ops", {"run": "demo", "limmit": 3}),
        (PREFIX + "open_run", {"run": "dmo"}),
        (PREFIX + "skill_step", {"page": "key-concepts"}),
        ("ReadMcpResourceTool", {"server": "ttnn", "uri": "ttnn://checks/stalled-on-host"}),
        ("ListMcpResourcesTool", {"server": "ttnn"}),
    ).model

    text, is_error = model.seen(0)
    answer = json.loads(text)
    assert not is_error
    assert text == answering.compact(answer)
    assert len(text.encode()) < 8_000
    assert {"findings", "steps", "window"} <= set(answer)

    text, is_error = model.seen(1)
    assert is_error
    assert text.startswith("list_ops: unknown argument 'limmit'. Did you mean limit?")

    text, is_error = model.seen(2)
    assert is_error
    assert "demo" in text
    assert len(text) < 300

    text, is_error = model.seen(3)
    assert not is_error
    assert text == skill_page("key-concepts")

    text, _ = model.seen(4)
    (page,) = json.loads(text)["contents"]
    assert page["text"] == pages.catalogue()["ttnn://checks/stalled-on-host"].text

    text, _ = model.seen(5)
    assert set(pages.catalogue()) <= {one["uri"] for one in json.loads(text)}


def test_over_http_the_model_reads_the_same(play, url):
    script = (PREFIX + "optimization_check", {"run": "demo"})
    over_http = play("go", script, ours={"type": "http", "url": url}).model
    assert over_http.seen(0) == play("go", script).model.seen(0)


def test_a_prompt_is_a_command_whose_words_reach_the_model(play):
    model = play("/mcp__ttnn__explain_op 7 demo").model
    assert prompts.PROMPTS[2].text({"op": "7", "run": "demo"}) in model.told()


def test_a_prompt_without_its_argument_names_it(play):
    played = play("/mcp__ttnn__explain_op")
    assert "Missing required argument: op" in played.said
    assert played.model.asked == []
