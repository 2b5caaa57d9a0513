"""A report opened before against its first time, in one run: python -m benchmarks.bench_again [rows ...].

Each side is a process of its own, which has answered for the demo before the clock starts: imports, and the start of
Python, are in neither side. Between the two, only the state folder stays: the second process is a restart.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.measures import REAL, ROOT, Result, environment, missing, repeated

AT_MOST = 0.1
ROWS = (200_000, 1_000_000)
ROUNDS = 3
SETTLED_S = 2.5  # a file that was changed less than two seconds ago is not trusted to be settled
TOOLS = ("open_run", "optimization_check")
ASK = """
import asyncio, json, sys, time
from pathlib import Path
from ttnn_mcp.session.session import Session, Settings
from ttnn_mcp.tools import TOOLS
from ttnn_mcp.tools.answering import answer, tool_named
state, report, name = sys.argv[1:]

async def asked():
    session = Session(Settings(state=Path(state)))
    tool = tool_named(name, TOOLS)
    await answer(session, tool, {"run": "demo"})
    began = time.perf_counter()
    structured, _text = await answer(session, tool, {"run": report})
    return time.perf_counter() - began, structured

print(json.dumps(asyncio.run(asked())))
"""


def ask(state, report, tool):
    """Seconds until the answer, and the answer."""
    command = [sys.executable, "-c", ASK, str(state), str(report), tool]
    ran = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT, env=environment(state))
    return json.loads(ran.stdout)


def again(rows, tool, rounds=ROUNDS):
    """The second process against the first, which wrote the copy; the answers must be the same."""
    what = f"{tool} of {rows:,} rows after a restart, against the first time"
    source = REAL / "wh_clip_encoder_2.csv"
    absent = missing(what, source)
    if absent:
        return absent
    firsts, seconds = [], []
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "reports" / "ops_perf_results_large.csv"
        report.parent.mkdir()
        repeated(source, report, rows)
        time.sleep(SETTLED_S)
        for number in range(rounds):
            state = Path(folder) / f"state{number}"
            first, told = ask(state, report, tool)
            second, told_again = ask(state, report, tool)
            if told != told_again:
                raise RuntimeError(f"another answer from the copy: {tool}")
            firsts.append(first)
            seconds.append(second)
    first, second = statistics.median(firsts), statistics.median(seconds)
    ratio = second / first
    return Result(what, f"{second:.3f} s against {first:.3f} s: {ratio:.3f} (at most {AT_MOST})", ratio, AT_MOST)


def again_200k():
    """The question that opens a report, at the size of a long profile."""
    return again(ROWS[0], TOOLS[0])


def again_1m():
    """The same at a million rows."""
    return again(ROWS[1], TOOLS[0])


MEASURES = (again_200k, again_1m)

if __name__ == "__main__":
    for size in [int(word) for word in sys.argv[1:]] or ROWS:
        for question in TOOLS:
            result = again(size, question)
            print(f"{result.what}\n  {result.said}", flush=True)
