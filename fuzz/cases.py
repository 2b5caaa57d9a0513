"""A case: files in a folder and the calls about them. It can be written, asked, kept and asked again."""

from __future__ import annotations

import itertools
import json
import shutil
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path

from fuzz.questions import BASE, PLACE
from fuzz.verdict import Flaw, gap_savings
from fuzz.worker import CPU_SECONDS, Job, Outcome

STATE = "state"
FILES = "reports"
BESIDE = "base"


@dataclass(frozen=True)
class Case:
    """Files by name, and calls in whose arguments PLACE stands for the folder of `files` and BASE for that of `base`."""

    files: dict
    calls: tuple
    limit: float = CPU_SECONDS
    searched: bool = True  # whether the folder is a root, too
    confined: bool = False
    base: dict = field(default_factory=dict)
    told: frozenset = frozenset(
        ("optimization_check", "host_overhead")
    )  # tools whose answers are looked at together

    def only(self, call):
        return replace(self, calls=(call,))


class Room:
    """Where cases are written, one after the other, each in folders of its own."""

    def __init__(self, folder, worker):
        self.folder, self.worker, self._numbers = Path(folder), worker, itertools.count()

    def asked(self, case, watch=True):
        """The outcomes of the calls; one more where the user's files were touched."""
        place = self.folder / f"case-{next(self._numbers)}"
        files, state = place / FILES, place / STATE
        files.mkdir(parents=True)
        beside = place / BESIDE
        beside.mkdir()
        for folder, contents in ((files, case.files), (beside, case.base)):
            for name, content in contents.items():
                (folder / name).write_bytes(content)
        before = _contents(files) if watch else None
        calls = tuple(
            (tool, _placed(arguments, {PLACE: str(files), BASE: str(beside)})) for tool, arguments in case.calls
        )
        job = Job(
            (str(files if case.searched else place / "no-root"),), str(state), calls, case.confined, case.limit,
            case.told,
        )  # fmt: skip
        try:
            outcomes = self.worker.run(job)
            if watch and (touched := _touched(before, _contents(files))):
                last = outcomes[-1].tool if outcomes else "none"
                outcomes.append(Outcome(last, "failure", flaws=(Flaw("wrote", touched, "in the user's folder"),)))
        finally:
            shutil.rmtree(place, ignore_errors=True)
        return outcomes

    def signatures(self, case):
        """What goes wrong in a case: (kind, where) of every flaw."""
        return {(flaw.kind, flaw.where) for outcome in self.asked(case) for flaw in outcome.flaws}


def across(outcomes):
    """Flaws that show only between two answers of one case."""
    answers = {one.tool: json.loads(one.text) for one in reversed(outcomes) if one.status == "answer" and one.text}
    if {"optimization_check", "host_overhead"} <= set(answers):
        return gap_savings(answers["optimization_check"], answers["host_overhead"])
    return []


def _placed(value, folders):
    if isinstance(value, str):
        for mark, folder in folders.items():
            value = value.replace(mark, folder)
        return value
    if isinstance(value, list):
        return [_placed(one, folders) for one in value]
    return {name: _placed(one, folders) for name, one in value.items()} if isinstance(value, dict) else value


def _contents(folder):
    seen = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        content = blake2b(path.read_bytes()).hexdigest() if path.is_file() else ""
        seen[path.name] = (status.st_size, status.st_mtime_ns, status.st_mode, content)
    return seen


def _touched(before, after):
    return ", ".join(sorted(name for name in {*before, *after} if before.get(name) != after.get(name)))
