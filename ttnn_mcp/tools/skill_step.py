"""skill_step: one page of the skill, for hosts that cannot read resources."""

from __future__ import annotations

from pydantic import Field

from ttnn_mcp.served.documents import skill_page, skill_pages
from ttnn_mcp.session.session import Session
from ttnn_mcp.tools.tool import Arguments as Closed
from ttnn_mcp.tools.tool import Tool
from ttnn_mcp.wire import Wire


class Arguments(Closed):
    """Arguments of skill_step."""

    page: str = Field(
        "SKILL", description="SKILL, key-concepts, quick-reference, or step-01-data-formats ... step-07"
    )


class Answer(Wire):
    """Answer of skill_step."""

    page: str
    text: str
    pages: tuple[str, ...]


async def skill_step(session: Session, asked: Arguments) -> Answer:
    """Read one page of the optimizing-ttnn-models skill: how to act on a finding, with current TTNN code."""
    del session
    return Answer(page=asked.page, text=skill_page(asked.page), pages=skill_pages())


TOOL = Tool(
    name="skill_step",
    title="Read the skill",
    arguments=Arguments,
    answer=Answer,
    ask=skill_step,
    prose="text",
    search_hint="how to optimize ttnn guide step documentation tenstorrent skill",
)
