"""A question asked in a process of its own, as after a restart: only the state folder stays."""

import json
import subprocess
import sys

from benchmarks.clock import WARMED, Cost
from benchmarks.measures import ROOT, environment

ASK = (
    WARMED
    + """
import asyncio, json, resource, sys, time
from pathlib import Path
from ttnn_mcp.session.session import Session, Settings
from ttnn_mcp.tools import TOOLS
from ttnn_mcp.tools.answering import answer, tool_named
state, report, name = sys.argv[1:]

# CPU seconds of this process and of those that it started, and the most memory of it and of one of them, in MB.
def spent():
    each = [resource.getrusage(which) for which in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in each), sum(one.ru_maxrss for one in each) / 1024

async def asked():
    session = Session(Settings(state=Path(state)))
    tool = tool_named(name, TOOLS)
    await answer(session, tool, {"run": "demo"})
    costs = []
    for _ in range(2):
        warmed(report)
        began, (worked, _) = time.perf_counter(), spent()
        structured, _text = await answer(session, tool, {"run": report})
        wall = time.perf_counter() - began
        session.kept.finish()
        until, megabytes = spent()
        costs.append([wall, until - worked, megabytes])
    return costs, structured

print(json.dumps(asyncio.run(asked())))
"""
)


def ask(state, report, tool):
    """The costs of the first and of the second answer of a process, and the answer.

    The process has answered for the demo before: imports, and the start of Python, are in none of them. The wall time
    ends with the answer; CPU time and memory also count what writes the copy, which the answer does not wait for.
    """
    command = [sys.executable, "-c", ASK, str(state), str(report), tool]
    ran = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT, env=environment(state))
    costs, answer = json.loads(ran.stdout)
    return [Cost(*cost) for cost in costs], answer
