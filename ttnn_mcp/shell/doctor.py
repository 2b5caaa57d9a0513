"""The doctor's report on this machine: versions, pages, the folders that are searched, and the runs in them.

Of what is remembered it tells the folder, the copies of large reports, the archive and the log.
"""

from __future__ import annotations

import asyncio
import os
import platform
from importlib import metadata
from typing import TYPE_CHECKING, Any, NamedTuple

from ttnn_mcp import __version__
from ttnn_mcp.errors import ArchiveUnusable, TtnnMcpError
from ttnn_mcp.replay.interpreters import interpreter
from ttnn_mcp.served import documents
from ttnn_mcp.session.settings import MB, NOWHERE, obstacle
from ttnn_mcp.shell.call_arguments import tool_alone
from ttnn_mcp.tools import answering

if TYPE_CHECKING:
    from pathlib import Path

    from ttnn_mcp.archive.store import Archive
    from ttnn_mcp.readers.kept_files import KeptFiles
    from ttnn_mcp.session.session import Session

LOST = "no copies of large reports, as this folder cannot be written: each is parsed again after a restart"
UNCITED = "answers cite no earlier runs: "
PACKAGES = ("mcp", "pydantic", "pandas", "numpy", "aiosqlite")
OPENED = 10  # runs that are opened for the report, the newest first


async def report(session: Session) -> tuple[str, bool]:
    """The whole report as text, and whether all is sound. What is only absent, such as reports, is no fault."""
    settings = session.settings
    memory, runs = await remembered(session), await _runs(session)
    broken = [f"{name} is missing: reinstall ttnn-mcp" for name in PACKAGES if _version(name) is None]
    broken += [] if documents.names("skills") and documents.names("resources") else ["pages are missing"]
    broken += [f"{root} cannot be read" for root in settings.searched if _is_closed(root)]
    broken += [*memory.broken, *runs.broken]
    lines = [
        f"ttnn-mcp {__version__}, Python {platform.python_version()} on {platform.system()} {platform.machine()}",
        *(f"  {name:<10} {_version(name) or 'missing'}" for name in PACKAGES),
        *("", "Pages"),
        f"  {_count('skills')} of the skill, {_count('resources')} of reference, in {documents.home()}",
        *("", "Reports are looked for under", *(f"  {root}{_doubt(root)}" for root in settings.searched)),
        *("", "What is remembered lies in", *memory.lines),
        *("", "To prove with", f"  {interpreter(settings.ttnn).told}", f"  {_simulator()}"),
        *("", "Runs", *runs.lines),
        *(["", "Broken", *(f"  {sentence}" for sentence in broken)] if broken else []),
    ]
    return "\n".join(lines) + "\n", not broken


def _simulator() -> str:
    named = ", though $TT_METAL_SIMULATOR names one" if os.environ.get("TT_METAL_SIMULATOR") else ""
    return f"no simulator of the chip is used{named}: a proof tells no times and no PCC"


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _count(folder: documents.Folder) -> str:
    count = len(documents.names(folder))
    return f"{count} pages" if count else "NO pages (reinstall ttnn-mcp)"


def _doubt(root: Path) -> str:
    if _is_closed(root):
        return "  (cannot be read)"
    return "" if root.exists() else "  (does not exist; name another with --root)"


def _is_closed(root: Path) -> bool:
    try:
        return root.exists() and not os.access(root, os.R_OK | os.X_OK)
    except OSError:  # a folder above it is closed
        return True


async def _runs(session: Session) -> Told:
    """The newest runs, each with the generations of its reports or the reason it cannot be read."""
    try:
        listed, _text = await answering.answer(session, tool_alone("list_runs"), {})
    except TtnnMcpError as refusal:
        return Told([f"  {refusal}"], [str(refusal)])
    rows = answering.records(listed["runs"])
    lines = [f"  {row['id']}  {row['name']}: {await _looked_into(session, row['id'])}" for row in rows[:OPENED]]
    if len(rows) > OPENED:
        lines.append(f"  and {len(rows) - OPENED} older")
    return Told(lines or ["  none yet; 'ttnn-mcp demo' works without"], await _default_doubt(session))


async def _default_doubt(session: Session) -> list[str]:
    """Why the run that the options name cannot be opened; every question without a run asks for it."""
    settings = session.settings
    if settings.run is settings.performance is settings.memory is None:
        return []
    try:
        await session.run(None)
    except TtnnMcpError as refusal:
        return [f"the run that the options name: {refusal}"]
    return []


async def _looked_into(session: Session, run: str) -> str:
    try:
        card, _text = await answering.answer(session, tool_alone("open_run"), {"run": run})
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


class Told(NamedTuple):
    """Lines of the doctor's report, and sentences on what is broken."""

    lines: list[str]
    broken: list[str]


async def remembered(session: Session) -> Told:
    """Where things are remembered, what lies there, and whether it can be used."""
    settings = session.settings
    folder = settings.state_folder
    why = await asyncio.to_thread(obstacle, folder) or await session.registry.fault()
    broken = [f"the state folder cannot be written ({why}): --state chooses another"] if why else []
    archived = archive_state(session.archive, settings.archive_at_most_mb)
    broken += [archived] if archived.startswith(UNCITED) else []
    try:
        await answering.answer(session, tool_alone("experiments"), {"action": "list"})
    except TtnnMcpError as refusal:
        broken.append(str(refusal))
    copies = LOST if why and session.kept.most_bytes else space_of(session.kept)
    place = "nowhere" if folder == NOWHERE else folder
    return Told([f"  {line}" for line in (place, copies, archived)], broken)


def space_of(kept: KeptFiles) -> str:
    """What the copies of large reports take, or why there are none."""
    if not kept.most_bytes:
        return "no copies of large reports (--cache-mb 0): each is parsed again after a restart"
    if not kept.writable():
        return LOST
    return f"with copies of large reports: {kept.held_bytes() / MB:,.0f} of at most {kept.most_bytes / MB:,.0f} MB"


def archive_state(archive: Archive | None, most_mb: int) -> str:
    """What the archive of earlier runs holds, or why answers cite none."""
    if archive is None:
        return "no archive of earlier runs (--archive-mb 0, or without the extra `archive`): answers cite none"
    try:
        parts = archive.parts()
    except ArchiveUnusable as broken:
        return f"{UNCITED}{broken}"
    runs = len({run.run_key for part in parts for run in part.runs})
    size = sum(part.size for part in parts) / MB
    return f"with an archive of {runs} earlier runs: {size:,.0f} of at most {most_mb:,} MB"
