"""What the actions of `experiments` do, but for `record`."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from pathlib import Path

from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.experiments.exchange import read_document, write_document
from ttnn_mcp.experiments.ledgers import SUFFIXES, read_ledger
from ttnn_mcp.experiments.store import Store
from ttnn_mcp.experiments.story import story_of
from ttnn_mcp.experiments.targets import parse_target
from ttnn_mcp.replay.results import is_result, read_results
from ttnn_mcp.session.places import lies_in, place_of
from ttnn_mcp.session.session import Session
from ttnn_mcp.tools.parts.loop_answer import Answer, Arguments, Moved
from ttnn_mcp.tools.parts.loop_runs import best_run_now, log_of, seen_alone
from ttnn_mcp.tools.parts.loop_story import target_progress

EXPORT = "experiments.json"


async def set_target(session: Session, asked: Arguments, text: str) -> Answer:
    """Set when to stop, for the loop that holds the baseline.

    Raises:
        ArgumentsInvalid: the target cannot be understood.
        StoreUnusable: the log cannot be written.
    """
    store = log_of(session)
    known, targets = await store.all()
    story = story_of(known, targets) if asked.baseline is None else None
    baseline = (
        story.baseline
        if story
        else await seen_alone(await session.run(asked.baseline), asked.start_signpost, asked.end_signpost)
    )
    target = parse_target(text, baseline, asked.batch)
    await store.set_target(replace(target, rounds=asked.rounds, hours=asked.hours))
    known, targets = await store.all()
    story = story_of(known, targets, baseline.id)
    return Answer(target=target_progress(story, await best_run_now(session, story)) if story else None)


async def export(session: Session, path: str | None) -> Answer:
    """Write the whole log as JSON.

    Raises:
        QuestionRefused: the path is not ours to write.
        StoreUnusable: the log cannot be read, or the file not written.
    """
    folder = session.settings.state_folder
    if path is not None and session.settings.confined:
        raise QuestionRefused(f"Over HTTP an export goes to {EXPORT} in the state folder: leave out `path`.")
    target = _user_path(path) if path else folder / EXPORT
    known, targets = await Store(folder).all()
    await asyncio.to_thread(write_document, target, known, targets)
    return Answer(file=Moved(path=str(target), experiments=len(known)))


async def bring_in(session: Session, path: str, control: str | None) -> Answer:
    """Add the experiments of an export or of a ledger that are not there yet; `control` names a ledger's row.

    Raises:
        ReportMissing, QuestionRefused: there is no export or ledger at the path.
        StoreUnusable: the log cannot be written.
    """
    source = await asyncio.to_thread(readable, session, path)
    folder = await asyncio.to_thread(os.path.isdir, source)  # False of a name that is too long, too
    if await asyncio.to_thread(is_result, source):
        results = await asyncio.to_thread(read_results, source)
        await asyncio.to_thread(session.replays.keep, results)
        return Answer(file=Moved(path=str(source), experiments=0, replayed=len(results.candidates)))
    if folder or source.suffix.lower() in SUFFIXES:
        ledger = await asyncio.to_thread(read_ledger, source, control)
        new = await Store(session.settings.state_folder).merge(ledger.experiments, ())
        notes = (f"{ledger.without} rows without a time were left out",) if ledger.without else ()
        return Answer(file=Moved(path=str(source), experiments=len(ledger.experiments), new=new), notes=notes)
    document = await asyncio.to_thread(read_document, source)
    new = await Store(session.settings.state_folder).merge(document.experiments, document.targets)
    return Answer(file=Moved(path=str(source), experiments=len(document.experiments), new=new))


def readable(session: Session, path: str) -> Path:
    """The place of a file that a person names. Blocks.

    Raises:
        ReportMissing: the text is no path.
        QuestionRefused: it lies where this server reads nothing.
    """
    source = _user_path(path)
    if session.settings.confined and not _lies_in(source, session.settings.state_folder):
        raise QuestionRefused("Over HTTP only files in the state folder can be imported. Put the file there.")
    return source


def _user_path(text: str) -> Path:
    return place_of(text)


def _lies_in(path: Path, folder: Path) -> bool:
    return lies_in(path, [folder])
