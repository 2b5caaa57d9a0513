"""The processes of the proof: scheduler and workers over TCP, an S3-compatible server, and ttnn-mcp itself."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager, suppress

PATIENCE_S = 60.0
KEYS = {"AWS_ACCESS_KEY_ID": "made", "AWS_SECRET_ACCESS_KEY": "made", "AWS_DEFAULT_REGION": "us-east-1"}
QUIET = {"DASK_DISTRIBUTED__LOGGING__DISTRIBUTED": "error"}


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def listening(port):
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.1)
    raise AssertionError(f"nothing listens on port {port} after {PATIENCE_S:.0f} s")


@contextmanager
def running(*words, log, env=None):
    """A process of ours, ended by its id when the context ends."""
    with log.open("ab") as out:
        process = subprocess.Popen(
            [sys.executable, *words],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            env={**os.environ, **(env or {})},
        )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class Cluster:
    """A scheduler, and workers that come and go."""

    def __init__(self, folder, stack, env=None):
        self._folder, self._stack, self._env = folder, stack, {**QUIET, **(env or {})}
        port = free_port()
        self.address = f"tcp://127.0.0.1:{port}"
        words = (
            "-m",
            "distributed.cli.dask_scheduler",
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
            "--no-dashboard",
        )
        stack.enter_context(running(*words, log=folder / "scheduler.log", env=self._env))
        listening(port)
        self.workers = []

    def add_worker(self):
        place = self._folder / f"worker-{len(self.workers)}"
        place.mkdir()
        words = (
            "-m",
            "distributed.cli.dask_worker",
            self.address,
            "--nthreads",
            "1",
            "--no-nanny",
            "--no-dashboard",
        )
        words = (*words, "--local-directory", str(place), "--host", "127.0.0.1")
        worker = self._stack.enter_context(running(*words, log=place / "log", env=self._env))
        self.workers.append(worker)
        self.wait_for(sum(worker.poll() is None for worker in self.workers))
        return worker

    def wait_for(self, count):
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(count, timeout=PATIENCE_S)
            client.run(_loaded)

    def kill(self, worker):
        os.kill(worker.pid, signal.SIGKILL)
        worker.wait()


def _loaded():
    """Import what a worker needs, so that no measurement holds it."""
    import duckdb
    import pandas as pd

    from ttnn_mcp.archive import adding

    return len((duckdb.__name__, pd.__name__, adding.__name__))


def command(*words, env=None):
    return subprocess.Popen(
        [sys.executable, "-m", "ttnn_mcp", "archive", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **(env or {})},
    )


def finished(process, *statuses):
    """The JSON that the command printed, if it ended with one of the statuses."""
    out, err = process.communicate()
    assert process.returncode in (statuses or (0,)), (process.returncode, err[-2000:])
    return json.loads(out)


def asked(*words, statuses=(0,), env=None):
    began = time.perf_counter()
    printed = finished(command(*words, "--json", env=env), *statuses)
    return printed, time.perf_counter() - began
