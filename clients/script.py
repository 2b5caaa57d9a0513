"""What every scripted model asks of us, and what we answer."""

import asyncio
import tempfile
from pathlib import Path

from ttnn_mcp.errors import TtnnMcpError
from ttnn_mcp.served.documents import skill_page, skill_pages
from ttnn_mcp.session.session import Session, Settings
from ttnn_mcp.tools import TOOLS, answering

SCRIPT = (
    ("optimization_check", {"run": "demo"}),
    ("list_ops", {"run": "demo", "limit": 3}),
    ("open_run", {"run": "dmo"}),  # refused
    ("list_ops", {"run": "demo", "limmit": 3}),  # refused: some clients check the arguments themselves
    ("skill_step", {"page": max(skill_pages(), key=lambda page: len(skill_page(page)))}),
)
ANSWERS, REFUSAL, MISSPELT, PAGE = (0, 1), 2, 3, 4


def answer(number):
    """The text with which we answer this call, or refuse it."""
    name, arguments = SCRIPT[number]
    if number == PAGE:
        return skill_page(arguments["page"])
    with tempfile.TemporaryDirectory() as folder:
        session = Session(Settings(roots=(Path(folder),), state=Path(folder)))
        try:
            return asyncio.run(answering.answer(session, answering.tool_named(name, TOOLS), arguments))[1]
        except TtnnMcpError as refusal:
            return str(refusal)
