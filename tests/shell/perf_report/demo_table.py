"""The demo's performance report, read once."""

from functools import cache
from pathlib import Path

from ttnn_mcp.readers.performance.csv_file import read_performance_csv
from ttnn_mcp.run.performance import Performance
from ttnn_mcp.session.places import demo_reports


def report_file() -> Path:
    return next(Path(demo_reports()[0]).rglob("ops_perf_results*.csv"))


@cache
def demo() -> Performance:
    return Performance(read_performance_csv(report_file()))
