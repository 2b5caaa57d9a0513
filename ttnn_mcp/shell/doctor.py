"""The doctor's report on this machine: versions, pages, the folders that are searched, and the runs in them."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from typing import TYPE_CHECKING, Any

from ttnn_mcp import __version__
from ttnn_mcp.errors import TtnnMcpError
from ttnn_mcp.served import documents
from ttnn_mcp.shell.copies import archive_state, space_of
from ttnn_mcp.tools import TOOLS, answering

if TYPE_CHECKING:
    from pathlib import Path

    from ttnn_mcp.session.session import Session

PACKAGES = ("mcp", "pydantic", "pandas", "numpy", "aiosqlite")
OPENED = 10  # runs that are opened for the report, the newest first


async def report(session: Session) -> str:
    """The whole report as text."""
    settings = session.settings
    lines = [
        f"ttnn-mcp {__version__}, Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    ]
    lines += [f"  {name:<10} {_version(name)}" for name in PACKAGES]
    lines += [
        "",
        "Pages",
        f"  {_count('skills')} of the skill, {_count('resources')} of reference, in {documents.home()}",
    ]
    lines += ["", "Reports are looked for under", *[f"  {root}{_doubt(root)}" for root in settings.searched]]
    lines += ["", "What is remembered lies in", f"  {settings.state_folder}", f"  {space_of(session.kept)}"]
    lines.append(f"  {archive_state(session.archive, settings.archive_at_most_mb)}")
    lines += ["", "Runs", *await _runs(session)]
    return "\n".join(lines) + "\n"


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "missing: reinstall ttnn-mcp"


def _count(folder: documents.Folder) -> str:
    count = len(documents.names(folder))
    return f"{count} pages" if count else "NO pages (reinstall ttnn-mcp)"


def _doubt(root: Path) -> str:
    if not root.exists():
        return "  (does not exist; name another with --root)"
    return "" if os.access(root, os.R_OK | os.X_OK) else "  (cannot be read)"


async def _runs(session: Session) -> list[str]:
    """The newest runs, each with the generations of its reports or the reason it cannot be read."""
    try:
        listed, _text = await answering.answer(session, answering.tool_named("list_runs", TOOLS), {})
    except TtnnMcpError as refusal:
        return [f"  {refusal}"]
    rows = answering.records(listed["runs"])
    lines = [f"  {row['id']}  {row['name']}: {await _looked_into(session, row['id'])}" for row in rows[:OPENED]]
    if len(rows) > OPENED:
        lines.append(f"  and {len(rows) - OPENED} older")
    return lines or ["  none yet; 'ttnn-mcp demo' works without"]


async def _looked_into(session: Session, run: str) -> str:
    try:
        card, _text = await answering.answer(session, answering.tool_named("open_run", TOOLS), {"run": run})
    except TtnnMcpError as refusal:
        return str(refusal)
    return _card(card)


def _card(card: dict[str, Any]) -> str:
    parts = [card.get("arch", "unknown architecture")]
    if card.get("performance"):
        parts.append(f"performance report {card['csv_generation']}, {card['rows']['device']:,} device ops")
    if card.get("memory"):
        parts.append(f"memory report {card['schema_generation']}")
    return ", ".join(str(part) for part in parts)
