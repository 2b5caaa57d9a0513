"""The Skills extension: one skill by its address, and how long hosts may keep what they read."""

import pytest
from mcp.shared.exceptions import MCPError

from tests.asking import session
from tests.fakes import FAKES
from ttnn_mcp.served import pages
from ttnn_mcp.server import server

SKILL = "skill://optimizing-ttnn-models/SKILL.md"
MINUTE_MS = 60 * 1000


@pytest.fixture
def asked(tmp_path):
    built = server.build(session(tmp_path), FAKES)

    async def answer(method, **params):
        entry = built.get_request_handler(method)
        return await entry.handler(None, entry.params_type(**params))

    return answer


async def test_a_skill_is_got_by_its_address_as_it_is_listed(asked):
    listed = (await asked("skills/list")).skills
    assert [entry["uri"] for entry in listed] == [SKILL]
    assert (await asked("skills/get", uri=SKILL)).skill == listed[0]
    with pytest.raises(MCPError, match=r"No skill at .* Did you mean"):
        await asked("skills/get", uri=SKILL.replace("models", "model"))


async def test_a_skill_holds_its_own_pages_only(asked, monkeypatch):
    served = {
        uri: pages.Page(uri, "x", "X", "# X") for uri in (SKILL, "skill://other/SKILL.md", "skill://other/b.md")
    }
    monkeypatch.setattr(pages, "catalogue", lambda: served)
    mine, other = (await asked("skills/list")).skills
    assert [file["uri"] for file in mine["resources"]] == [SKILL]
    assert [file["uri"] for file in other["resources"]] == ["skill://other/SKILL.md", "skill://other/b.md"]


async def test_what_belongs_to_a_skill_may_be_kept_for_five_minutes(asked):
    for answer in (
        await asked("skills/list"),
        await asked("skills/get", uri=SKILL),
        await asked("resources/directory/read", uri="ttnn://"),
    ):
        assert (answer.ttl_ms, answer.cache_scope) == (5 * MINUTE_MS, "public")


async def test_a_directory_lists_each_entry_once_and_nothing_deeper(asked):
    listed = [str(entry.uri) for entry in (await asked("resources/directory/read", uri="ttnn://")).resources]
    assert len(listed) == len({*listed})
    assert {*listed} == {"/".join(uri.split("/")[:3]) for uri in pages.catalogue() if uri.startswith("ttnn://")}
