"""One process that answers, and one that watches it: a call that never ends, or takes the machine's memory, is ended.

The worker is forked once and answers many cases; only after it had to be killed there is a new one.
"""

from __future__ import annotations

import asyncio
import contextlib
import faulthandler
import gc
import multiprocessing
import os
import re
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from dataclasses import dataclass, field
from pathlib import Path

from fuzz import doors, verdict
from fuzz.verdict import Flaw

CPU_SECONDS = 10.0  # one call may take
WALL_SECONDS = 120.0  # on a machine that others use, too; beyond it a call waits for something that never comes
GROWTH_KB = 1 << 20  # one call may add to the memory held
ADDRESS_BYTES = 6 << 30  # a call that asks for more than a fork begins with fails instead of taking the machine
LOOKS_PER_SECOND = 4
KNOWN_AFTER = (
    2.0  # CPU seconds after which a call is ended at a place that was slow before: more is learned elsewhere
)
TICKS = os.sysconf("SC_CLK_TCK")
_FRAME = re.compile(r'File "[^"]*?/ttnn_mcp/([^"]+)", line \d+ in (\w+)')


@dataclass(frozen=True)
class Outcome:
    """What one call came to: an answer, a refusal, or flaws."""

    tool: str
    status: str  # answer, refusal, failure
    text: str = ""
    flaws: tuple[Flaw, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True)
class Job:
    """Calls to make one after the other in one fresh session. `limit` is the CPU time that each may take."""

    roots: tuple[str, ...]
    state: str
    calls: tuple[tuple[str, dict], ...]
    confined: bool = False
    limit: float = CPU_SECONDS
    keep_text: frozenset = field(default_factory=frozenset)  # tools whose answers are sent back


class Worker:
    """The watcher's side."""

    def __init__(self):
        self._process = self._pipe = self._traces = None
        self.restarts = 0
        self._slow_before = set()

    def run(self, job):
        """The outcome of every call, as far as the worker lived; the call that ended it is the last."""
        if self._process is None:
            self._start()
        with contextlib.suppress(BrokenPipeError):  # gone since: told below
            self._pipe.send(job)
        outcomes = []
        for tool, _arguments in job.calls:
            outcome = self._watched(tool, job.limit)
            outcomes.append(outcome)
            if self._process is None:
                break
        return outcomes

    def close(self):
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._pipe.close()
            Path(self._traces).unlink(missing_ok=True)
            self._process = None

    def _start(self):
        if not self.restarts:
            doors.warm()
            gc.collect()
            gc.freeze()  # what is loaded stays, and the worker need not look at it
        context = multiprocessing.get_context("fork")
        self._pipe, other = context.Pipe()
        handle, self._traces = tempfile.mkstemp(prefix="fuzz-traces-")
        os.close(handle)
        self._process = context.Process(target=_serve, args=(other, self._traces), daemon=True)
        self._process.start()
        other.close()
        self.restarts += 1

    def _watched(self, tool, limit):
        began, cpu = time.monotonic(), _cpu(self._process.pid)
        while True:
            try:
                if self._pipe.poll(1 / LOOKS_PER_SECOND):
                    return self._pipe.recv()
            except (EOFError, OSError):
                return self._ended(tool, Flaw("died", "process", f"the process ended: {self._code()}"))
            took, waited = _cpu(self._process.pid) - cpu, time.monotonic() - began
            if took > limit or waited > WALL_SECONDS:
                place = self._where()
                kind = "slow" if took > limit else "stuck"
                self._slow_before.add(place)
                return self._ended(tool, Flaw(kind, place, f"ended after {took:.0f} s CPU, {waited:.0f} s"))
            if took > KNOWN_AFTER and self._slow_before and (place := self._where()) in self._slow_before:
                return self._ended(tool, Flaw("slow", place, f"ended after {took:.0f} s CPU, as before"))

    def _where(self):
        """The function of ours that is at work, out of the traces of all threads."""
        Path(self._traces).write_bytes(b"")
        with contextlib.suppress(OSError):
            os.kill(self._process.pid, signal.SIGUSR1)
        time.sleep(0.3)
        found = _FRAME.search(Path(self._traces).read_text(errors="replace"))
        return f"{found[1]}:{found[2]}" if found else "outside the package"

    def _code(self):
        self._process.join(2)
        return self._process.exitcode

    def _ended(self, tool, flaw):
        self.close()
        return Outcome(tool, "failure", flaws=(flaw,))


def _cpu(pid):
    """CPU seconds of a process so far; 0 where it has gone."""
    try:
        parts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(parts[11]) + int(parts[12])) / TICKS


def _serve(pipe, traces):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warnings.simplefilter("ignore")
    sys.stderr = open(os.devnull, "w")  # noqa: SIM115, PTH123
    with open(traces, "a") as file, doors.logged() as raised:  # noqa: PTH123
        faulthandler.register(signal.SIGUSR1, file=file, all_threads=True)
        most = ADDRESS_BYTES + int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        asyncio.run(_answer_all(pipe, raised))


async def _answer_all(pipe, raised):
    while True:
        try:
            job = pipe.recv()
        except (EOFError, OSError):
            return
        at = doors.session(job.roots, job.state, confined=job.confined)
        for tool, arguments in job.calls:
            outcome = await _answered(at, tool, arguments, raised, job)
            pipe.send(outcome)


async def _answered(at, tool, arguments, raised, job):
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.process_time()
    status, text, found = "answer", "", []
    try:
        text = await doors.ask(at, tool, arguments)
    except doors.refusal() as refused:
        status, text = "refusal", str(refused)
        found += verdict.sentence_flaws(tool, text)
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is the outcome
        status, text = "failure", ""
        found.append(raised_flaw("unforeseen", error))
    seconds = time.process_time() - began
    if status == "answer":
        found += verdict.flaws(tool, text)
    found += [raised_flaw("raised inside", error) for error in raised.take()]
    if seconds > job.limit:
        found.append(Flaw("slow", tool, f"{seconds:.1f} s CPU"))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - held
    if grown > GROWTH_KB:
        found.append(Flaw("memory", tool, f"{grown >> 10} MB more"))
    kept = text if tool in job.keep_text or found or status == "refusal" else ""
    return Outcome(tool, "failure" if found else status, kept[:100_000], tuple(dict.fromkeys(found)), seconds)


def raised_flaw(kind, error):
    """The exception and the deepest function of ours that it went through."""
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__) if f"/{doors.PACKAGE}/" in frame.filename
    ]
    place = "outside the package"
    if frames:
        last = frames[-1]
        place = f"{last.filename.rpartition(f'/{doors.PACKAGE}/')[2]}:{last.name}"
    return Flaw(kind, f"{place} {type(error).__name__}", ascii(error)[:200])
