"""skill_step: one page of the skill."""

import pytest

from tests.asking import ask, session
from tests.for_all import for_all
from ttnn_mcp.errors import TtnnMcpError
from ttnn_mcp.served import documents


async def test_without_a_page_it_is_the_first(tmp_path):
    answer = await ask(session(tmp_path), "skill_step")
    assert answer["page"] == answer["pages"][0] == "SKILL"
    assert answer["text"].startswith("---\nname: ")


@for_all("page", documents.skill_pages())
async def test_every_page_it_names_can_be_read(tmp_path, page):
    answer = await ask(session(tmp_path), "skill_step", page=page)
    assert answer["text"] == documents.skill_page(page)
    assert page in answer["pages"]


@for_all("page", ["step-04", "step-4", "Step 4", "step-4-metal", "step-04-metal-trace.md"])
async def test_a_beginning_names_its_page(tmp_path, page):
    answer = await ask(session(tmp_path), "skill_step", page=page)
    assert answer["text"] == documents.skill_page("step-04-metal-trace")


@for_all(
    ("page", "nearest"),
    [
        ("step-03-memory-shardings", "step-03-memory-sharding"),
        ("SKILL.md/..", "SKILL"),
        ("../../pyproject", ""),
        ("step", ""),
        ("", ""),
    ],
)
async def test_a_page_there_is_not_is_refused(tmp_path, page, nearest):
    with pytest.raises(TtnnMcpError, match=f"has no page .*{nearest}"):
        await ask(session(tmp_path), "skill_step", page=page)
