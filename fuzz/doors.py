"""The public doors of ttnn-mcp: the only file here that imports the package or starts its command.

In-process there are the tools and a session; outside there is the server, over stdio and over HTTP. Whoever renames
a door puts it right here and nowhere else.
"""

from __future__ import annotations

import http.client
import importlib
import io
import json
import logging
import os
import pkgutil
import select
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
COMMAND = [sys.executable, "-m", "ttnn_mcp"]
PACKAGE = "ttnn_mcp"
BUG = "this is a bug in ttnn-mcp"  # what a client reads of a failure that nobody foresaw
CHECK_BUG = "a bug in ttnn-mcp"
_PROTOCOL = "2026-07-28"
_META = {
    "io.modelcontextprotocol/protocolVersion": _PROTOCOL,
    "io.modelcontextprotocol/clientCapabilities": {},
}


@cache
def tools():
    """Name -> (input schema, output schema) of every tool."""
    from ttnn_mcp.tools import TOOLS

    return {tool.name: (tool.input_schema, tool.output_schema) for tool in TOOLS}


@cache
def pages():
    """The tools whose answer is sent as a page of plain text."""
    from ttnn_mcp.tools import TOOLS

    return {tool.name for tool in TOOLS if tool.prose}


def refusal():
    """The class of our own sentences."""
    from ttnn_mcp.errors import TtnnMcpError

    return TtnnMcpError


def largest_answer():
    """How many bytes an answer may have."""
    from ttnn_mcp.tools.answering import LIMIT_BYTES

    return LIMIT_BYTES


def columns_of(report, folder):
    """A report's cells, caveats and iterations as they are read, with copies in `folder` unless that is None."""
    from ttnn_mcp.readers.kept_files import KeptFiles
    from ttnn_mcp.run.kept_report import performance_of

    kept = None if folder is None else KeptFiles(folder, 1 << 30)
    read = performance_of(report, kept, 0)
    if kept is not None:
        kept.finish()  # its copy is written beside the answer
    iterations = (*read.iterations.number.tolist(), read.iterations.count, read.iterations.found_by)
    return _cells(read.csv.frame), read.csv.headers, read.csv.lost, read.csv.caveats, iterations


def _cells(frame):
    """Per column, its cells: numbers as bytes, so that NaN is NaN, and texts."""
    return {
        name: [column.distinct[code] if code >= 0 else None for code in column.codes.tolist()]
        if hasattr(column, "codes")
        else frame.numbers(name).tobytes()
        for name, column in frame.columns.items()
    }


def markdown_of(name):
    """A name of a profile inside a page of Markdown."""
    from ttnn_mcp.shell.markdown import text

    return text(name)


def session(roots, state, *, confined=False):
    """A session as the server holds one."""
    from ttnn_mcp.session.session import Session, Settings

    return Session(
        Settings(roots=tuple(Path(root) for root in roots), state=Path(state), confined=confined, archive_mb=0)
    )


async def ask(at, tool, arguments):
    """One call as both doors make it; the answer as one line of JSON."""
    from ttnn_mcp.tools import TOOLS
    from ttnn_mcp.tools.answering import answer, tool_named

    _structured, text = await answer(at, tool_named(tool, TOOLS), arguments)
    return text


def warm():
    """Import what tools need, so that processes forked from here on begin ready. Nothing is called: threads do not fork."""
    import pandas as pd

    for module in pkgutil.walk_packages([str(ROOT / PACKAGE)], f"{PACKAGE}."):
        if not module.name.startswith((f"{PACKAGE}.shell", f"{PACKAGE}.server", f"{PACKAGE}.__main__")):
            importlib.import_module(module.name)
    pd.read_csv(io.StringIO("a\n1\n"))
    tools()


class RaisedInside(logging.Handler):
    """Collects what was raised and caught inside: a check that failed is logged, and its answer goes on without."""

    def __init__(self):
        super().__init__(logging.ERROR)
        self.raised = []

    def emit(self, record):
        if record.exc_info and record.exc_info[1] is not None:
            self.raised.append(record.exc_info[1])

    def take(self):
        taken, self.raised = self.raised, []
        return taken


@contextmanager
def logged():
    """What is logged with a traceback, for as long as the context lasts."""
    collected = RaisedInside()
    top = logging.getLogger()
    top.addHandler(collected)
    try:
        yield collected
    finally:
        top.removeHandler(collected)


class Gone(Exception):  # noqa: N818 - an outcome
    """The server ended, or did not answer in time."""


class _Server:
    """A server process of our own, with a home of its own."""

    def __init__(self, words, home, stdin):
        self.errors = open(Path(home) / "stderr", "w+", encoding="utf-8", errors="replace")  # noqa: SIM115, PTH123
        self.process = subprocess.Popen(
            [*COMMAND, *words],
            stdin=stdin,
            stdout=subprocess.PIPE if stdin else subprocess.DEVNULL,
            stderr=self.errors,
            cwd=ROOT,
            env={**os.environ, "HOME": str(home), "XDG_STATE_HOME": str(home), "PYTHONFAULTHANDLER": "1"},
        )

    @property
    def pid(self):
        return self.process.pid

    def said(self):
        """What stands in stderr so far."""
        self.errors.flush()
        return Path(self.errors.name).read_text(encoding="utf-8", errors="replace")

    def abort(self):
        """End a server that hangs; the traces of its threads go to stderr."""
        self.process.send_signal(6)
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.errors):
            if pipe:
                pipe.close()


class Stdio(_Server):
    """A client of `ttnn-mcp` over its pipes."""

    def __init__(self, home, *words):
        super().__init__(words, home, subprocess.PIPE)
        self._number = 0
        self._rest = b""
        self.request("server/discover", {}, 60)

    def raw(self, line):
        """Put a line on the pipe as it is."""
        try:
            self.process.stdin.write(line + b"\n")
            self.process.stdin.flush()
        except OSError as broken:
            raise Gone(str(broken)) from None

    def request(self, method, params, seconds):
        """The answer to one request, as it stands in JSON."""
        self._number += 1
        asked = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": {**params, "_meta": _META}}
        self.raw(json.dumps(asked).encode())
        until = time.monotonic() + seconds
        while True:
            answer = json.loads(self._line(until))
            if answer.get("id") == self._number:
                return answer

    def call(self, tool, arguments, seconds=60):
        return self.request("tools/call", {"name": tool, "arguments": arguments}, seconds)

    def _line(self, until):
        while b"\n" not in self._rest:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0.0, until - time.monotonic()))
            if not ready:
                raise Gone("no answer in time")
            read = os.read(self.process.stdout.fileno(), 1 << 16)
            if not read:
                raise Gone(f"the server ended with {self.process.wait()}")
            self._rest += read
        line, _, self._rest = self._rest.partition(b"\n")
        return line


class Http(_Server):
    """A client of `ttnn-mcp serve --http` on loopback."""

    def __init__(self, home, root, state, *words):
        super().__init__(
            ["serve", "--http", "127.0.0.1:0", "--root", str(root), "--state", str(state), *words], home, None
        )
        until = time.monotonic() + 60
        while "/mcp" not in self.said():
            if self.process.poll() is not None or time.monotonic() > until:
                raise Gone(f"the server did not start: {self.said()[-300:]}")
            time.sleep(0.05)
        self.port = int(self.said().partition("127.0.0.1:")[2].partition("/")[0])
        self._connection = None

    def _connected(self):
        if self._connection is None:
            self._connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
            self._connection.connect()
            self._connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return self._connection

    def request(self, method, params, name=None, token=None):
        """Status and body of one request."""
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": _META}})
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": _PROTOCOL,
            "Mcp-Method": method,
            **({"Mcp-Name": name} if name else {}),
            **({"Authorization": f"Bearer {token}"} if token else {}),
        }
        was_open = self._connection is not None
        try:
            return self._posted(body.encode(), headers)
        except (OSError, http.client.HTTPException) as broken:
            self._connection = None
            if was_open and isinstance(
                broken, ConnectionError
            ):  # it idled too long, and was closed: as clients do, once more
                return self.request(method, params, name, token)
            raise Gone(f"{type(broken).__name__}: {broken}") from None

    def _posted(self, body, headers):
        connection = self._connected()
        connection.request("POST", "/mcp", body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode("utf-8", "replace")
