"""What failed: each signature once, with its file, shrunk, and one line to see it again."""

from __future__ import annotations

import json
import shlex
import shutil
import time
from dataclasses import dataclass, field
from hashlib import blake2b

from fuzz.cases import BESIDE, Case
from fuzz.doors import ROOT
from fuzz.questions import PLACE

FOLDER = ROOT / "fuzz" / "failures"
CALL = "case.json"
ABOUT = "failure.json"


@dataclass
class Failure:
    """One signature and how often it was met."""

    part: str
    kind: str
    where: str
    detail: str
    tool: str
    seen: int = 1
    line: str = ""
    tools: set = field(default_factory=set)


class Failures:
    """All failures of a sitting."""

    def __init__(self, folder=FOLDER, out=print):
        self.folder, self.by_signature, self._out = folder, {}, out

    def add(self, part, outcome_tool, flaw, *, keep=None):
        """Count a flaw; a new one is kept by `keep(folder)`, which returns the line that shows it again."""
        signature = (part, flaw.kind, flaw.where)
        known = self.by_signature.get(signature)
        if known is not None:
            known.seen += 1
            known.tools.add(outcome_tool)
            return known
        failure = Failure(part, flaw.kind, flaw.where, flaw.detail, outcome_tool, tools={outcome_tool})
        self.by_signature[signature] = failure
        if keep is not None:
            name = f"{part}-{blake2b(repr(signature).encode(), digest_size=4).hexdigest()}"
            place = self.folder / name
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir(parents=True)
            failure.line = keep(place)
            about = {
                "part": part,
                "kind": flaw.kind,
                "where": flaw.where,
                "detail": flaw.detail,
                "tool": outcome_tool,
            }
            (place / ABOUT).write_text(
                json.dumps({**about, "again": failure.line}, indent=1) + "\n", encoding="utf-8"
            )
        self._out(f"  FAILS {flaw.kind}: {flaw.where} ({outcome_tool}) {flaw.detail[:140]}\n    {failure.line}")
        return failure

    def summary(self):
        """One line per signature, the most frequent first."""
        ordered = sorted(self.by_signature.values(), key=lambda one: -one.seen)
        return [
            f"{one.seen:6} x {one.kind}: {one.where} ({', '.join(sorted(one.tools))})\n           {one.line}"
            for one in ordered
        ]


def emptied(place):
    """The folder of a failure without the files of its case; what is told about it stays."""
    for path in place.rglob("*"):
        if path.is_file() and path.name != ABOUT:
            path.unlink()
    return place


def keep_case(case, place):
    """Write the case's files and calls; the line that asks again."""
    (place / BESIDE).mkdir(exist_ok=True)
    for folder, contents in ((place, case.files), (place / BESIDE, case.base)):
        for name, content in contents.items():
            (folder / name).write_bytes(content)
    about = {
        "calls": case.calls,
        "searched": case.searched,
        "confined": case.confined,
        "written": time.strftime("%Y-%m-%d"),
    }
    (place / CALL).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    return f"python -m fuzz --again {shlex.quote(str(place.relative_to(ROOT)) if place.is_relative_to(ROOT) else str(place))}"


def read_case(place):
    """The case that `keep_case` wrote."""
    about = json.loads((place / CALL).read_text(encoding="utf-8"))
    files = {
        path.name: path.read_bytes()
        for path in place.iterdir()
        if path.is_file() and path.name not in (CALL, ABOUT)
    }
    base = {path.name: path.read_bytes() for path in (place / BESIDE).glob("*")}
    calls = tuple((tool, arguments) for tool, arguments in about["calls"])
    return Case(files, calls, searched=about["searched"], confined=about["confined"], base=base)


__all__ = ["PLACE", "Failure", "Failures", "keep_case", "read_case"]
