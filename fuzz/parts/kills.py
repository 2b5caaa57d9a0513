"""SIGKILL of processes that record experiments and open runs: what was acknowledged must be there afterwards, once."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from contextlib import suppress

from fuzz import doors
from fuzz.apart import apart
from fuzz.verdict import Flaw
from tests.pairs import Model, write

WRITERS = 3
LONGEST = 1.2  # seconds a writer lives
KILLS_PER_STATE = 25


def run(sitting):
    """Kills until the time is up. Each number is one kill of several writers on one store."""
    folder = sitting.folder
    runs = [write(folder / f"run{at}", Model(layers=1, up_ns=up)) for at, up in enumerate((90_000, 60_000))]
    doors.warm()
    acknowledged, state = [], None
    for number in sitting.numbers():
        rng = sitting.random(number)
        if state is None or number % KILLS_PER_STATE == 0:
            acknowledged, state = [], folder / f"state-{number}"
        new = killed(rng, state, runs, number)
        acknowledged += new
        sitting.tally["kills"] += WRITERS
        sitting.tally["acknowledged"] += len(new)
        sitting.count("answer", missing(folder, state, runs, acknowledged), "experiments")


def killed(rng, state, runs, number):
    """Writers, forked and killed at times of their own; the changes that were acknowledged."""
    writers = []
    for at in range(WRITERS):
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reading)
            _write_until_killed(state, runs, f"{number}-{at}", writing)
        os.close(writing)
        writers.append((time.monotonic() + rng.uniform(0.02, LONGEST), pid, reading))
    said = []
    for at, pid, reading in sorted(writers):
        time.sleep(max(0.0, at - time.monotonic()))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        with os.fdopen(reading, "rb") as pipe:
            said += [line.decode() for line in pipe.read().split(b"\n")[:-1]]
    return said


def _write_until_killed(state, runs, name, pipe):
    with suppress(BaseException):
        at = doors.session([state.parent / "none"], state)

        async def loop():
            for count in range(10_000):
                change = f"{name}-{count}"
                await _record(at, runs, change)
                os.write(pipe, f"{change}\n".encode())

        asyncio.run(loop())
    os._exit(1)


async def _record(at, runs, change):
    arguments = {"action": "record", "change": change, "pcc": 0.9995, "baseline": runs[0], "candidate": runs[1]}
    return await doors.ask(at, "experiments", arguments)


def missing(folder, state, runs, acknowledged):
    """What is wrong with the store now."""
    out = folder / "export.json"
    out.unlink(missing_ok=True)

    async def look():
        at = doors.session([folder / "none"], state)
        await _record(at, runs, "after the kill")
        await doors.ask(at, "experiments", {"action": "list"})
        await doors.ask(at, "list_runs", {})
        await doors.ask(at, "experiments", {"action": "export", "path": str(out)})

    try:
        apart(look)
    except RuntimeError as unusable:
        return [Flaw("store unusable", "experiments", str(unusable))]
    experiments = json.loads(out.read_text(encoding="utf-8"))["experiments"]
    changes = [one["change"] for one in experiments]
    ids = [one["id"] for one in experiments]
    flaws = []
    if lost := sorted(set(acknowledged) - set(changes)):
        flaws.append(Flaw("lost", "experiments", f"{len(lost)} acknowledged, such as {lost[0]}"))
    if len(set(ids)) != len(ids):
        flaws.append(Flaw("ids twice", "experiments"))
    told = [change for change in changes if change != "after the kill"]
    if len(set(told)) != len(told):
        flaws.append(Flaw("recorded twice", "experiments"))
    return flaws
