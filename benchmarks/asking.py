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

async def asked():
    session = Session(Settings(state=Path(state)))
    tool = tool_named(name, TOOLS)
    await answer(session, tool, {"run": "demo"})
    costs = []
    for _ in range(2):
        warmed(report)
        began, worked = time.perf_counter(), time.process_time()
        structured, _text = await answer(session, tool, {"run": report})
        wall = time.perf_counter() - began
        session.kept.finish()
        cost = wall, time.process_time() - worked
        costs.append([*cost, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024])
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
