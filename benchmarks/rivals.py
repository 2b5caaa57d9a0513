"""Programs that we measure against and do not depend on, in an environment of their own: `make bench` sets it up."""

import csv
import json
import subprocess
import sys

from benchmarks.clock import WARMED, Cost, whole_process
from benchmarks.measures import ROOT

PYTHON = ROOT / ".bench" / "bin" / "python"
TT_PERF_REPORT = ROOT / ".bench" / "bin" / "tt-perf-report"
READERS = {"pandas": sys.executable, "polars": str(PYTHON)}  # pandas as our users have it
READ = (
    WARMED
    + """
import io, json, resource, sys, time
reader, path, columns = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
if reader == "polars":
    import polars
    read_csv, read = polars.read_csv, lambda: polars.read_csv(path, columns=columns)
else:
    import pandas
    read_csv, read = pandas.read_csv, lambda: pandas.read_csv(path, usecols=columns)
read_csv(io.BytesIO(b"a,b\\n1,x\\n"))  # its threads and modules, as we have answered for the demo before
warmed(path)
began, worked = time.perf_counter(), time.process_time()
table = read()
cost = time.perf_counter() - began, time.process_time() - worked
print(json.dumps([*cost, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
"""
)


def read_by(reader, report, columns):
    """What a reader of CSV takes for some columns of a report, without its imports."""
    command = [READERS[reader], "-c", READ, reader, str(report), json.dumps(columns)]
    ran = subprocess.run(command, check=True, capture_output=True, text=True)
    return Cost(*json.loads(ran.stdout))


def reported_by_tt_perf_report(report, folder):
    """What tt-perf-report takes for its table of a report, from its start to its end."""
    command = [str(TT_PERF_REPORT), str(report), "--no-color", "--csv", str(folder / "table.csv")]
    return whole_process(command, report, cwd=folder)


def read_columns(report):
    """The columns of `report` that we read."""
    from ttnn_mcp.readers.performance.columns import BY_HEADER, OPERAND_HEADER

    with report.open(newline="") as lines:
        header = next(csv.reader(lines))
    return [name for name in header if name.strip() in BY_HEADER or OPERAND_HEADER.match(name.strip())]
