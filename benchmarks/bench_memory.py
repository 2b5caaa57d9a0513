"""memory_summary of a full-size database against sqlite3 on the same tables: python -m benchmarks.bench_memory."""

import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.measures import OURS, ROOT, Result, compared, environment
from tests.profiles.big import write_big_database

AT_MOST = 3.0
RSS_AT_MOST_MB = 1000
OPERATIONS = 20_000  # with 100,000 tensors and 1,000,000 buffer rows
TABLES = {  # the columns an answer needs
    "devices": "*",
    "operations": "*",
    "tensors": "*",
    "input_tensors": "*",
    "output_tensors": "*",
    "buffers": "*",
    "captured_graph": "*",
    "stack_traces": "*",
    "errors": "*",
    "tensor_lifetime": "*",
}
SCAN = """
import sqlite3, sys
connection = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
kept = [connection.execute(f"SELECT {columns} FROM {table}").fetchall() for table, columns in %r.items()]
"""
PEAK = """
import resource, runpy, sys
sys.argv = ["ttnn_mcp", "call", "memory_summary", f"run={sys.argv[1]}"]
try:
    runpy.run_module("ttnn_mcp", run_name="__main__")
finally:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
"""


def summarise(database, folder):
    """One call from a shell, start of Python included; what it printed."""
    command = [*OURS, "call", "memory_summary", f"run={database}"]
    return subprocess.run(
        command, check=True, capture_output=True, text=True, cwd=ROOT, env=environment(folder)
    ).stdout


def scan(database):
    subprocess.run([sys.executable, "-c", SCAN % TABLES, str(database)], check=True, capture_output=True)


def megabytes(database, folder):
    """The most memory that one call held."""
    found = subprocess.run(
        [sys.executable, "-c", PEAK, str(database)],
        check=True,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environment(folder),
    )
    return int(found.stderr.split()[-1]) / 1024


def memory_summary(operations=OPERATIONS, rounds=5):
    """Time against a bare scan."""
    with tempfile.TemporaryDirectory() as folder:
        big = write_big_database(Path(folder) / "big" / "db.sqlite", operations=operations)
        what = f"memory_summary of {big.operations:,} operations and {big.buffers:,} buffer rows, against sqlite3"
        return compared(what, lambda: summarise(big.path, folder), lambda: scan(big.path), AT_MOST, rounds=rounds)


def memory_held(operations=OPERATIONS):
    """Memory against what we promise."""
    with tempfile.TemporaryDirectory() as folder:
        big = write_big_database(Path(folder) / "big" / "db.sqlite", operations=operations)
        most = megabytes(big.path, folder)
    what = f"memory held while summarising {big.buffers:,} buffer rows"
    return Result(what, f"{most:.0f} MB (at most {RSS_AT_MOST_MB})", most / RSS_AT_MOST_MB, 1.0)


MEASURES = (memory_summary, memory_held)

if __name__ == "__main__":
    for measure in MEASURES:
        result = measure()
        print(f"{result.what}\n  {result.said}")
