"""What the model of other agents sees of us: each is asked one question in a fresh home, a script calls our tools."""

import re
from types import SimpleNamespace

import pytest

from clients.agents import AGENTS, program
from clients.conftest import ran_in
from clients.installed import ROOT
from clients.script import ANSWERS, PAGE, REFUSAL, SCRIPT, answer
from clients.scripted.model import Model
from clients.scripted.server import serving
from ttnn_mcp.tools import TOOLS

CUT_CHARS = 8_000  # where Cline begins to cut unless it is told otherwise; the others show more
TIMED = re.compile(r"^Wall time: [\d.]+ seconds\nOutput:\n?")


@pytest.fixture(scope="module", params=AGENTS, ids=lambda agent: agent.name)
def met(request, tmp_path_factory, environment):
    """An agent, and its model after the script."""
    home = tmp_path_factory.mktemp(request.param.name)
    model = Model(*SCRIPT)
    with serving(model) as address:
        words, more = request.param.set_up(home, address)
        done = ran_in(words, home, {**environment, "HOME": str(home), **more}, seconds=180)
    assert model.asked, f"it never asked its model: {done.stdout[-500:]} {done.stderr[-1500:]}"
    return SimpleNamespace(agent=request.param, model=model, said=done.stdout)


def test_every_tool_is_in_the_first_request(met):
    offered = {
        name.removeprefix(met.agent.prefix): tool
        for name, tool in met.model.tools().items()
        if name.startswith(met.agent.prefix)
    }
    for tool in TOOLS:
        assert tool.name in offered
        assert tool.description in offered[tool.name]["description"]


def shown(met, number):
    """What the model was shown of a call, without the time that Codex measures anew."""
    return TIMED.sub("", met.model.seen(number).text)


@pytest.mark.parametrize("number", ANSWERS)
def test_the_model_is_shown_an_answer_once_and_whole(met, number):
    assert shown(met, number) == met.agent.shows(answer(number))
    assert len(met.model.seen(number).text) < CUT_CHARS


def test_a_refusal_arrives_as_our_sentence(met):
    assert shown(met, REFUSAL) == met.agent.shows_refusal(answer(REFUSAL))


def test_a_page_of_the_skill_is_plain_text(met):
    assert shown(met, PAGE) == met.agent.shows(answer(PAGE))


def test_codex_takes_the_plugin_with_its_server_and_its_skill(tmp_path, environment):
    def ran(*words):
        done = ran_in(words, tmp_path, {**environment, "HOME": str(tmp_path)}, seconds=60)
        assert done.returncode == 0, done.stderr[-1500:]
        return done.stdout

    codex = (*program("codex", "codex"), "plugin")
    ran("git", "clone", "-q", str(ROOT), "checkout")  # Codex keeps a copy: of what a clone has
    ran(*codex, "marketplace", "add", str(tmp_path / "checkout"))
    ran(*codex, "add", "ttnn@ttnn-mcp")
    assert re.search(r"^ttnn@ttnn-mcp +installed, enabled ", ran(*codex, "list"), re.MULTILINE)
    assert re.search(r"^ttnn +uvx +--from \. ttnn-mcp .* enabled ", ran(codex[0], "mcp", "list"), re.MULTILINE)
    (skill,) = (tmp_path / ".codex" / "plugins").rglob("skills/optimizing-ttnn-models/SKILL.md")
    assert skill.read_text(encoding="utf-8").startswith("---\nname: optimizing-ttnn-models\n")
