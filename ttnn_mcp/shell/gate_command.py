"""The commands `gate` and `baseline`: the questions they ask, and what they print."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from ttnn_mcp.errors import RunUnknown, StoreUnusable, TtnnMcpError, shown, shown_path
from ttnn_mcp.session.pair import SHOWN_CHARS
from ttnn_mcp.session.session import identity
from ttnn_mcp.shell.gate import Ruling, judged, pull_request, share_of
from ttnn_mcp.shell.one_tool import tool_alone
from ttnn_mcp.shell.suggestions import spoken_here
from ttnn_mcp.tools import answering

if TYPE_CHECKING:
    import argparse

    from ttnn_mcp.run.run import Run
    from ttnn_mcp.session.session import Session

JSON_FIELDS = ("ran_out", "verdict", "change_share", "noise_share", "kernel_ms", "baseline", "candidate")


async def gate(session: Session, options: argparse.Namespace) -> tuple[str, int]:
    """What to print, and the exit status."""
    worse = share_of(options.worse)
    try:
        answer, names = await _compared(session, options)
    except TtnnMcpError as refusal:
        why = spoken_here(str(refusal))
        outcome = Ruling("cannot_judge", why)
        printed = {"outcome": outcome.outcome, "why": outcome.why}
        text = f"{json.dumps(printed)}\n" if options.json else f"### TTNN performance: cannot judge\n\n{why}\n"
        return text, outcome.status(bisect=options.bisect)
    outcome = judged(answer, worse)
    status = outcome.status(bisect=options.bisect)
    if not options.json:
        return pull_request(answer, outcome, names), status
    printed = {
        "outcome": outcome.outcome,
        "why": outcome.why,
        **{name: answer[name] for name in JSON_FIELDS if name in answer},
    }
    return f"{json.dumps(printed)}\n", status


async def _compared(session: Session, options: argparse.Namespace) -> tuple[dict[str, Any], tuple[str, str]]:
    before, after = await _unchanged(session, options.baseline), await session.run(options.candidate)
    arguments = {
        "baseline": before.id,
        "candidate": after.id,
        "repeats": [(await session.run(repeat)).id for repeat in options.repeat] or None,
        "start_signpost": options.start_signpost,
        "end_signpost": options.end_signpost,
    }
    answer, _text = await answering.answer(session, tool_alone("compare_runs"), arguments)
    return answer, (before.name, after.name)


async def _unchanged(session: Session, baseline: str) -> Run:
    """The baseline, if its report is the one that got the name.

    Raises:
        RunUnknown: the report was overwritten since.
        ReportMissing: it is gone; what else has the name is not what was meant.
    """
    for known in await session.registry.called(baseline):
        if not known.named_by_hand:
            continue
        now = await asyncio.to_thread(identity, known.pair, session.kept)
        if not now.startswith(known.id):  # opening it by its name would take what lies there now
            raise RunUnknown(
                f"The report of baseline '{shown(baseline)}' was overwritten: it was run {known.shown_id}, the file "
                f"now holds {now[:SHOWN_CHARS]}. Name it again with: ttnn-mcp baseline {shown(baseline)} PATH"
            )
    return await session.run(baseline)


async def baseline(session: Session, name: str | None, path: str | None) -> str:
    """Name a run, or list the names: what to print.

    Raises:
        StoreUnusable: the name cannot be kept.
    """
    if name is None:
        known = [run for run in await session.registry.all() if run.named_by_hand]
        if not known:
            return "No run has a name yet. Give one: ttnn-mcp baseline main PATH\n"
        return "".join(
            f"{run.name}  {run.shown_id}  {', '.join(map(shown_path, run.pair.paths))}\n" for run in known
        )
    named = await session.named(await session.run(path), name, move_name=True)
    if session.forgetful:
        raise StoreUnusable(
            f"No name can be kept: the state folder cannot be written ({session.forgetful}). --state chooses another."
        )
    moved = f"; {named.renamed}" if named.renamed else ""
    return f"{name} is run {named.id}{moved}\n"
