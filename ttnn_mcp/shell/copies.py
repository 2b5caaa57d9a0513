"""What the doctor says of what is remembered: the folder, the copies of large reports, the archive, the log."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

from ttnn_mcp.errors import ArchiveUnusable, TtnnMcpError
from ttnn_mcp.session.settings import MB
from ttnn_mcp.session.state_folder import NOWHERE, obstacle
from ttnn_mcp.shell.one_tool import tool_alone
from ttnn_mcp.tools import answering

if TYPE_CHECKING:
    from ttnn_mcp.archive.store import Archive
    from ttnn_mcp.readers.kept_files import KeptFiles
    from ttnn_mcp.session.session import Session

LOST = "no copies of large reports, as this folder cannot be written: each is parsed anew after a restart"
UNCITED = "answers cite no earlier runs: "


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
        return "no copies of large reports (--cache-mb 0): each is parsed anew after a restart"
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
