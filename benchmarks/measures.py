"""The measures of small reports. Each alternates between us and what we compare with, and compares medians."""

import asyncio
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
REAL = ROOT.parent / "shared" / "data" / "perf"
ROUNDS = 7
# columns that go on from one repeat of the rows to the next
TOGETHER = (
    ("GLOBAL CALL COUNT",),
    ("HOST START TS", "HOST END TS"),
    ("DEVICE FW START CYCLE", "DEVICE FW END CYCLE"),
)
LATER = 2048  # two call counts, which hold the device in their last 10 bits; as cycles or ns, a short gap
OURS = [sys.executable, "-m", "ttnn_mcp"]
BARE = [sys.executable, "-c", "from mcp.server import MCPServer; MCPServer('bare').run()"]
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
FIRST = [
    {"jsonrpc": "2.0", "id": number, "method": method, "params": {"_meta": META}}
    for number, method in enumerate(("server/discover", "tools/list"))
]
SECOND_CALL_S = 0.05


@dataclass(frozen=True)
class Result:
    """What came out: `ratio` is None where it could not be measured."""

    what: str
    said: str
    ratio: float | None = None
    at_most: float = 0.0

    @property
    def missed(self):
        return self.ratio is not None and self.ratio > self.at_most

    @property
    def verdict(self):
        """Whether the promise holds; nothing where none was made."""
        return "" if self.ratio is None else "  MISSED" if self.missed else "  holds"


def told(results):
    """Print each result as it comes, then which promises do not hold; 1 if there is one."""
    missed = []
    for result in results:
        print(f"{result.what}\n  {result.said}{result.verdict}", flush=True)
        missed += [result.what] * result.missed
    print("all promises hold" if not missed else f"{len(missed)} missed: {'; '.join(missed)}")
    return 1 if missed else 0


def compared(what, ours, theirs, at_most, rounds=ROUNDS):
    """Alternate two actions after one unmeasured round of each; the ratio of their medians."""
    ours(), theirs()
    times = {ours: [], theirs: []}
    for _ in range(rounds):
        for action in (ours, theirs):
            began = time.perf_counter()
            action()
            times[action].append(time.perf_counter() - began)
    mine, other = (statistics.median(times[action]) for action in (ours, theirs))
    ratio = mine / other
    return Result(what, f"{mine:.3f} s against {other:.3f} s: {ratio:.2f} (at most {at_most})", ratio, at_most)


def missing(what, path):
    return None if path.exists() else Result(what, f"skipped: there is no {path}")


def environment(folder):
    """As our users have it: a state folder, and modules compiled once."""
    ours = {"XDG_STATE_HOME": str(folder), "HOME": str(folder)}
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | ours


def ready():
    """Spawn to the list of tools over stdio, against the smallest server of the same SDK."""

    def first_answer(command):
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT)
        for message in FIRST:
            process.stdin.write(json.dumps(message).encode() + b"\n")
            process.stdin.flush()
            if b'"result"' not in process.stdout.readline():
                raise RuntimeError(f"no answer from {command}")
        return process

    def one(command):
        process = first_answer(command)
        process.kill()  # how long it takes to leave is not the question
        process.communicate()

    return compared("tools over stdio, against a bare MCPServer", lambda: one(OURS), lambda: one(BARE), 0.35)


def at_a_shell():
    """One call of the command, against a Python that does nothing but read the same file with pandas."""
    what = "ttnn-mcp call open_run, against pandas.read_csv"
    report = REAL / "wh_clip_encoder_2.csv"
    reading = [sys.executable, "-c", f"import pandas; pandas.read_csv({str(report)!r})"]
    with tempfile.TemporaryDirectory() as folder:
        calling = [*OURS, "call", "open_run", f"performance={report}"]
        run = lambda command: subprocess.run(  # noqa: E731
            command, check=True, capture_output=True, cwd=ROOT, env=environment(folder)
        )
        return missing(what, report) or compared(what, lambda: run(calling), lambda: run(reading), 2)


def second_call():
    """A question about a run that is open already."""
    what = "a second question about an open run"
    report = REAL / "wh_clip_encoder_2.csv"
    absent = missing(what, report)
    if absent:
        return absent
    from ttnn_mcp.session.session import Session, Settings
    from ttnn_mcp.tools import TOOLS
    from ttnn_mcp.tools.answering import answer, tool_named

    async def measured(folder):
        session = Session(Settings(state=Path(folder)))
        given = {"run": str(report)}
        await answer(session, tool_named("open_run", TOOLS), given)
        slowest = ("", 0.0)
        for tool in TOOLS:
            if set(tool.input_schema.get("required", ())) or "run" not in tool.arguments.model_fields:
                continue
            times = []
            for _ in range(ROUNDS):
                began = time.perf_counter()
                try:
                    await answer(session, tool, given)
                except Exception as refusal:  # noqa: BLE001 - a refusal takes its time as well
                    type(refusal)
                times.append(time.perf_counter() - began)
            slowest = max(slowest, (tool.name, statistics.median(times)), key=lambda pair: pair[1])
        return slowest

    with tempfile.TemporaryDirectory() as folder:
        name, seconds = asyncio.run(measured(folder))
    ratio = seconds / SECOND_CALL_S
    return Result(what, f"{seconds * 1000:.1f} ms for the slowest, {name} (at most 50 ms)", ratio, 1.0)


def repeated(source, target, rows):
    """`source`'s rows again and again, each time as much later as all of them last, until there are `rows`."""
    with source.open(newline="") as lines, target.open("w", newline="") as out:
        header, *body = csv.reader(lines)
        spans = dict(_spans(header, body))
        writer = csv.writer(out)
        writer.writerow(header)
        for times, number in (divmod(row, len(body)) for row in range(rows)):
            cells = [*body[number]]
            for column, span in spans.items():
                cells[column] = str(int(cells[column]) + times * span)
            writer.writerow(cells)


def _spans(header, body):
    """What a repeat of the rows adds to counters and clocks, by their columns."""
    for names in TOGETHER:
        columns = [header.index(name) for name in names]
        every = [int(row[column]) for column in columns for row in body]
        for column in columns:
            yield column, max(every) - min(every) + LATER


MEASURES = (ready, at_a_shell, second_call)
