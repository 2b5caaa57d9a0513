"""Reports of several runs, quickly made."""

import pytest

from tests.profiles import write_performance_report
from tests.programs import block


@pytest.fixture
def report(tmp_path):
    """`report(folder, drop)`: a report of `drop` lines less, at reports/<folder>/: another run."""
    whole = write_performance_report(tmp_path / "made", block())

    def write(folder, drop=0, name="ops_perf_results.csv", below="reports"):
        path = tmp_path / below / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = whole.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join(lines[: len(lines) - drop]))
        return path

    return write
